import { join } from 'node:path';

import { createFile, tempOf } from '../platform/files/atomic-file';
import { parseIso, toIso } from '../platform/time/clock';
import {
  freeSpace,
  type FreeSpace,
  ensureFolder,
  exists,
  lstatOf,
  modeOf,
  removeFile,
} from '../platform/files/folder';
import { cachePath } from '../platform/files/paths';
import { dayOf, systemZone, timeOf } from '../platform/time/time';
import { forShell } from '../platform/process/spawn';
import { errnoCode, undefinedIf } from '../errors';
import type { UserArea } from '../config/user-area';
import type { CheckedHost } from '../platform/check';
import {
  failed,
  NOT_CHECKED,
  off,
  ok,
  orFailure,
  warning,
  type Check,
  type Finding,
} from '../platform/check';
import { readObject } from '../platform/files/object-file';
import { loadSqlite } from '../platform/files/sqlite';
import type { GetUrl } from '../platform/net/fetch';

export interface MachineChecked extends CheckedHost {
  area: UserArea;
  askHost: GetUrl;
  /** Returns the URLs of the hosts that steward contacts, without secrets. */
  hostsInUse: () => Promise<readonly string[]>;
}

const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;

export const MACHINE_CHECKS: readonly Check<MachineChecked>[] = [
  {
    id: 'machine.system',
    title: 'the operating system',
    needsConfig: false,
    run: ({ host }) => [judgeSystem(host.platform)],
  },
  { id: 'machine.node', title: 'Node.js', needsConfig: false, run: checkNode },
  { id: 'machine.disk', title: 'disk space', needsConfig: false, run: checkDisk },
  { id: 'machine.cache', title: 'the code cache', needsConfig: false, run: checkCache },
  { id: 'machine.clock', title: 'the clock', needsConfig: false, run: checkClock },
  {
    id: 'machine.offset',
    title: 'clock compared with another host',
    needsConfig: true,
    run: async (at) => {
      if (!at.online) return [off(NOT_CHECKED)];
      const remote = await remoteTime(at);
      return remote === undefined
        ? [off('no configured host returned the time')]
        : [judgeOffset(at.clock.now(), remote, at.host.platform)];
    },
  },
];

/** The minimum Node.js version, from `engines` in package.json. */
const MINIMUM: readonly [number, number] = [20, 19];
const PROBE_MS = 10_000;

export function judgeSystem(platform: NodeJS.Platform): Finding {
  if (platform === 'linux') return ok('Linux is supported');
  const names: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macOS', win32: 'Windows' };
  return off(`${names[platform] ?? platform}: experimental until steward ran on real machines`);
}

/** Checks the Node.js on the PATH, which may differ from the one that runs this process. */
async function checkNode({ run, find, host }: MachineChecked): Promise<Finding[]> {
  const unknown = loadSqlite() ? '' : ", which lacks SQLite, so OpenCode's usage and transcripts are unknown";
  const own = `Node.js ${process.versions.node}, ${process.execPath}${unknown}`;
  const onPath = find('node');
  if (onPath === undefined || host.platform === 'win32') return [ok(own)];
  return orFailure(async () => {
    const { code, stdout } = await run(onPath, ['-p', 'process.versions.node'], {
      timeoutMs: PROBE_MS,
    });
    return [judgeNode(own, onPath, code === 0 ? stdout.trim() : '')];
  });
}

/** `version` is the output of `node --version` for the `node` on the PATH; empty if that command fails. */
export function judgeNode(own: string, onPath: string, version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1]);
  if (isNew) return ok(own);
  const what = version === '' ? 'does not run' : `is ${version}`;
  return warning(
    `the first node on your PATH, ${onPath}, ${what}; steward needs ${MINIMUM.join('.')} or later`,
    {
      hint: `Put a newer Node.js, such as ${process.execPath}, first on your PATH.`,
    },
  );
}

function checkDisk({ area }: MachineChecked): Finding[] {
  const at = nearestFolder(area.root);
  return [judgeDisk(freeSpace(at), at)];
}

/** Returns the path if it exists, otherwise its nearest existing parent. */
export function nearestFolder(path: string): string {
  let at = path;
  while (!exists(at) && at !== join(at, '..')) at = join(at, '..');
  return at;
}

