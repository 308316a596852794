import { join } from 'node:path';

import { StewardError } from '../../errors';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder, exists, removeFile } from '../../platform/files/folder';
import { isObject, parseObject } from '../../platform/files/json-object';
import type { ManagedClient } from './client';
import { contentText, hasId, textBlocks, textOf, type ManagedEvent, type SentEvent } from './event';
import {
  failureOf,
  isNothingDone,
  isTransient,
  mayHaveLanded,
  once,
  repeated,
  type RetryDeps,
} from './failure';
import { sessionLogPath } from './session-log';

/** A message that is being sent: it is written down before, so that it is sent once whoever is killed. */
interface Pending {
  text: string;
  /** How many messages of the user the session had before. */
  before: number;
}

/** `<session>.send.json` */
interface Outbox {
  version: typeof VERSION;
  pending: Pending | null;
  /** Ids of messages that were sent from here, the latest last: they are not taken for the pending one. */
  sent: string[];
}

export interface SendDeps extends RetryDeps {
  client: ManagedClient;
  folder: string;
  /** One sender to a session at a time on this machine. */
  alone: <T>(session: string, work: () => Promise<T>) => Promise<T>;
}

/** What was sent: its id where the service told one. */
export interface Sent {
  id: string | undefined;
}

/** The format of the outbox. */
const VERSION = 1;
const KEPT_IDS = 20;
const MESSAGE = 'user.message';

export function outboxPath(folder: string, session: string): string {
  return join(folder, `${session}.send.json`);
}

export function hasPending(folder: string, session: string): boolean {
  return readOutbox(folder, session).pending !== null;
}

/** Writes down the first message of a session that was just made; what is there already stays. */
export function prepareFirst(folder: string, session: string, text: string): void {
  if (exists(outboxPath(folder, session))) return;
  writeOutbox(folder, session, { version: VERSION, pending: { text, before: 0 }, sent: [] });
}

/**
 * Sends a message exactly once. One that a killed process left behind goes first; when it has the same text, this
 * is the same message, sent again by a person who saw no answer.
 */
export async function sendMessage(deps: SendDeps, session: string, text: string): Promise<Sent> {
  return deps.alone(session, async () => {
    const left = readOutbox(deps.folder, session).pending;
    if (left !== null) {
      const sent = await settle(deps, session, left);
      if (left.text === text) return sent;
    }
    const before = await repeated(deps, async () => (await messagesOf(deps.client, session)).length);
    const pending = { text, before };
    writeOutbox(deps.folder, session, { ...readOutbox(deps.folder, session), pending });
    return post(deps, session, pending);
  });
}

/** Sends what a process left behind before its end; undefined when there is nothing. */
export async function sendPending(deps: SendDeps, session: string): Promise<Sent | undefined> {
  if (!hasPending(deps.folder, session)) return undefined;
  return deps.alone(session, async () => {
    const { pending } = readOutbox(deps.folder, session);
    return pending === null ? undefined : settle(deps, session, pending);
  });
}

/** Nobody knows whether it was sent: the service is asked first. */
async function settle(deps: SendDeps, session: string, pending: Pending): Promise<Sent> {
  const landed = await repeated(deps, () => findLanded(deps, session, pending));
  if (landed === undefined) return post(deps, session, pending);
  done(deps, session, landed.id);
  return landed;
}

async function post(deps: SendDeps, session: string, pending: Pending): Promise<Sent> {
  const event: SentEvent = { type: MESSAGE, content: textBlocks(pending.text) };
  let certain = true;
  try {
    const sent = await once<Sent>(
      deps,
      async () => {
        const taken = await deps.client.send(session, [event]);
        const own = taken.find(({ type }) => type === MESSAGE);
        return { id: own !== undefined && hasId(own) ? own.id : undefined };
      },
      () => findLanded(deps, session, pending),
      (error) => {
        certain = isNothingDone(error);
        return mayHaveLanded(error);
      },
    );
    done(deps, session, sent.id);
    return sent;
  } catch (error) {
    // What was refused is not tried again by anybody; what is uncertain stays written down.
    if (certain && isNothingDone(error) && !isTransient(error)) done(deps, session, undefined);
    throw error;
  }
}

function done({ folder }: SendDeps, session: string, id: string | undefined): void {
  const { sent } = readOutbox(folder, session);
  const ids = id === undefined ? sent : [...sent, id].slice(-KEPT_IDS);
  // A session that took nothing, such as one that does not exist, leaves nothing here.
  if (ids.length === 0 && !exists(sessionLogPath(folder, session))) {
    removeFile(outboxPath(folder, session));
    return;
  }
  writeOutbox(folder, session, { version: VERSION, pending: null, sent: ids });
}

