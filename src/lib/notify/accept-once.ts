import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { StewardError } from '../errors';
import { claimFile } from '../platform/files/atomic-file';
import { ensureFolder, listFolder, removeFile } from '../platform/files/folder';
import { acceptRequest, type AcceptDeps, type Accepted } from './accept';
import { ID_GRAMMAR, timeOfId } from './id';
import { parseRequest } from './message';
import { entryOf } from './results';

/*
 * A sender that gets no answer from the daemon cannot know whether its message was taken, and a daemon that hung
 * goes on with it later. So the sender chooses the id, and whoever accepts it takes that id first, by making a
 * file: one of the two does, and the other one finds out.
 */

const HOUR_MS = 3_600_000;
/** A daemon that was stopped for longer leaves the request alone: what shows that it was taken is kept for longer. */
const OLDEST_MS = 24 * HOUR_MS;
const KEEP_MS = 7 * 24 * HOUR_MS;
/** How long a process may be in the midst of taking a message before it counts as hung there, too. */
const MIDST_MS = 2_000;
const LOOK_MS = 50;

/**
 * Accepts a body whose id the sender has chosen; one that the sender has sent by itself meanwhile goes nowhere.
 * What is no id, or older than a day, is refused: `usage`, `conflict`.
 */
export async function acceptOnce(deps: AcceptDeps, body: unknown, id: unknown): Promise<Accepted> {
  const request = parseRequest(body);
  if (typeof id !== 'string' || !ID_GRAMMAR.test(id)) {
    throw new StewardError('usage', 'id is not right.', { hint: 'Leave it out: the answer has one.' });
  }
  if (!(Math.abs(deps.clock.now() - timeOfId(id)) < OLDEST_MS)) {
    throw new StewardError('conflict', 'The message is older than a day.', { hint: 'Send it again.' });
  }
  if (!take(deps, id)) return { status: 'accepted', id };
  try {
    return await acceptRequest(deps, request, id);
  } finally {
    // It is in the log now, or was refused: then the sender may try by itself.
    removeFile(takenPath(deps, id));
  }
}

/** Who accepted a message that the daemon gave no answer to. */
export interface Unanswered {
  accepted: Accepted;
  by: 'daemon' | 'sender';
}

/**
 * Accepts a body that the daemon was sent, and gave no answer to. Where the daemon has accepted it nothing more is
 * done; where it has not, it never will, whenever it goes on. A process that stands still, or was killed, between
 * the two is `unavailable`: then nothing is known, and nothing is sent a second time.
 */
export async function acceptUnanswered(deps: AcceptDeps, body: unknown, id: string): Promise<Unanswered> {
  const request = parseRequest(body);
  forgetOld(deps);
  const endMs = deps.clock.monotonic() + MIDST_MS;
  for (;;) {
    const isMine = take(deps, id);
    if (entryOf(deps, id) !== undefined) {
      const phase = request.phase === undefined ? {} : { phase: 'not known' };
      return { accepted: { status: 'accepted', id, ...phase }, by: 'daemon' };
    }
    if (isMine) return { accepted: await acceptRequest(deps, request, id), by: 'sender' };
    if (deps.clock.monotonic() >= endMs) throw inTheMidst(id);
    await delay(LOOK_MS);
  }
}

function inTheMidst(id: string): StewardError {
  return new StewardError(
    'unavailable',
    `The daemon stopped answering while it took the message: whether ${id} goes out is not known.`,
    {
      hint: '`steward notify history` shows it if it does. It was not sent a second time; sending it again may.',
    },
  );
}

function take(deps: AcceptDeps, id: string): boolean {
  const path = takenPath(deps, id);
  const made = claimFile(path);
  if (made !== undefined) return made;
  ensureFolder(folderOf(deps));
  return claimFile(path) === true;
}

function takenPath(deps: AcceptDeps, id: string): string {
  return join(folderOf(deps), id);
}

function folderOf({ locks }: AcceptDeps): string {
  return join(locks, 'notify-taken');
}

function forgetOld(deps: AcceptDeps): void {
  for (const name of listFolder(folderOf(deps))) {
    if (ID_GRAMMAR.test(name) && Math.abs(deps.clock.now() - timeOfId(name)) > KEEP_MS) {
      removeFile(takenPath(deps, name));
    }
  }
}
