import { join } from 'node:path';
import * as v from 'valibot';

import { exists, removeFile } from '../../platform/files/folder';
import { readObject, writeObject, refuseNewer } from '../../platform/files/object-file';
import { pagesOf, type ManagedClient } from './client';
import { contentText, idOf, textBlocks, type ManagedEvent } from './event';
import {
  hasNoSideEffects,
  isNotServed,
  isTransient,
  mayHaveSideEffects,
  once,
  repeated,
  type RetryDeps,
} from './failure';
import { sessionLogPath } from './session-log';

const VERSION = 1;
const MAX_IDS = 20;
const MESSAGE = 'user.message';

/**
 * Contents of `<session>.send.json`. Storing a message before sending it ensures that it is sent exactly
 * once.
 */
const OUTBOX = v.object({
  /** `before` is the number of user messages that precede the pending message in the session. */
  pending: v.fallback(v.nullable(v.object({ text: v.string(), before: v.fallback(v.number(), 0) })), null),
  /** Ids of the latest messages sent from this machine. */
  sent: v.fallback(v.array(v.string()), []),
});
type Outbox = v.InferOutput<typeof OUTBOX>;
type Pending = NonNullable<Outbox['pending']>;

export interface SendDeps extends RetryDeps {
  client: ManagedClient;
  folder: string;
  /** Runs `work` under the session's send lock, so that only one process on this machine sends at a time. */
  alone: <T>(session: string, work: () => Promise<T>) => Promise<T>;
}

/** A sent message, with its id if the service reported it. */
export interface SentMessage {
  id: string | undefined;
}

export function outboxPath(folder: string, session: string): string {
  return join(folder, `${session}.send.json`);
}

export function hasPending(folder: string, session: string): boolean {
  return readOutbox(folder, session).pending !== null;
}

/** Stores the first message of a new session as pending, unless the session already has an outbox. */
export function prepareFirst(folder: string, session: string, text: string): void {
  if (exists(outboxPath(folder, session))) return;
  writeOutbox(folder, session, { pending: { text, before: 0 }, sent: [] });
}

/**
 * Sends a message exactly once, after any pending message. If the pending message has the same text, sends
 * only the pending one.
 */
export async function sendMessage(deps: SendDeps, session: string, text: string): Promise<SentMessage> {
  return deps.alone(session, async () => {
    const { pending } = readOutbox(deps.folder, session);
    if (pending !== null) {
      const sent = await settle(deps, session, pending);
      if (pending.text === text) return sent;
    }
    const before = await repeated(deps, async () => (await messagesOf(deps.client, session)).length);
    const { sent } = readOutbox(deps.folder, session);
    writeOutbox(deps.folder, session, { sent, pending: { text, before } });
    return post(deps, session, { text, before });
  });
}

/** Sends the message that an interrupted run left pending. Returns undefined if no message is pending. */
export async function sendPending(deps: SendDeps, session: string): Promise<SentMessage | undefined> {
  if (!hasPending(deps.folder, session)) return undefined;
  return deps.alone(session, async () => {
    const { pending } = readOutbox(deps.folder, session);
    return pending === null ? undefined : settle(deps, session, pending);
  });
}

/** Sends a pending message unless the session already contains it. */
async function settle(deps: SendDeps, session: string, pending: Pending): Promise<SentMessage> {
  const alreadySent = await repeated(deps, () => findSent(deps, session, pending));
  if (alreadySent === undefined) return post(deps, session, pending);
  clearPending(deps, session, alreadySent.id);
  return alreadySent;
}

async function post(deps: SendDeps, session: string, pending: Pending): Promise<SentMessage> {
  let isCertain = true;
  try {
    const sent = await once<SentMessage>(
      deps,
      async () => {
        const content = textBlocks(pending.text);
        const accepted = await deps.client.send(session, [{ type: MESSAGE, content }]);
        return { id: idOf(accepted.find(({ type }) => type === MESSAGE)) };
      },
      () => findSent(deps, session, pending),
      (error) => {
        isCertain = hasNoSideEffects(error);
        return mayHaveSideEffects(error);
      },
    );
    clearPending(deps, session, sent.id);
    return sent;
  } catch (error) {
    // Drop the message only if the service rejected it. Otherwise, the service may have accepted the message.
    if (isCertain && hasNoSideEffects(error) && !isTransient(error)) clearPending(deps, session, undefined);
    throw error;
  }
}

function clearPending({ folder }: SendDeps, session: string, id: string | undefined): void {
  const { sent } = readOutbox(folder, session);
  const ids = id === undefined ? sent : [...sent, id].slice(-MAX_IDS);
  if (ids.length === 0 && !exists(sessionLogPath(folder, session))) removeFile(outboxPath(folder, session));
  else writeOutbox(folder, session, { pending: null, sent: ids });
}

/** Finds the pending message in the session by its text, skipping earlier messages. */
async function findSent(deps: SendDeps, session: string, pending: Pending): Promise<SentMessage | undefined> {
  const { sent } = readOutbox(deps.folder, session);
  const later = (await messagesOf(deps.client, session)).slice(pending.before);
  const own = later.find(
    (event) => contentText(event['content']) === pending.text && !sent.includes(idOf(event) ?? ''),
  );
  return own === undefined ? undefined : { id: idOf(own) };
}

/** Returns a session's user messages in order; empty if the service can't list events. */
async function messagesOf(client: ManagedClient, session: string): Promise<ManagedEvent[]> {
  const found: ManagedEvent[] = [];
  const seen = new Set<string>();
  try {
    for await (const events of pagesOf((page) => client.events(session, { page, types: [MESSAGE] }))) {
      for (const event of events) {
        const id = idOf(event);
        if (event.type !== MESSAGE || (id !== undefined && seen.has(id))) continue;
        if (id !== undefined) seen.add(id);
        found.push(event);
      }
    }
  } catch (error) {
    if (!isNotServed(error)) throw error;
  }
  return found;
}

function readOutbox(folder: string, session: string): Outbox {
  const path = outboxPath(folder, session);
  const stored = readObject(path) ?? {};
  refuseNewer(path, stored['version'], VERSION);
  return v.parse(OUTBOX, { pending: null, sent: [], ...stored });
}

function writeOutbox(folder: string, session: string, outbox: Outbox): void {
  writeObject(outboxPath(folder, session), { ...outbox, version: VERSION });
}
