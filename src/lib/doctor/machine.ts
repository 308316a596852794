import { join } from 'node:path';

import { createFile, readText, tempOf } from '../platform/files/atomic-file';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import {
  freeSpace,
  type FreeSpace,
  ensureFolder,
  exists,
  lstatOf,
  modeOf,
  removeFile,
} from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { cachePath, type PathHost } from '../platform/files/paths';
import { dayOf, systemZone, timeOf } from '../platform/time/time';
import { forShell, type FindProgram } from '../platform/process/spawn';
import { errnoCode, StewardError } from '../errors';
import type { UserArea } from '../config/user-area';
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
import type { GetUrl } from '../platform/net/fetch';
import type { Run } from '../platform/process/process';

/** What the checks of the machine are given. */
export interface MachineChecked {
  clock: Clock;
  area: UserArea;
  run: Run;
  host: PathHost;
  find: FindProgram;
  config: object;
  /** Hosts beyond this machine may be asked. */
  online: boolean;
  askHost: GetUrl;
  /** The addresses of hosts that the person uses, with no secret in them. */
  hostsInUse: () => Promise<readonly string[]>;
}

type Unconfigured = Omit<MachineChecked, 'config'>;

const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;

export const MACHINE_CHECKS: readonly Check<MachineChecked>[] = [
  { id: 'machine.node', title: 'Node.js', needsConfig: false, run: checkNode },
  { id: 'machine.disk', title: 'disk space', needsConfig: false, run: checkDisk },
  { id: 'machine.cache', title: 'the code cache', needsConfig: false, run: checkCache },
  { id: 'machine.clock', title: 'the clock', needsConfig: false, run: checkClock },
  {
    id: 'machine.offset',
    title: 'the clock against another',
    needsConfig: true,
    run: async (at) => {
      if (!at.online) return [off(NOT_CHECKED)];
      const told = await remoteTime(at);
      return told === undefined
        ? [off('no host that you use was there to ask the time of')]
        : [judgeOffset(at.clock.now(), told, at.host.platform)];
    },
  },
];

/** The oldest Node.js that steward runs on (package.json, engines). */
const OLDEST: readonly [number, number] = [20, 19];
const PROBE_MS = 10_000;

/** This process runs on one that will do; a shell that looks for `node` may find another. */
async function checkNode({ run, find, host }: Unconfigured): Promise<Finding[]> {
  const own = `Node.js ${process.versions.node}, ${process.execPath}`;
  const onPath = find('node');
  if (onPath === undefined || host.platform === 'win32') return [ok(own)];
  return orFailure(async () => {
    const { code, stdout } = await run(onPath, ['-p', 'process.versions.node'], {
      timeoutMs: PROBE_MS,
    });
    return [judgeNode(own, onPath, code === 0 ? stdout.trim() : '')];
  });
}

/** @param version of the node that the PATH finds; empty: it does not run */
export function judgeNode(own: string, onPath: string, version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  if (isNew) return ok(own);
  const what = version === '' ? 'does not run' : `is ${version}`;
  return warning(`the node that your PATH finds, ${onPath}, ${what}; steward needs ${OLDEST.join('.')}`, {
    hint: `Put a newer one before it in PATH, such as ${process.execPath}.`,
  });
}

function checkDisk({ area }: Unconfigured): Finding[] {
  const at = nearestFolder(area.root);
  return [judgeDisk(freeSpace(at), at)];
}

/** The path itself, or the nearest above it that is there. */
export function nearestFolder(path: string): string {
  let at = path;
  while (!exists(at) && at !== join(at, '..')) at = join(at, '..');
  return at;
}

/** A day of capture is some hundred KiB; with less than 64 MiB little else of the machine works. */
export function judgeDisk({ bytes, files }: FreeSpace, path: string): Finding {
  const words =
    bytes >= 1024 * MIB ? `${Math.floor(bytes / MIB / 1024)} GiB` : `${Math.floor(bytes / MIB)} MiB`;
  const where = `free on the disk of ${path}`;
  const hint = 'Make room there; what is captured is kept as it is, and nothing new fits.';
  if (bytes < 8 * MIB) return failed(`${words} ${where}`, { hint });
  if (files !== null && files < 100) return failed(`no more files fit on the disk of ${path}`, { hint });
  if (bytes < 256 * MIB) return warning(`${words} ${where}`, { hint: 'Make room there before it is full.' });
  return ok(`${words} ${where}`);
}

