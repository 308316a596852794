import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import { addDays } from '../../src/lib/platform/time/time';
import { byCopies, byGit, bySyncthing, carriedFiles, type Carried, type Carrier } from '../helpers/carriers';
import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { bareEnvironment } from '../helpers/git';
import { seeded, type Random } from '../helpers/random';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';
import { startSshd, type Sshd } from '../helpers/sshd';

/** STEWARD_ROUNDS=300 STEWARD_SEED=n runs the long version. */
const ROUNDS = Number(process.env['STEWARD_ROUNDS'] ?? 9);
const SEED = Number(process.env['STEWARD_SEED'] ?? 20261127);
/** After so many rounds with every machine there, all must show the same. */
const COMPARED_ROUNDS = 25;
const APPS = ['Code', 'Firefox', 'kitty'];
/** A short run has records, a kill, a folder away, a copy and a setting that two machines edit. */
const FIRST_KINDS = [0, 0, 8, 4, 0, 6, 8, 7, 5];

interface Machine extends Carried {
  shop: string;
  /** The minutes of each day that it has recorded. */
  minutes: Map<string, Set<number>>;
}

/** What all machines must show of a day. */
interface Expected {
  minutes: Set<number>;
  commits: Set<string>;
  sessions: Set<string>;
}

interface World {
  random: Random;
  machines: Machine[];
  days: Map<string, Expected>;
  /** The texts of each goal that may count: those that the last edits gave it. */
  goals: Map<string, string[]>;
  away?: { index: number; until: number; isFolder: boolean } | undefined;
  counts: Record<'kills' | 'partitions' | 'folders' | 'copies' | 'edits', number>;
}

interface Recent {
  date: string;
  totalMinutes: number | null;
  commits: { count: number };
  sessions: { count: number };
}

