import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { StewardError, toStewardError } from '../../errors';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder, listFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { bury, pruneDead } from '../../platform/files/graveyard';
import { parseObject } from '../../platform/files/json-object';
import { readLines } from '../../platform/files/jsonl';
import { cleanLine } from '../../platform/terminal/terminal';
import { wait } from '../../platform/time/wait';
import type { Resource } from './client';
import { checkedId, isId, textOf } from './event';
import { failureOf, isNothingDone, mayHaveLanded, once, pauseMs, repeated } from './failure';
import { type SendDeps, hasPending, prepareFirst } from './outbox';
import { pendingOf, sendOrSay } from './send';
import { sessionLogPath } from './session-log';
import { type Prices, costOf, usageOf } from './turn';
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

/** A session that is being made: written down before, so that a killed run makes one session and not two. */
interface Start extends StartInput {
  nonce: string;
}

/** The member of a session's metadata by which the one who made it finds it again. */
const NONCE = 'steward_run';
const PAGES = 5;

/** Makes a session and writes its first message down, to be sent once somebody follows it. Gives the session's id. */
export async function startSession(deps: SendDeps, input: StartInput): Promise<string> {
  const start = { nonce: randomUUID(), ...input };
  const path = join(deps.folder, `${start.nonce}.start.json`);
  ensureFolder(deps.folder);
  replaceFile(path, `${JSON.stringify(start)}\n`);
  return complete(deps, start, { path, wasTried: false });
}

/** Goes on with the session that a killed process was about to make, the latest; undefined when there is none. */
export async function resumeStart(deps: SendDeps): Promise<string | undefined> {
  const left = listFolder(deps.folder)
    .filter((name) => name.endsWith('.start.json'))
    .map((name) => join(deps.folder, name))
    .sort((a, b) => (lstatOf(b)?.mtimeMs ?? 0) - (lstatOf(a)?.mtimeMs ?? 0));
  for (const path of left) {
    const start = parseObject(readText(path) ?? '');
    if (isStart(start)) return complete(deps, start, { path, wasTried: true });
    bury(deadMessages(deps.folder), path, { atMs: deps.clock.now(), reason: 'the file cannot be read' });
  }
  return undefined;
}

/** A file that says less than a session needs is none that a run has left. */
function isStart(value: Record<string, unknown> | undefined): value is Record<string, unknown> & Start {
  return ['nonce', 'agent', 'environment', 'message'].every((key) => textOf(value, key) !== undefined);
}

async function complete(
  deps: SendDeps,
  start: Start,
  { path, wasTried }: { path: string; wasTried: boolean },
): Promise<string> {
  let session: Resource;
  let certain = !wasTried;
  try {
    const found = wasTried ? await repeated(deps, () => findByNonce(deps, start)) : undefined;
    session =
      found ??
      (await once(
        deps,
        () => deps.client.create('sessions', bodyOf(start)),
        () => findByNonce(deps, start),
        (error) => {
          certain = isNothingDone(error);
          return mayHaveLanded(error);
        },
      ));
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
    throw new StewardError(
      'unavailable',
      `${deps.client.host} made a session with an id that is none: ${cleanLine(session.id, 80)}`,
      { hint: 'Check agents.managed.url. Nothing was sent to that session.' },
    );
  }
  prepareFirst(deps.folder, session.id, start.message);
  removeFile(path);
  return session.id;
}

function bodyOf(start: Start): Record<string, unknown> {
  return {
    agent: start.agent,
    environment_id: start.environment,
    metadata: { [NONCE]: start.nonce },
    ...(start.title === undefined ? {} : { title: start.title }),
    ...(start.vaults === undefined || start.vaults.length === 0 ? {} : { vault_ids: start.vaults }),
    ...(start.budget === undefined ? {} : { budget: budgetOf(start.budget) }),
  };
}

/** The service's own hard limit, in cents as a text. */
function budgetOf(usd: number): Record<string, unknown> {
  const cents = Math.max(1, Math.round(usd * 100));
  return { type: 'limit', max_list_cost: { amount: String(cents), currency: 'USD' } };
}

