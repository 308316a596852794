import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import type { ErrorBody } from '../../src/lib/errors';
import { addDays, dayOf } from '../../src/lib/platform/time/time';
import {
  emptyHome,
  jsonOf,
  steward,
  type StewardOptions,
  type StewardResult,
  withoutCode,
} from '../helpers/cli';
import { bareEnvironment } from '../helpers/git';
import { filesIn } from '../helpers/sense';

const ROOT = process.getuid?.() === 0;
/** The user that nobody is: for whom permissions hold, when the tests run as root. */
const NOBODY = 65534;
const SPACE = 'tmpfs mount needs root';

describe('sense (built)', function () {
  this.timeout(120_000);
  let home: { path: string; remove: () => void };
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());

  const area = (...names: string[]): string => join(home.path, '.steward', ...names);
  const run = (args: readonly string[], options: StewardOptions = {}) =>
    steward(args, { home: home.path, ...options });
  const put = (name: string, text: string): string => {
    const path = area(name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const today = (): string => new Date().toISOString().slice(0, 10);
  const event = (app: string): string =>
    JSON.stringify({
      ts: new Date().toISOString(),
      type: 'app-focus',
      source: 'appFocus',
      app,
      detail: { intervalSec: 120 },
    });

  /** Every error is one of ours: said in words with what to do, no stack, and the same as JSON. */
  async function expectError(
    args: readonly string[],
    code: number,
    words: RegExp,
    options: StewardOptions = {},
  ): Promise<ErrorBody['error']> {
    const text = await run(args, options);
    expect(text.code, `${args.join(' ')}: ${text.stderr}`).to.equal(code);
    expect(text.stdout).to.equal('');
    expect(text.stderr).to.match(words);
    expect(text.stderr).not.to.match(/ {4}at |bug in steward|undefined|\[object/);
    const json = await run([...args, '--json'], options);
    expect(json).to.include({ code, stdout: '' });
    const { error } = JSON.parse(json.stderr) as ErrorBody;
    expect(error.kind).not.to.equal('internal');
    expect(error.hint ?? '').not.to.equal('');
    return error;
  }

  const good = (result: StewardResult): StewardResult => {
    expect(result.code, result.stderr).to.equal(0);
    return result;
  };

  it('sets the kind of an application, and shows another day', async () => {
    good(await run(['sense', 'init']));
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const event = {
      ts: `${yesterday}T11:00:00.000Z`,
      type: 'app-focus',
      source: 'appFocus',
      app: 'Own Tool',
    };
    mkdirSync(join(home.path, '.steward', 'sense', 'events'), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(home.path, '.steward', 'sense', 'events', `${yesterday}.jsonl`),
      `${JSON.stringify(event)}\n`,
    );
    const kindOf = async () => {
      const record = jsonOf(good(await run(['sense', 'today', '--of', yesterday, '--json'])));
      return (record as { apps: { kind: string }[] }).apps[0]?.kind;
    };
    expect(await kindOf()).to.equal('neutral');
    good(await run(['sense', 'rollup', yesterday]));
    const explain = good(await run(['sense', 'classify', 'explain', 'Own Tool'])).stdout;
    expect(explain).to.include("steward sense classify set 'Own Tool' creation");
    const set = await run([
      'sense',
      'classify',
      'set',
      'Own Tool',
      'creation',
      '--of',
      `since ${yesterday}`,
      '--json',
    ]);
    expect(jsonOf(good(set))).to.deep.include({ app: 'Own Tool', rolled: [yesterday], kept: [] });
    expect(await kindOf()).to.equal('creation');
    const rules = readFileSync(join(home.path, '.steward', 'sense', 'classify.yaml'), 'utf8');
    expect(rules).to.match(/^# Which applications.*- \{app: "Own Tool", kind: creation\}\n$/s);
    const [recorded] = jsonOf(good(await run(['sense', 'recent', '--json']))) as {
      creationMinutes: number;
    }[];
    expect(recorded?.creationMinutes).to.equal(2);
  });

  it('goes through a first day: capture, today, status, sources, rollup, recent, purge', async () => {
    const repo = join(home.path, 'app');
    mkdirSync(repo);
    const git = (...args: string[]): void => {
      execFileSync('git', args, { cwd: repo, env: bareEnvironment(home.path), stdio: 'ignore' });
    };
    git('init', '-q', '-b', 'main');
    git('config', 'user.email', 'me@example.org');
    git('config', 'user.name', 'Me');
    git('commit', '-q', '--allow-empty', '-m', 'First');
    good(await run(['sense', 'init']));
    good(await run(['config', 'set', 'sense.repos', repo]));
    put(
      'state/work-events.jsonl',
      `${JSON.stringify({ ts: new Date().toISOString(), type: 'subagent-stop', session: 's1' })}\n`,
    );

    const captured = jsonOf(good(await run(['sense', 'capture', '--json'])));
    expect(captured).to.have.all.keys('captured', 'ts', 'events', 'sources', 'rolled', 'pruned', 'problems');
    expect(captured).to.deep.include({ captured: true, events: 2, problems: [] });
    expect(jsonOf(good(await run(['sense', 'capture', '--json'])))).to.include({ events: 0 });

    const record = jsonOf(good(await run(['sense', 'today', '--json'])));
    expect(record).to.have.all.keys(
      ...['date', 'timezone', 'version', 'generatedAt', 'final', 'totalMinutes', 'creationMinutes'],
      ...[
        'consumptionMinutes',
        'neutralMinutes',
        'apps',
        'hours',
        'commits',
        'sessions',
        'ledger',
        'narrative',
        'goalTags',
      ],
    );
    expect(record).to.deep.include({
      date: today(),
      final: false,
      commits: { count: 1, repos: [{ repo: 'app', commits: 1 }] },
      sessions: { count: 1, items: [{ session: 's1', events: 1 }] },
      narrative: null,
      goalTags: {},
    });

    const status = jsonOf(good(await run(['sense', 'status', '--json'])));
    expect(status).to.have.all.keys(
      ...['enabled', 'version', 'pollIntervalSec', 'eventsToday', 'lastCaptureTs', 'lastRecord'],
      ...[
        'quarantined',
        'clockJumps',
        'sources',
        'scheduler',
        'repos',
        'retentionDays',
        'damagedDays',
        'lostDays',
      ],
    );
    expect(status).to.include({ enabled: true, eventsToday: 2, quarantined: 0, lastRecord: null });
    const rows = jsonOf(good(await run(['sense', 'sources', '--json']))) as { id: string; state: string }[];
    expect(rows.map(({ id }) => id)).to.deep.equal(['appFocus', 'git', 'agentSession', 'web']);
    // Without a desktop, the terminals of whoever runs the test are seen.
    expect(rows.map(({ state }) => state).slice(1)).to.deep.equal(['ok', 'idle', 'idle']);
    expect(rows[0]?.state).to.be.oneOf(['ok', 'idle']);

    expect(jsonOf(good(await run(['sense', 'rollup', '--json'])))).to.include({
      date: today(),
      final: false,
    });
    expect(jsonOf(good(await run(['sense', 'recent', '--json'])))).to.have.length(1);
    const dry = await run(['sense', 'purge', '--repo', 'app', '--json']);
    expect(jsonOf(good(dry))).to.deep.include({ dryRun: true, events: 1 });
    const purged = await run(['sense', 'purge', '--all', '--yes', '--json']);
    expect(jsonOf(good(purged))).to.deep.include({ dryRun: false, events: 2, removed: [today()] });
    expect(jsonOf(good(await run(['sense', 'recent', '--json'])))).to.deep.equal([]);
    expect(readFileSync(area('goals', 'state.json'), 'utf8')).to.include('"commits": 0');
  });

  it('writes the default configuration once', async () => {
    good(await run(['sense', 'init']));
    const config = readFileSync(area('config.yaml'), 'utf8');
    expect(config).to.include('\n# sense:\n#   enabled: true').and.include('\n#   retentionDays: 30');
    expect(jsonOf(good(await run(['sense', 'init', '--json'])))).to.deep.equal({
      config: area('config.yaml'),
      created: false,
    });
    expect(readFileSync(area('config.yaml'), 'utf8')).to.equal(config);
    rmSync(area('sense', 'set-up.json'));
    const changed = put('sense/config.json', '{"retentionDays": 7}');
    expect(jsonOf(good(await run(['sense', 'init', '--json'])))).to.deep.include({ created: false });
    expect(readFileSync(changed, 'utf8')).to.equal('{"retentionDays": 7}');
  });

  it('reads the goals for each record, and never writes them', async () => {
    put(`sense/events/${today()}.jsonl`, `${event('Code')}\n`);
    for (const text of ['Ship it', 'Ship it twice']) {
      const page = `# Active Goals\n\n- **G1**: ${text}\n  reported: half\n`;
      const goals = put('goals/goals.md', page);
      good(await run(['sense', 'rollup']));
      const state = JSON.parse(readFileSync(area('goals', 'state.json'), 'utf8')) as Record<string, unknown>;
      expect(state['goals']).to.deep.equal([{ id: 'G1', text, reported: 'half', target: null }]);
      expect(state).to.have.nested.property('observed.last7Days.minutes', 2);
      expect(readFileSync(goals, 'utf8')).to.equal(page);
    }
  });

  it('prints one document per command with --json', async () => {
    for (const words of ['init', 'capture', 'today', 'recent', 'status', 'sources', 'version', 'rollup'])
      expect(jsonOf(good(await run(['sense', words, '--json']))), words).to.satisfy((value: unknown) => typeof value === 'object');
    expect(jsonOf(good(await run(['sense', 'classify', 'explain', 'Code', '--json'])))).to.include({ kind: 'creation' });
    expect(jsonOf(good(await run(['sense', 'export', '--json'])))).to.not.equal(undefined);
  }); // prettier-ignore

  it('prints no colour in a pipe or with NO_COLOR, and fits 80 columns', async () => {
    put(`sense/events/${today()}.jsonl`, `${event('Code')}\n${event('x'.repeat(200))}\n`);
    for (const command of ['today', 'status', 'sources', 'recent', 'capture']) {
      const plain = good(await run(['sense', command])).stdout;
      expect(plain, command).not.to.include('\u001b');
      for (const line of plain.split('\n')) expect(line.length, line).to.be.at.most(80);
      const env = { FORCE_COLOR: '1', NO_COLOR: '1' };
      expect(good(await run(['sense', command], { env })).stdout, command).not.to.include('\u001b');
    }
    const forced = await run(['sense', 'today'], { env: { FORCE_COLOR: '1' } });
    expect(good(forced).stdout).to.include('\u001b');
  });

  it('cleans captured names', async () => {
    const hostile = 'Evil\u001b]0;owned\u0007\u202e\u009b2J';
    put(`sense/events/${today()}.jsonl`, `${event(hostile)}\n`);
    const { stdout } = good(await run(['sense', 'today'], { env: { FORCE_COLOR: '1' } }));
    expect(stdout).to.include('Evil');
    expect(stdout.replace(/\u001b\[[\d;]*m/g, '')).not.to.match(/[\u001b\u0007\u202e\u009b]/);
  });

  it('stores each event once in concurrent captures', async () => {
    put(
      'state/work-events.jsonl',
      `${JSON.stringify({ ts: new Date().toISOString(), type: 'subagent-stop', session: 's1' })}\n`,
    );
    const results = await Promise.all([1, 2, 3].map(() => run(['sense', 'capture', '--json'])));
    const events = results.map((result) => (jsonOf(good(result)) as { events: number }).events);
    expect(events.reduce((a, b) => a + b)).to.equal(1);
    const log = readFileSync(area('sense', 'events', `${today()}.jsonl`), 'utf8');
    expect(log.trim().split('\n')).to.have.length(1);
  });

  it('writes nothing when disabled', async () => {
    put('sense/config.json', '{"enabled": false}');
    rmSync(join(home.path, '.cache'), { recursive: true, force: true });
    const env = { STEWARD_NO_CODE_CACHE: '1' };
    const before = filesIn(home.path);
    expect(jsonOf(good(await run(['sense', 'capture', '--json'], { env })))).to.include({ captured: false });
    expect(good(await run(['sense', 'capture'], { env })).stdout).to.match(/off|disabled|enabled/i);
    expect(filesIn(home.path)).to.deep.equal(before);
    expect(existsSync(area('sense', 'events'))).to.equal(false);
  });

  it('reads a day in words in your time zone', async () => {
    // Always of another day, whatever the zone of the machine.
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      put('config.yaml', `timezone: ${zone}\n`);
      const yesterday = (): string => addDays(dayOf(Date.now(), zone), -1);
      const before = yesterday();
      const { stderr } = await run(['sense', 'rollup', 'yesterday']);
      expect([before, yesterday()]).to.include(/Nothing is stored for (\S+?)\.?$/m.exec(stderr)?.[1]);
    }
  });

  it('names a period without recorded days', async () => {
    const { code, stdout } = await run(['sense', 'recent', '--of', '2020']);
    expect([code, stdout]).to.deep.equal([0, 'No day of "2020" is recorded.\n']);
  });

  describe('invalid arguments', () => {
    const mistakes: [args: string[], code: number, words: RegExp][] = [
      [['sense', 'rollup', '2026-02-30'], 2, /Invalid day "2026-02-30"/],
      [['sense', 'rollup', 'yesterday'], 5, /Nothing is stored for \d{4}-\d\d-\d\d/],
      [['sense', 'rollup', 'tomorrow'], 2, /is in the future/],
      [['sense', 'export', '--of', 'never'], 2, /Invalid day "never"/],
      [['sense', 'export', '--format', 'csv', '--json'], 2, /--json cannot be combined with --format csv/],
      [['sense', 'rollup', '2999-01-01'], 2, /2999-01-01 is in the future/],
      [['sense', 'rollup', '2020-01-01'], 5, /Nothing is stored for 2020-01-01/],
      [['sense', 'recent', '--days', '0'], 2, /1 to 366/],
      [['sense', 'recent', '--days', '367'], 2, /1 to 366/],
      [['sense', 'recent', '--days', 'x'], 2, /days/],
      [['sense', 'recent', '--days', '1.5'], 2, /days/],
      [['sense', 'recent', '--days', '-1'], 2, /days|1 to 366/],
      [['sense', 'purge'], 2, /Choose what to remove/],
      [['sense', 'purge', '--of', '2026-22-11'], 2, /Use the format YYYY-MM-DD/],
      [['sense', 'purge', '--of', 'before 12.11.2026'], 2, /Use the format YYYY-MM-DD/],
      [['sense', 'purge', '--of', 'tomorrow'], 2, /\d-\d\d, which is in the future/],
      [['sense', 'today', '--of', '2026-13-01'], 2, /Use the format YYYY-MM-DD/],
      [['sense', 'purge', '--all', '--app', 'x'], 2, /--all/],
      [['sense', 'capture', '--nope'], 2, /Unknown flag --nope/],
      [['sense', 'today', 'surplus'], 2, /does not take "surplus"/],
      [['sense', 'classify', 'explain'], 2, /needs APP/],
      [['sense', 'classify', 'explain', ''], 2, /application name is empty/],
      [['sense', 'classify', 'set', 'site:https://docs.rs', 'creation'], 2, /Invalid site "https:/],
      [['goals', 'add', 'Learn', '--site', 'localhost'], 2, /Invalid site "localhost"/],
    ];
    for (const [args, code, words] of mistakes) {
      it(`steward ${args.join(' ')}: ${code}`, async () => {
        await expectError(args, code, words);
        expect(existsSync(area()), 'nothing is written').to.equal(false);
      });
    }
  });

  describe('an invalid configuration', () => {
    it('captures and writes nothing, and reports all problems', async () => {
      put(
        'sense/config.json',
        '{"enabled":"yes","pollIntervalSec":-5,"repos":["relative/path"],"retentionDays":0}',
      );
      put('config.yaml', 'timezone: Mars/Olympus\n');
      const before = filesIn(area());
      const { message } = await expectError(['sense', 'capture'], 3, /4|5 problems/);
      for (const word of ['enabled', 'pollIntervalSec', 'repos', 'retentionDays', 'timezone'])
        expect(message, word).to.include(word);
      for (const command of ['today', 'status', 'sources', 'rollup', 'init'])
        await expectError(['sense', command], 3, /configuration has \d+ problems/);
      await expectError(['up', '--yes'], 3, /configuration has \d+ problems/);
      expect(filesIn(area())).to.deep.equal(before);
    });

    it('is named if it is not JSON, empty, binary, a folder or a link', async () => {
      for (const text of ['{', '', '\u0000\u0001', '[]', 'null']) {
        put('sense/config.json', text);
        await expectError(['sense', 'capture'], 3, /sense.config\.json/);
      }
      rmSync(area('sense', 'config.json'));
      mkdirSync(area('sense', 'config.json'));
      await expectError(['sense', 'capture'], 3, /sense.config\.json/);
      rmSync(area('sense', 'config.json'), { recursive: true });
      symlinkSync(put('elsewhere.json', '{}'), area('sense', 'config.json'));
      await expectError(['sense', 'capture'], 3, /symbolic link/);
    });

    it('is named for the classification', async () => {
      put('sense/classify.yaml', '- app: Code\n  kind: joy\n');
      await expectError(['sense', 'today'], 3, /classify\.yaml/);
    });
  });

  describe('damaged files', () => {
    const log = (): string => area('sense', 'events', `${today()}.jsonl`);
    const isOf = async (command: string): Promise<StewardResult> =>
      good(await run(['sense', command, '--json']));

    it('invalid lines are counted', async () => {
      const bytes = Buffer.concat([
        Buffer.from(`${event('Code')}\nnull\n\n`),
        Buffer.from([0, 255, 254, 10]),
        Buffer.from(`{"pad":"${'x'.repeat(100_000)}"}\n{"ts":"2026`),
      ]);
      put(`sense/events/${today()}.jsonl`, '');
      expect(jsonOf(await isOf('today'))).to.include({ totalMinutes: 0 });
      writeFileSync(log(), bytes);
      expect(jsonOf(await isOf('today'))).to.include({ totalMinutes: 2 });
      expect(jsonOf(await isOf('status'))).to.include({ eventsToday: 1, quarantined: 4 });
      await isOf('capture');
      expect(jsonOf(await isOf('today'))).to.include({ totalMinutes: 2 });
    });

    it('a log of 100 MB is refused, but captures work', async () => {
      await isOf('capture');
      put(`sense/events/${today()}.jsonl`, `${event('Code')}\n`);
      truncateSync(log(), 100 * 1024 * 1024);
      await expectError(['sense', 'today'], 3, /is 100 MiB/);
      await expectError(['sense', 'rollup'], 3, /is 100 MiB/);
      await isOf('capture');
    });

    it('a folder or link in place of a file is named', async () => {
      mkdirSync(log(), { recursive: true, mode: 0o700 });
      await expectError(['sense', 'today'], 3, /not a regular file|folder/);
      rmSync(area('sense'), { recursive: true });
      symlinkSync(put('other.jsonl', ''), (mkdirSync(dirname(log()), { recursive: true }), log()));
      await expectError(['sense', 'today'], 3, /symbolic link/);
      await expectError(['sense', 'purge', '--all', '--yes'], 3, /symbolic link/);
      rmSync(area('sense'), { recursive: true });
      mkdirSync(area('sense', 'state.json'), { recursive: true });
      await expectError(['sense', 'status'], 3, /state\.json/);
      await expectError(['sense', 'capture'], 3, /state\.json/);
      rmSync(area('sense'), { recursive: true });
      mkdirSync(area('elsewhere'));
      mkdirSync(area('sense'));
      symlinkSync(area('elsewhere'), area('sense', 'events'));
      await expectError(['sense', 'capture'], 3, /events is a symbolic link/);
      expect(filesIn(area('elsewhere'))).to.deep.equal({});
      rmSync(area('sense'), { recursive: true });
      put('sense', 'a file');
      await expectError(['sense', 'capture'], 3, /sense/);
    }); // prettier-ignore

    it('a state of a newer version is not changed', async () => {
      const path = put('sense/state.json', '{"version": 99}');
      for (const command of ['capture', 'today', 'status', 'rollup'])
        await expectError(['sense', command], 3, /newer steward/);
      expect(readFileSync(path, 'utf8')).to.equal('{"version": 99}');
    });

    it('a damaged state is replaced and reported', async () => {
      put('sense/state.json', '{"vers');
      const { stderr } = good(await run(['sense', 'capture']));
      expect(stderr).to.match(/state\.json was damaged/);
      expect(readFileSync(area('sense', 'quarantine', 'state.json'), 'utf8')).to.equal('{"vers');
    });
  });

  describe('machine failures', () => {
    /** As a user for whom permissions hold. */
    function unprivileged(): StewardOptions {
      if (!ROOT) return {};
      withoutCode(home.path);
      execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home.path]);
      return { uid: NOBODY };
    }

    it('unreadable files and folders: 8', async function () {
      if (process.platform === 'win32') this.skip();
      put(`sense/events/${today()}.jsonl`, `${event('Code')}\n`);
      chmodSync(area('sense', 'events', `${today()}.jsonl`), 0);
      const options = unprivileged();
      await expectError(['sense', 'today'], 8, /Permission denied: .*events/, options);
      put('sense/config.json', '{}');
      chmodSync(area('sense', 'config.json'), 0);
      if (ROOT) unprivileged();
      const text = await run(['sense', 'capture'], options);
      expect(text.code, text.stderr).to.be.oneOf([3, 8]);
      expect(text.stderr)
        .to.match(/config\.json/)
        .and.not.match(/bug in steward/);
    });

    it('a read-only user area: 8', async function () {
      if (process.platform === 'win32') this.skip();
      mkdirSync(area(), { mode: 0o700 });
      chmodSync(area(), 0o500);
      const options = unprivileged();
      await expectError(['sense', 'capture'], 8, /Permission denied: .*\.steward/, options);
      await expectError(['sense', 'init'], 8, /Permission denied: .*\.steward/, options);
      expect(good(await run(['sense', 'today'], options)).stdout, 'reading works').not.to.equal('');
      chmodSync(area(), 0o700);
    });

    it('a full disk: 8, nothing is lost, and captures resume', async function () {
      if (!ROOT || process.platform !== 'linux') {
        console.log(`      skipped: ${SPACE}`);
        this.skip();
      }
      mkdirSync(area());
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', area()], {
          stdio: 'pipe',
        });
      } catch {
        console.log('      skipped: this system does not let a tmpfs be mounted');
        this.skip();
      }
      try {
        const session = (id: string): string =>
          `${JSON.stringify({ ts: new Date().toISOString(), type: 'subagent-stop', session: id })}\n`;
        put('state/work-events.jsonl', session('s1'));
        good(await run(['sense', 'capture']));
        writeFileSync(area('state', 'work-events.jsonl'), session('s2'), { flag: 'a' });
        const filler = area('filler');
        writeFileSync(filler, '');
        for (const bytes of [4096, 256, 1]) {
          try {
            for (;;) writeFileSync(filler, 'x'.repeat(bytes), { flag: 'a' });
          } catch {
            // Full to this grain.
          }
        }
        await expectError(['sense', 'capture'], 8, /disk is full/);
        rmSync(filler);
        good(await run(['sense', 'capture']));
        const record = jsonOf(good(await run(['sense', 'today', '--json']))) as {
          sessions: { items: unknown[] };
        };
        expect(record.sessions.items).to.deep.equal([
          { session: 's1', events: 1 },
          { session: 's2', events: 1 },
        ]);
      } finally {
        execFileSync('umount', [area()]);
      }
    });

    it('STEWARD_HOME that is a file: 3', async () => {
      const path = join(home.path, 'file');
      writeFileSync(path, '');
      const options = { env: { STEWARD_HOME: path } };
      for (const args of [
        ['sense', 'capture'],
        ['sense', 'init'],
        ['up', '--yes'],
      ])
        await expectError(args, 3, /file/, options);
    });

    it('no HOME: works, or names what is missing', async () => {
      const env = {
        HOME: undefined,
        STEWARD_HOME: undefined,
        XDG_STATE_HOME: undefined,
        XDG_CACHE_HOME: undefined,
      };
      const { code, stderr } = await run(['sense', 'today'], { env });
      expect(code, stderr).to.be.oneOf([0, 3, 8]);
      expect(stderr).not.to.match(/ {4}at |bug in steward/);
    });
  });

  it('a moved user area continues', async () => {
    put(
      'state/work-events.jsonl',
      `${JSON.stringify({ ts: new Date().toISOString(), type: 'subagent-stop', session: 's1' })}\n`,
    );
    good(await run(['sense', 'capture']));
    const moved = join(home.path, 'moved');
    cpSync(area(), moved, { recursive: true });
    const result = await run(['sense', 'capture', '--json'], { env: { STEWARD_HOME: moved } });
    expect(jsonOf(good(result))).to.include({ events: 0 });
  });
});