export function judgeDisk({ bytes, files }: FreeSpace, path: string): Finding {
  const words =
    bytes >= 1024 * MIB ? `${Math.floor(bytes / MIB / 1024)} GiB` : `${Math.floor(bytes / MIB)} MiB`;
  const where = `free on the disk that contains ${path}`;
  const hint = 'Free some space. Nothing new can be captured until then.';
  if (bytes < 8 * MIB) return failed(`${words} ${where}`, { hint });
  if (files !== null && files < 100)
    return failed(`the disk that contains ${path} has no free inodes`, { hint });
  if (bytes < 256 * MIB) return warning(`${words} ${where}`, { hint: 'Free some space.' });
  return ok(`${words} ${where}`);
}

function checkCache({ host }: MachineChecked): Finding[] {
  if (host.env['STEWARD_NO_CODE_CACHE'] === '1') return [off('STEWARD_NO_CODE_CACHE is 1')];
  const folder = join(cachePath(host), 'code');
  const slow = 'each command takes about 30 ms longer to start';
  try {
    ensureFolder(folder);
    if (host.platform !== 'win32' && ((modeOf(folder) ?? 0) & 0o022) !== 0) {
      return [
        warning(`other users can write to ${folder}, so it is not used and ${slow}`, {
          fix: `chmod 700 ${forShell(folder)}`,
        }),
      ];
    }
    tryWriting(folder);
    return [ok(folder)];
  } catch (error) {
    if (errnoCode(error) === undefined && !(error instanceof Error && 'kind' in error)) throw error;
    return [
      warning(`${folder} is not writable (${errnoCode(error) ?? 'not a folder'}), so ${slow}`, {
        hint: 'Make your user the owner of the folder.',
      }),
    ];
  }
}

/** Creates and removes a file to check whether the folder is writable. */
export function tryWriting(folder: string): void {
  const probe = tempOf(join(folder, 'doctor'));
  createFile(probe, 'x');
  removeFile(probe);
}

function checkClock({ area, clock }: MachineChecked): Finding[] {
  const stored = [
    ['the last capture', stringIn(area.sense.state, 'lastCaptureTs')],
    ['the last update of the work cache', stringIn(area.work.poll, 'lastFetch')],
    ['the newest session', changedAt(area.workEvents)],
  ] as const;
  return [judgeClock(clock.now(), stored, systemZone())];
}

/** A stored time in the future means that the clock was set back. */
function judgeClock(
  nowMs: number,
  stored: readonly (readonly [what: string, iso: string | undefined])[],
  zone: string,
): Finding {
  const ahead = stored.flatMap(([what, iso]) => {
    const ms = parseIso(iso ?? '');
    return ms !== undefined && ms - nowMs > 5 * MINUTE_MS ? [{ what, ms }] : [];
  });
  const now = `${dayOf(nowMs, zone)} ${timeOf(nowMs, zone)} ${zone}`;
  const [first] = ahead;
  if (first === undefined) return ok(now);
  return warning(
    `the clock shows ${now}, but ${first.what} was at ${dayOf(first.ms, zone)} ${timeOf(first.ms, zone)}, so the clock was set back`,
    {
      hint: 'Check the clock. If it is correct, no action is needed.',
    },
  );
}

function stringIn(path: string, key: string): string | undefined {
  const value = readObject(path)?.[key];
  return typeof value === 'string' ? value : undefined;
}

function changedAt(path: string): string | undefined {
  const facts = lstatOf(path);
  return facts === undefined ? undefined : toIso(facts.mtimeMs);
}

const SET_CLOCK: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'sudo timedatectl set-ntp true',
  darwin: 'sudo sntp -sS time.apple.com',
  win32: 'w32tm /resync',
};

/** Ignores small offsets, because a Date header has no milliseconds and the request itself takes time. */
export function judgeOffset(nowMs: number, remote: { host: string; ms: number }, platform: NodeJS.Platform) {
  const seconds = Math.round((nowMs - remote.ms) / 1000);
  const size = Math.abs(seconds);
  if (size <= 30) return ok(`within ${Math.max(size, 1)} s of ${remote.host}`);
  const words = `${size < 120 ? `${size} s` : `${Math.round(size / 60)} min`} ${seconds > 0 ? 'ahead of' : 'behind'} ${remote.host}`;
  const fix = SET_CLOCK[platform];
  const more = fix === undefined ? { hint: 'Synchronize the clock with NTP.' } : { fix };
  return size > 300 ? failed(words, more) : warning(words, more);
}

/** Returns the time from the first host that sends a `Date` header. */
async function remoteTime(at: MachineChecked): Promise<{ host: string; ms: number } | undefined> {
  for (const url of await at.hostsInUse()) {
    const answer = await at.askHost(url).catch(undefinedIf('unavailable'));
    const ms = Date.parse(answer?.headers['date'] ?? '');
    if (!Number.isNaN(ms)) return { host: new URL(url).hostname, ms };
  }
  return undefined;
}
