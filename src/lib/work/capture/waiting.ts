import type { UserArea } from '../../config/user-area';
import type { StewardError } from '../../errors';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { isObject, parseObject } from '../../platform/files/json-object';
import { plural } from '../../platform/terminal/format';
import { keptIntentions } from '../../sessions/spool';
import { failureOf } from '../host/failure';

/** Why a capture waits: what a person reads, and the command that helps; null where only time does. */
const REASONS = {
  'signed-out': { message: 'not signed in to GitHub', fix: 'gh auth login' },
  'no-access': { message: 'the credential may not write issues there', fix: 'steward work verify' },
  'no-labels': { message: 'the repository has none of the labels', fix: 'steward work labels seed' },
  unverified: { message: 'the repository is not verified to be private', fix: 'steward work verify' },
  misconfigured: { message: 'the configuration has an error', fix: 'steward doctor' },
  refused: { message: 'the repository takes no issues', fix: 'steward work verify' },
  limited: { message: "GitHub's request limit is reached", fix: null },
  offline: { message: 'GitHub cannot be reached', fix: null },
  untried: { message: 'not sent yet', fix: null },
} as const;
export type WaitReason = keyof typeof REASONS;

/** Captures that wait for one reason. */
export interface Waiting {
  reason: WaitReason;
  count: number;
  message: string;
  fix: string | null;
  /** When the oldest was captured, ISO-8601 UTC. */
  since: string;
}

const MAX_BYTES = 1024 * 1024;

/** The captures that wait in the spool, by reason, the most first. */
export function waitingCaptures({ spool, work }: Pick<UserArea, 'spool' | 'work'>): Waiting[] {
  const groups = new Map<WaitReason, Waiting>();
  const reasons = readReasons(work.waiting);
  for (const { id, kind, at: since } of keptIntentions(spool)) {
    // The end of a session is a capture once its delivery has found something to send.
    const reason =
      reasons.get(id) ?? (kind === 'prompt-matched' || kind === 'issue-wanted' ? 'untried' : undefined);
    if (reason === undefined) continue;
    const group = groups.get(reason) ?? { reason, count: 0, ...REASONS[reason], since };
    groups.set(reason, {
      ...group,
      count: group.count + 1,
      since: since < group.since ? since : group.since,
    });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

/** `2 captures waiting: not signed in to GitHub; run gh auth login` */
export function waitingText({ count, message, fix }: Waiting): string {
  return `${plural(count, 'capture')} waiting: ${message}${fix === null ? '' : `; run ${fix}`}`;
}

/** Why an error makes a capture wait. */
export function waitReason(error: StewardError): WaitReason {
  const reason = failureOf(error)?.reason;
  if (error.kind === 'auth') return reason === 'forbidden' ? 'no-access' : 'signed-out';
  if (error.kind === 'unavailable') return reason === 'limited' ? 'limited' : 'offline';
  return error.kind === 'config' ? 'misconfigured' : 'refused';
}

/** By the id of the intention, as the last delivery found it. */
export function readReasons(path: string): Map<string, WaitReason> {
  const stored = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '')?.['reasons'];
  return new Map(
    Object.entries(isObject(stored) ? stored : {}).filter((entry): entry is [string, WaitReason] =>
      Object.hasOwn(REASONS, String(entry[1])),
    ),
  );
}

export function writeReasons(path: string, reasons: ReadonlyMap<string, WaitReason>): void {
  replaceFile(path, `${JSON.stringify({ version: 1, reasons: Object.fromEntries(reasons) })}\n`);
}
