import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, jsonOf, withoutCode, steward, type StewardResult } from '../helpers/cli';
import { hookJson, verbOf, type RecordedEvent } from '../helpers/hooks';

const QUIET = { code: 0, stdout: '', stderr: '' };

describe('hooks and the status line on a faulty machine', () => {
  let home: ReturnType<typeof emptyHome>;
  let area: string;
  beforeEach(() => {
    home = emptyHome();
    area = join(home.path, '.steward');
  });
  afterEach(() => home.remove());

  const hook = (
    event: RecordedEvent,
    flags: string[] = [],
    env: Record<string, string | undefined> = {},
    changes: Record<string, unknown> = {},
  ): Promise<StewardResult> =>
    steward(['hook', verbOf(event), ...flags], {
      home: home.path,
      env,
      ownProcess: true,
      input: hookJson(event, { cwd: home.path, ...changes }),
    });
  /** A process that sees half of another's line begins with a line feed, so a line may be empty. */
  const linesOf = (name: string): Record<string, unknown>[] =>
    readFileSync(join(area, name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const write = (name: string, text: string): void => {
    mkdirSync(join(area, name, '..'), { recursive: true });
    writeFileSync(join(area, name), text);
  };

  const kindsLeft = (): unknown[] =>
    readdirSync(join(area, 'state', 'spool'))
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map(
        (name) =>
          (JSON.parse(readFileSync(join(area, 'state', 'spool', name), 'utf8')) as { kind: string }).kind,
      );

  it('exit when folders cannot be created', async function () {
    if (process.platform !== 'linux') this.skip();
    const places: Record<string, string | undefined>[] = [
      { STEWARD_HOME: '/proc/zz' },
      { STEWARD_HOME: undefined, HOME: '/proc/1/zz' },
      { XDG_STATE_HOME: '/proc/zz' },
    ];
    for (const env of places) {
      expect(await hook('stop', [], env), JSON.stringify(env)).to.deep.equal(QUIET);
      const strict = await hook('session-start', ['--strict'], env);
      expect(strict, JSON.stringify(env)).to.include({ code: 8 });
      expect(strict.stderr).to.contain('Could not create the folder /proc/');
      const capture = await steward(['sense', 'capture'], { home: home.path, env });
      expect(capture, JSON.stringify(env)).to.include({ code: 8, stdout: '' });
    }
    // The events themselves need no place for locks.
    expect(linesOf('state/work-events.jsonl').map(({ type }) => type)).to.deep.equal([
      'stop',
      'session-start',
    ]);
  });

  it('record their event when their log is not writable', async () => {
    write('observability', 'a file in place of the folder');
    expect(await hook('prompt')).to.deep.equal(QUIET);
    expect(await hook('prompt', ['--strict'])).to.include({ code: 3 });
    expect(linesOf('state/work-events.jsonl')).to.have.length(2);
  });

  it('run without a writable code cache', async function () {
    if (process.platform !== 'linux') this.skip();
    write('config.yaml', 'sessions:\n  tab: false\n');
    write('sense/config.json', '{}');
    const env = { XDG_CACHE_HOME: '/proc/zz' };
    expect(await hook('stop', ['--strict'], env)).to.deep.equal(QUIET);
    const line = await steward(['statusline'], { home: home.path, env, ownProcess: true });
    expect(line).to.include({ code: 0, stderr: '' });
    expect(linesOf('state/work-events.jsonl')).to.have.length(1);
  });

  it('record their event with any damage to the code cache, and rewrite the cache', async function () {
    if (process.platform !== 'linux') this.skip();
    this.timeout(120_000);
    const code = join(home.path, '.cache', 'steward', 'code');
    withoutCode(home.path);
    await hook('stop');
    const filesOf = (): string[] =>
      readdirSync(code, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.bin'));
    const names = filesOf().sort();
    const good = names.map((name) => readFileSync(join(code, name)));
    const flipped = (at: number) => (bytes: Buffer) => {
      const damaged = Buffer.from(bytes);
      // A page of rubbish, as a disk leaves it.
      for (let i = Math.floor(at * bytes.length), end = Math.min(i + 512, bytes.length); i < end; i += 1)
        damaged[i] = (damaged[i] ?? 0) ^ 0x5a;
      return damaged;
    };
    const damages: ((bytes: Buffer) => Buffer)[] = [
      ...Array.from({ length: 20 }, (_, i) => flipped(i / 20)),
      ...[0, 1, 100, 20_000].map((length) => (bytes: Buffer) => bytes.subarray(0, length)),
      (bytes) => Buffer.alloc(bytes.length),
      (bytes) => Buffer.concat([bytes.subarray(0, bytes.length >> 1), Buffer.alloc(bytes.length >> 1)]),
    ];
    expect(names.some((name) => name.endsWith('hook.bin'))).to.equal(true);
    let calls = 1;
    for (const damage of damages) {
      names.forEach((name, i) => writeFileSync(join(code, name), damage(good[i] ?? Buffer.alloc(0))));
      expect(await hook('stop')).to.deep.equal(QUIET);
      calls += 1;
      expect(linesOf('state/work-events.jsonl')).to.have.length(calls);
      names.forEach((name, i) => {
        const size = readFileSync(join(code, name)).length;
        expect(size, name).to.be.within((good[i]?.length ?? 0) * 0.9, (good[i]?.length ?? 0) * 1.1);
        expect(readFileSync(join(code, name)).equals(damage(good[i] ?? Buffer.alloc(0)))).to.equal(false);
      });
    }
  });

  describe('with captures that cannot be sent', () => {
    interface Part {
      id: string;
      state: string;
      found: string;
      fix: string | null;
    }
    const queue = async (): Promise<Part | undefined> => {
      const { parts } = jsonOf(await steward(['status', '--json'], { home: home.path })) as { parts: Part[] };
      return parts.find(({ id }) => id === 'queue');
    };
    const lay = (index: number, more: object = {}): void => {
      const id = `20261120T080000000Z-${index.toString(16).padStart(12, '0')}`;
      const at = '2026-11-20T08:00:00.000Z';
      const capture = { kind: 'reminder', text: `thing ${index}`, key: `k${index}` };
      const left = { version: 1, id, kind: 'prompt-matched', at, machine: 'ffffffffffff', attempts: 0, session: 's', capture };
      write(`state/spool/${id}.prompt-matched.json`, JSON.stringify({ ...left, ...more }));
    }; // prettier-ignore

    it('a full queue refuses more, reported to the user and in the log', async () => {
      write('config.yaml', 'WORK:\n  repo: ann/work\n');
      for (let index = 0; index < 1000; index += 1) lay(index);
      const told = await hook('prompt', [], {}, { prompt: 'remind me to call Ann tomorrow' });
      expect(told).to.include({ code: 0, stderr: '' });
      expect(told.stdout).to.contain(
        'steward could not save the request in this prompt: 1000 captures are waiting',
      );
      expect(linesOf('observability/hooks.jsonl').at(-1)).to.include({ ok: false, error: 'unavailable' });
      expect(kindsLeft()).to.have.length(1000);
      const row = await queue();
      expect(row).to.include({ state: 'warning' });
      expect(row?.found).to.equal(
        '1000 hook events waiting; the queue is full, and new ones are refused · 1000 from another machine',
      );
    });

    it('entries of another machine are shown, and given up with a reason', async () => {
      lay(1);
      expect(await queue()).to.include({
        state: 'warning',
        found: '1 hook event waiting · 1 from another machine',
      });
      await steward(['work', 'deliver'], { home: home.path });
      const reason = 'queued by another machine (ffffffffffff), which did not send it within a day';
      expect(await queue()).to.include({
        state: 'warning',
        found: `1 failed permanently: ${reason} (1)`,
        fix: 'steward work retry',
      });
      const retried = jsonOf(await steward(['work', 'retry', '--json'], { home: home.path }));
      expect(retried).to.include({ retried: 1, done: 0, dead: 1 });
      expect((await queue())?.found).to.equal('1 failed permanently: work tracking is not set up (1)');
    });
  });

  describe('with an unreadable state', () => {
    const spoils: [name: string, spoil: () => void][] = [
      [
        'a folder for the live part',
        () => mkdirSync(join(area, 'state', 'sessions-live.json'), { recursive: true }),
      ],
      ['a newer live part', () => write('state/sessions-live.json', '{"version":99,"sessions":{}}')],
      ['a newer state', () => write('state/sessions.json', '{"version":99,"sessions":{}}')],
      [
        'a newer state and live part',
        () => {
          write('state/sessions.json', '{"version":99,"sessions":{}}');
          write('state/sessions-live.json', '{"version":99,"sessions":{}}');
        },
      ],
    ];
    for (const [name, spoil] of spoils) {
      it(`${name}: no event or queued work is lost, and each is notified`, async () => {
        spoil();
        for (const event of ['session-start', 'prompt', 'tool', 'stop', 'session-end'] as const)
          expect(await hook(event), event).to.deep.equal(QUIET);
        expect(linesOf('state/work-events.jsonl').map(({ type }) => type)).to.deep.equal([
          'session-start',
          'prompt',
          'tool-after',
          'stop',
          'session-end',
        ]);
        expect(kindsLeft()).to.deep.equal(['turn-ended', 'session-ended']);
        expect(linesOf('observability/hooks.jsonl')[0]).to.include({
          hook: 'session-start',
          ok: false,
          error: 'config',
        });
      });
    }

    it('queues work even if the log is a folder', async () => {
      mkdirSync(join(area, 'state', 'work-events.jsonl'), { recursive: true });
      for (const event of ['session-start', 'stop', 'session-end'] as const)
        expect(await hook(event), event).to.deep.equal(QUIET);
      expect(kindsLeft()).to.deep.equal(['turn-ended', 'session-ended']);
    });

    it('the status line works without its bundle, and reports a problem in one line and its exit code', async () => {
      const line = (flags: string[] = []): Promise<StewardResult> =>
        steward(['statusline', ...flags], { home: home.path });
      mkdirSync(join(area, 'state', 'sessions-live.json'), { recursive: true });
      expect(await line()).to.deep.equal({ ...QUIET, stdout: 'no session\n' });
      mkdirSync(join(area, 'state', 'work-events.jsonl'));
      const told = await line();
      expect(told).to.include({ code: 3, stdout: '' });
      expect(told.stderr.trimEnd().split('\n')).to.deep.equal([
        `${join(area, 'state', 'work-events.jsonl')} is not a regular file.`,
        'Move or rename it.',
      ]);
      const json = await line(['--json']);
      expect(json).to.include({ code: 3, stdout: '' });
      expect(JSON.parse(json.stderr)).to.have.nested.property('error.kind', 'config');
      write('state/sessions.json', '{"version":99,"sessions":{}}');
      expect((await line()).stderr).to.contain('written by a newer steward');
    });
  });

  it('prints no stack trace for an uncaught error', async () => {
    // Hot bundles that cannot be run at all.
    const product = join(home.path, 'product');
    cpSync(join(BIN, '..'), join(product, 'bin'), { recursive: true });
    cpSync(join(BIN, '..', '..', 'dist'), join(product, 'dist'), { recursive: true });
    for (const name of ['hook.js', 'statusline.js']) writeFileSync(join(product, 'dist', name), 'no code');
    const run = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
      spawnSync(process.execPath, [join(product, 'bin', 'run.js'), ...args], {
        env: cleanEnv(home.path),
        encoding: 'utf8',
        input: '',
      });
    expect(run('hook', 'stop')).to.include({ status: 0, stdout: '', stderr: '' });
    const told = run('statusline');
    expect(told).to.include({ status: 1, stdout: '' });
    expect(told.stderr.trimEnd().split('\n')).to.have.length(1);
    expect(JSON.parse(run('statusline', '--json').stderr)).to.have.nested.property('error.kind', 'internal');
  });

  it('a hook exits 0 if stdout is a full disk, and records it', function () {
    if (process.platform !== 'linux') this.skip();
    const full = openSync('/dev/full', 'w');
    const run = (...args: string[]): number | null =>
      spawnSync(process.execPath, [BIN, 'hook', ...args], {
        env: cleanEnv(home.path, { CLAUDE_CODE_VERSION: '2.1.141' }),
        input: hookJson('session-start', { cwd: home.path }),
        stdio: ['pipe', full, 'pipe'],
      }).status;
    try {
      expect(run('session-start')).to.equal(0);
      expect(run('session-start', '--dry-run')).to.equal(0);
      expect(run('session-start', '--strict')).to.equal(8);
      write('config.yaml', '# read anew\n');
      expect(run('session-start')).to.equal(0);
    } finally {
      closeSync(full);
    }
    expect(linesOf('state/work-events.jsonl')).to.have.length(3);
    expect(linesOf('observability/hooks.jsonl')).to.have.length(3);
    for (const line of linesOf('observability/hooks.jsonl'))
      expect(line).to.include({ ok: false, error: 'unavailable ENOSPC' });
  });

  it('a hook creates no user area in the current folder', async () => {
    const env = { STEWARD_HOME: 'relative' };
    expect(await hook('session-start', [], env)).to.deep.equal(QUIET);
    expect(await hook('session-start', ['--strict'], env)).to.include({ code: 3, stdout: '' });
    const capture = await steward(['sense', 'capture'], { home: home.path, env });
    expect(capture).to.include({ code: 3, stdout: '' });
    expect(capture.stderr).to.contain('STEWARD_HOME is not an absolute path: relative');
    expect(readdirSync(home.path)).not.to.include('relative');
  });

  it('a session used by many processes at once records the end of each turn', async function () {
    this.timeout(120_000);
    const ids = Array.from({ length: 20 }, (_, index) => `s-${index}`);
    await Promise.all(ids.map((id) => hook('session-start', [], {}, { session_id: id })));
    for (let time = 0; time < 2; time += 1)
      await Promise.all(ids.map((id) => hook('stop', [], {}, { session_id: id })));
    expect(kindsLeft()).to.have.length(40);
    expect(linesOf('state/work-events.jsonl')).to.have.length(60);
  });
});
