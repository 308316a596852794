import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { readText } from '../../src/lib/platform/files/atomic-file';
import { run } from '../../src/lib/platform/process/process';
import { exchangeByGit } from '../../src/lib/sync/git';
import { until } from './daemon';
import { bareEnvironment } from './git';
import type { Random } from './random';
import { startSyncthing } from './syncthing';

/** A machine's folder that is carried to the others. */
export interface Carried {
  id: string;
  home: string;
  folder: string;
}

/** A sync tool that connects several machines. */
export interface Carrier {
  /** Interrupts or restores a machine's connection. */
  cut: (index: number, isCut: boolean) => Promise<void>;
  /** Returns when the connected machines have the same files. */
  carry: () => Promise<void>;
  /** Called after each round of a soak, for a tool that doesn't watch the files. */
  sometimes: (index: number) => Promise<void>;
  stop: () => Promise<void>;
}

/** Real Syncthings, one for each machine. `connect` gives one its folder and returns the folder's id. */
export async function bySyncthing(
  machines: readonly Carried[],
  connect?: (index: number) => Promise<string>,
): Promise<Carrier> {
  const running = await startSyncthing(machines.map(({ home }) => join(home, '.config', 'syncthing')));
  const devices = running.map(({ id: deviceID }) => ({ deviceID }));
  const ids: string[] = [];
  for (const [index, { folder: path }] of machines.entries()) {
    const settings = { id: 'area', path, fsWatcherEnabled: true, fsWatcherDelayS: 1, devices };
    if (connect === undefined) await running[index]?.config('POST', 'folders', settings);
    ids.push((await connect?.(index)) ?? 'area');
  }
  const away = new Set<number>();
  return {
    async cut(index, isCut) {
      await running[index]?.pause(isCut);
      if (isCut) away.add(index);
      else away.delete(index);
    },
    async carry() {
      const isHere = (_: unknown, index: number): boolean => !away.has(index);
      const scan = () =>
        Promise.all(
          running.filter(isHere).map(({ api }) => api.post('db/scan', undefined, { folder: ids[0] ?? '' })),
        );
      const isEqual = async (): Promise<boolean> => {
        await scan();
        return new Set(machines.filter(isHere).map(({ folder }) => hashOf(folder))).size <= 1;
      };
      await until('all folders are equal', isEqual, 180_000);
    },
    sometimes: () => Promise.resolve(),
    stop: async () => void (await Promise.all(running.map((one) => one.stop()))),
  };
}

/** A bare repository. `exchangeOne` exchanges one machine's files through it. */
export function byGit<T extends Carried>(
  machines: readonly T[],
  remote: string,
  exchangeOne: (machine: T) => unknown,
): Carrier {
  execFileSync('git', ['init', '-q', '--bare', remote]);
  const away = new Set<number>();
  const exchange = async (index: number): Promise<void> => {
    const machine = machines[index];
    if (machine !== undefined && !away.has(index)) await exchangeOne(machine);
  };
  return {
    cut: (index, isCut) => {
      if (isCut) away.add(index);
      else away.delete(index);
      return Promise.resolve();
    },
    async carry() {
      for (let i = 0; i < 2; i += 1) for (const [index] of machines.entries()) await exchange(index);
    },
    sometimes: exchange,
    stop: () => Promise.resolve(),
  };
}

/** Steward's own exchange through git. */
export function exchangeFolderByGit(machines: readonly Carried[], remote: string): Carrier {
  return byGit(machines, remote, ({ id: machineId, folder, home }) =>
    exchangeByGit({
      git: { run, env: process.env, timeoutMs: 60_000 },
      remote: {
        url: pathToFileURL(remote).href,
        protocol: 'file',
        credential: { authorization: 'Basic eA==' },
      },
      ...{ folder, machineId, clone: join(home, 'clone') },
    }),
  );
}

