import { throwIfBug } from '../errors';
import { knownMachineId } from '../platform/files/machine';
import { processHost } from '../platform/files/paths';
import { toIso } from '../platform/time/clock';
import { givenNames, namesFolder } from '../sessions/names';
import { isLive } from '../sessions/session';
import { byNeed, rowsOf, type SessionRow } from '../sessions/rows';
import { publishedRows, readLive, rowsOfHost } from '../sync/live';
import type { Context } from './context';
import { openRunning, openSessions } from './sessions';

/** Returns the running sessions of other machines that the exchange folder has. */
export async function openPublished(context: Context): Promise<SessionRow[]> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  const rows = folder === undefined ? [] : readLive(folder, knownMachineId(), context.clock.now());
  const names = rows.length === 0 ? undefined : givenNames(namesFolder(context.area.machine));
  return rows.map((row) => {
    const name = names?.get(row.slug);
    return name === undefined ? row : { ...row, name: `${row.elsewhere?.machine ?? ''} · ${name}` };
  });
}

/**
 * Returns the running sessions of other machines, from the exchange folder and the ssh hosts, and the hosts that did
 * not answer.
 */
export async function openElsewhere(context: Context): Promise<{ rows: SessionRow[]; silent: string[] }> {
  const { hosts } = (await context.loadConfig()).config.user.sessions;
  const { env } = processHost();
  // What was itself asked by ssh tells only of its own sessions, so that two hosts don't ask each other forever.
  const isAsked = env['SSH_CONNECTION'] !== undefined && env['SSH_TTY'] === undefined;
  const found = await Promise.all(isAsked ? [] : hosts.map((host) => openHost(context, host)));
  const all = [...found.flatMap((rows) => rows ?? []), ...(await openPublished(context))];
  const rows = all.filter(({ slug }, index) => all.findIndex((row) => row.slug === slug) === index);
  rows.sort(byNeed);
  return { rows, silent: hosts.filter((_, index) => index in found && found[index] === undefined) };
}

const ASK_MS = 2_000;
/** How long an answer is used again, by a process that keeps asking. */
const ANSWER_MS = 3_000;
const answers = new Map<string, { atMs: number; rows: Promise<SessionRow[] | undefined> }>();

/** Asks an ssh host for its running sessions. Returns undefined if it doesn't answer. */
export function openHost({ run, clock }: Context, host: string): Promise<SessionRow[] | undefined> {
  const atMs = clock.monotonic();
  const known = answers.get(host);
  if (known !== undefined && atMs - known.atMs < ANSWER_MS) return known.rows;
  const args = ['-o', 'BatchMode=yes', '--', host, 'steward', 'sessions', '--json'];
  const rows = run('ssh', args, { timeoutMs: ASK_MS }).then(
    ({ stdout }) => rowsOfHost(stdout, { machine: host, host, asOf: toIso(clock.now()) }),
    (error: unknown) => {
      throwIfBug(error);
      return undefined;
    },
  );
  answers.set(host, { atMs, rows });
  return rows;
}

/** Returns this machine's running sessions in the form that it publishes. */
export async function openOwnRows(context: Context, details: boolean): Promise<object[]> {
  const nowMs = context.clock.now();
  const { sessions } = openRunning(context, await openSessions(context));
  const running = Object.values(sessions).filter((session) => isLive(session, nowMs));
  return publishedRows(rowsOf(running, { nowMs }), details);
}
