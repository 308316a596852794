import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { BIN, cleanEnv, emptyHome, jsonOf, steward, withoutCode } from '../helpers/cli';
import { until } from '../helpers/daemon';
import { hookJson } from '../helpers/hooks';
import { notifyServer, ntfyOk } from '../helpers/notify-server';

describe('agents, built', function () {
  this.timeout(120_000);
  let home: ReturnType<typeof emptyHome>;

  beforeEach(() => {
    home = emptyHome();
  });

  afterEach(() => {
    home.remove();
  });

  function write(name: string, text: string): void {
    const path = join(home.path, '.steward', name);
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  }

  async function route(args: string[], input?: string): Promise<Record<string, unknown>> {
    const options = { home: home.path, ...(input === undefined ? {} : { input }) };
    const result = await steward(['agents', 'route', ...args, '--json'], options);
    expect(result, result.stderr).to.include({ code: 0, stderr: '' });
    return jsonOf(result) as Record<string, unknown>;
  }

  it('routes an argument, text on stdin, and hook JSON', async () => {
    expect(await route(['research tea'])).to.include({
      worker: 'research',
      rule: 'research',
      spotcheck: null,
    });
    expect(await route([], 'use custom agents\n')).to.include({ worker: 'custom' });
    const hook = (prompt: string): string => hookJson('prompt', { prompt });
    expect(await route([], hook('run it overnight'))).to.include({ worker: 'managed', subagentType: null });
    expect(await route([], hook(''))).to.include({ worker: 'native' });
    const text = (prompt: string, ...more: string[]) =>
      steward(['agents', 'route', ...more], { home: home.path, input: hook(prompt) });
    expect(await text('hello')).to.deep.equal({ code: 0, stdout: '', stderr: '' });
    expect((await text('hello', '--explain')).stdout).to.match(/^no delegation\n/);
    expect((await text('run it overnight')).stdout).to.match(/^hosted agent\n/);
  });

  it('prints distinct briefs and the spotcheck', async () => {
    const decision = await route(['custom agents for the plan', '--count=4', '--effort', 'E4']);
    expect(decision).to.include({ model: 'deep' });
    expect(new Set((decision['briefs'] as { prompt: string }[]).map(({ prompt }) => prompt)).size).to.equal(
      4,
    );
    expect(decision['spotcheck']).to.include({ model: 'fast' });
  });

  it('prints briefs that check accepts, with the mode of an audit first', async () => {
    const audit = await route(['cross-vendor audit of the parser', '--effort', 'E5']);
    expect((audit['brief'] as { prompt: string }).prompt).to.match(/^MODE: audit\b/);
    const batch = await steward(['agents', 'brief', 'add text-to-speech', '--count', '3', '--json'], {
      home: home.path,
    });
    expect(jsonOf(batch)).to.include({
      launch: 'Launch all 3 agents in one message, then the spotcheck agent when they finish.',
    });
    for (const planned of [JSON.stringify(audit), batch.stdout]) {
      const { code, stdout } = await steward(['agents', 'check', '-'], { home: home.path, input: planned });
      expect(code, stdout).to.equal(0);
    }
    const text = await steward(['agents', 'brief', 'look', '--count', '3'], { home: home.path });
    expect(text.stdout).to.match(/^Launch all 3 agents in one message, .*\n\nbrief 1 of 3/s);
  });

  it('uses the roster and the configured types, and notices changes', async () => {
    expect(await route(['ask Ada to look'])).to.include({ worker: 'native' });
    write('agents/ada.md', '---\nname: Ada\nrole: tester\nvoice: SECRET\n---\nHas seen it all.\n');
    for (const time of [1, 2]) {
      const decision = await route(['ask Ada to look']);
      expect(decision, `run ${time}`).to.include({ worker: 'named', agent: 'ada' });
      expect(JSON.stringify(decision)).to.include('Has seen it all.').and.not.to.include('SECRET');
    }
    write('config.yaml', 'agents:\n  types:\n    general: worker\n');
    for (const time of [1, 2]) {
      expect(await route(['custom agents']), `run ${time}`).to.include({ subagentType: 'worker' });
    }
    write('agents/broken.md', 'no front matter');
    expect((await route(['hello']))['warnings']).to.match(/1 invalid file in the roster/);
  });

  it('routes by the valid files of a roster', async function () {
    if (process.platform === 'win32') this.skip();
    write('agents/ada.md', '---\nname: Ada\nrole: tester\n---\n');
    write('agents/secret.md', '---\nname: Bo\nrole: tester\n---\n');
    write('agents/folder.md/x', '');
    symlinkSync('circle.md', join(home.path, '.steward', 'agents', 'circle.md'));
    symlinkSync('nothing', join(home.path, '.steward', 'agents', 'dangling.md'));
    chmodSync(join(home.path, '.steward', 'agents', 'secret.md'), 0o000);
    const ROOT = process.getuid?.() === 0;
    withoutCode(home.path);
    if (ROOT) execFileSync('chown', ['-R', '65534:65534', home.path]);
    const asUser = ROOT ? { uid: 65_534 } : {};
    for (const time of [1, 2]) {
      const result = await steward(['agents', 'route', 'ask Ada to look', '--json'], {
        home: home.path,
        ...asUser,
      });
      expect(result, `run ${time}`).to.include({ code: 0, stderr: '' });
      const decision = jsonOf(result) as Record<string, unknown>;
      expect(decision).to.include({ worker: 'named', agent: 'ada' });
      expect(decision['warnings']).to.match(/4 invalid files in the roster/);
    }
    const checked = await steward(['agents', 'roster', 'list'], { home: home.path, ...asUser });
    expect(checked.code).to.equal(3);
    expect(checked.stdout).to.match(/secret\.md\n {2}Permission denied\./);
  });

  const mistakes: [what: string, args: string[], code: number, says: RegExp][] = [
    ['an empty request', ['route', ' '], 2, /The request is empty/],
    ['nothing at all', ['route'], 2, /The request is empty/],
    ['an unknown effort', ['route', 'x', '--effort', 'E9'], 2, /--effort "E9"/],
    ['a count of 0', ['route', 'x', '--count', '0'], 2, /--count "0"/],
    ['a count of 1000', ['route', 'x', '--count=1000'], 2, /--count "1000"/],
    ['a word too many', ['route', 'x', 'y'], 2, /y/],
    ['an unknown flag', ['route', 'x', '--cuont', '2'], 2, /--cuont/],
    ['a file that is not there', ['check', 'nothing.json'], 5, /nothing\.json/],
    [
      'a folder in place of a file',
      ['check', '.'],
      2,
      /is not a regular file\.\nUse a text file .*; use - for stdin/,
    ],
    ['an agent that is not there', ['roster', 'show', 'nobody'], 5, /nobody/],
    ['a name that is no slug', ['roster', 'add', '../x', '--role', 'x'], 2, /Invalid file name/],
    ['a trait that is not there', ['brief', 'x', '--expertise', 'magic'], 2, /magic/],
    ['an entry that is not there', ['knowledge', 'show', 'people/nobody'], 5, /nobody/],
    ['a type that is not there', ['knowledge', 'search', '--type', 'places'], 2, /places/],
    ['a session that is not there', ['watch', '--session', 'nothing'], 5, /nothing/],
  ];
  for (const [what, args, code, says] of mistakes) {
    it(`reports ${what}`, async () => {
      const result = await steward(['agents', ...args], { home: home.path });
      expect(result.stdout).to.equal('');
      expect(result.stderr)
        .to.match(says)
        .and.not.to.match(/\n\s+at /);
      expect(result.code).to.equal(code);
    });
  }

  it('checks planned invocations, and blocks the call of a hook', async () => {
    const call = { hook_event_name: 'PreToolUse', tool_name: 'Task', tool_input: { subagent_type: 'engineer', prompt: 'x' } }; // prettier-ignore
    const result = await steward(['agents', 'check', '-', '--json'], { input: JSON.stringify(call) });
    expect(result.code).to.equal(2);
    expect(result.stderr).to.match(/"engineer" is retired/);
    expect(jsonOf(result)).to.deep.include({ ok: false, invocations: 1 });
    const sound = { subagent_type: 'general-purpose', model: 'fast', prompt: 'Count.' };
    expect(await steward(['agents', 'check', '-'], { input: JSON.stringify(sound) })).to.include({
      code: 0,
      stdout: '1 invocation, no rules broken.\n',
    });
  });

  it('manages a roster', async () => {
    const run = (...args: string[]) => steward(['agents', 'roster', ...args], { home: home.path });
    expect((await run('list')).stdout).to.match(/^The roster is empty/);
    expect(await run('add', 'ada', '--role', 'tester', '--expertise', 'data')).to.include({ code: 0 });
    expect((await run('add', 'ada', '--role', 'tester')).code).to.equal(6);
    expect((await run('show', 'Ada')).stdout).to.match(/role +tester/);
    expect((await run('list')).code).to.equal(0);
    write('agents/bad.md', '---\nname: [\n---\n');
    const checked = await run('list', '--json');
    expect(checked.code).to.equal(3);
    expect((jsonOf(checked) as { problems: object[] }).problems[0]).to.include({ level: 'error' });
  });

  /** The log of a session with an agent that has made no tool call for ten minutes. */
  function silentAgent(): void {
    const ts = new Date(Date.now() - 600_000).toISOString();
    const about = { ts, session: 'silent', slug: null, repo: null };
    const lines = [
      { ...about, type: 'session-start' },
      { ...about, type: 'subagent-start', agent: 'a' },
    ];
    write('state/work-events.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }

  /** `agents watch` until it has told of a silence, then Ctrl-C: the first line, and the exit code. */
  async function watchOnce(...args: string[]): Promise<{ line: string; code: number | null }> {
    const child = spawn(process.execPath, [BIN, 'agents', 'watch', ...args], { env: cleanEnv(home.path) });
    const ended = once(child, 'exit') as Promise<[number | null]>;
    let out = '';
    for await (const chunk of child.stdout) {
      out += String(chunk);
      if (out.includes('\n')) break;
    }
    child.kill('SIGINT');
    return { line: out.split('\n')[0] ?? '', code: (await ended)[0] };
  }

  it('routes and checks despite a broken configuration', async () => {
    write('settings.json', '{ broken');
    write('config.yaml', 'agents: { types: { general: smith } }\n');
    const route = await steward(['agents', 'route', 'Launch two agents to test this', '--json'], {
      home: home.path,
    });
    expect([route.code, route.stderr]).to.deep.equal([0, '']);
    const build = await steward(
      ['agents', 'route', 'Use one agent to implement the login in production code'],
      { home: home.path },
    );
    expect(build.stdout).to.include('smith');
    const input = JSON.stringify({ subagent_type: 'general-purpose', prompt: 'x' });
    expect((await steward(['agents', 'check', '-'], { home: home.path, input })).code).to.equal(2);
  });

  it('watches what the hooks report', async () => {
    const hook = (verb: string, event: Parameters<typeof hookJson>[0]) =>
      steward(['hook', verb, '--strict'], { home: home.path, input: hookJson(event, { cwd: home.path }) });
    await hook('session-start', 'session-start');
    await hook('subagent-start', 'subagent-start');
    const seen = await steward(['agents', 'watch', '--once', '--json'], { home: home.path });
    expect(jsonOf(seen)).to.have.length(1);
  });

  it('alerts on the screen, in the log and by a push', async () => {
    silentAgent();
    const server = await notifyServer(ntfyOk);
    try {
      const push = { topic: 'steward-0123456789abcdef', server: server.url, detail: 'full' };
      write('settings.json', JSON.stringify({ notifications: { push } }));
      const { line, code } = await watchOnce('--json');
      expect(code).to.equal(130);
      expect(JSON.parse(line)).to.include({ agents: 1 });
      const logged = readFileSync(join(home.path, '.steward', 'observability', 'agents.jsonl'), 'utf8');
      expect(JSON.parse(logged)).to.include({ event: 'silence', agents: 1 });
      await until('it is pushed', () => server.got.length > 0, 60_000);
      expect(server.got[0]?.body).to.include({ title: 'Agents are silent' });
      const history = await steward(['notify', 'history', '--json'], { home: home.path });
      const [entry, ...more] = jsonOf(history) as { event: string; channels: { channel: string }[] }[];
      expect(more).to.deep.equal([]);
      expect(entry).to.include({ event: 'backgroundAgent', source: 'subagent' });
      expect(entry?.channels.map(({ channel }) => channel)).to.deep.equal(['push']);
    } finally {
      await server.close();
    }
  });

  it('only prints an alert with --no-notify, and survives an unwritable log', async () => {
    silentAgent();
    write('observability/agents.jsonl/a-folder-in-its-place', '');
    const { line, code } = await watchOnce('--no-notify');
    expect(line).to.match(/^\d\d:\d\d {2}1 agent in \S+: no tool call for 6\d\d s\.$/);
    expect(code).to.equal(130);
    const history = await steward(['notify', 'history', '--json'], { home: home.path });
    expect(jsonOf(history)).to.deep.equal([]);
  });

  it('ends silently if a hook starts a second watchdog of a session', async () => {
    silentAgent();
    const first = spawn(process.execPath, [BIN, 'agents', 'watch', '--session', '-', '--no-notify'], {
      env: cleanEnv(home.path),
    });
    const hook = hookJson('subagent-start', { session_id: 'silent' });
    first.stdin.end(hook);
    await once(first.stdout, 'data');
    const second = await steward(['agents', 'watch', '--session', '-'], { home: home.path, input: hook });
    expect(second).to.include({ code: 0, stdout: '', stderr: '' });
    first.kill('SIGTERM');
    await once(first, 'exit');
  });
});
