import { join } from 'node:path';

import { replaceFile } from '../platform/files/atomic-file';
import { exists, listFolder, removeFile } from '../platform/files/folder';
import { isMachineId } from '../platform/files/machine';
import { isText, listOf, nullable, oneOf, optional, shape, where } from '../platform/files/shape';
import { isIso, toIso, type Clock } from '../platform/time/clock';
import type { Elsewhere, SessionRow } from '../sessions/rows';
import { sessionKey } from '../sessions/session-key';
import { isNameless, isSlug } from '../sessions/slug';
import { machinesFolder, readFile, readMachines } from './exchange';
import { FORMAT, hashedId } from './format';
import { parseClean } from './parse';
import { namesIn } from './status';

const isTime = where(isText, isIso);
const isRow = where(
  shape({
    slug: isText,
    name: isText,
    assistant: isText,
    repo: nullable(isText),
    branch: nullable(isText),
    status: oneOf(['working', 'waiting', 'no-signal']),
    waitingFor: nullable(isText),
    waitingSince: nullable(isTime),
    startedAt: isTime,
    updatedAt: isTime,
    sessionIds: optional(listOf(isText)),
    elsewhere: optional(oneOf([null])),
  }),
  ({ slug }) => isSlug(slug) && !isNameless(slug),
);

const MAX_ROWS = 100;
/** An unchanged file is written again after this time, so that readers know that it is true. */
const REPEAT_MS = 4 * 60_000;
const VALID_MS = 10 * 60_000;

/** For this long after it said that you use it, a machine tells you what the others ask. */
const HERE_MS = 5 * 60_000;

/** Returns the file that lists a machine's running sessions. A folder has it, but a git repository doesn't. */
export function liveFile(folder: string, machine: string): string {
  return join(machinesFolder(folder), machine, 'live.json');
}

/**
 * Returns a function that writes the running sessions, and whether you are at this machine, if they changed, every
 * ten seconds at most. It deletes the file if none runs and you are elsewhere.
 */
export function livePublisher(clock: Clock) {
  let [before, atMs] = ['', -Infinity];
  return (path: string, name: string, sessions: readonly object[], isHere: boolean): void => {
    const text = JSON.stringify([path, name, sessions, isHere]);
    const ageMs = clock.monotonic() - atMs;
    if (sessions.length === 0 && !isHere) {
      if (exists(path)) removeFile(path);
    } else if (ageMs >= REPEAT_MS || (text !== before && ageMs >= 10_000)) {
      const live = { format: FORMAT, name, at: toIso(clock.now()), isHere, sessions };
      replaceFile(path, `${JSON.stringify(live)}\n`, { sync: false });
      [before, atMs] = [text, clock.monotonic()];
    }
  };
}

/**
 * Returns the running sessions in the form that this machine publishes, with hashes as slugs. Never those of
 * restricted work.
 */
export function publishedRows(rows: readonly SessionRow[], details: boolean): object[] {
  const open = rows.filter(({ slug }) => !isNameless(slug));
  return open.slice(0, MAX_ROWS).map((row) => {
    const { assistant, repo, branch, status, waitingFor, waitingSince, startedAt } = row;
    const name = details ? row.name : [repo ?? assistant, branch ?? []].flat().join('·');
    // With the time of each event, the file would change all the time. Readers only need to know if there was one.
    const updatedAt = row.updatedAt === startedAt ? startedAt : (waitingSince ?? startedAt);
    const times = { waitingSince, startedAt, updatedAt };
    return { slug: hashOf(row), name, assistant, repo, branch, status, waitingFor, ...times };
  });
}

/** Returns the running sessions that other machines have published in the last minutes. */
export function readLive(folder: string, ownId: string | undefined, nowMs: number): SessionRow[] {
  const live = liveOf(folder, ownId, nowMs, VALID_MS);
  const names = live.length === 0 ? [] : namesIn(readMachines(folder));
  return live.flatMap(({ id, name, asOf, sessions }) => {
    const machine = names.find((each) => each.id === id)?.name ?? name;
    return rowsIn(sessions, { machine, asOf, host: null }) ?? [];
  });
}

/** Returns whether you are at another machine, which has news of this one. */
export function isAtAnother(folder: string, ownId: string | undefined, nowMs: number): boolean {
  return liveOf(folder, ownId, nowMs, HERE_MS).some(({ isHere }) => isHere === true);
}

function liveOf(folder: string, ownId: string | undefined, nowMs: number, maxAgeMs: number) {
  const ids = listFolder(machinesFolder(folder)).filter((id) => isMachineId(id) && id !== ownId);
  return ids.flatMap((id) => {
    // The owner replaces a damaged file within minutes.
    const live = readFile(liveFile(folder, id), 64 * 1024, () => undefined, parseClean);
    const { name, at: asOf, isHere, sessions } = live ?? {};
    if (!isText(name) || !isTime(asOf) || Math.abs(nowMs - Date.parse(asOf)) > maxAgeMs) return [];
    return [{ id, name, asOf, isHere, sessions }];
  });
}

/** Returns the sessions that `steward sessions --json` lists on an ssh host. */
export function rowsOfHost(output: string, from: Elsewhere): SessionRow[] | undefined {
  return rowsIn(parseClean(output.slice(output.indexOf('{')))?.['sessions'], from);
}

function rowsIn(listed: unknown, from: Elsewhere): SessionRow[] | undefined {
  if (!Array.isArray(listed)) return undefined;
  const found = listed.filter(isRow).slice(0, MAX_ROWS);
  return found.map(({ sessionIds = [], ...row }) => {
    const slug = from.host === null ? row.slug : hashOf({ ...row, sessionIds });
    return {
      ...row,
      slug,
      name: `${from.machine} · ${row.name}`,
      go: `steward go ${slug}`,
      elsewhere: from,
      sessionIds,
      task: null,
      title: null,
      project: null,
      givenName: null,
      worktree: null,
      model: null,
      place: null,
      mode: 'native',
      phase: 'native',
      artifact: null,
      github_issue: null,
      github_issue_url: null,
      activity: null,
      pid: null,
      subagents: 0,
    };
  });
}

function hashOf({ assistant, sessionIds }: Pick<SessionRow, 'assistant' | 'sessionIds'>): string {
  return hashedId('session', sessionKey(assistant, sessionIds.at(-1) ?? ''));
}
