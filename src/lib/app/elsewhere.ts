import { join } from 'node:path';

import { periodicJob, type DaemonJob } from '../daemon/jobs';
import { throwIfBug } from '../errors';
import { knownMachineId } from '../platform/files/machine';
import { readObject, writeObject } from '../platform/files/object-file';
import { processHost } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
import { toIso } from '../platform/time/clock';
import { givenNames, namesFolder } from '../sessions/names';
import { isLive } from '../sessions/session';
import { byNeed, rowsOf, type SessionRow } from '../sessions/rows';
import { publishedRows, readLive, rowsOfHost } from '../sync/live';
import type { Context } from './context';
import { openRunning, openSessions } from './sessions';

/** Returns the running sessions of other machines that the exchange folder has. */
async function openPublished(context: Context): Promise<SessionRow[]> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  const rows = folder === undefined ? [] : readLive(folder, knownMachineId(), context.clock.now());
  const names = rows.length === 0 ? undefined : givenNames(namesFolder(context.area.machine));
  return rows.map((row) => {
    const name = names?.get(row.slug);
    return name === undefined ? row : { ...row, name: `${row.elsewhere?.machine ?? ''} · ${name}` };
  });
}

/** Returns the ssh hosts to ask for sessions. */
async function hostsOf(context: Context): Promise<readonly string[]> {
  const { env } = processHost();
  // What was itself asked by ssh tells only of its own sessions, so that two hosts don't ask each other forever.
  const isAsked = env['SSH_CONNECTION'] !== undefined && env['SSH_TTY'] === undefined;
  return isAsked ? [] : (await context.loadConfig()).config.user.sessions.hosts;
}

/**
 * Returns the running sessions of other machines, from the exchange folder and the last answers of the ssh hosts, and
 * when each host answered. Asks nobody.
 */
export async function openKnown(context: Context) {
  const hosts = await hostsOf(context);
  const known = hosts.map((host) => lastAnswer(context, host));
  const all = [...known.flatMap(({ rows }) => rows), ...(await openPublished(context))];
  const rows = all.filter(({ slug }, index) => all.findIndex((row) => row.slug === slug) === index);
  rows.sort(byNeed);
  return { rows, asOf: Object.fromEntries(hosts.map((host, index) => [host, known[index]?.at ?? null])) };
}

/** Asks the ssh hosts, and returns what `openKnown` then knows, and the hosts that did not answer. */
export async function openElsewhere(context: Context): Promise<{ rows: SessionRow[]; silent: string[] }> {
  const hosts = await hostsOf(context);
  const found = await Promise.all(hosts.map((host) => openHost(context, host)));
  return { rows: (await openKnown(context)).rows, silent: hosts.filter((_, index) => !found[index]) };
}

const HOSTS_SEC = 30;
const ASK_MS = 2_000;
/** How long to wait for a host where nobody sees it, or once, when it is connected. */
const PATIENT_MS = 10_000;
/** How long an answer is used again, by a process that keeps asking. */
const ANSWER_MS = 3_000;
/** A host's sessions count for this long after its last answer. */
const VALID_MS = 10 * 60_000;
const asked = new Map<string, { atMs: number; isThere: Promise<boolean> }>();

/** Asks an ssh host as `openHostRows`, unless it was asked just now. */
function openHost(context: Context, host: string): Promise<boolean> {
  const atMs = context.clock.monotonic();
  const known = asked.get(host);
  if (known !== undefined && atMs - known.atMs < ANSWER_MS) return known.isThere;
  const isThere = openHostRows(context, host, ASK_MS);
  asked.set(host, { atMs, isThere });
  return isThere;
}

/**
 * The job that asks the ssh hosts for their sessions while nobody waits for them, so that a slow connection has an
 * answer when somebody does, and readers ask nobody. A page that is open asks more often.
 */
export function hostsJob(context: Context): DaemonJob {
  return periodicJob('hosts', 'machines', HOSTS_SEC, async () => {
    await Promise.all((await hostsOf(context)).map((host) => openHostRows(context, host)));
  });
}

/** Asks an ssh host for its running sessions and stores them. Returns whether it answered in time. */
export async function openHostRows({ run, clock, area }: Context, host: string, timeoutMs = PATIENT_MS) {
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

function lastAnswer({ area, clock }: Context, host: string): { rows: SessionRow[]; at: string | null } {
  const { at, stdout } = readObject(answerFile(area.machine, host)) ?? {};
  if (typeof at !== 'string' || typeof stdout !== 'string') return { rows: [], at: null };
  const isRecent = Math.abs(clock.now() - Date.parse(at)) < VALID_MS;
  return { rows: (isRecent && rowsOfHost(stdout, { machine: host, host, asOf: at })) || [], at };
}

function answerFile(folder: string, host: string): string {
  return join(folder, 'hosts', `${shortHash(host)}.json`);
}

/** Returns this machine's running sessions in the form that it publishes. */
export async function openOwnRows(context: Context, details: boolean): Promise<object[]> {
  const nowMs = context.clock.now();
  const { sessions } = openRunning(context, await openSessions(context));
  const running = Object.values(sessions).filter((session) => isLive(session, nowMs));
  return publishedRows(rowsOf(running, { nowMs }), details);
}