/** What a person's own job does with the area: commit all, merge, push. */
export function areaByGit(machines: readonly Carried[], remote: string): Carrier {
  const problems: string[] = [];
  const git = ({ home, folder }: Carried, ...args: string[]): boolean => {
    const all = ['-c', 'user.email=me@example.org', '-c', 'user.name=Me', ...args];
    const options = { cwd: folder, env: bareEnvironment(home), encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync('git', all, options);
    if (status !== 0) problems.push(`${args.join(' ')}: ${stdout}${stderr}`);
    return status === 0;
  };
  const carrier = byGit(machines, remote, (machine) => {
    for (let i = 0; i < 5; i += 1) {
      git(machine, 'add', '-A');
      git(machine, 'commit', '-q', '-m', 'sync');
      git(machine, 'fetch', '-q', remote, 'main');
      // A conflict is committed with its markers.
      if (!git(machine, 'merge', '-q', '--no-edit', 'FETCH_HEAD')) {
        git(machine, 'add', '-A');
        git(machine, 'commit', '-q', '-m', 'merge');
      }
      if (git(machine, 'push', '-q', remote, 'HEAD:main')) return;
    }
    throw new Error(`push failed: ${problems.slice(-12).join('\n')}`);
  });
  for (const [index, machine] of machines.entries()) {
    if (index === 0) {
      git(machine, 'init', '-q', '-b', 'main');
      git(machine, 'add', '-A');
      git(machine, 'commit', '-q', '-m', 'start');
      git(machine, 'push', '-q', remote, 'main');
    } else {
      rmSync(machine.folder, { recursive: true });
      git(
        { ...machine, folder: dirname(machine.folder) },
        'clone',
        '-q',
        '-b',
        'main',
        remote,
        machine.folder,
      );
    }
  }
  return carrier;
}

/**
 * A tool that copies each machine's own files to the other folders: in any order, some of them later, some left half
 * or as a conflict copy until the next time.
 */
export function byCopies(machines: readonly Carried[], random: Random): Carrier {
  const away = new Set<number>();
  const copyOne = (from: string, to: string): void => {
    const data = readFileSync(from);
    if (existsSync(to) && readFileSync(to).equals(data)) return;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, data);
  };
  const copyLate = (from: string, to: string): void => {
    if (random.chance(0.3)) return;
    mkdirSync(dirname(to), { recursive: true });
    if (random.chance(0.1)) writeFileSync(to, readFileSync(from).subarray(0, 40));
    else if (random.chance(0.1))
      copyFileSync(from, to.replace(/(\.jsonl?)$/, '.sync-conflict-20261123-101010-ABCDEFG$1'));
    else copyOne(from, to);
  };
  const copyAll = (index: number, copy: (from: string, to: string) => void): void => {
    const source = machines[index];
    if (source === undefined || away.has(index)) return;
    const own = `machines/${source.id}/`;
    const ofOwn = (folder: string): string[] => carriedFiles(folder).filter((name) => name.startsWith(own));
    const names = ofOwn(source.folder).sort(() => random.next() - 0.5);
    for (const [i, { folder }] of machines.entries()) {
      if (i === index || away.has(i)) continue;
      for (const name of names) copy(join(source.folder, name), join(folder, name));
      for (const name of ofOwn(folder)) if (!names.includes(name)) rmSync(join(folder, name));
    }
  };
  return {
    cut: (index, isCut) => {
      if (isCut) away.add(index);
      else away.delete(index);
      return Promise.resolve();
    },
    carry() {
      for (const index of machines.keys()) copyAll(index, copyOne);
      return Promise.resolve();
    },
    sometimes(index) {
      copyAll(index, copyLate);
      return Promise.resolve();
    },
    stop: () => Promise.resolve(),
  };
}

/** The files that all machines must have at the end. */
export function carriedFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/sync-conflict|\.tmp$|^\.st|\/\.st|^\.git/.test(name))
    .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true)
    .sort();
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of carriedFiles(folder)) {
    // A delivery in the background may remove its file meanwhile.
    hash.update(name).update(readText(join(folder, name)) ?? '');
  }
  return hash.digest('hex');
}
