import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { throwIfBug } from '../errors';
import { knownMachineId } from '../platform/files/machine';
import { readObject, writeObject } from '../platform/files/object-file';
import { shortHash } from '../platform/files/short-hash';
import type { Run } from '../platform/process/process';
import { toIso, type Clock } from '../platform/time/clock';
import { givenNames, namesFolder } from '../sessions/names';
import { byNeed, type SessionRow } from '../sessions/rows';
import { readLive, rowsOfHost } from './live';

interface HostsDeps {
  run: Run;
  clock: Clock;
  area: Pick<UserArea, 'machine'>;
}

const ASK_MS = 2_000;
/** How long to wait for a host in the background, or when it is connected. */
const PATIENT_MS = 10_000;
/** How long an answer is used again, by a process that keeps asking. */
const ANSWER_MS = 3_000;
/** A host's sessions count for this long after its last answer. */
const VALID_MS = 10 * 60_000;
const asked = new Map<string, { atMs: number; isThere: Promise<boolean> }>();

/** Returns the ssh hosts to ask for sessions. */
export function hostsToAsk(hosts: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  // A host that is asked over ssh reports only its own sessions, so that two hosts don't ask each other forever.
  return env['SSH_CONNECTION'] !== undefined && env['SSH_TTY'] === undefined ? [] : hosts;
}

/**
 * Returns the running sessions of other machines, from the exchange folder and the last answers of the ssh hosts, and
 * when each host answered. Asks nobody.
 */
export function knownElsewhere(
  { area, clock }: Pick<HostsDeps, 'area' | 'clock'>,
  hosts: readonly string[],
  folder: string | undefined,
) {
  const known = hosts.map((host) => lastAnswer({ area, clock }, host));
  const published = folder === undefined ? [] : readLive(folder, knownMachineId(), clock.now());
  const names = published.length === 0 ? undefined : givenNames(namesFolder(area.machine));
  const named = published.map((row) => {
    const name = names?.get(row.slug);
    return name === undefined ? row : { ...row, name: `${row.elsewhere?.machine ?? ''} · ${name}` };
  });
  const all = [...known.flatMap(({ rows }) => rows), ...named];
  const rows = all.filter(({ slug }, index) => all.findIndex((row) => row.slug === slug) === index);
  rows.sort(byNeed);
  return { rows, asOf: Object.fromEntries(hosts.map((host, index) => [host, known[index]?.at ?? null])) };
}

/** Asks the ssh hosts that were not asked just now. Returns those that did not answer. */
export async function askHosts(deps: HostsDeps, hosts: readonly string[]): Promise<string[]> {
  const found = await Promise.all(hosts.map((host) => askedLately(deps, host)));
  return hosts.filter((_, index) => !found[index]);
}

function askedLately(deps: HostsDeps, host: string): Promise<boolean> {
  const atMs = deps.clock.monotonic();
  const known = asked.get(host);
  if (known !== undefined && atMs - known.atMs < ANSWER_MS) return known.isThere;
  const isThere = askHost(deps, host, ASK_MS);
  asked.set(host, { atMs, isThere });
  return isThere;
}

/** Asks an ssh host for its running sessions and stores them. Returns whether it answered in time. */
export async function askHost({ run, clock, area }: HostsDeps, host: string, timeoutMs = PATIENT_MS) {
  const args = ['-o', 'BatchMode=yes', '--', host, 'steward', 'sessions', '--json'];
  try {
    const { stdout } = await run('ssh', args, { timeoutMs });
    const answer = { at: toIso(clock.now()), stdout };
    if (rowsOfHost(stdout, { machine: host, host, asOf: answer.at }) === undefined) return false;
    writeObject(answerFile(area.machine, host), answer, { sync: false });
    return true;
  } catch (error) {
    throwIfBug(error);
    return false;
  }
}

function lastAnswer({ area, clock }: Pick<HostsDeps, 'area' | 'clock'>, host: string) {
  const { at, stdout } = readObject(answerFile(area.machine, host)) ?? {};
  if (typeof at !== 'string' || typeof stdout !== 'string') return { rows: [] as SessionRow[], at: null };
  const isRecent = Math.abs(clock.now() - Date.parse(at)) < VALID_MS;
  return { rows: (isRecent && rowsOfHost(stdout, { machine: host, host, asOf: at })) || [], at };
}

function answerFile(folder: string, host: string): string {
  return join(folder, 'hosts', `${shortHash(host)}.json`);
}
