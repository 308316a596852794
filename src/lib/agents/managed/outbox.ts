import { join } from 'node:path';

import { StewardError } from '../../errors';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder, exists, removeFile } from '../../platform/files/folder';
import { isObject, parseObject } from '../../platform/files/json-object';
import { pagesOf, type ManagedClient } from './client';
import { contentText, idOf, textBlocks, textOf, type ManagedEvent } from './event';
import {
  isNothingDone,
  isNotServed,
  isTransient,
  mayHaveLanded,
  once,
  repeated,
  type RetryDeps,
} from './failure';
import { sessionLogPath } from './session-log';

/** A message that is being sent: written down first, so that it is sent once whatever is killed. */
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
  writeOutbox(folder, session, { pending: { text, before: 0 }, sent: [] });
}

/**
 * Sends a message exactly once. One that a killed process left behind goes first; if it has the same text, it is the
 * same message, sent again by a person who saw no answer.
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

/** Sends what a killed process left behind; undefined when there is nothing. */
export async function sendPending(deps: SendDeps, session: string): Promise<Sent | undefined> {
  if (!hasPending(deps.folder, session)) return undefined;
  return deps.alone(session, async () => {
    const { pending } = readOutbox(deps.folder, session);
    return pending === null ? undefined : settle(deps, session, pending);
  });
}

/** It is unknown whether this was sent: the service is asked first. */
async function settle(deps: SendDeps, session: string, pending: Pending): Promise<Sent> {
  const landed = await repeated(deps, () => findLanded(deps, session, pending));
  if (landed === undefined) return post(deps, session, pending);
  done(deps, session, landed.id);
  return landed;
}

async function post(deps: SendDeps, session: string, pending: Pending): Promise<Sent> {
  let certain = true;
  try {
    const sent = await once<Sent>(
      deps,
      async () => {
        const content = textBlocks(pending.text);
        const taken = await deps.client.send(session, [{ type: MESSAGE, content }]);
        return { id: idOf(taken.find(({ type }) => type === MESSAGE)) };
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
    // What was refused is dropped; what is uncertain stays written down.
    if (certain && isNothingDone(error) && !isTransient(error)) done(deps, session, undefined);
    throw error;
  }
}

function done({ folder }: SendDeps, session: string, id: string | undefined): void {
  const { sent } = readOutbox(folder, session);
  const ids = id === undefined ? sent : [...sent, id].slice(-KEPT_IDS);
  // A session that took nothing, such as one that does not exist, leaves nothing here.
  if (ids.length === 0 && !exists(sessionLogPath(folder, session))) removeFile(outboxPath(folder, session));
  else writeOutbox(folder, session, { pending: null, sent: ids });
}

/** The message in the session's log, if it has arrived: one of the same text, later than what was there before. */
async function findLanded(deps: SendDeps, session: string, pending: Pending): Promise<Sent | undefined> {
  const { sent } = readOutbox(deps.folder, session);
  const later = (await messagesOf(deps.client, session)).slice(pending.before);
  const own = later.find(
    (event) => contentText(event['content']) === pending.text && !sent.includes(idOf(event) ?? ''),
  );
  return own === undefined ? undefined : { id: idOf(own) };
}

/** The messages of the user, in order; none where the service has no list of events. */
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
  const stored = parseObject(readText(path) ?? '');
  const version = stored?.['version'];
  if (typeof version === 'number' && version > VERSION) {
    throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
      hint: 'Upgrade steward; this version leaves the file alone.',
    });
  }
  const pending = stored?.['pending'];
  const text = textOf(pending, 'text');
  const before = isObject(pending) ? Number(pending['before']) || 0 : 0;
  const sent = Array.isArray(stored?.['sent']) ? stored['sent'] : [];
  return {
    version: VERSION,
    pending: text === undefined ? null : { text, before },
    sent: sent.filter((id): id is string => typeof id === 'string'),
  };
}

function writeOutbox(folder: string, session: string, outbox: Omit<Outbox, 'version'>): void {
  ensureFolder(folder);
  replaceFile(outboxPath(folder, session), `${JSON.stringify({ ...outbox, version: VERSION })}\n`);
}
