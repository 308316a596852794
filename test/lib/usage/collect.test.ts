import { expect } from 'chai';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { collectUsage, problemsOf, readState } from '../../../src/lib/usage/collect';
import { daysIn } from '../../../src/lib/platform/files/day-files';
import { readDayRows } from '../../../src/lib/usage/days';
import { purgeUsage } from '../../../src/lib/usage/purge';
import { seeded } from '../../helpers/random';
import { scratch, snapshot } from '../../helpers/scratch';
import {
  claudeLine,
  codexStart,
  codexTotals,
  lineOf,
  NOW,
  usageBox,
  type ClaudeAnswer,
} from '../../helpers/usage';
import { long } from '../../helpers/long';

const FOLDER = '.claude/projects/-shop';
const DAY_MS = 86_400_000;

describe('collecting usage (lib)', () => {
  const box = scratch();
  const outputs = (usage: ReturnType<typeof usageBox>): number =>
    usage.rows().reduce((sum, row) => sum + row.output, 0);

  it('adds nothing the second time, and writes nothing', async () => {
    const usage = usageBox(box.path());
    await collectUsage(usage.deps);
    expect(existsSync(usage.deps.state), 'without logs').to.equal(false);
    usage.log(`${FOLDER}/a.jsonl`, [claudeLine({ id: 'm1' })]);
    usage.log('.codex/sessions/rollout-1.jsonl', [...codexStart('c1'), codexTotals([10, 0, 5])]);
    await collectUsage(usage.deps);
    const before = snapshot(box.path());
    await collectUsage(usage.deps);
    expect(snapshot(box.path())).to.deep.equal(before);
  });

  it('keeps requests apart whose input, with the cache, is above a size that some prices depend on', async () => {
    const usage = usageBox(box.path());
    usage.log(`${FOLDER}/a.jsonl`, [
      claudeLine({ id: 'm1', input: 100_000, cacheRead: 100_000, model: 'm' }),
      claudeLine({ id: 'm2', input: 100_000, cacheRead: 100_001, model: 'm' }),
      claudeLine({ id: 'm3', input: 1, cacheWrite: 300_000, model: 'm' }),
    ]);
    await collectUsage(usage.deps);
    const stored = usage.rows().map(({ model, input }) => `${model}: ${input}`);
    expect(stored.sort()).to.deep.equal(['m (>128k): 100000', 'm (>200k): 100000', 'm (>272k): 1']);
  });

  it('stores no repository of a restricted folder', async () => {
    const usage = usageBox(box.path());
    for (const repo of ['open', 'clients/acme']) {
      mkdirSync(box.path(repo, '.git'), { recursive: true });
      writeFileSync(box.path(repo, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    }
    writeFileSync(box.path('clients', 'RESTRICTED.md'), '');
    usage.log(`${FOLDER}/a.jsonl`, [
      claudeLine({ id: 'm1', session: 'open', cwd: box.path('open') }),
      claudeLine({ id: 'm3', session: 'moved', cwd: box.path('clients', 'acme') }),
      claudeLine({ id: 'm4', session: 'odd', cwd: '/a\0b' }),
      claudeLine({ id: 'm5', session: 'odd', cwd: 'relative' }),
    ]);
    await collectUsage(usage.deps);
    const rows = daysIn(usage.deps.days).flatMap((day) => readDayRows(usage.deps.days, day));
    expect(rows.map(({ session, repo }) => [session, repo])).to.have.deep.members([
      ['open', 'open'],
      ['moved', null],
      ['odd', null],
    ]);
  });

  it('reads a half-written line once it is whole, and goes on where it stopped', async () => {
    const usage = usageBox(box.path());
    const rollout = '.codex/sessions/rollout-1.jsonl';
    const half = lineOf(codexTotals([30, 0, 9]));
    usage.log(rollout, [...codexStart('c1'), codexTotals([10, 0, 5])]);
    usage.append(rollout, half.slice(0, 60));
    await collectUsage(usage.deps);
    expect(outputs(usage)).to.equal(5);
    usage.append(rollout, half.slice(60));
    await collectUsage(usage.deps);
    const [row] = usage.rows();
    expect([row?.input, row?.output, row?.model]).to.deep.equal([30, 9, 'test-model']);
  });

  it('starts a truncated or replaced log over, without doubling', async () => {
    const usage = usageBox(box.path());
    const path = `${FOLDER}/a.jsonl`;
    const lines = ['m1', 'm2', 'm3'].map((id) => claudeLine({ id }));
    usage.log(path, lines);
    await collectUsage(usage.deps);
    usage.log(path, lines.slice(0, 1));
    await collectUsage(usage.deps);
    expect(outputs(usage)).to.equal(30);
    usage.log(path, [...lines, claudeLine({ id: 'm4' })]);
    await collectUsage(usage.deps);
    expect(outputs(usage)).to.equal(40);
    // The same file with other lines, longer than before.
    usage.log(
      path,
      ['m5', 'm6', 'm7', 'm8', 'm9'].map((id) => claudeLine({ id })),
    );
    await collectUsage(usage.deps);
    expect(outputs(usage)).to.equal(90);
  });

  it('keeps a day whose logs are gone, and counts right after its state was lost', async () => {
    const usage = usageBox(box.path());
    const gone = usage.log(`${FOLDER}/a.jsonl`, [claudeLine({ id: 'm1', session: 'a' })]);
    usage.log(`${FOLDER}/b.jsonl`, [claudeLine({ id: 'm2', session: 'b' })]);
    await collectUsage(usage.deps);
    rmSync(gone);
    rmSync(usage.deps.state, { recursive: true });
    await collectUsage(usage.deps);
    expect(usage.rows().map(({ session, output }) => [session, output])).to.have.deep.members([
      ['a', 10],
      ['b', 10],
    ]);
  });

  for (const name of ['logs.json', '2026-11-20.json']) {
    it(`counts right after ${name} of its state was damaged`, async () => {
      const usage = usageBox(box.path());
      const path = `${FOLDER}/a.jsonl`;
      usage.log(path, [claudeLine({ id: 'm1' })]);
      await collectUsage(usage.deps);
      writeFileSync(join(usage.deps.state, name), '{"version":1,');
      usage.log(path, [claudeLine({ id: 'm1' }), claudeLine({ id: 'm2' })]);
      writeFileSync(join(usage.deps.state, 'logs.json'), '');
      await collectUsage(usage.deps);
      expect(outputs(usage)).to.equal(20);
    });
  }

  it('forgets ids after 40 days, and reads nothing older', async () => {
    const usage = usageBox(box.path());
    const at = (days: number): string => new Date(NOW - days * DAY_MS).toISOString();
    usage.log(`${FOLDER}/a.jsonl`, [
      claudeLine({ id: 'old', at: at(40) }),
      claudeLine({ id: 'kept', at: at(39) }),
      claudeLine({ id: 'future', at: at(-2) }),
    ]);
    await collectUsage(usage.deps);
    expect(usage.rows().map(({ day }) => day)).to.deep.equal(['2026-10-12']);
    usage.at(NOW + DAY_MS);
    usage.log(`${FOLDER}/b.jsonl`, [claudeLine({ id: 'new' }), claudeLine({ id: 'kept', at: at(39) })]);
    await collectUsage(usage.deps);
    expect(outputs(usage)).to.equal(20);
    expect(
      readdirSync(usage.deps.state)
        .filter((name) => name.startsWith('2026'))
        .sort(),
    ).to.deep.equal(['2026-11-20.json']);
  });

  it('counts by the days of your time zone', async () => {
    const usage = usageBox(box.path(), 'Asia/Tokyo');
    usage.log(`${FOLDER}/a.jsonl`, [
      claudeLine({ id: 'm1', at: '2026-11-19T14:59:59.000Z' }),
      claudeLine({ id: 'm2', at: '2026-11-19T15:00:00.000Z' }),
    ]);
    await collectUsage(usage.deps);
    expect(usage.rows().map(({ day }) => day)).to.deep.equal(['2026-11-19', '2026-11-20']);
  });

  it('rebuilds a damaged day when something is new on it, and reports it until then', async () => {
    const usage = usageBox(box.path());
    usage.log(`${FOLDER}/a.jsonl`, [claudeLine({ id: 'm1' })]);
    await collectUsage(usage.deps);
    const path = join(usage.deps.days, '2026-11-20.json');
    writeFileSync(path, '{"version":1,"rows":');
    const damaged: string[] = [];
    expect(readDayRows(usage.deps.days, '2026-11-20', (at) => damaged.push(at))).to.deep.equal([]);
    expect(damaged).to.deep.equal([path]);
    usage.append(`${FOLDER}/a.jsonl`, lineOf(claudeLine({ id: 'm2' })));
    await collectUsage(usage.deps);
    expect(outputs(usage)).to.equal(20);
  });

  it('skips and names a stored day that is a folder or has impossible numbers', () => {
    const usage = usageBox(box.path());
    const day = '2026-11-20';
    const path = join(usage.deps.days, `${day}.json`);
    mkdirSync(path, { recursive: true });
    const damaged: string[] = [];
    expect(readDayRows(usage.deps.days, day, (at) => damaged.push(at))).to.deep.equal([]);
    rmSync(path, { recursive: true });
    const row = '"assistant":"codex","session":"s","model":"m","output":5,"input"';
    writeFileSync(path, `{"version":1,"rows":[{${row}:-1},{${row}:1e999},{${row}:7}]}`);
    const rows = readDayRows(usage.deps.days, day, (at) => damaged.push(at));
    expect(rows.map(({ input }) => input)).to.deep.equal([7]);
    expect(damaged).to.deep.equal([path, path]);
  });

  it('reads nothing below the current folder', async () => {
    const usage = usageBox(box.path(), 'UTC', {
      CODEX_HOME: 'cx',
      COPILOT_OTEL_FILE_EXPORTER_PATH: 'x.jsonl',
    });
    const sources = await collectUsage(usage.deps);
    const places = sources.flatMap((source) => (source.assistant === 'codex' ? source.places : []));
    expect(places).to.deep.equal([]);
    expect(sources.find(({ assistant }) => assistant === 'copilot')?.places).to.have.length(1);
  });

  it('remembers what could not be read until it can be', async function () {
    if (process.platform === 'win32' || process.getuid?.() === 0) this.skip();
    const usage = usageBox(box.path());
    usage.log(`${FOLDER}/a.jsonl`, [claudeLine({ id: 'm1' })]);
    const file = usage.log('.codex/sessions/rollout-1.jsonl', codexStart('c1'));
    for (const path of [file, dirname(file)]) {
      chmodSync(path, 0);
      const sources = await collectUsage(usage.deps);
      expect(readState(usage.deps.state).problems).to.deep.equal(problemsOf(sources));
      expect(problemsOf(sources).join()).to.match(/^Codex: .*sessions/);
      expect(outputs(usage), 'the rest').to.equal(10);
      chmodSync(path, 0o700);
      await collectUsage(usage.deps);
      expect(readState(usage.deps.state).problems).to.deep.equal([]);
    }
  });

  for (const name of ['a', 'z']) {
    it(`gives a fork none of the tokens of its parent (the log of the fork is ${name}.jsonl)`, async () => {
      const usage = usageBox(box.path());
      const old = usage.log(`${FOLDER}/m.jsonl`, [claudeLine({ id: 'm1', session: 'parent' })]);
      const copy = claudeLine({ id: 'm1', session: 'fork' });
      const own = claudeLine({ id: 'm2', session: 'fork', output: 3 });
      let path: string;
      do path = usage.log(`${FOLDER}/${name}.jsonl`, [copy, own]);
      while (statSync(path).birthtimeMs <= statSync(old).birthtimeMs && rmSync(path) === undefined);
      await collectUsage(usage.deps);
      const outputsBy = () => usage.rows().map(({ session, output }) => [session, output]);
      expect(outputsBy()).to.have.deep.members([
        ['parent', 10],
        ['fork', 3],
      ]);
    });
  }

  it('gives the tokens to the parent, whose log is found after that of its fork', async () => {
    const usage = usageBox(box.path());
    const marked = { ...claudeLine({ id: 'm1', session: 'fork' }), forkedFrom: { sessionId: 'parent' } };
    usage.log(`${FOLDER}/fork.jsonl`, [marked, claudeLine({ id: 'm2', session: 'fork', output: 3 })]);
    await collectUsage(usage.deps);
    usage.log(`${FOLDER}/parent.jsonl`, [claudeLine({ id: 'm1', session: 'parent' })]);
    await collectUsage(usage.deps);
    const rows = usage.rows().map(({ session, output }) => [session, output]);
    expect(rows).to.have.deep.members([
      ['parent', 10],
      ['fork', 3],
    ]);
  });

  it('cuts a name of a megabyte where it enters', async () => {
    const usage = usageBox(box.path());
    const long = 'x'.repeat(1_000_000);
    usage.log(`${FOLDER}/a.jsonl`, [claudeLine({ id: 'm1', session: long, model: long })]);
    await collectUsage(usage.deps);
    const [row] = usage.rows();
    expect([row?.session.length, row?.model.length]).to.deep.equal([120, 120]);
  });

  it('forgets what it could not read once the log is gone', async () => {
    const usage = usageBox(box.path());
    mkdirSync(usage.deps.state, { recursive: true });
    const state = { version: 1, files: {}, limits: {}, problems: ['Codex: /gone cannot be read'] };
    writeFileSync(join(usage.deps.state, 'logs.json'), JSON.stringify(state));
    expect(readState(usage.deps.state).problems).to.deep.equal(state.problems);
    await collectUsage(usage.deps);
    expect(readState(usage.deps.state).problems).to.deep.equal([]);
  });

  it('follows no links, and reads the rest if a log cannot be read', async () => {
    const usage = usageBox(box.path());
    usage.log(`${FOLDER}/a.jsonl/not-a-log`, ['x']);
    usage.log(`${FOLDER}/b.jsonl`, [claudeLine({ id: 'm1' })]);
    await collectUsage(usage.deps);
    expect(outputs(usage)).to.equal(10);
  });

  long('gives the totals of an independent count over 10,000 lines', async function () {
    this.timeout(20_000);
    const usage = usageBox(box.path());
    const random = seeded(7);
    const files = Array.from({ length: 20 }, (_, at) => `${FOLDER}/s${at}.jsonl`);
    const texts = files.map(() => '');
    const all: ClaudeAnswer[] = [];
    for (let line = 0; line < 10_000; line += 1) {
      const file = random.below(files.length);
      const known = random.chance(0.4) && all.length > 0 ? random.pick(all) : undefined;
      const id = known?.id ?? `m${line}`;
      const sidechain = random.chance(0.15);
      const answer = {
        ...{ id, session: `s${file}`, sidechain },
        request: sidechain
          ? `side${line}`
          : ((known?.sidechain === false ? known.request : undefined) ?? `r${line}`),
        at: known?.at ?? new Date(NOW - random.below(9) * DAY_MS).toISOString(),
        ...{ input: 50, cacheRead: 1000, cacheWrite: 20, output: 1 + random.below(100_000) },
      };
      all.push(answer);
      texts[file] += lineOf(claudeLine(answer));
      if (random.chance(0.1)) texts[file] += lineOf({ type: 'user', message: { usage: {} } });
    }
    // Read in parts that end anywhere, with some logs cut off in between.
    for (const part of [0.2, 0.5, 0.51, 0.9, 1]) {
      files.forEach((path, at) => {
        const text = texts[at] ?? '';
        writeFileSync(usage.log(path, []), text.slice(0, Math.floor(text.length * part)));
        if (random.chance(0.2) && part < 1) writeFileSync(usage.log(path, []), text.slice(0, 5000));
      });
      await collectUsage(usage.deps);
    }
    const counted = new Map<string, number[]>();
    for (const { day, input, output, cacheRead, cacheWrite } of usage.rows()) {
      const sums = counted.get(day) ?? [0, 0, 0, 0];
      counted.set(
        day,
        [input, output, cacheRead, cacheWrite].map((value, at) => value + (sums[at] ?? 0)),
      );
    }
    expect(counted).to.deep.equal(independentCount(all));
  });

  describe('a purge', () => {
    it('removes a day for good, even if its logs are read again', async () => {
      const usage = usageBox(box.path());
      usage.log(`${FOLDER}/a.jsonl`, [
        claudeLine({ id: 'm1', at: '2026-11-19T10:00:00.000Z' }),
        claudeLine({ id: 'm2' }),
      ]);
      const options = { dryRun: true, readsLogs: true };
      expect(await purgeUsage(usage.deps, { from: '2026-11-19', to: '2026-11-19' }, options)).to.deep.equal(
        [],
      );
      await collectUsage(usage.deps);
      const before = snapshot(box.path());
      expect(await purgeUsage(usage.deps, { from: '2026-11-19', to: '2026-11-19' }, options)).to.deep.equal([
        '2026-11-19',
      ]);
      expect(snapshot(box.path())).to.deep.equal(before);
      await purgeUsage(usage.deps, { from: '2026-11-19', to: '2026-11-19' }, { ...options, dryRun: false });
      rmSync(join(usage.deps.state, 'logs.json'));
      await collectUsage(usage.deps);
      expect(usage.rows().map(({ day }) => day)).to.deep.equal(['2026-11-20']);
    });

    it('of a repository removes its rows only, and a damaged day', async () => {
      const usage = usageBox(box.path());
      const shop = box.path('code', 'shop');
      for (const name of ['HEAD', 'refs/x', 'objects/x']) {
        mkdirSync(dirname(join(shop, '.git', name)), { recursive: true });
        writeFileSync(join(shop, '.git', name), '');
      }
      usage.log(`${FOLDER}/a.jsonl`, [claudeLine({ id: 'm1', cwd: shop }), claudeLine({ id: 'm2' })]);
      await collectUsage(usage.deps);
      writeFileSync(join(usage.deps.days, '2026-11-01.json'), '{');
      const days = await purgeUsage(usage.deps, { repos: ['Shop'] }, { dryRun: false, readsLogs: true });
      expect(days).to.deep.equal(['2026-11-01', '2026-11-20']);
      expect(usage.rows().map(({ repo, output }) => [repo, output])).to.deep.equal([[null, 10]]);
      expect(readdirSync(usage.deps.days)).to.deep.equal(['2026-11-20.json']);
    });

    it('of everything leaves no row behind, not even in its own state', async () => {
      const usage = usageBox(box.path());
      usage.log(`${FOLDER}/a.jsonl`, [claudeLine({ id: 'm1', session: 'private-session' })]);
      // It was not read before: the purge reads it first.
      await purgeUsage(usage.deps, {}, { dryRun: false, readsLogs: true });
      await collectUsage(usage.deps);
      expect(usage.rows()).to.deep.equal([]);
      for (const name of readdirSync(usage.deps.state)) {
        const path = join(usage.deps.state, name);
        if (statSync(path).isFile()) expect(readFileSync(path, 'utf8')).not.to.include('private-session');
      }
      usage.append(`${FOLDER}/a.jsonl`, lineOf(claudeLine({ id: 'm2', session: 'private-session' })));
      await collectUsage(usage.deps);
      expect(outputs(usage)).to.equal(10);
    });
  });
});

/** Counts naively: the fullest of each id and request, without copies whose original stands anywhere. */
function independentCount(answers: readonly ClaudeAnswer[]): Map<string, number[]> {
  const originals = new Set(answers.filter(({ sidechain }) => sidechain !== true).map(({ id }) => id));
  const fullest = new Map<string, ClaudeAnswer>();
  for (const answer of answers) {
    if (answer.sidechain === true && originals.has(answer.id)) continue;
    const key = `${answer.id} ${answer.request ?? ''}`;
    if ((answer.output ?? 0) > (fullest.get(key)?.output ?? 0)) fullest.set(key, answer);
  }
  const days = new Map<string, number[]>();
  for (const { at = '', input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } of fullest.values()) {
    const sums = days.get(at.slice(0, 10)) ?? [0, 0, 0, 0];
    days.set(
      at.slice(0, 10),
      [input, output, cacheRead, cacheWrite].map((value, at) => value + (sums[at] ?? 0)),
    );
  }
  return days;
}
