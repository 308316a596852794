import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import type { WorkEvent } from '../../src/lib/sessions/work-events';
import type { StatusLine } from '../../src/lib/cli/statusline-text';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import { BIN, cleanEnv, emptyHome, jsonOf, steward, type StewardResult } from '../helpers/cli';
import { hookJson, RECORDED_EVENTS, verbOf, type RecordedEvent } from '../helpers/hooks';

const QUIET = { code: 0, stdout: '', stderr: '' };

describe('steward hook, called like the assistant does', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  let area: string;
  beforeEach(() => {
    home = emptyHome();
    area = join(home.path, '.steward');
  });
  afterEach(() => home.remove());

  const hook = (
    event: RecordedEvent,
    changes: Record<string, unknown> = {},
    flags: string[] = [],
    env: Record<string, string> = {},
  ): Promise<StewardResult> =>
    steward(['hook', verbOf(event), ...flags], {
      home: home.path,
      env,
      input: hookJson(event, { cwd: home.path, ...changes }),
    });
  const lines = (path: string): string[] => readFileSync(join(area, path), 'utf8').trimEnd().split('\n');
  const events = (): WorkEvent[] =>
    lines('state/work-events.jsonl').map((line) => JSON.parse(line) as WorkEvent);
  const sessions = async (...flags: string[]): Promise<SessionsReport> =>
    jsonOf(await steward(['sessions', '--json', ...flags], { home: home.path })) as SessionsReport;
  const everything = (folder: string): string =>
    readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('\n');

  it('records each event of a session, and no text', async () => {
    const repo = join(home.path, 'website');
    mkdirSync(join(repo, '.git', 'objects'), { recursive: true });
    writeFileSync(join(repo, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    for (const event of RECORDED_EVENTS)
      expect(await hook(event, { cwd: repo }, ['--strict']), event).to.deep.equal(QUIET);
    expect(events().map(({ type }) => type)).to.deep.equal([
      'session-start',
      'prompt',
      'tool-after',
      'tool-before',
      'tool-failed',
      'subagent-start',
      'subagent-stop',
      'notification',
      'notification',
      'stop',
      'session-end',
    ]);
    for (const event of events()) {
      expect(event).to.include({ session: '0f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6', repo: 'website' });
      expect(event.slug).to.match(/^\d{8}-website-[0-9a-f]{8}$/);
    }
    expect(everything(area)).not.to.include('SECRET');
    expect(lines('observability/hooks.jsonl')).to.have.length(RECORDED_EVENTS.length);
    const last = JSON.parse(lines('observability/hooks.jsonl').pop() as string) as Record<string, unknown>;
    expect(last).to.include({ hook: 'session-end', ok: true });
    expect(last['ms']).to.be.a('number');
    expect((await sessions('--all')).sessions[0]).to.include({ status: 'ended', repo: 'website' });
  });

  it('exits 0 silently on every error, and explains it with --strict', async () => {
    const bad: [args: string[], input: string, code: number][] = [
      [['hook'], '{}', 2],
      [['hook', 'frobnicate'], hookJson('stop'), 2],
      [['hook', 'stop', '--frobnicate'], hookJson('stop'), 2],
      [['hook', 'stop', 'surplus'], hookJson('stop'), 2],
      [['hook', 'stop'], '', 2],
      [['hook', 'stop'], 'nonsense', 2],
      [['hook', 'stop'], '{"session_id":7}', 2],
      [['hook', 'stop'], '\u0000\u0001\u001b]0;x\u0007', 2],
      [['--json', 'hook', 'stop'], 'null', 2],
    ];
    for (const [args, input, code] of bad) {
      expect(await steward(args, { home: home.path, input }), args.join(' ')).to.deep.equal(QUIET);
      const strict = await steward([...args, '--strict'], { home: home.path, input });
      expect(strict, args.join(' ')).to.include({ code, stdout: '' });
      expect(strict.stderr.split('\n')).to.have.length.above(1);
    }
    expect(lines('observability/hooks.jsonl')).to.have.length(bad.length * 2);
  });

  it('exits 0 with a broken configuration, and captures nothing', async () => {
    mkdirSync(area, { recursive: true });
    writeFileSync(join(area, 'config.yaml'), 'sessions: {tab: 7}\n');
    expect(await hook('prompt')).to.deep.equal(QUIET);
    expect(await hook('prompt', {}, ['--strict'])).to.include({ code: 3, stdout: '' });
    expect(existsSync(join(area, 'state', 'work-events.jsonl'))).to.equal(false);
    expect(JSON.parse(lines('observability/hooks.jsonl')[0] as string)).to.include({
      ok: false,
      error: 'config',
    });
  });

  it('exits 0 if a path is not writable or is a link', async function () {
    writeFileSync(area, 'a file in place of the folder');
    expect(await hook('session-start')).to.deep.equal(QUIET);
    rmSync(area);
    mkdirSync(join(area, 'elsewhere'), { recursive: true });
    symlinkSync(join(area, 'elsewhere'), join(area, 'state'));
    expect(await hook('session-start')).to.deep.equal(QUIET);
    expect(await hook('session-start', {}, ['--strict'])).to.include({ code: 3 });
    expect(readdirSync(join(area, 'elsewhere'))).to.deep.equal([]);
    rmSync(join(area, 'state'));
    mkdirSync(join(area, 'state'));
    symlinkSync(join(area, 'elsewhere', 'x'), join(area, 'state', 'work-events.jsonl'));
    expect(await hook('tool')).to.deep.equal(QUIET);
    expect(readdirSync(join(area, 'elsewhere'))).to.deep.equal([]);
    if (process.getuid?.() === 0) return;
    rmSync(area, { recursive: true });
    mkdirSync(area);
    chmodSync(area, 0o500);
    expect(await hook('tool')).to.deep.equal(QUIET);
    chmodSync(area, 0o700);
  });

  it("ignores the events of steward's own assistant runs", async () => {
    expect(await hook('session-start', {}, [], { STEWARD_INTERNAL: '1' })).to.deep.equal(QUIET);
    expect(await hook('session-start', {}, ['--json'], { STEWARD_INTERNAL: '1' })).to.deep.equal(QUIET);
    expect(existsSync(area)).to.equal(false);
  });

  it('describes the effect in a dry run, and changes nothing', async () => {
    const plan = async (event: RecordedEvent): Promise<unknown> =>
      jsonOf(await hook(event, {}, ['--dry-run', '--json']));
    expect(await plan('prompt')).to.deep.equal({ matches: [] });
    expect(await plan('session-end')).to.include({ action: 'none', title: null });
    expect(await plan('stop')).to.have.nested.property('event.type', 'stop');
    expect(existsSync(area)).to.equal(false);
  });

  it('names the session after its session file, and sets the tab by its phase', async () => {
    const newer = { CLAUDE_CODE_VERSION: '2.1.141' };
    const title = (text: string): string =>
      `${JSON.stringify({ terminalSequence: `\u001b]0;${text}\u0007` })}\n`;
    expect((await hook('session-start', {}, [], newer)).stdout).to.equal(title('● Native'));
    const path = join(area, 'sessions', 'fix-login', 'ISA.md');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '---\nslug: fix-login\ntask: Fix the login\nphase: build\n---\n');
    const written = { tool_name: 'Write', tool_input: { file_path: path, content: 'SECRET' } };
    expect((await hook('tool', written, [], newer)).stdout).to.equal(title('▲ Build'));
    expect((await hook('tool', written, ['--no-tab'], newer)).stdout).to.equal('');
    expect((await hook('tool', {}, [], newer)).stdout).to.equal('');
    expect((await hook('tool', { ...written, agent_id: 'x' }, [], newer)).stdout).to.equal('');
    expect((await hook('stop', {}, [], { CLAUDE_CODE_VERSION: '2.1.140' })).stdout).to.equal('');
    writeFileSync(join(area, 'config.yaml'), 'sessions:\n  tab: false\n');
    expect((await hook('stop', {}, [], newer)).stdout).to.equal('');
    expect((await hook('stop', {}, [], newer)).stdout).to.equal('');
    const { sessions: found } = await sessions();
    expect(found).to.have.length(1);
    expect(found[0]).to.include({
      slug: 'fix-login',
      task: 'Fix the login',
      phase: 'build',
      status: 'waiting',
      mode: 'algorithm',
    });
    expect(events().pop()?.slug).to.equal('fix-login');
    const shown = await steward(['sessions', 'show', 'fix', '--json'], { home: home.path });
    expect(jsonOf(shown)).to.have.nested.property('phaseHistory[1].source', 'artifact');
    expect(readFileSync(path, 'utf8')).to.equal(
      '---\nslug: fix-login\ntask: Fix the login\nphase: build\n---\n',
    );
  });

  const begin = '---\ntask: Fix the login\nphase: build\n---\n';
  const artifact = (slug: string, text = begin): string => {
    const path = join(area, 'sessions', slug, 'ISA.md');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    return path;
  };
  const only = async (): Promise<SessionsReport['sessions'][number]> => {
    const { sessions: found } = await sessions('--all');
    expect(found).to.have.length(1);
    return found[0] as SessionsReport['sessions'][number];
  };

  it('finds a session file written by a shell, at the end of the turn', async () => {
    for (const event of ['session-start', 'prompt'] as const) await hook(event);
    artifact('fix-login');
    await hook('tool');
    await hook('stop');
    expect(await only()).to.include({
      slug: 'fix-login',
      task: 'Fix the login',
      phase: 'build',
      mode: 'algorithm',
    });
    expect(events().pop()).to.include({ type: 'stop', slug: 'fix-login', artifact: true, phase: 'build' });
    rmSync(join(area, 'state', 'sessions.json'));
    rmSync(join(area, 'state', 'sessions-live.json'));
    expect(await only()).to.include({ slug: 'fix-login' });
  });

  it("finds it under the session's own name, and when the session ends", async () => {
    for (const event of ['session-start', 'prompt'] as const) await hook(event);
    const { slug } = await only();
    artifact(slug);
    await hook('stop');
    expect(await only()).to.include({ slug, task: 'Fix the login', mode: 'algorithm' });
    await hook('session-start', { session_id: 'other' });
    artifact('by-another');
    await hook('session-end', { session_id: 'other' });
    expect((await sessions('--all')).sessions.map((session) => session.slug)).to.have.members([
      slug,
      'by-another',
    ]);
  });

  it('finds a session file that a shell completes later, or that is written through a link', async function () {
    await hook('session-start');
    const path = artifact('fix-login', '');
    await hook('tool', { tool_name: 'Write', tool_input: { file_path: path } });
    writeFileSync(path, begin);
    await hook('stop');
    expect(await only()).to.include({ slug: 'fix-login', task: 'Fix the login' });
    if (process.platform === 'win32') return;
    await hook('session-start', { session_id: 'two' });
    symlinkSync(join(area, 'sessions'), join(home.path, 'linked'));
    artifact('second');
    const linked = join(home.path, 'linked', 'second', 'ISA.md');
    await hook('tool', { session_id: 'two', tool_name: 'Edit', tool_input: { file_path: linked } });
    expect((await sessions()).sessions.map(({ slug }) => slug)).to.have.members(['fix-login', 'second']);
  });

  it('finds a session file whose hook JSON exceeds the size limit', async () => {
    await hook('session-start');
    const path = artifact('fix-login');
    const big = { file_path: path, content: 'x'.repeat(1_500_000) };
    await hook('tool', { tool_name: 'Write', tool_input: big });
    expect(await only()).to.include({ slug: 'fix-login', phase: 'build' });
  });

  it('reads nothing through a session folder that is a link to another place', async function () {
    if (process.platform === 'win32') this.skip();
    for (const event of ['session-start', 'prompt'] as const) await hook(event);
    const { slug } = await only();
    mkdirSync(join(home.path, 'private'));
    writeFileSync(join(home.path, 'private', 'ISA.md'), '---\ntask: SECRET\n---\n');
    mkdirSync(join(area, 'sessions'));
    symlinkSync(join(home.path, 'private'), join(area, 'sessions', slug));
    symlinkSync(join(home.path, 'private'), join(area, 'sessions', 'another'));
    await hook('stop');
    expect(await only()).to.include({ slug, task: null, mode: 'native' });
    expect(everything(join(area, 'state'))).not.to.include('SECRET');
  });

  it('tells the assistant the path of the session file, only if enabled', async () => {
    expect(await hook('session-start')).to.deep.equal(QUIET);
    writeFileSync(join(area, 'config.yaml'), 'sessions:\n  tellAssistant: true\n');
    for (let time = 0; time < 2; time += 1) {
      const said = JSON.parse((await hook('session-start')).stdout) as Record<string, Record<string, string>>;
      const { slug } = await only();
      expect(Object.keys(said)).to.deep.equal(['hookSpecificOutput']);
      expect(said['hookSpecificOutput']).to.include({ hookEventName: 'SessionStart' });
      const text = said['hookSpecificOutput']?.['additionalContext'] ?? '';
      expect(text)
        .to.include(join(area, 'sessions', slug, 'ISA.md'))
        .and.to.include('task, project, effort and phase');
      expect(text.length).to.be.below(500);
    }
    const newer = { CLAUDE_CODE_VERSION: '2.1.141' };
    const both = JSON.parse((await hook('session-start', {}, [], newer)).stdout) as object;
    expect(both).to.have.all.keys('hookSpecificOutput', 'terminalSequence');
    for (const event of ['prompt', 'tool', 'stop'] as const) expect(await hook(event)).to.deep.equal(QUIET);
  });

  it('queues later work in the spool, without text', async () => {
    const bridge = { CLAUDE_CODE_BRIDGE_SESSION_ID: 'session_1' };
    for (const event of ['session-start', 'stop', 'session-end'] as const) await hook(event, {}, [], bridge);
    const spool = join(area, 'state', 'spool');
    const kinds = readdirSync(spool)
      .sort()
      .map((name) => JSON.parse(readFileSync(join(spool, name), 'utf8')) as Record<string, unknown>);
    expect(kinds.map(({ kind }) => kind)).to.deep.equal(['turn-ended', 'session-ended']);
    expect(kinds[0]).to.include({ transcript: '/home/ann/.claude/projects/x/0f0e9d1c.jsonl', attempts: 0 });
    expect(kinds[0], 'the vendor pushes it').to.include({ isBridged: true });
    expect((await sessions()).spool).to.include({ waiting: 2, dead: 0 });
  });

  it('is captured by sense, with the repository', async () => {
    const repo = join(home.path, 'website');
    mkdirSync(join(repo, '.git', 'objects'), { recursive: true });
    writeFileSync(join(repo, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    for (const event of ['session-start', 'prompt', 'tool'] as const) await hook(event, { cwd: repo });
    await hook('prompt', { session_id: 'another', cwd: home.path });
    expect(await steward(['sense', 'capture'], { home: home.path })).to.include({ code: 0 });
    const today = jsonOf(await steward(['sense', 'today', '--json'], { home: home.path }));
    expect(today).to.have.nested.property('sessions.count', 2);
    const text = (await steward(['sense', 'today'], { home: home.path })).stdout;
    expect(text).to.match(/sessions 2 +website 1$/m);
    await hook('stop', { cwd: repo });
    expect((await steward(['sense', 'today'], { home: home.path })).stdout).to.contain('1 waiting for you');
    const exported = await steward(['sense', 'export', '--what', 'events'], { home: home.path });
    const seen = JSON.parse(exported.stdout) as {
      type: string;
      repo?: string;
      detail: { session: string; events: number };
    }[];
    const sessions = seen.filter(({ type }) => type === 'agent-session');
    expect(sessions.map(({ repo: name, detail }) => [name, detail.events])).to.have.deep.members([
      ['website', 3],
      [undefined, 1],
    ]);
  });

  it('deletes a session completely on request, and nothing else', async () => {
    for (const event of ['session-start', 'prompt', 'stop', 'session-end'] as const) await hook(event);
    writeFileSync(join(area, 'state', '.sessions.json.1234.tmp'), 'left by a kill');
    mkdirSync(join(area, 'sessions', 'mine'), { recursive: true });
    writeFileSync(join(area, 'sessions', 'mine', 'ISA.md'), '---\ntask: mine\n---\n');
    const before = everything(area);
    const dry = await steward(['sessions', 'forget'], { home: home.path });
    expect(dry).to.include({ code: 0, stderr: 'Nothing was removed. Add --yes to remove these files.\n' });
    expect(dry.stdout).to.contain('work-events.jsonl').and.to.contain('hooks.jsonl');
    expect(everything(area)).to.equal(before);
    expect(await steward(['sessions', 'forget', '--yes'], { home: home.path })).to.include({ code: 0 });
    expect(everything(area)).to.match(/^\{"owner":[^\n]+\}\n+---\ntask: mine\n---\n$/);
    expect((await sessions('--all')).sessions).to.deep.equal([]);
    expect((await steward(['sessions', 'forget'], { home: home.path })).stdout).to.equal(
      'No stored hook data.\n',
    );
    await hook('prompt');
    expect((await sessions()).sessions).to.have.length(1);
  });

  it('prints the status line of the calling or the last session', async () => {
    const line = async (input?: string): Promise<StatusLine> =>
      jsonOf(
        await steward(['statusline', '--json'], {
          home: home.path,
          ...(input === undefined ? {} : { input }),
        }),
      ) as StatusLine;
    expect(await steward(['statusline'], { home: home.path })).to.deep.equal({
      ...QUIET,
      stdout: 'no session\n',
    });
    await hook('session-start', { session_id: 'one' });
    await hook('session-start', { session_id: 'two' });
    await hook('prompt', { session_id: 'two' });
    // A session that has just started waits for nobody.
    expect(await line()).to.deep.include({ phase: 'native', waiting: 0 });
    await hook('prompt', { session_id: 'one' });
    await hook('stop', { session_id: 'one' });
    await hook('prompt', { session_id: 'two' });
    expect(await line()).to.deep.include({ phase: 'native', waiting: 1, creationMinutes: null });
    expect(await line('{"session_id":"one"}')).to.deep.include({ phase: 'native', waiting: 0 });
    expect(await line('{"session_id":"nobody"}')).to.deep.include({ phase: null, session: null, waiting: 1 });
    await steward(['sense', 'init'], { home: home.path });
    for (let time = 0; time < 2; time += 1) expect(await line()).to.include({ creationMinutes: null });
    const text = await steward(['statusline'], { home: home.path });
    expect(text.stdout).to.match(/^\S+ · 1 waiting\n$/);
    const bar = (...flags: string[]): Promise<StewardResult> =>
      steward(['statusline', '--format', ...flags], { home: home.path });
    // With --debug, the full command runs.
    for (const flags of [['waybar'], ['waybar', '--debug']])
      expect(jsonOf(await bar(...flags))).to.deep.equal({
        text: '1 waiting',
        tooltip: '1 waiting',
        class: 'waiting',
      });
    expect((await bar('plain')).stdout).to.equal('1 waiting\n');
    expect((await bar('dzen')).code).to.equal(2);
  });

  it('runs another status line with the same input, and stores the limits it reads', async () => {
    const input = JSON.stringify({
      session_id: 'one',
      model: { display_name: 'Opus 4.8' },
      rate_limits: { five_hour: { used_percentage: 63.4, resets_at: 4_000_000_000 } },
    });
    const line = (...flags: string[]): Promise<StewardResult> =>
      steward(['statusline', ...flags], { home: home.path, input });
    expect((await line()).stdout).to.match(/^Opus 4\.8 · 5 h 63% until \w+ \d\d:\d\d · no session\n$/);
    const stored = JSON.parse(readFileSync(join(area, 'state', 'limits.json'), 'utf8')) as object;
    expect(stored).to.have.nested.property('assistants.claude-code.fiveHour.usedPercent', 63);
    const then = await line('--then', 'echo mine; cat; exit 3');
    expect(then).to.deep.equal({ ...QUIET, stdout: `mine\n${input}\nno session\n` });
    expect((await line('--then', 'true')).stdout).to.equal('no session\n');
    const failed = await line('--then', 'echo no such file >&2; exit 3');
    expect(failed.stdout).to.equal('--then failed (exit 3): no such file\nno session\n');
    expect((await line('--then=echo mine')).stdout).to.equal('mine\nno session\n');
    for (const flag of ['--then', '--format']) {
      const { code, stdout, stderr } = await line(flag, 'waybar', '--json');
      expect([code, stdout]).to.deep.equal([2, '']);
      expect(stderr).to.include(`"--json cannot be combined with ${flag}."`);
    }
  });

  it('prints no control characters from elsewhere on a terminal', async () => {
    await hook('session-start', { session_id: 'a\u001b[31mb\u0007', source: '\u001b]0;x\u0007y' });
    await hook('notification', { session_id: 'a\u001b[31mb\u0007', notification_type: '\u001b[2J' });
    const shown = await steward(['sessions'], { home: home.path });
    const detail = await steward(['sessions', 'show', '1'], { home: home.path });
    expect(detail.code).to.equal(0);
    expect(shown.stdout + detail.stdout).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(everything(area)).not.to.match(/\u001b|\\u001b/);
  });

  describe('with a stdin that', () => {
    const open = async (
      write: (stdin: NodeJS.WritableStream) => void,
      args = ['hook', 'prompt'],
    ): Promise<unknown> => {
      const child = spawn(process.execPath, [BIN, ...args], {
        env: cleanEnv(home.path),
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const ended = once(child, 'exit');
      child.stdin.on('error', () => child.stdin.destroy());
      write(child.stdin);
      const [code] = (await ended) as unknown[];
      child.stdin.destroy();
      return code;
    };

    // It ends although its stdin never does.
    it('stays silent and open', async () => {
      expect(await open(() => undefined)).to.equal(0);
    });

    it('sends everything and stays open', async () => {
      expect(await open((stdin) => stdin.write(hookJson('prompt')))).to.equal(0);
      expect(events()).to.have.length(1);
    });

    it('sends half and stays open', async () => {
      const text = hookJson('tool');
      const code = await open(
        (stdin) => stdin.write(text.slice(0, text.indexOf('SECRET') + 3)),
        ['hook', 'tool'],
      );
      expect(code).to.equal(0);
      expect(events()[0]).to.include({ tool: 'Bash', session: '0f0e9d1c-8a7b-4c6d-9e5f-a1b2c3d4e5f6' });
    });

    it('sends single bytes', async () => {
      const text = Buffer.from(hookJson('prompt', { cwd: '/ä' }));
      const code = await open((stdin) => {
        for (const byte of text) stdin.write(Buffer.from([byte]));
        stdin.end();
      });
      expect(code).to.equal(0);
      expect(events()).to.have.length(1);
    });

    it('has 10 MB', async () => {
      const big = { tool_name: 'Write', tool_response: { content: 'SECRET'.repeat(1_800_000) } };
      const result = await hook('tool', big, ['--strict']);
      expect(result).to.deep.equal(QUIET);
      expect(events()[0]).to.include({ tool: 'Write', type: 'tool-after' });
      expect(everything(area)).not.to.include('SECRET');
    });

    it('is closed, a file, a folder or /dev/null', async function () {
      if (process.platform === 'win32') this.skip();
      const path = join(home.path, 'hook.json');
      writeFileSync(path, hookJson('prompt'));
      const run = async (redirect: string): Promise<unknown> => {
        const line = `"${process.execPath}" "${BIN}" hook prompt ${redirect}`;
        const [code] = (await once(
          spawn('sh', ['-c', line], { env: cleanEnv(home.path), stdio: 'ignore' }),
          'exit',
        )) as unknown[];
        return code;
      };
      for (const redirect of ['<&-', '< /dev/null', `< "${home.path}"`])
        expect(await run(redirect), redirect).to.equal(0);
      expect(existsSync(join(area, 'state', 'work-events.jsonl'))).to.equal(false);
      expect(await run(`< "${path}"`)).to.equal(0);
      expect(events()).to.have.length(1);
    });
  });
});
