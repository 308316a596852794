import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { StewardError, toStewardError } from '../../errors';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder, listFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { bury, pruneDead } from '../../platform/files/dead-letters';
import { parseObject } from '../../platform/files/json-object';
import { readLines } from '../../platform/files/jsonl';
import { cleanLine } from '../../platform/terminal/terminal';
import { pageQuery, pagesOf, type Resource } from './client';
import { checkedId, isId, textOf } from './event';
import { failureOf, isNothingDone, mayHaveLanded, once, pause, repeated } from './failure';
import { hasPending, prepareFirst, type SendDeps } from './outbox';
import { pendingOf, sendOrSay } from './send';
import { sessionLogPath } from './session-log';
import { costOf, usageOf, type Prices } from './turn';
import type { SessionReport } from './view';

export interface StartInput {
  agent: string;
  environment: string;
  message: string;
  title?: string;
  vaults?: readonly string[];
  /** USD. */
  budget?: number;
}

/** A session that is being made: written down first, so that a killed run makes one session and not two. */
interface Start extends StartInput {
  nonce: string;
}

/** The member of a session's metadata by which the one who made it finds it again. */
const NONCE = 'steward_run';
const PAGES = 5;

/** Makes a session and writes its first message down, to be sent once the session is followed. Returns its id. */
export async function startSession(deps: SendDeps, input: StartInput): Promise<string> {
  const start = { nonce: randomUUID(), ...input };
  const path = join(deps.folder, `${start.nonce}.start.json`);
  ensureFolder(deps.folder);
  replaceFile(path, `${JSON.stringify(start)}\n`);
  return complete(deps, start, path, false);
}

/** Goes on with the session that a killed process was about to make, the latest; undefined when there is none. */
export async function resumeStart(deps: SendDeps): Promise<string | undefined> {
  const { folder } = deps;
  const left = listFolder(folder).filter((name) => name.endsWith('.start.json'));
  for (const name of byTime(folder, left)) {
    const path = join(folder, name);
    const start = parseObject(readText(path) ?? '');
    if (isStart(start)) return complete(deps, start, path, true);
    bury(deadMessages(folder), path, { atMs: deps.clock.now(), reason: 'the file cannot be read' });
  }
  return undefined;
}

function isStart(value: unknown): value is Start {
  return ['nonce', 'agent', 'environment', 'message'].every((key) => textOf(value, key) !== undefined);
}

async function complete(deps: SendDeps, start: Start, path: string, wasTried: boolean): Promise<string> {
  let certain = !wasTried;
  const find = (): Promise<Resource | undefined> => findByNonce(deps, start);
  const make = (): Promise<Resource> =>
    once(
      deps,
      () => deps.client.create('sessions', bodyOf(start)),
      find,
      (error) => {
        certain = isNothingDone(error);
        return mayHaveLanded(error);
      },
    );
  let session: Resource;
  try {
    session = (wasTried ? await repeated(deps, find) : undefined) ?? (await make());
  } catch (error) {
    // Refused: nothing was made, and nothing will be. What is uncertain stays, for a wake.
    if (certain && isNothingDone(error)) {
      removeFile(path);
      throw error;
    }
    const known = toStewardError(error);
    throw new StewardError(known.kind, known.message, {
      hint: 'The session may have been made: "steward agents managed wake" finds out, and goes on with it.',
      cause: known,
    });
  }
  if (!isId(session.id)) {
    const message = `${deps.client.host} made a session with an id that is none: ${cleanLine(session.id, 80)}`;
    throw new StewardError('unavailable', message, {
      hint: 'Check agents.managed.url. Nothing was sent to that session.',
    });
  }
  prepareFirst(deps.folder, session.id, start.message);
  removeFile(path);
  return session.id;
}

function bodyOf({ agent, environment, nonce, title, vaults = [], budget }: Start): Record<string, unknown> {
  // The service's own hard limit is in cents, as a text.
  const amount = String(Math.max(1, Math.round((budget ?? 0) * 100)));
  return {
    agent,
    environment_id: environment,
    metadata: { [NONCE]: nonce },
    ...(title === undefined ? {} : { title }),
    ...(vaults.length === 0 ? {} : { vault_ids: vaults }),
    ...(budget === undefined
      ? {}
      : { budget: { type: 'limit', max_list_cost: { amount, currency: 'USD' } } }),
  };
}

async function findByNonce({ client }: SendDeps, start: Start): Promise<Resource | undefined> {
  const query = [['agent_id', start.agent], ['order', 'desc'], ['limit', '100']] as const; // prettier-ignore
  let read = 0;
  for await (const found of pagesOf((page) => client.list('sessions', [...query, ...pageQuery(page)]))) {
    const own = found.find(({ metadata }) => textOf(metadata, NONCE) === start.nonce);
    read += 1;
    if (own !== undefined || read === PAGES) return own;
  }
  return undefined;
}

