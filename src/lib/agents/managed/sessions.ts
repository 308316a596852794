import { join } from 'node:path';

import { crypto } from '../../platform/crypto';
import { StewardError, toStewardError } from '../../errors';
import { listFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { bury, pruneDead } from '../../platform/files/dead-letters';
import { readLines } from '../../platform/files/jsonl';
import { writeObject, readObject } from '../../platform/files/object-file';
import { cleanLine } from '../../platform/terminal/terminal';
import { pageQuery, pagesOf, type Resource } from './client';
import { checkedId, isId, textField } from './event';
import { failureOf, hasNoSideEffects, mayHaveSideEffects, once, pause, repeated } from './failure';
import { hasPending, prepareFirst, type SendDeps } from './outbox';
import { pendingOf, sendOrExplain } from './send';
import { sessionLogPath } from './session-log';
import { costOf, usageOf } from './turn';
import type { SessionReport } from './view';

export interface StartInput {
  agent: string;
  environment: string;
  message: string;
  title?: string | undefined;
  vaults?: readonly string[];
  /** Cost limit in USD. */
  budget?: number | undefined;
}

/**
 * Contents of `<nonce>.start.json`. Written before the session is created, so that a later run can find the
 * session after an interruption.
 */
interface Start extends StartInput {
  nonce: string;
}

/** Metadata key by which a later run finds the session. */
const NONCE = 'steward_run';
const MAX_PAGES = 5;

/** Creates a session and stores its first message for `follow` to send. Returns the session id. */
export async function startSession(deps: SendDeps, input: StartInput): Promise<string> {
  const start = { nonce: crypto().randomUUID(), ...input };
  const path = join(deps.folder, `${start.nonce}.start.json`);
  writeObject(path, start);
  return completeStart(deps, start, path, false);
}

/**
 * Completes the most recent interrupted session start. Returns the session's id, or undefined if no start was
 * interrupted.
 */
export async function resumeStart(deps: SendDeps): Promise<string | undefined> {
  const { folder } = deps;
  const names = listFolder(folder).filter((name) => name.endsWith('.start.json'));
  for (const name of byTime(folder, names)) {
    const path = join(folder, name);
    const start = readObject(path);
    if (isStart(start)) return completeStart(deps, start, path, true);
    bury(deadMessages(folder), path, { atMs: deps.clock.now(), reason: 'the file is invalid' });
  }
  return undefined;
}

function isStart(value: unknown): value is Start {
  return ['nonce', 'agent', 'environment', 'message'].every((key) => textField(value, key) !== undefined);
}

async function completeStart(deps: SendDeps, start: Start, path: string, wasTried: boolean): Promise<string> {
  let mayHaveTwins = wasTried;
  let isCertain = !wasTried;
  const find = async (): Promise<Resource | undefined> => (await findByNonce(deps, start))[0];
  const create = (): Promise<Resource> =>
    once(
      deps,
      () => deps.client.create('sessions', bodyOf(start)),
      find,
      (error) => {
        mayHaveTwins = true;
        isCertain = hasNoSideEffects(error);
        return mayHaveSideEffects(error);
      },
    );
  let session: Resource;
  try {
    session = (wasTried ? await repeated(deps, find) : undefined) ?? (await create());
    if (mayHaveTwins) await archiveTwins(deps, start, session.id);
  } catch (error) {
    // Keep the start file unless the service rejected the request, because the session may exist and `wake`
    // can find it.
    if (isCertain && hasNoSideEffects(error)) {
      removeFile(path);
      throw error;
    }
    const known = toStewardError(error);
    throw new StewardError(known.kind, known.message, {
      hint: 'The session may already exist. To resume it, run "steward agents managed wake".',
      cause: known,
    });
  }
  if (!isId(session.id)) {
    const message = `${deps.client.host} returned an invalid session id: ${cleanLine(session.id, 80)}`;
    throw new StewardError('unavailable', message, {
      hint: 'Check agents.managed.url. Nothing was sent.',
    });
  }
  prepareFirst(deps.folder, session.id, start.message);
  removeFile(path);
  return session.id;
}

function bodyOf({ agent, environment, nonce, title, vaults = [], budget }: Start): Record<string, unknown> {
  // The service expects the limit in cents, as a string.
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

/** Archives the other sessions of this start, which a failed request left empty. */
async function archiveTwins(deps: SendDeps, start: Start, id: string): Promise<void> {
  const twins = (await repeated(deps, () => findByNonce(deps, start))).filter((found) => found.id !== id);
  for (const twin of twins) if (!isArchived(twin)) await archiveSession(deps, twin.id);
}

async function findByNonce({ client }: SendDeps, start: Start): Promise<Resource[]> {
  const query = [['agent_id', start.agent], ['order', 'desc'], ['limit', '100']] as const; // prettier-ignore
  const own: Resource[] = [];
  let read = 0;
  for await (const found of pagesOf((page) => client.list('sessions', [...query, ...pageQuery(page)]))) {
    own.push(...found.filter(({ metadata }) => textField(metadata, NONCE) === start.nonce));
    read += 1;
    if (read === MAX_PAGES) break;
  }
  return own;
}

/**
 * Resumes the named session. Without a name, resumes a session whose start was interrupted, or else the most
 * recently used session. Sends the message, if any. Throws `conflict` if the session has ended.
 */
export async function wakeSession(deps: SendDeps, named: string | undefined, message: string | undefined) {
  const id = named ?? (await resumeStart(deps)) ?? localSessions(deps.folder)[0];
  if (id === undefined) {
    throw new StewardError('not_found', 'No hosted session has been used on this machine.', {
      hint: 'Pass a session id from "steward agents managed sessions", or start a session: steward agents managed run',
    });
  }
  const session = checkedId(id);
  const found = await repeated(deps, () => deps.client.get('sessions', session));
  const status = textField(found, 'status');
  const archived = isArchived(found);
  if (status === 'terminated' || archived) {
    const state = archived ? 'archived' : status;
    throw new StewardError('conflict', `Session ${session} is ${state} and cannot be resumed.`, {
      hint: `See its log: steward agents managed stream ${session} --all`,
    });
  }
  const sent = message === undefined ? undefined : (await sendOrExplain(deps, session, message)).id;
  return {
    session,
    isIdle: status === 'idle' && message === undefined && !hasPending(deps.folder, session),
    sent: sent === undefined ? [] : [sent],
  };
}

/** Returns a session's state on the service and on this machine. */
export async function sessionReport({ deps }: { deps: SendDeps }, id: string): Promise<SessionReport> {
  const session = await repeated(deps, () => deps.client.get('sessions', id));
  const stats = usageOf(session['stats'], 0);
  const cost = costOf(usageOf(session['usage'], stats.activeSeconds));
  let localEvents = 0;
  readLines(sessionLogPath(deps.folder, id), {}, () => (localEvents += 1));
  const pending = textField(session, 'status') === 'idle' ? await pendingOf(deps, id) : [];
  return { session, localEvents, unsent: hasPending(deps.folder, id), cost, pending };
}

/** Archives a session. Retries, because the service may reject a session that has just become idle. */
export async function archiveSession(deps: SendDeps, id: string): Promise<Resource> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await repeated(deps, () => deps.client.archive('sessions', id));
    } catch (error) {
      if (failureOf(error)?.status !== 400) throw error;
      const session = await repeated(deps, () => deps.client.get('sessions', id));
      if (isArchived(session)) return session;
      if (failures + 1 >= deps.timing.tries) {
        if (textField(session, 'status') !== 'running') throw error;
        throw new StewardError('conflict', `Session ${id} is running.`, {
          hint: `Interrupt it first: steward agents managed interrupt ${id}`,
          cause: error,
        });
      }
      await pause(deps, failures);
    }
  }
}

function isArchived(session: Resource): boolean {
  return typeof session['archived_at'] === 'string';
}

const ENDINGS = ['.jsonl', '.shown', '.send.json', '.start.json'];

/** Returns the ids of sessions with a local log, latest first. */
export function localSessions(folder: string): string[] {
  const names = listFolder(folder).filter((name) => name.endsWith('.send.json') || name.endsWith('.jsonl'));
  return [...new Set(byTime(folder, names).map((name) => name.replace(/\.(?:send\.json|jsonl)$/, '')))];
}

export function deadMessages(folder: string): string {
  return join(folder, 'dead');
}

/** Deletes session logs that haven't changed for `days` days. Moves unsent messages to the `dead` folder. */
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

function byTime(folder: string, names: readonly string[]): string[] {
  return [...names].sort((a, b) => mtimeOf(folder, b) - mtimeOf(folder, a));
}

function mtimeOf(folder: string, name: string): number {
  return lstatOf(join(folder, name))?.mtimeMs ?? 0;
}