/** The message in the session's log, if it has arrived: one of the same text, later than what was there before. */
async function findLanded(deps: SendDeps, session: string, pending: Pending): Promise<Sent | undefined> {
  const { sent } = readOutbox(deps.folder, session);
  const later = (await messagesOf(deps.client, session)).slice(pending.before);
  const own = later.find(
    (event) => contentText(event['content']) === pending.text && !(hasId(event) && sent.includes(event.id)),
  );
  return own === undefined ? undefined : { id: hasId(own) ? own.id : undefined };
}

/** The messages of the user, in order; none where the service has no list of events. */
async function messagesOf(client: ManagedClient, session: string): Promise<ManagedEvent[]> {
  const found: ManagedEvent[] = [];
  const seen = new Set<string>();
  let page: string | undefined;
  do {
    let events;
    try {
      events = await client.events(session, { page, types: [MESSAGE] });
    } catch (error) {
      if ([404, 405, 501].includes(failureOf(error)?.status ?? 0)) return found;
      throw error;
    }
    for (const event of events.data) {
      if (event.type !== MESSAGE || (hasId(event) && seen.has(event.id))) continue;
      if (hasId(event)) seen.add(event.id);
      found.push(event);
    }
    page = events.next === page ? undefined : events.next;
  } while (page !== undefined);
  return found;
}

/**
 * Sends answers, each once: each names the tool use that it is for, so that those which have arrived are known. A
 * process that was killed may have sent some of them; the service refuses them all then, and the rest goes again.
 */
export async function sendAnswers(
  deps: SendDeps,
  session: string,
  answers: readonly SentEvent[],
): Promise<ManagedEvent[]> {
  if (answers.length === 0) return [];
  const arrived = async (): Promise<ManagedEvent[]> => {
    const types = ['user.tool_confirmation', 'user.custom_tool_result'];
    const wanted = new Set(answers.map(targetOf));
    const found = new Map<string | undefined, ManagedEvent>();
    let page: string | undefined;
    // The latest first; a service may give fewer at once than it is asked for.
    do {
      const { data, next } = await deps.client.events(session, { types, order: 'desc', limit: 100, page });
      for (const event of data) if (wanted.has(targetOf(event))) found.set(targetOf(event), event);
      page = next === page || found.size === wanted.size ? undefined : next;
    } while (page !== undefined);
    return [...found.values()];
  };
  try {
    return await once(
      deps,
      () => deps.client.send(session, answers),
      async () => {
        const found = await arrived();
        return found.length === answers.length ? found : undefined;
      },
      (error) => mayHaveLanded(error) || failureOf(error)?.status === 400,
    );
  } catch (error) {
    if (failureOf(error)?.status !== 400) throw error;
    const found = await repeated(deps, arrived);
    if (found.length === 0) throw error;
    const targets = new Set(found.map(targetOf));
    const rest = answers.filter((answer) => !targets.has(targetOf(answer)));
    return [...found, ...(await sendAnswers(deps, session, rest))];
  }
}

function targetOf(event: unknown): string | undefined {
  return textOf(event, 'tool_use_id') ?? textOf(event, 'custom_tool_use_id');
}

/** A second interrupt does no harm: it is simply repeated. */
export async function sendInterrupt(deps: SendDeps, session: string): Promise<ManagedEvent[]> {
  return repeated(deps, () => deps.client.send(session, [{ type: 'user.interrupt' }]));
}

function readOutbox(folder: string, session: string): Outbox {
  const path = outboxPath(folder, session);
  const stored = parseObject(readText(path) ?? '');
  const version = stored?.['version'];
  if (typeof version === 'number' && version > VERSION) {
    throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
      hint: 'Upgrade steward; this version leaves the file alone.',
    });
  }
  const pending = stored?.['pending'];
  const text = textOf(pending, 'text');
  const before = isObject(pending) ? pending['before'] : undefined;
  const sent = Array.isArray(stored?.['sent']) ? stored['sent'] : [];
  return {
    version: VERSION,
    pending: text === undefined ? null : { text, before: typeof before === 'number' ? before : 0 },
    sent: sent.filter((id): id is string => typeof id === 'string'),
  };
}

function writeOutbox(folder: string, session: string, outbox: Outbox): void {
  ensureFolder(folder);
  replaceFile(outboxPath(folder, session), `${JSON.stringify(outbox)}\n`);
}