/** Three areas whose days and settings meet through a folder. Every figure is known, and real carriers carry it. */
describe('days of three machines (built)', function () {
  this.timeout(300_000 + ROUNDS * 30_000);
  const { path } = scratch();
  let homes: ReturnType<typeof emptyHome>[] = [];
  let carrier: Carrier | undefined;
  let sshd: Sshd | undefined;
  let world: World;
  afterEach(async () => {
    await carrier?.stop();
    sshd?.process.kill();
    [carrier, sshd] = [undefined, undefined];
    for (const home of homes) home.remove();
  });

  async function ok({ home }: Carried, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await steward(args, { home });
    expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  }

  async function prepare(): Promise<void> {
    const today = new Date().toISOString().slice(0, 10);
    homes = [emptyHome(), emptyHome(), emptyHome()];
    const machines = homes.map(({ path: home }, index): Machine => ({
      ...{ home, id: String(index + 1).repeat(12), folder: path(`folder-${index}`) },
      ...{ shop: join(home, 'shop'), minutes: new Map() },
    }));
    const days = [1, 2, 3, 4].map((back): [string, Expected] => [
      addDays(today, -back),
      { minutes: new Set(), commits: new Set(), sessions: new Set() },
    ]);
    const counts = { kills: 0, partitions: 0, folders: 0, copies: 0, edits: 0 };
    world = { random: seeded(SEED), machines, days: new Map(days), goals: new Map(), counts };
    for (const machine of machines) {
      const { home, id, shop, folder } = machine;
      const state = join(home, '.local', 'state', 'steward');
      mkdirSync(state, { recursive: true });
      writeFileSync(join(state, 'machine-id'), `${id}\n`);
      execFileSync('git', ['init', '-q', shop], { env: bareEnvironment(home) });
      await ok(machine, 'config', 'set', 'sense.repos', shop);
      await ok(machine, 'config', 'set', 'timezone', 'UTC');
      await ok(machine, 'sense', 'capture');
      await ok(machine, 'sync', 'setup', '--create', folder);
      await ok(machine, 'sync', 'settings', 'on');
    }
  }

  /** Runs a command and kills it after some time. */
  async function kill(machine: Machine): Promise<void> {
    const { random, counts } = world;
    const args = random.pick([
      ['sense', 'capture'],
      ['sync', 'now'],
      ['sync', 'setup', '--no-details'],
    ]);
    counts.kills += 1;
    await new Promise<void>((resolve) => {
      const env = cleanEnv(machine.home);
      const child = spawn(process.execPath, [BIN, ...args], { cwd: machine.home, env, stdio: 'ignore' });
      const timer = setTimeout(() => child.kill('SIGKILL'), 100 + random.below(1500));
      child.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Records minutes, commits and sessions, as captures would have. Some are those of another machine. */
  function record(machine: Machine): void {
    const { random, days } = world;
    const [date, expected] = random.pick([...days]);
    const mine = machine.minutes.get(date) ?? new Set<number>();
    machine.minutes.set(date, mine);
    const at = (minute: number): string =>
      new Date(Date.parse(`${date}T00:00:00Z`) + minute * 60_000).toISOString();
    const start = 60 + random.below(1300);
    const app = random.pick(APPS);
    const events: object[] = [];
    for (let minute = start; minute < start + 1 + random.below(20); minute += 1) {
      if (mine.has(minute)) continue;
      mine.add(minute);
      expected.minutes.add(minute);
      const detail = { intervalSec: 60, via: 'x11' };
      events.push({ ts: at(minute + 1), type: 'app-focus', source: 'appFocus', app, repo: 'shop', detail });
    }
    const known = [...expected.commits];
    const sha = known.length > 0 && random.chance(0.3) ? random.pick(known) : `c${random.below(1e9)}`;
    expected.commits.add(sha);
    const commit = { sha, subject: sha, identity: sha, path: machine.shop };
    events.push({ ts: at(start), type: 'git-commit', source: 'git', repo: 'shop', detail: commit });
    const session = `s${random.below(4)}-${machine.id}`;
    expected.sessions.add(session);
    const detail = { session, events: 1 + random.below(5) };
    events.push({ ts: at(start), type: 'agent-session', source: 'agentSession', repo: 'shop', detail });
    const folder = join(machine.home, '.steward', 'sense', 'events');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    appendFileSync(join(folder, `${date}.jsonl`), lines);
  }

  /** Edits a goal on two machines, neither knowing of the other's change. */
  function edit(index: number): void {
    const { random, machines, goals, counts } = world;
    counts.edits += 1;
    const id = `G${1 + random.below(6)}`;
    const both = machines.filter((_, i) => i !== index % machines.length);
    for (const [i, { home }] of both.entries()) {
      const file = join(home, '.steward', 'goals', 'goals.md');
      const text = existsSync(file) ? readFileSync(file, 'utf8') : '## Active Goals\n\n';
      const title = `Ship ${counts.edits} ${'ab'.charAt(i)}`;
      const line = `- **${id}**: ${title}`;
      const before = new RegExp(`^- \\*\\*${id}\\*\\*.*$`, 'm');
      mkdirSync(join(home, '.steward', 'goals'), { recursive: true });
      writeFileSync(file, before.test(text) ? text.replace(before, line) : `${text}${line}\n`);
      goals.set(id, [...(goals.get(id) ?? []), title]);
    }
  }

  function conflictCopy({ folder }: Machine): void {
    const files = carriedFiles(folder).filter((name) => name.endsWith('.json'));
    if (files.length === 0) return;
    world.counts.copies += 1;
    const name = world.random.pick(files);
    const copy = name.replace(/(\.json)$/, '.sync-conflict-20261123-101010-ABCDEFG$1');
    copyFileSync(join(folder, name), join(folder, copy));
  }

  /** Cuts a machine off, or takes its folder away, for some rounds. */
  async function part(index: number, now: number, isFolder: boolean): Promise<void> {
    const { random, machines, counts } = world;
    if (world.away !== undefined) return;
    counts[isFolder ? 'folders' : 'partitions'] += 1;
    world.away = { index, until: now + 2 + random.below(Math.max(2, ROUNDS / 12)), isFolder };
    await carrier?.cut(index, true);
    const { folder = '' } = machines[index] ?? {};
    if (isFolder) renameSync(folder, `${folder}-away`);
  }

  async function meet(): Promise<void> {
    if (world.away === undefined) return;
    const { index, isFolder } = world.away;
    const { folder = '' } = world.machines[index] ?? {};
    if (isFolder) renameSync(`${folder}-away`, folder);
    world.away = undefined;
    await carrier?.cut(index, false);
  }

  async function round(index: number): Promise<void> {
    const { random, machines } = world;
    if (world.away !== undefined && world.away.until <= index) await meet();
    const machine = random.pick(machines);
    const kind = FIRST_KINDS[index] ?? random.below(14);
    const isAway = world.away?.isFolder === true && machines[world.away.index] === machine;
    if (kind === 4) await kill(machine);
    else if (kind === 5) await part(machines.indexOf(machine), index, false);
    else if (kind === 6) await part(machines.indexOf(machine), index, true);
    else if (kind === 7 && !isAway) conflictCopy(machine);
    else if (kind === 8) edit(index);
    else if (kind === 9 && !isAway) await ok(machine, 'sync', 'rename', `machine ${index}`);
    else record(machine);
    if (random.chance(0.7)) await ok(machine, 'sense', 'capture');
    await carrier?.sometimes(random.below(2 * machines.length));
    if (index % 6 === 5) await carrier?.carry();
    if (index % COMPARED_ROUNDS === COMPARED_ROUNDS - 1 && world.away === undefined) await compare(index);
  }

  /** Lets all machines publish and read twice, and expects the same, and all, of each. */
  async function compare(index: number): Promise<void> {
    const { machines, days, goals, counts } = world;
    for (let i = 0; i < 2; i += 1) {
      for (const machine of machines) await ok(machine, 'sense', 'capture');
      await carrier?.carry();
    }
    const shown = await Promise.all(
      machines.map((machine) => ok(machine, 'sense', 'recent', '--days', '5', '--json')),
    );
    const known = new Map((JSON.parse(shown[0] ?? '') as Recent[]).map((day) => [day.date, day]));
    for (const [date, { minutes, commits, sessions }] of days) {
      const day = known.get(date);
      const found = [day?.totalMinutes ?? 0, day?.commits.count ?? 0, day?.sessions.count ?? 0];
      const label = `round ${index}, ${date}: minutes, commits, sessions`;
      expect(found, label).to.deep.equal([minutes.size, commits.size, sessions.size]);
    }
    expect(new Set(shown).size, `round ${index}: different days`).to.equal(1);
    const texts = machines.map(({ home }) => goalsOf(home));
    for (const [id, titles] of goals) expect(titles, `round ${index}, ${id}`).to.include(texts[0]?.get(id));
    for (const text of texts) expect(text, `round ${index}: goals`).to.deep.equal(texts[0]);
    console.log(`        round ${index + 1}: ${JSON.stringify(counts)}`);
  }

  function goalsOf(home: string): Map<string, string> {
    const file = join(home, '.steward', 'goals', 'goals.md');
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const found = [...text.matchAll(/^- \*\*(G\d)\*\*: (.*)$/gm)];
    const sorted = found.map(([, id = '', title = '']): [string, string] => [id, title]).sort();
    expect(new Map(sorted).size, 'goals that are listed twice').to.equal(sorted.length);
    return new Map(sorted);
  }

  async function campaign(connect: () => Carrier | Promise<Carrier>): Promise<void> {
    await prepare();
    carrier = await connect();
    for (let index = 0; index < ROUNDS; index += 1) await round(index);
    await meet();
    await compare(ROUNDS - 1);
  }

  const title = `are complete and equal after ${ROUNDS} rounds, carried by`;

  it(`${title} a folder with delays and conflict copies`, () =>
    campaign(() => byCopies(world.machines, world.random)));

  it(`${title} a bare repository over ssh`, async function () {
    requirePrograms(this, { sshd: 'openssh-server', git: 'git' });
    // Without the shell's own start-up file, which may take seconds.
    sshd = await startSshd(path, { SHLVL: '2' });
    if (sshd === undefined) this.skip();
    const { port, options } = sshd;
    const address = `ssh://${userInfo().username}@127.0.0.1:${port}${path('days.git')}`;
    // One connection serves all, as logging in takes longer than an exchange.
    const shared = ['ControlMaster=auto', 'ControlPersist=60', `ControlPath=${path('ssh')}`];
    const command = ['ssh', ...options, ...shared.flatMap((option) => ['-o', option])].join(' ');
    await campaign(async () => {
      const made = byGit(world.machines, path('days.git'), (machine) => ok(machine, 'sync', 'now'));
      for (const machine of world.machines) {
        const config = ['config', '--file', join(machine.home, '.gitconfig'), 'core.sshCommand', command];
        execFileSync('git', config);
        await ok(machine, 'sync', 'connect', 'git', address);
      }
      return made;
    });
  });

  it(`${title} Syncthing`, async function () {
    requirePrograms(this, { syncthing: 'syncthing' });
    await campaign(() =>
      bySyncthing(world.machines, async (index) => {
        await ok(world.machines[index] as Machine, 'sync', 'connect', 'syncthing');
        return 'steward-exchange';
      }),
    );
  });
});
