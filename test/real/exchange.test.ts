import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import {
  areaByGit,
  bySyncthing,
  carriedFiles,
  exchangeFolderByGit,
  type Carried,
  type Carrier,
} from '../helpers/carriers';
import { cleanEnv, emptyHome, steward, BIN } from '../helpers/cli';
import { until } from '../helpers/daemon';
import { fakeTime, requireFaketime } from '../helpers/faketime';
import { bareEnvironment } from '../helpers/git';
import { startGitHub, type GitHub } from '../helpers/github';
import { hookJson, verbOf } from '../helpers/hooks';
import { notifyServer, ntfyOk, type NotifyServer } from '../helpers/notify-server';
import { seeded, type Random } from '../helpers/random';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';

/** STEWARD_ROUNDS=300 STEWARD_SEED=n runs the long version. */
const ROUNDS = Number(process.env['STEWARD_ROUNDS'] ?? 3);
/** Three machines do all that two do, and each carrier carries one of the two folders; the long version has all. */
const IS_LONG = ROUNDS > 6;
const COUNTS = IS_LONG ? [2, 3] : [3];
const SEED = Number(process.env['STEWARD_SEED'] ?? 20261123);
const MINUTE = 60_000;
const ROUND_MS = MINUTE / 3;
const REMINDER_EVERY_MS = 4 * MINUTE;
const MAX_SKEW = 2;
/** A short run has a commit, a session, a note, an edit and a kill. */
const FIRST_KINDS = [0, 4, 7, 9, 3];

interface Machine extends Carried {
  repo: string;
  skewMs: number;
}

/** `exchange`: a folder for the published files. `area`: the whole user area, which people will share as well. */
type What = 'exchange' | 'area';

/** What happened so far, and what must be found at the end. */
interface World {
  what: What;
  random: Random;
  machines: Machine[];
  /** The time, which passes with each round. Each machine's clock shows it with a skew. */
  nowMs: number;
  /** The machine that the person uses. */
  desk: number;
  commits: number;
  sessions: Set<string>;
  notes: string[];
  edits: string[];
  name: string;
  reminders: { text: string; dueMs: number }[];
  /** The machine that is cut off, and the round in which it comes back. */
  away?: { index: number; until: number } | undefined;
  cuts: { from: number; to: number }[];
  pushes: { text: string; by: string; at: number }[];
}

