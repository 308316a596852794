import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { expect } from 'chai';

import { run as runProgram } from '../../src/lib/platform/process/process';
import { exchangeByGit } from '../../src/lib/sync/git';
import { cleanEnv, emptyHome, steward, BIN } from '../helpers/cli';
import { until } from '../helpers/daemon';
import { bareEnvironment } from '../helpers/git';
import { hookJson, verbOf, type RecordedEvent } from '../helpers/hooks';
import { seeded, type Random } from '../helpers/random';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';
import { startSyncthing, type RealSyncthing } from '../helpers/syncthing';

/** STEWARD_ROUNDS=300 STEWARD_SEED=n runs the long version. */
const ROUNDS = Number(process.env['STEWARD_ROUNDS'] ?? 6);
const SEED = Number(process.env['STEWARD_SEED'] ?? 20261123);

interface Machine {
  home: string;
  folder: string;
  repo: string;
}

/** `exchange`: a folder for the published files. `area`: the whole user area, which people will share as well. */
type What = 'exchange' | 'area';

/** Carries the exchange folders of all machines until they are equal. */
interface Engine {
  partition: (index: number, isCut: boolean) => Promise<void>;
  carry: () => Promise<void>;
  stop: () => Promise<void>;
}

describe('machines with a real exchange folder (built)', function () {
  this.timeout(120_000 + ROUNDS * 20_000);
  const { path } = scratch();
  let machines: Machine[] = [];
  let homes: ReturnType<typeof emptyHome>[] = [];
  let engine: Engine | undefined;
  afterEach(async () => {
    await engine?.stop();
    engine = undefined;
    for (const home of homes) home.remove();
  });

  const commits: string[] = [];
  const sessions = new Set<string>();
  let random: Random;
  let shares: What = 'exchange';

  async function prepare(count: number, what: What): Promise<void> {
    random = seeded(SEED + count);
    shares = what;
    commits.length = 0;
    sessions.clear();
    homes = Array.from({ length: count }, emptyHome);
    machines = homes.map(({ path: home }, index) => ({
      home,
      folder: what === 'area' ? join(home, '.steward') : path(`folder-${index}`),
      repo: join(home, 'shop'),
    }));
    for (const [index, machine] of machines.entries()) {
      // On the same system, a machine without an id would be the owner of the area after a reset.
      const state = join(machine.home, '.local', 'state', 'steward');
      mkdirSync(state, { recursive: true });
      writeFileSync(join(state, 'machine-id'), `${String(index + 1).repeat(12)}\n`);
      mkdirSync(machine.repo, { recursive: true });
      git(machine, 'init', '-q', '-b', 'main');
      git(machine, 'config', 'user.email', 'me@example.org');
      git(machine, 'config', 'user.name', 'Me');
    }
    for (const machine of what === 'area' ? machines.slice(0, 1) : machines) {
      await ok(machine, 'config', 'set', 'sense.repos', '~/shop');
      await ok(machine, 'config', 'set', 'timezone', noonZone());
      await ok(machine, 'sense', 'capture');
      if (what === 'exchange') await ok(machine, 'sync', 'set', machine.folder);
    }
    // The others get the first machine's area before they write anything.
    const [first, ...others] = machines;
    if (what === 'area' && first !== undefined)
      for (const { folder } of others) cpSync(first.folder, folder, { recursive: true });
  }

  function git({ home, repo }: Machine, ...args: string[]): void {
    execFileSync('git', args, { cwd: repo, env: bareEnvironment(home), stdio: ['ignore', 'ignore', 'pipe'] });
  }
  async function ok(machine: Machine, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await steward(args, { home: machine.home });
    expect(code, `${args.join(' ')}: ${stderr}`).to.equal(0);
    return stdout;
  }
  /** Runs a command and kills it after some milliseconds. */
  function killed(machine: Machine, afterMs: number, ...args: string[]): Promise<void> {
    return new Promise((resolve) => {
      const child = spawn(process.execPath, [BIN, ...args], {
        cwd: machine.home,
        env: cleanEnv(machine.home),
        stdio: 'ignore',
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
      child.on('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
  async function hook(machine: Machine, event: RecordedEvent, session: string): Promise<void> {
    const input = hookJson(event, { session_id: session, cwd: machine.repo });
    await steward(['hook', verbOf(event)], { home: machine.home, input });
  }

  /** One thing that happens on one machine. */
  async function round(index: number): Promise<void> {
    const machine = machines[random.below(machines.length)] as Machine;
    const other = random.pick(machines);
    const kind = random.below(8);
    if (kind <= 1) {
      commits.push(`change ${index}`);
      // Commits with the same author and date count as one.
      const date = `--date=@${Math.floor(Date.now() / 1000) - 3600 + index} +0000`;
      git(machine, 'commit', '-q', '--allow-empty', '-m', `change ${index}`, date);
    } else if (kind === 2 && other !== machine && commits.length > 0) pull(machine, other);
    else if (kind === 3) await killed(machine, 40 + random.below(900), 'sense', 'capture');
    else if (kind === 4) {
      const session = `session-${random.below(5)}-${machines.indexOf(machine)}`;
      sessions.add(session);
      for (const event of ['session-start', 'prompt', 'tool', 'stop'] as const)
        await hook(machine, event, session);
    } else if (kind === 5) await engine?.partition(machines.indexOf(machine), random.chance(0.5));
    else if (kind === 6) conflictCopy(other);
    else if (shares === 'exchange' && random.chance(0.3))
      await ok(machine, 'sync', 'details', random.chance(0.5) ? 'on' : 'off');
    else await ok(machine, 'sense', 'capture');
    if (random.chance(0.4)) await ok(machine, 'sense', 'capture');
  }

  /** Gets the other machine's commits, so that both machines have them. */
  function pull(machine: Machine, other: Machine): void {
    try {
      git(machine, 'fetch', '-q', other.repo, 'main:refs/other/main');
      git(machine, 'rebase', '-q', '--keep-empty', '--allow-empty-message', 'refs/other/main');
    } catch {
      // A repository without a commit yet.
    }
  }

  /** Leaves a copy as Syncthing does in a conflict. */
  function conflictCopy(machine: Machine): void {
    const files = carried(machine.folder).filter((name) =>
      shares === 'exchange' ? name.endsWith('.json') : /events\/.*\.jsonl$/.test(name),
    );
    if (files.length === 0) return;
    const name = random.pick(files);
    const copy = name.replace(/(\.jsonl?)$/, '.sync-conflict-20261123-101010-ABCDEFG$1');
    copyFileSync(join(machine.folder, name), join(machine.folder, copy));
  }

  async function check(): Promise<void> {
    for (const [index] of machines.entries()) await engine?.partition(index, false);
    // A machine that learns of the others publishes for them at its next capture.
    for (let i = 0; i < 2; i += 1) {
      for (const machine of machines) await ok(machine, 'sense', 'capture');
      await engine?.carry();
    }
    const days = await Promise.all(
      machines.map(async (machine) => JSON.parse(await ok(machine, 'sense', 'today', '--json')) as Today),
    );
    for (const day of days) {
      expect(day.commits.count, 'commits').to.equal(commits.length);
      expect(day.sessions.count, 'sessions').to.equal(sessions.size);
      if (shares === 'exchange') expect(day.machines?.length, 'machines').to.equal(machines.length);
    }
  }

  interface Today {
    commits: { count: number };
    sessions: { count: number };
    machines?: unknown[];
  }

  describe('carried by Syncthing', () => {
    before(function () {
      requirePrograms(this, { syncthing: 'syncthing' });
    });
    for (const what of ['exchange', 'area'] as const) {
      for (const count of [2, 3]) {
        it(`${what}: loses and doubles nothing on ${count} machines in ${ROUNDS} rounds`, async () => {
          await prepare(count, what);
          engine = await syncthing();
          for (let i = 0; i < ROUNDS; i += 1) await round(i);
          await check();
        });
      }
    }
  });

  async function syncthing(): Promise<Engine> {
    const running: RealSyncthing[] = await startSyncthing(
      machines.map(({ home }) => join(home, '.config', 'syncthing')),
    );
    for (const [index, machine] of machines.entries()) {
      if (shares === 'exchange') await ok(machine, 'sync', 'connect', 'syncthing');
      else {
        const devices = running.map(({ id: deviceID }) => ({ deviceID }));
        const folder = {
          id: 'area',
          path: machine.folder,
          fsWatcherEnabled: true,
          fsWatcherDelayS: 1,
          devices,
        };
        await running[index]?.config('POST', 'folders', folder);
      }
    }
    return {
      partition: (index, isCut) => running[index]?.pause(isCut) ?? Promise.resolve(),
      carry: () =>
        until(
          'all folders are equal',
          () => new Set(machines.map(({ folder }) => hashOf(folder))).size === 1,
          180_000,
        ),
      stop: async () => {
        await Promise.all(running.map((one) => one.stop()));
      },
    };
  }

  describe('carried by git', () => {
    for (const what of ['exchange', 'area'] as const) {
      for (const count of [2, 3]) {
        it(`${what}: loses and doubles nothing on ${count} machines in ${ROUNDS} rounds`, async () => {
          await prepare(count, what);
          engine = gitEngine();
          if (what === 'area') shareByGit();
          for (let i = 0; i < ROUNDS; i += 1) {
            await round(i);
            if (random.chance(0.3)) await exchangeOne(random.below(count));
          }
          await check();
        });
      }
    }
  });

  /** Puts the first machine's area under git; the others clone it. */
  function shareByGit(): void {
    for (const [index, { folder, home }] of machines.entries()) {
      const own = (...args: string[]): void => {
        const settings = ['-c', 'user.email=me@example.org', '-c', 'user.name=Me'];
        execFileSync('git', [...settings, ...args], {
          cwd: home,
          env: bareEnvironment(home),
          stdio: 'ignore',
        });
      };
      if (index === 0) {
        own('-C', folder, 'init', '-q', '-b', 'main');
        own('-C', folder, 'add', '-A');
        own('-C', folder, 'commit', '-q', '-m', 'start');
        own('-C', folder, 'push', '-q', path('remote.git'), 'main');
      } else {
        rmSync(folder, { recursive: true });
        own('clone', '-q', '-b', 'main', path('remote.git'), folder);
      }
    }
  }

  /** What a person's own job does: commit all, merge, push. A conflict is committed with its markers. */
  function syncArea({ folder, home }: Machine): void {
    const own = (...args: string[]): boolean => {
      const settings = ['-c', 'user.email=me@example.org', '-c', 'user.name=Me'];
      const done = spawnSync('git', [...settings, ...args], { cwd: folder, env: bareEnvironment(home) });
      return done.status === 0;
    };
    for (let i = 0; i < 5; i += 1) {
      own('add', '-A');
      own('commit', '-q', '-m', 'sync');
      own('fetch', '-q', path('remote.git'), 'main');
      if (!own('merge', '-q', '--no-edit', 'FETCH_HEAD')) {
        own('add', '-A');
        own('commit', '-q', '-m', 'merge');
      }
      if (own('push', '-q', path('remote.git'), 'HEAD:main')) return;
    }
    throw new Error('push failed');
  }

  const cut = new Set<number>();
  async function exchangeOne(index: number): Promise<void> {
    const machine = machines[index] as Machine;
    if (cut.has(index)) return;
    if (shares === 'area') {
      syncArea(machine);
      return;
    }
    await exchangeByGit({
      git: { run: runProgram, env: process.env, timeoutMs: 60_000 },
      remote: { url: pathToFileURL(path('remote.git')).href, authorization: 'Basic eA==' },
      ...{ folder: machine.folder, clone: path(`clone-${index}`), machineId: String(index + 1).repeat(12) },
    });
  }
  function gitEngine(): Engine {
    cut.clear();
    execFileSync('git', ['init', '-q', '--bare', path('remote.git')]);
    return {
      partition: (index, isCut) => {
        if (isCut) cut.add(index);
        else cut.delete(index);
        return Promise.resolve();
      },
      carry: async () => {
        for (let i = 0; i < 2; i += 1) for (const [index] of machines.entries()) await exchangeOne(index);
      },
      stop: () => Promise.resolve(),
    };
  }
});

/** The zone in which it is about noon, so that a test stays within a day. */
function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours();
  return ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

/** The files that all machines must have at the end. */
function carried(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/sync-conflict|\.tmp$|^\.st|\/\.st|^\.git/.test(name))
    .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true)
    .sort();
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of carried(folder)) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex');
}