/**
 * Finds the session to go on with: the one named, else a run that was killed before it knew its session, else the one
 * that was used last. One that is over is `conflict`. A message is sent, once.
 */
export async function wakeSession(
  deps: SendDeps,
  named: string | undefined,
  message: string | undefined,
): Promise<{ session: string; isIdle: boolean; sent: string[] }> {
  const id = named ?? (await resumeStart(deps)) ?? localSessions(deps.folder)[0];
  if (id === undefined) {
    throw new StewardError('not_found', 'No hosted session was used here yet.', {
      hint: 'Name one (steward agents managed sessions), or start one: steward agents managed run',
    });
  }
  const session = checkedId(id, 'a session');
  const found = await repeated(deps, () => deps.client.get('sessions', session));
  const status = textOf(found, 'status');
  const archived = isArchived(found);
  if (status === 'terminated' || archived) {
    const state = archived ? 'archived' : status;
    throw new StewardError('conflict', `Session ${session} is ${state}: it cannot go on.`, {
      hint: `steward agents managed stream ${session} --all shows what happened; a new run starts a new session.`,
    });
  }
  const sent = message === undefined ? undefined : (await sendOrSay(deps, session, message)).id;
  return {
    session,
    isIdle: status === 'idle' && message === undefined && !hasPending(deps.folder, session),
    sent: sent === undefined ? [] : [sent],
  };
}

/** What the service and the local log know of a session. */
export async function sessionReport(
  { deps, prices }: { deps: SendDeps; prices: Prices },
  id: string,
): Promise<SessionReport> {
  const session = await repeated(deps, () => deps.client.get('sessions', id));
  const stats = usageOf(session['stats'], 0);
  const cost = costOf(usageOf(session['usage'], stats.activeSeconds), prices);
  let localEvents = 0;
  readLines(sessionLogPath(deps.folder, id), {}, () => (localEvents += 1));
  const pending = textOf(session, 'status') === 'idle' ? await pendingOf(deps, id) : [];
  return { session, localEvents, unsent: hasPending(deps.folder, id), cost, pending };
}

/**
 * Archives a session. One that has just become idle may still count as running for a moment: the refusal is believed
 * only when the session says that it is running, or goes on refusing.
 */
export async function archiveSession(deps: SendDeps, id: string): Promise<Resource> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await repeated(deps, () => deps.client.archive('sessions', id));
    } catch (error) {
      if (failureOf(error)?.status !== 400) throw error;
      const session = await repeated(deps, () => deps.client.get('sessions', id));
      if (isArchived(session)) return session;
      if (tried + 1 >= deps.timing.tries) {
        if (textOf(session, 'status') !== 'running') throw error;
        throw new StewardError('conflict', `Session ${id} is running.`, {
          hint: `steward agents managed interrupt ${id}, then archive it.`,
          cause: error,
        });
      }
      await pause(deps, tried);
    }
  }
}

function isArchived(session: Resource): boolean {
  return typeof session['archived_at'] === 'string';
}

const ENDINGS = ['.jsonl', '.shown', '.send.json', '.start.json'];

/** Ids of the sessions that have a log here, the one that was written to last first. */
export function localSessions(folder: string): string[] {
  const names = listFolder(folder).filter((name) => name.endsWith('.send.json') || name.endsWith('.jsonl'));
  return [...new Set(byTime(folder, names).map((name) => name.replace(/\.(?:send\.json|jsonl)$/, '')))];
}

/** The folder of messages that were never sent. */
export function deadMessages(folder: string): string {
  return join(folder, 'dead');
}

/**
 * Removes the logs of sessions that nothing was written to for some days; the service keeps its own. A message that was
 * never sent is nowhere else, and is buried.
 */
export function pruneSessions(folder: string, days: number, nowMs: number): void {
  const isFresh = (name: string): boolean => nowMs - mtimeOf(folder, name) < days * 86_400_000;
  for (const name of listFolder(folder)) {
    const ending = ENDINGS.find((end) => name.endsWith(end));
    const id = name.slice(0, -(ending?.length ?? 0));
    if (ending === undefined || ENDINGS.some((end) => isFresh(`${id}${end}`))) continue;
    const path = join(folder, name);
    const isUnsent = ending === '.start.json' || (ending === '.send.json' && hasPending(folder, id));
    if (isUnsent) bury(deadMessages(folder), path, { atMs: nowMs, reason: `not sent within ${days} days` });
    else removeFile(path);
  }
  pruneDead(deadMessages(folder), nowMs);
}

/** The names, the one that was written to last first. */
function byTime(folder: string, names: readonly string[]): string[] {
  return [...names].sort((a, b) => mtimeOf(folder, b) - mtimeOf(folder, a));
}

function mtimeOf(folder: string, name: string): number {
  return lstatOf(join(folder, name))?.mtimeMs ?? 0;
}
