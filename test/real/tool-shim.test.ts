import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { userArea } from '../../src/lib/config/user-area';
import { emptySessions, type SessionsState } from '../../src/lib/sessions/session';
import { folder, withSlugs } from '../../src/lib/sessions/fold';
import { isNameless } from '../../src/lib/sessions/slug';
import { parseWorkEvent, type WorkEvent } from '../../src/lib/sessions/work-events';
import { toIso } from '../../src/lib/platform/time/clock';
import { cleanEnv, emptyHome, jsonOf, steward } from '../helpers/cli';
import { hookJson } from '../helpers/hooks';
import { SEED, seeded } from '../helpers/random';
import { startDaemon } from '../helpers/daemon';
import { requirePrograms } from '../helpers/real-part';
import { nodeEvent, places, shimEvent, toolEvent } from '../helpers/tool-events';

const SHELLS: Readonly<Record<string, readonly string[]>> = {
  dash: ['dash'],
  bash: ['bash', '--posix'],
  busybox: ['busybox', 'sh'],
};
const EACH = 40;
const TOOL = { cwd: '/', tool_use_id: 'toolu_1' };

describe('tool events through the installed shim (built)', function () {
  this.timeout(180_000);
  let home: ReturnType<typeof emptyHome>;
  const at = (...names: string[]): string => join(home.path, '.steward', ...names);
  const log = (): string => at('state', 'work-events.jsonl');
  beforeEach(async () => {
    home = emptyHome();
    mkdirSync(join(home.path, '.claude'));
    await steward(['hooks', 'install', '--no-skill'], { home: home.path });
    hook(hookJson('session-start', { cwd: home.path }), {}, ['sh'], 'session-start');
  });
  afterEach(() => home.remove());

  const hook = (
    input: string,
    env: Record<string, string | undefined> = {},
    shell: readonly string[] = ['sh'],
    verb = 'tool',
    assistant = 'claude-code',
  ): void => {
    const [file = '', ...args] = shell;
    const words = assistant === 'claude-code' ? [] : [assistant];
    const { status, stdout, stderr } = spawnSync(file, [...args, at('bin', 'steward-hook'), verb, ...words], {
      input,
      env: cleanEnv(home.path, env),
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '', stderr: '' });
  };
  const events = (path = log()): WorkEvent[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : (parseWorkEvent(line) ?? expect.fail(`not an event: ${line}`))));
  /** How many hooks Node.js ran. */
  const runs = (): number =>
    readFileSync(at('observability', 'hooks.jsonl'), 'utf8').trimEnd().split('\n').length;
  /** Runs a plain event until the shell takes it: one in a hundred is for Node.js. */
  const takesPlain = (): boolean => {
    const before = runs();
    hook(hookJson('tool', TOOL));
    if (runs() > before) hook(hookJson('tool', TOOL));
    return runs() < before + 2;
  };

  for (const [name, shell] of Object.entries(SHELLS)) {
    it(`produce the same sessions as Node.js alone, in ${EACH} payloads by ${name}`, function () {
      requirePrograms(this, { [name]: name, git: 'git' });
      const random = seeded(SEED);
      const where = places(home.path);
      const plan = nodeEvent(
        userArea({ platform: 'linux', env: cleanEnv(home.path), home: home.path }),
        Date.now,
      );
      const expected = [...events()];
      let [fast, easy] = [0, 0];
      for (let count = 0; count < EACH; count += 1) {
        const told = toolEvent(random, `session-${random.below(5)}`, where);
        const [had, ran] = [events().length, runs()];
        hook(told.payload, {}, shell, 'tool', told.assistant);
        const isFast = runs() === ran;
        const about = `seed ${SEED}: ${told.payload.slice(0, 3000)}`;
        if (isFast) expect(shimEvent(told), about).to.not.equal(undefined);
        if (isFast) fast += 1;
        const event = plan('tool', told.payload, told.assistant);
        const planned = event === undefined ? [] : [event];
        if (shimEvent(told) !== undefined && !isNameless(event?.slug ?? '')) easy += 1;
        expected.push(...planned);
        expect(events().slice(had).map(plain), about).to.deep.equal(planned.map(plain));
      }
      // One plain event in a hundred is for Node.js.
      expect(fast, `seed ${SEED}`).to.be.above(easy / 2);
      expect(sessionsOf(events()), `seed ${SEED}`).to.deep.equal(sessionsOf(expected));
    });
  }

  it('are recorded for every tool except those that write files, with time and repository and without text', () => {
    const repository = join(home.path, 'site');
    spawnSync('git', ['init', repository]);
    expect(takesPlain()).to.equal(true);
    const startMs = Math.floor(Date.now() / 1000) * 1000;
    hook(hookJson('tool', { ...TOOL, cwd: repository }));
    const last = events().at(-1);
    expect(last).to.include({ type: 'tool-after', repo: 'site', tool: 'Bash' });
    expect(Date.parse(last?.ts ?? '')).to.be.within(startMs, Date.now());
    expect(readFileSync(log(), 'utf8')).to.not.include('SECRET');
    const ran = runs();
    hook(hookJson('tool', { ...TOOL, tool_name: 'Write' }));
    expect(runs()).to.equal(ran + 1);
  });

  it('go to Node.js in a worktree of a restricted repository, which marks the session', () => {
    const [vault, tree] = [join(home.path, 'vault'), join(home.path, 'merger')];
    const git = (...args: string[]): unknown =>
      spawnSync('git', ['-C', vault, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args]);
    spawnSync('git', ['init', vault]);
    git('commit', '--allow-empty', '-m', 'x');
    git('worktree', 'add', tree);
    hook(hookJson('tool', { ...TOOL, cwd: tree }));
    expect(events().at(-1)).to.include({ repo: 'vault' });
    writeFileSync(join(vault, 'RESTRICTED.md'), '');
    hook(hookJson('tool', { ...TOOL, cwd: tree }));
    expect(events().at(-1))
      .to.include({ repo: null })
      .and.have.property('slug')
      .that.matches(/^restricted-/);
    const site = join(home.path, 'site');
    spawnSync('git', ['init', site]);
    hook(hookJson('tool', { ...TOOL, cwd: site }));
    expect(events().at(-1), 'after it moves elsewhere').to.include({ repo: null });
  });

  it('do not make a terminal wait for input', async function () {
    if (process.platform !== 'linux') this.skip();
    requirePrograms(this, { script: 'bsdutils' });
    expect(takesPlain()).to.equal(true);
    const words = ['-qec', `sh '${at('bin', 'steward-hook')}' tool`, '/dev/null'];
    const child = spawn('script', words, { env: cleanEnv(home.path), stdio: ['pipe', 'ignore', 'ignore'] });
    try {
      expect((await once(child, 'exit', { signal: AbortSignal.timeout(30_000) }))[0]).to.equal(0);
    } finally {
      child.kill();
    }
  });

  it('are complete if the shell passes them to Node.js, in any length and chunks', async () => {
    for (const size of [10, 70_000, 400_000]) {
      const payload = hookJson('tool', { ...TOOL, tool_name: 'Write', agent_id: `agent-${size}` });
      const input = payload.replace('SECRET-INPUT', 'x'.repeat(size));
      const child = spawn('sh', [at('bin', 'steward-hook'), 'tool'], {
        env: cleanEnv(home.path),
        stdio: 'pipe',
      });
      const errors: Error[] = [];
      child.stdin.on('error', (error) => errors.push(error));
      const ended = once(child, 'exit');
      child.stdin.write(input.slice(0, 200));
      setImmediate(() => child.stdin.end(input.slice(200)));
      expect((await ended)[0]).to.equal(0);
      expect(errors).to.deep.equal([]);
      expect(events().at(-1)).to.include({ tool: 'Write', agent: `agent-${size}` });
    }
  });

  it('start a new line after an incomplete one', () => {
    appendFileSync(log(), '{"ts":"2026');
    takesPlain();
    const lines = readFileSync(log(), 'utf8').trimEnd().split('\n');
    expect(parseWorkEvent(lines.at(-1) ?? '')).to.include({ type: 'tool-after', tool: 'Bash' });
    expect(lines.filter((line) => line.startsWith('{"ts":"2026') && line.length < 12)).to.have.length(1);
  });

  it('are not written through a link that replaces the log or its folder', () => {
    const target = join(home.path, 'elsewhere.jsonl');
    writeFileSync(target, '');
    renameSync(log(), `${log()}.kept`);
    symlinkSync(target, log());
    hook(hookJson('tool', TOOL));
    expect(readFileSync(target, 'utf8')).to.equal('');
    renameSync(at('state'), at('moved'));
    symlinkSync(at('moved'), at('state'));
    renameSync(join(at('moved'), 'work-events.jsonl.kept'), log());
    const before = events().length;
    hook(hookJson('tool', TOOL));
    expect(events()).to.have.length(before);
  });

  it("exclude steward's own calls, and go to the user area in the environment", () => {
    const before = events().length;
    hook(hookJson('tool', TOOL), { STEWARD_INTERNAL: '1' });
    expect(events()).to.have.length(before);
    const other = join(home.path, 'other');
    hook(hookJson('tool', TOOL), { STEWARD_HOME: other });
    expect(events()).to.have.length(before);
    expect(events(join(other, 'state', 'work-events.jsonl'))).to.have.length(1);
  });

  it('go to Node.js if the log is missing, which creates it for its user only', () => {
    renameSync(log(), `${log()}.old`);
    hook(hookJson('tool', TOOL));
    expect(events()).to.have.length(1);
    expect(statSync(log()).mode & 0o777).to.equal(0o600);
  });

  it('use the current shim once the daemon starts, unless it starts another steward', async () => {
    const shim = at('bin', 'steward-hook');
    const current = readFileSync(shim, 'utf8');
    const other = join(home.path, 'run.js');
    for (const [steward, is] of [
      ['/nowhere/run.js', 'current'],
      [other, 'kept'],
    ] as const) {
      const older = current.replace(/^steward=.*$/m, `steward=${steward}`);
      writeFileSync(shim, older);
      writeFileSync(other, '');
      await (await startDaemon({ home: home.path })).stop();
      expect(readFileSync(shim, 'utf8')).to.equal(is === 'current' ? current : older);
    }
  });

  it('appear in the sessions at once', async () => {
    const session = 'one-of-mine';
    for (const event of ['tool-before', 'tool'] as const)
      hook(hookJson(event, { ...TOOL, session_id: session, cwd: home.path }));
    const report = jsonOf(await steward(['sessions', '--json'], { home: home.path })) as SessionsState;
    expect(JSON.stringify(report)).to.include(session);
  });
});

function plain(event: WorkEvent): object {
  const { type, session, repo, tool, agent, artifact } = event;
  return JSON.parse(JSON.stringify({ type, session, repo, tool, agent, artifact })) as object;
}

/** The folded sessions; the times are those of the order, and every slug has the same day. */
function sessionsOf(events: readonly WorkEvent[]): SessionsState['sessions'] {
  const state = emptySessions();
  const { take } = folder(state, { dayOf: () => '2026-11-20' });
  withSlugs(events).forEach((event, index) =>
    take({
      ...event,
      ts: toIso(1_800_000_000_000 + index),
      slug: event.slug?.replace(/^\d{8}-/, '20261120-') ?? null,
    }),
  );
  return state.sessions;
}