async function findByNonce({ client }: SendDeps, start: Start): Promise<Resource | undefined> {
  let page: string | undefined;
  for (let read = 0; read < PAGES; read += 1) {
    const found = await client.list('sessions', [
      ['agent_id', start.agent],
      ['order', 'desc'],
      ['limit', '100'],
      ...(page === undefined ? [] : [['page', page] as const]),
    ]);
    const own = found.data.find(({ metadata }) => textOf(metadata, NONCE) === start.nonce);
    if (own !== undefined || found.next === undefined) return own;
    page = found.next;
  }
  return undefined;
}

/**
 * Finds the session to go on with (service.md: Managed session): the one named, else a run that was killed before it
 * knew its session, else the one that was used last. One that is over is `conflict`. A message is sent, once.
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
  const archived = typeof found['archived_at'] === 'string';
  if (status === 'terminated' || archived) {
    throw new StewardError(
      'conflict',
      `Session ${session} is ${archived ? 'archived' : status}: it cannot go on.`,
      {
        hint: `steward agents managed stream ${session} --all shows what happened; a new run starts a new session.`,
      },
    );
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
  { deps, prices, folder }: { deps: SendDeps; prices: Prices; folder: string },
  id: string,
): Promise<SessionReport> {
  const session = await repeated(deps, () => deps.client.get('sessions', id));
  const stats = usageOf(session['stats'], 0);
  const usage = usageOf(session['usage'], stats.activeSeconds);
  let localEvents = 0;
  readLines(sessionLogPath(folder, id), {}, () => (localEvents += 1));
  const pending = textOf(session, 'status') === 'idle' ? await pendingOf(deps, id) : [];
  return { session, localEvents, unsent: hasPending(folder, id), cost: costOf(usage, prices), pending };
}

/**
 * Archives a session. One that has just become idle may still count as running for a moment: the refusal is
 * believed only when the session says that it is running, or goes on refusing.
 */
export async function archiveSession(deps: SendDeps, id: string): Promise<Resource> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await repeated(deps, () => deps.client.archive('sessions', id));
    } catch (error) {
      if (failureOf(error)?.status !== 400) throw error;
      const session = await repeated(deps, () => deps.client.get('sessions', id));
      if (typeof session['archived_at'] === 'string') return session;
      if (tried + 1 < deps.timing.tries) {
        await wait(pauseMs(deps.timing, tried, undefined), deps.signal);
        continue;
      }
      if (textOf(session, 'status') !== 'running') throw error;
      throw new StewardError('conflict', `Session ${id} is running.`, {
        hint: `steward agents managed interrupt ${id}, then archive it.`,
        cause: error,
      });
    }
  }
}

const ENDINGS = ['.jsonl', '.shown', '.send.json', '.start.json'];

/** Ids of the sessions that have a log here, the one that was written to last first. */
export function localSessions(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.send.json') || name.endsWith('.jsonl'))
    .map((name) => ({ id: name.replace(/\.(?:send\.json|jsonl)$/, ''), at: mtimeOf(folder, name) }))
    .sort((a, b) => b.at - a.at)
    .map(({ id }) => id)
    .filter((id, index, all) => all.indexOf(id) === index);
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
  const kept = new Set(
    localSessions(folder).filter((id) =>
      ENDINGS.some((ending) => nowMs - mtimeOf(folder, `${id}${ending}`) < days * 86_400_000),
    ),
  );
  for (const name of listFolder(folder)) {
    const ending = ENDINGS.find((end) => name.endsWith(end));
    if (ending === undefined || kept.has(name.slice(0, -ending.length))) continue;
    if (nowMs - mtimeOf(folder, name) < days * 86_400_000) continue;
    const path = join(folder, name);
    if (isUnsent(folder, name)) {
      bury(deadMessages(folder), path, { atMs: nowMs, reason: `not sent within ${days} days` });
    } else removeFile(path);
  }
  pruneDead(deadMessages(folder), nowMs);
}

function isUnsent(folder: string, name: string): boolean {
  if (name.endsWith('.start.json')) return true;
  return name.endsWith('.send.json') && hasPending(folder, name.slice(0, -'.send.json'.length));
}

function mtimeOf(folder: string, name: string): number {
  return lstatOf(join(folder, name))?.mtimeMs ?? 0;
}