/** Without it each start takes some 30 ms longer; nothing else. */
function checkCache({ host }: Unconfigured): Finding[] {
  if (host.env['STEWARD_NO_CODE_CACHE'] === '1') return [off('STEWARD_NO_CODE_CACHE is 1')];
  const folder = join(cachePath(host), 'code');
  const slow = 'each command starts some 30 ms later';
  try {
    ensureFolder(folder);
    if (host.platform !== 'win32' && ((modeOf(folder) ?? 0) & 0o022) !== 0) {
      return [
        warning(`other users may write to ${folder}, so it is not used: ${slow}`, {
          mend: `chmod 700 ${forShell(folder)}`,
        }),
      ];
    }
    tryWriting(folder);
    return [ok(folder)];
  } catch (error) {
    if (errnoCode(error) === undefined && !(error instanceof Error && 'kind' in error)) throw error;
    return [
      warning(`${folder} cannot be written (${errnoCode(error) ?? 'it is no folder'}): ${slow}`, {
        hint: 'Give the folder back to your user.',
      }),
    ];
  }
}

/** Makes a file and removes it again. */
export function tryWriting(folder: string): void {
  const probe = tempOf(join(folder, 'doctor'));
  createFile(probe, 'x');
  removeFile(probe);
}

function checkClock({ area, clock }: Unconfigured): Finding[] {
  const stored = [
    ['the last capture', stringIn(area.sense.state, 'lastCaptureTs')],
    ['the last poll of work', stringIn(area.work.poll, 'lastFetch')],
    ['the newest session', newestIn(area.workEvents)],
  ] as const;
  return [judgeClock(clock.now(), stored, systemZone())];
}

/** What was written lies in the past, unless the clock was put back since. */
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
    `it is ${now}, and ${first.what} was at ${dayOf(first.ms, zone)} ${timeOf(first.ms, zone)}: the clock was put back`,
    {
      hint: 'If the time is right now, leave it: captures go on when that time has come, or at once after the next one.',
    },
  );
}

function stringIn(path: string, key: string): string | undefined {
  const value = parseObject(readText(path, { maxBytes: 64 * MIB }) ?? '')?.[key];
  return typeof value === 'string' ? value : undefined;
}

/** Its file's own date: the file system's clock. */
function newestIn(path: string): string | undefined {
  const facts = lstatOf(path);
  return facts === undefined ? undefined : toIso(facts.mtimeMs);
}

const SET_CLOCK: Partial<Record<NodeJS.Platform, string>> = {
  linux: 'sudo timedatectl set-ntp true',
  darwin: 'sudo sntp -sS time.apple.com',
  win32: 'w32tm /resync',
};

/** A Date header has whole seconds, and the way takes its time. */
export function judgeOffset(
  nowMs: number,
  told: { host: string; ms: number },
  platform: NodeJS.Platform,
): Finding {
  const seconds = Math.round((nowMs - told.ms) / 1000);
  const size = Math.abs(seconds);
  if (size <= 30) return ok(`within ${Math.max(size, 1)} s of ${told.host}`);
  const words = `${size < 120 ? `${size} s` : `${Math.round(size / 60)} min`} ${seconds > 0 ? 'ahead of' : 'behind'} ${told.host}`;
  const mend = SET_CLOCK[platform];
  const more = mend === undefined ? { hint: 'Set the clock by the network.' } : { mend };
  return size > 300 ? failed(words, more) : warning(words, more);
}

/** The time by the `Date` header of a host that is used already; undefined: none is, or none says. */
async function remoteTime(at: MachineChecked): Promise<{ host: string; ms: number } | undefined> {
  for (const url of await at.hostsInUse()) {
    const told = await at.askHost(url).catch((error: unknown) => {
      if (error instanceof StewardError && error.kind === 'unavailable') return undefined;
      throw error;
    });
    const ms = Date.parse(told?.headers.get('date') ?? '');
    if (!Number.isNaN(ms)) return { host: new URL(url).hostname, ms };
  }
  return undefined;
}