describe('machines with a real exchange folder (built)', function () {
  this.timeout(300_000 + ROUNDS * 20_000);
  const { path } = scratch();
  let homes: ReturnType<typeof emptyHome>[] = [];
  let carrier: Carrier | undefined;
  let github: GitHub;
  let server: NotifyServer;
  let world: World;
  before(function () {
    requireFaketime(this as Mocha.Context);
  });
  beforeEach(async () => {
    github = await startGitHub({ labels: true });
    server = await notifyServer((got) => {
      const { message, topic } = got.body;
      world.pushes.push({ text: String(message), by: String(topic), at: world.nowMs });
      return ntfyOk(got);
    });
  });
  afterEach(async () => {
    await carrier?.stop();
    carrier = undefined;
    await github.close();
    await server.close();
    for (const home of homes) home.remove();
  });

  async function prepare(count: number, what: What): Promise<void> {
    const random = seeded(SEED + count);
    homes = Array.from({ length: count }, emptyHome);
    const machines = homes.map(({ path: home }, index) => ({
      ...{ home, repo: join(home, 'shop'), id: String(index + 1).repeat(12) },
      folder: what === 'area' ? join(home, '.steward') : path(`folder-${index}`),
      skewMs: index === 0 ? 0 : (random.below(2 * MAX_SKEW + 1) - MAX_SKEW) * MINUTE,
    }));
    world = {
      ...{ what, random, machines, nowMs: Date.now(), desk: 0, commits: 0, sessions: new Set(), notes: [] },
      ...{ edits: [], name: '', reminders: [], cuts: [], pushes: [] },
    };
    for (const machine of machines) prepareHome(machine);
    for (const machine of what === 'area' ? machines.slice(0, 1) : machines) {
      await ok(machine, 'config', 'set', 'sense.repos', '~/shop');
      await ok(machine, 'config', 'set', 'timezone', noonZone());
      await ok(machine, 'config', 'set', 'notify.voice.engine', 'none');
      await ok(machine, 'work', 'setup', 'ann/work');
      await ok(machine, 'sense', 'capture');
      if (what === 'exchange') await ok(machine, 'sync', 'setup', '--create', machine.folder);
    }
    // The others get the first machine's area before they write anything.
    const [first, ...others] = machines;
    if (what === 'area' && first !== undefined)
      for (const { folder } of others) cpSync(first.folder, folder, { recursive: true });
    await remind();
  }

  function prepareHome({ home, repo, id }: Machine): void {
    // On the same system, a machine without an id would be the owner of the area after a reset.
    const state = join(home, '.local', 'state', 'steward');
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, 'machine-id'), `${id}\n`);
    mkdirSync(join(home, '.steward'), { mode: 0o700 });
    const push = { server: server.url, topic: 'env:PUSH_TOPIC', detail: 'full' };
    const settings = JSON.stringify({ notifications: { push } });
    writeFileSync(join(home, '.steward', 'settings.json'), settings, { mode: 0o600 });
    mkdirSync(join(home, 'programs'));
    const front = join(home, 'programs', 'hyprctl');
    writeFileSync(front, `#!/bin/sh\necho '{"class":"kitty","title":"x"}'\n`);
    chmodSync(front, 0o755);
    mkdirSync(repo, { recursive: true });
    git({ home, repo }, 'init', '-q', '-b', 'main');
    git({ home, repo }, 'config', 'user.email', 'me@example.org');
    git({ home, repo }, 'config', 'user.name', 'Me');
  }

  /** Creates the reminders, which come due while the rounds pass. */
  async function remind(): Promise<void> {
    const end = ROUNDS * ROUND_MS + 4 * MINUTE;
    for (let after = 3 * MINUTE; after < end; after += REMINDER_EVERY_MS) {
      const [text, dueMs] = [`reminder-${world.reminders.length}-`, world.nowMs + after];
      const body = `<!-- steward id=${text} due=${new Date(dueMs).toISOString()} -->`;
      const issue = { title: `[Reminder] ${text}`, body, labels: ['Type:reminder'] };
      await github.api('POST', '/repos/ann/work/issues', issue);
      world.reminders.push({ text, dueMs });
    }
  }

  function envOf(machine: Machine): Record<string, string> {
    const { desk, machines, nowMs } = world;
    return {
      ...fakeTime(nowMs + machine.skewMs),
      ...{ GITHUB_API_URL: github.url, GH_TOKEN: github.token, PUSH_TOPIC: machine.id },
      PATH: `${join(machine.home, 'programs')}:${process.env['PATH'] ?? ''}`,
      ...(machines[desk] === machine && { HYPRLAND_INSTANCE_SIGNATURE: 'desk' }),
    };
  }
  function git({ home, repo }: Pick<Machine, 'home' | 'repo'>, ...args: string[]): void {
    execFileSync('git', args, { cwd: repo, env: bareEnvironment(home), stdio: ['ignore', 'ignore', 'pipe'] });
  }
  async function ok(machine: Machine, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await steward(args, { home: machine.home, env: envOf(machine) });
    expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  }
  /** Runs a command and kills it after some milliseconds. */
  function killed(machine: Machine, afterMs: number, ...args: string[]): Promise<void> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [BIN, ...args], {
        cwd: machine.home,
        env: cleanEnv(machine.home, envOf(machine)),
        stdio: 'ignore',
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
      child.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** One thing that happens on one machine. */
  async function round(index: number): Promise<void> {
    const { random, machines, what } = world;
    world.nowMs += ROUND_MS;
    if (world.away !== undefined && world.away.until <= index) await meet();
    const machine = random.pick(machines);
    const other = random.pick(machines);
    const kind = FIRST_KINDS[index] ?? random.below(12);
    if (kind <= 1) {
      world.commits += 1;
      // Commits with the same author and date count as one.
      const date = `--date=@${Math.floor(Date.now() / 1000) - 3600 + index} +0000`;
      git(machine, 'commit', '-q', '--allow-empty', '-m', `change ${index}`, date);
    } else if (kind === 2) pull(machine, other);
    else if (kind === 3)
      await killed(
        machine,
        40 + random.below(900),
        ...random.pick([
          ['sense', 'capture'],
          ['work', 'sweep'],
        ]),
      );
    else if (kind === 4) {
      const session = `session-${random.below(5)}-${machines.indexOf(machine)}`;
      world.sessions.add(session);
      for (const event of ['session-start', 'prompt', 'tool', 'stop'] as const) {
        const input = hookJson(event, { session_id: session, cwd: machine.repo });
        await steward(['hook', verbOf(event)], { home: machine.home, env: envOf(machine), input });
      }
    } else if (kind === 5 && random.chance(0.3)) await part(machines.indexOf(machine), index);
    else if (kind === 6) conflictCopy(other);
    else if (kind <= 8) {
      const text = `note-${index}-`;
      world.notes.push(text);
      await ok(machine, 'notify', 'send', text, '--event', 'error', '--no-voice', '--wait');
    } else if (kind === 9) await edit(machine, index);
    else if (kind === 10) world.desk = machines.indexOf(machine);
    else if (what === 'exchange')
      await ok(machine, 'sync', 'setup', random.chance(0.5) ? '--details' : '--no-details');
    if (random.chance(0.4)) await ok(machine, 'sense', 'capture');
    await Promise.all(machines.map((one, i) => (index + i) % 3 === 0 && ok(one, 'work', 'sweep')));
    await carrier?.sometimes(random.below(2 * machines.length));
    // What connected machines write arrives in less than a minute.
    if (index % 2 === 0) await carrier?.carry();
  }

  /** Cuts a machine off for a while. */
  async function part(index: number, now: number): Promise<void> {
    if (world.away !== undefined) return;
    await carrier?.carry();
    world.away = { index, until: now + 3 + world.random.below(ROUNDS >> 3) };
    world.cuts.push({ from: world.nowMs, to: Infinity });
    await carrier?.cut(index, true);
  }

  async function meet(): Promise<void> {
    const cut = world.cuts.at(-1);
    if (world.away === undefined || cut === undefined) return;
    await carrier?.cut(world.away.index, false);
    await carrier?.carry();
    world.away = undefined;
    cut.to = world.nowMs;
  }

  /** A person edits a file, or a setting on connected machines. */
  async function edit(machine: Machine, index: number): Promise<void> {
    if (world.what === 'exchange') {
      await ok(machine, 'sync', 'rename', `machine ${index}`);
      return;
    }
    const folder = join(machine.folder, 'knowledge');
    mkdirSync(folder, { recursive: true });
    world.edits.push(`${index}.md`);
    writeFileSync(join(folder, `${index}.md`), `# Note ${index}\n`);
    if (world.away !== undefined) return;
    world.name = `Name ${index}`;
    await carrier?.carry();
    await ok(machine, 'config', 'set', 'da.name', world.name);
    await carrier?.carry();
  }

  /** Gets the other machine's commits, so that both machines have them. */
  function pull(machine: Machine, other: Machine): void {
    if (other === machine) return;
    try {
      git(machine, 'fetch', '-q', other.repo, 'main:refs/other/main');
      git(machine, 'rebase', '-q', '--keep-empty', '--allow-empty-message', 'refs/other/main');
    } catch {
      // A repository without a commit yet.
    }
  }

  /** Leaves a copy as Syncthing does in a conflict. */
  function conflictCopy(machine: Machine): void {
    const files = carriedFiles(machine.folder).filter((name) =>
      world.what === 'exchange' ? name.endsWith('.json') : /events\/.*\.jsonl$/.test(name),
    );
    if (files.length === 0) return;
    const name = world.random.pick(files);
    const copy = name.replace(/(\.jsonl?)$/, '.sync-conflict-20261123-101010-ABCDEFG$1');
    copyFileSync(join(machine.folder, name), join(machine.folder, copy));
  }

  const pushesOf = (text: string): World['pushes'] => world.pushes.filter((push) => push.text.includes(text));

  /** Lets time pass until every reminder was sent. */
  async function waitForReminders(): Promise<void> {
    const { machines, reminders } = world;
    let more = 4;
    for (let i = 0; i < 100 && more > 0; i += 1) {
      // Then two more minutes, in which another machine might repeat the last one.
      if (reminders.every(({ text }) => pushesOf(text).length > 0)) more -= 1;
      world.nowMs += MINUTE / 2;
      await Promise.all(machines.map((machine) => ok(machine, 'work', 'sweep')));
      for (const machine of machines.filter((_, index) => (i + index) % 4 === 0))
        await ok(machine, 'sense', 'capture');
      await carrier?.carry();
    }
  }

  async function check(): Promise<void> {
    const { what, machines, reminders, notes } = world;
    await meet();
    await waitForReminders();
    // A machine that learns of the others publishes for them at its next capture.
    for (let i = 0; i < 2; i += 1) {
      for (const machine of machines) await ok(machine, 'sense', 'capture');
      await carrier?.carry();
    }
    const days = await Promise.all(
      machines.map(async (machine) => JSON.parse(await ok(machine, 'sense', 'today', '--json')) as Today),
    );
    for (const day of days) {
      expect(day.commits.count, 'commits').to.equal(world.commits);
      expect(day.sessions.count, 'sessions').to.equal(world.sessions.size);
      if (what === 'exchange') expect(day.machines?.length, 'machines').to.equal(machines.length);
    }
    if (what === 'area')
      for (const { folder } of machines) {
        const found = world.edits.filter((name) => existsSync(join(folder, 'knowledge', name)));
        expect(found, 'edited files').to.deep.equal(world.edits);
        expect(readFileSync(join(folder, 'config.yaml'), 'utf8')).to.include(world.name);
      }
    await until('every note', () => notes.every((text) => pushesOf(text).length > 0));
    for (const text of notes) expect(pushesOf(text), text).to.have.length(1);
    expectOnce(reminders);
  }

  /** Expects each reminder once; more than once only if a machine was cut off when it was due. */
  function expectOnce(reminders: World['reminders']): void {
    let connected = 0;
    // A notification about more than three reminders names only three of them.
    let unnamed = world.pushes.reduce(
      (sum, push) => sum + Number(/; and (\d+) more:/.exec(push.text)?.[1] ?? 0),
      0,
    );
    for (const { text, dueMs } of reminders) {
      const sent = pushesOf(text);
      const [first] = sent;
      const label = `${text} due ${new Date(dueMs).toISOString()}: ${JSON.stringify(sent)}`;
      if (first === undefined && unnamed-- > 0) continue;
      if (first === undefined) throw new Error(`${label} was lost`);
      // Two minutes before it is due, the machine whose clock is fastest may claim it.
      const claimMs = dueMs - (2 + MAX_SKEW) * MINUTE;
      if (world.cuts.some(({ from, to }) => from <= first.at && to >= claimMs)) continue;
      connected += 1;
      expect(sent, label).to.have.length(1);
    }
    const { commits, sessions, notes, cuts } = world;
    console.log(
      `        ${commits} commits, ${sessions.size} sessions, ${notes.length} notes, ${cuts.length} partitions,`,
      `${reminders.length} reminders, ${connected} of them while connected`,
    );
  }

  interface Today {
    commits: { count: number };
    sessions: { count: number };
    machines?: unknown[];
  }

  async function soak(count: number, what: What, connect: () => Carrier | Promise<Carrier>): Promise<void> {
    await prepare(count, what);
    carrier = await connect();
    for (let i = 0; i < ROUNDS; i += 1) await round(i);
    await check();
  }

  for (const what of ['exchange', 'area'] as const)
    for (const count of COUNTS) {
      const title = `${what}: loses and doubles nothing on ${count} machines in ${ROUNDS} rounds`;
      if (IS_LONG || what === 'area')
        it(`${title}, carried by Syncthing`, async function () {
          requirePrograms(this, { syncthing: 'syncthing' });
          await soak(count, what, () =>
            what === 'area' ? bySyncthing(world.machines) : bySyncthing(world.machines, connectOne),
          );
        });
      if (IS_LONG || what === 'exchange')
        it(`${title}, carried by git`, () =>
          soak(count, what, () =>
            (what === 'area' ? areaByGit : exchangeFolderByGit)(world.machines, path('remote.git')),
          ));
    }

  async function connectOne(index: number): Promise<string> {
    await ok(world.machines[index] as Machine, 'sync', 'connect', 'syncthing');
    return 'steward-exchange';
  }
});

/** The zone in which it is about noon, so that a test stays within a day. */
function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours();
  return ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}
