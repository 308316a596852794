import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, steward, type StewardResult } from '../helpers/cli';
import { machineFolder, startDaemon, until } from '../helpers/daemon';
import { blocksOf, docPages, type DocPage } from '../helpers/doc-pages';
import { hookJson } from '../helpers/hooks';

interface Entry {
  matcher?: string;
  hooks: { type: string; command: string; timeout?: number; async?: boolean }[];
}
type Entries = Record<string, Entry[]>;

function page(path: string): DocPage {
  return docPages().find((one) => one.path === path)!;
}

/** The hooks that docs/work.md gives a reader to add, called as the assistant calls them: by a shell, JSON on stdin. */
describe('the documented hooks (built)', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let example: Entries;
  before(() => {
    const block = blocksOf(page('docs/work.md')).find(({ language }) => language === 'json');
    example = JSON.parse(block?.lines.join('\n') ?? '') as Entries;
  });
  beforeEach(() => {
    home = emptyHome();
    write('bin/steward', `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, 0o755);
  });
  afterEach(() => home.remove());

  function write(name: string, text: string, mode = 0o600): void {
    const path = join(home.path, name);
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode });
  }

  function call(event: string, json: string): Promise<StewardResult> {
    const { command } = example[event]![0]!.hooks[0]!;
    const env = cleanEnv(home.path, { PATH: `${join(home.path, 'bin')}:${process.env['PATH']}` });
    return new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', command], { cwd: home.path, env });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
      child.stdin.on('error', () => undefined);
      child.stdin.end(json);
    });
  }
  const task = (input: Record<string, unknown>): string =>
    JSON.stringify({
      ...(JSON.parse(hookJson('tool-before')) as object),
      tool_name: 'Task',
      tool_input: { description: 'Look', prompt: 'Count the files.', ...input },
    });
  const SILENT = { code: 0, stdout: '', stderr: '' };

  it('registers the hooks on the page, and nothing else', async function () {
    if (process.platform === 'win32') this.skip();
    expect(
      (await steward(['hooks', 'install', '--assistant', 'claude-code'], { home: home.path })).code,
    ).to.equal(0);
    const settings = readFileSync(join(home.path, '.claude', 'settings.json'), 'utf8');
    const { hooks } = JSON.parse(settings) as { hooks: Entries };
    const registered = Object.entries(hooks).flatMap(([event, entries]) =>
      entries.flatMap((entry) =>
        entry.hooks.map(({ command, timeout }) => {
          expect(entry.matcher ?? '*', event).to.equal('*');
          expect(command).to.include(join('.steward', 'bin', 'steward-hook'));
          return `${event} ${/steward-hook\S* ([a-z-]+)/.exec(command)?.[1]} ${timeout}`;
        }),
      ),
    );
    const rows = page('docs/sessions.md').text.matchAll(/^\| ([A-Z][A-Za-z, ]+) \| ([a-z-]+) \| (\d+) \|$/gm);
    const told = [...rows].flatMap(([, events = '', verb, seconds]) =>
      events.split(', ').map((event) => `${event} ${verb} ${seconds}`),
    );
    expect(told.sort()).to.deep.equal(registered.sort());
  });

  it('adds a decision to the prompt, stays silent without one, and never blocks a prompt', async () => {
    const prompt = (text: string): string => hookJson('prompt', { cwd: home.path, prompt: text });
    const told = await call('UserPromptSubmit', prompt('Use two custom agents for the tagline'));
    expect(told).to.include({ code: 0, stderr: '' });
    expect(told.stdout).to.match(/^custom agents\n[\s\S]*You are /);
    for (const text of ['hello', '', `hello ${'word '.repeat(200_000)}`, 'x'.repeat(9 * 2 ** 20)])
      expect(await call('UserPromptSubmit', prompt(text)), text.slice(0, 20)).to.deep.equal(SILENT);
    expect((await call('UserPromptSubmit', '{"hook_event_name": "UserPromptSubmit"')).code).to.equal(0);
    write('.steward/config.yaml', 'agents: [\n');
    // Exit code 2 alone would stop the assistant.
    expect((await call('UserPromptSubmit', prompt('hello'))).code).to.equal(3);
  });

  it('stops a call that breaks a rule, tells the assistant why, and accepts a valid one silently', async () => {
    const [entry] = example['PreToolUse']!;
    for (const tool of ['Task', 'Agent']) expect(tool).to.match(new RegExp(`^(?:${entry!.matcher})$`));
    const sound = task({ subagent_type: 'general-purpose', model: 'haiku' });
    expect(await call('PreToolUse', sound)).to.deep.equal(SILENT);
    const retired = await call('PreToolUse', task({ subagent_type: 'engineer', model: 'haiku' }));
    expect(retired.code).to.equal(2);
    expect(retired.stderr).to.match(/"engineer" is retired[\s\S]*general-purpose/);
    const unknown = await call('PreToolUse', task({ subagent_type: 'reviewer', model: 'haiku' }));
    expect(unknown.stderr).to.match(/Unknown agent type "reviewer"[\s\S]*steward agents roster add NAME/);
    await steward(['agents', 'roster', 'add', 'reviewer', '--role', 'reviewer'], { home: home.path });
    const known = task({ subagent_type: 'reviewer', model: 'haiku' });
    expect(await call('PreToolUse', known)).to.deep.equal(SILENT);
  });

  it('watches a session from its first agent until none is active', async () => {
    const hook = (verb: string, event: Parameters<typeof hookJson>[0]): Promise<StewardResult> =>
      steward(['hook', verb, '--strict'], {
        home: home.path,
        env: { CLAUDE_PROJECT_DIR: home.path },
        input: hookJson(event, { cwd: home.path }),
      });
    await hook('session-start', 'session-start');
    expect(isLocked()).to.equal(false);
    await hook('subagent-start', 'subagent-start');
    await until('it is watched', () => isLocked(), 60_000);
    const json = hookJson('subagent-start', { cwd: home.path });
    const second = await steward(['agents', 'watch', '--session', '-'], { home: home.path, input: json });
    expect(second, 'leaves it to the first').to.deep.equal(SILENT);
    await hook('subagent-stop', 'subagent-stop');
    await until('it has ended', () => !isLocked(), 60_000);
  });

  it('alerts about silent agents, by the daemon', async () => {
    const at = (secAgo: number): string => new Date(Date.now() - secAgo * 1000).toISOString();
    const about = { session: 's1', slug: null, repo: 'notes' };
    const events = [
      { ts: at(200), type: 'session-start', ...about },
      { ts: at(150), type: 'subagent-start', agent: 'a1', ...about },
    ];
    write('.steward/state/work-events.jsonl', events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    await steward(['config', 'set', 'notify.voice.engine', 'none'], { home: home.path });
    const daemon = await startDaemon({ home: home.path });
    try {
      await until(
        'the silence is told',
        async () => {
          const { stdout } = await steward(['notify', 'history', '--json'], { home: home.path });
          return /"text": "1 agent in \S+: no tool call for 1[5-9]\d s\."/.test(stdout);
        },
        60_000,
      );
    } finally {
      await daemon.stop();
    }
  });

  function isLocked(): boolean {
    const folder = machineFolder(home.path);
    return existsSync(folder) && readdirSync(folder).some((name) => /^watchdog-.*\.lock$/.test(name));
  }
});
