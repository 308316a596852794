import type { UserArea } from '../../config/user-area';
import type { StewardError } from '../../errors';
import { replaceFile } from '../../platform/files/atomic-file';
import { isObject } from '../../platform/files/json-object';
import { readObject } from '../../platform/files/object-file';
import { plural } from '../../platform/terminal/format';
import { keptIntentions } from '../../sessions/spool';
import { failureOf } from '../host/failure';

/** A message for each reason. `fix` is the command to run, or `null` if no action is needed. */
const REASONS = {
  'signed-out': { message: 'not signed in to GitHub', fix: 'gh auth login' },
  'no-access': { message: 'the credential has no write access to issues', fix: 'steward work verify' },
  'no-labels': { message: "the repository has none of steward's labels", fix: 'steward work labels seed' },
  unverified: { message: 'the repository has not been verified as private', fix: 'steward work verify' },
  misconfigured: { message: 'the configuration is invalid', fix: 'steward doctor' },
  refused: { message: 'the repository does not accept issues', fix: 'steward work verify' },
  limited: { message: 'GitHub rate limit exceeded', fix: null },
  offline: { message: 'cannot reach GitHub', fix: null },
  untried: { message: 'not confirmed yet', fix: null },
} as const;
export type WaitReason = keyof typeof REASONS;

export interface Waiting {
  reason: WaitReason;
  count: number;
  message: string;
  fix: string | null;
  /** When the oldest capture was queued, as ISO 8601 in UTC. */
  since: string;
}

/** Groups the waiting captures by reason, most frequent first. */
export function waitingCaptures({ spool, work }: Pick<UserArea, 'spool' | 'work'>): Waiting[] {
  const groups = new Map<WaitReason, Waiting>();
  const reasons = readReasons(work.waiting);
  for (const { id, kind, at } of keptIntentions(spool)) {
    // Count an ended session only after a delivery attempt has found something to send.
    const isCapture = kind === 'prompt-matched' || kind === 'issue-wanted';
    const reason = reasons.get(id) ?? (isCapture ? 'untried' : undefined);
    if (reason === undefined) continue;
    const { count, since } = groups.get(reason) ?? { count: 0, since: at };
    groups.set(reason, { reason, count: count + 1, ...REASONS[reason], since: at < since ? at : since });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
}

/** Formats a group, such as `2 captures waiting: not signed in to GitHub; run "gh auth login"`. */
export function waitingText({ count, message, fix }: Waiting): string {
  return `${plural(count, 'capture')} waiting: ${message}${fix === null ? '' : `; run "${fix}"`}`;
}

export function waitReason(error: StewardError): WaitReason {
  const reason = failureOf(error)?.reason;
  if (error.kind === 'auth') return reason === 'forbidden' ? 'no-access' : 'signed-out';
  if (error.kind === 'locked') return 'untried';
  if (error.kind === 'unavailable') return reason === 'limited' ? 'limited' : 'offline';
  return error.kind === 'config' ? 'misconfigured' : 'refused';
}

/** Returns why captures are waiting, by task id, as recorded by the last delivery. */
export function readReasons(path: string): Map<string, WaitReason> {
  const stored = readObject(path)?.['reasons'];
  return new Map(
    Object.entries(isObject(stored) ? stored : {}).filter((entry): entry is [string, WaitReason] =>
      Object.hasOwn(REASONS, String(entry[1])),
    ),
  );
}

export function writeReasons(path: string, reasons: ReadonlyMap<string, WaitReason>): void {
  replaceFile(path, `${JSON.stringify({ version: 1, reasons: Object.fromEntries(reasons) })}\n`);
}
