import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';

import { withLock } from '../platform/files/lock';
import { readObject, writeObject } from '../platform/files/object-file';
import type { Clock } from '../platform/time/clock';
import type { ChannelId } from './events';

/** An answer that a button can give. */
export interface Choice {
  label: string;
  /** Whether the answer can at most refuse. */
  isSafe: boolean;
  given: {
    answer?: string | undefined;
    behavior?: 'allow' | 'deny' | undefined;
    forSession?: boolean | undefined;
  };
}

/** What a push is about, while that waits for you. */
export interface OpenWait {
  /** The ids of the wait, the most exact one first. A push is over when the wait no longer has its id. */
  ids: readonly string[];
  /** What is asked, in full; empty if it can't be answered from elsewhere. */
  text: string;
  choices: readonly Choice[];
}

/** What a push shows beside its message. Only its channel takes the tokens of its buttons. */
export type Offer = NonNullable<Awaited<ReturnType<typeof offerFor>>>;

/** A push that was sent, until what it is about no longer waits. */
export interface SentPush extends Offer {
  channel: ChannelId;
  /** The session's slug, or the id of a question. A channel shows one push for each. */
  thread: string;
  message: string;
  /** The service's id of the message, if it can be removed. */
  ref: string | undefined;
  atMs: number;
}

export interface PushDeps {
  clock: Clock;
  machineId: string;
  /** The machine-local file of the sent pushes. */
  pushes: string;
  /** Returns what a thread waits for, or undefined. */
  waitOf: (thread: string) => Promise<OpenWait | undefined>;
}

const KEEP_MS = 12 * 3_600_000;

/** Returns what to show, each button with a token of its own; undefined if the thread no longer waits. */
export async function offerFor(
  { waitOf }: PushDeps,
  thread: string,
  shown: (choices: readonly Choice[], text: string) => readonly Choice[],
) {
  const { ids: [wait] = [], text = '', choices = [] } = (await waitOf(thread)) ?? {};
  const secret = (): string => randomBytes(16).toString('hex');
  const buttons = shown(choices, text).map((choice) => ({ ...choice, token: secret() }));
  if (wait === undefined) return undefined;
  return { wait, text: buttons.length === 0 ? '' : text, buttons, replyTopic: secret() };
}

export function readPushes({ pushes: path }: Pick<PushDeps, 'pushes'>): readonly SentPush[] {
  const pushes = readObject(path)?.['pushes'];
  return Array.isArray(pushes) ? (pushes as SentPush[]) : [];
}

/** Stores a push. The earlier one of its thread is over, or was replaced if the service gave both the same id. */
export async function notePush(deps: PushDeps, push: SentPush): Promise<void> {
  await changePushes(deps, (pushes) => {
    const earlier = pushes.flatMap((one) => {
      if (one.channel !== push.channel || one.thread !== push.thread) return one;
      // No wait has an empty id.
      return one.ref === push.ref ? [] : { ...one, wait: '', buttons: [] };
    });
    return [...earlier, push];
  });
}

export async function changePushes(
  { clock, machineId, pushes: path }: PushDeps,
  change: (pushes: readonly SentPush[]) => readonly SentPush[],
): Promise<void> {
  await withLock(join(dirname(path), 'pushes.lock'), { clock, machineId, waitMs: 5_000 }, () => {
    const recent = readPushes({ pushes: path }).filter(({ atMs }) => clock.now() - atMs < KEEP_MS);
    writeObject(path, { version: 1, pushes: change(recent) });
  });
}
