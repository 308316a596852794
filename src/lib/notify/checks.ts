import type { NotifyChecked } from './channels/channel';
import { toStewardError } from '../errors';
import { type Check, type Finding, failed, off, ok, warning } from '../platform/check';
import { hasSound } from '../platform/desktop/sound';
import { deadReport, deadText } from '../platform/files/dead-letters';
import type { Clock } from '../platform/time/clock';
import { CHANNEL_CHECKS } from './channels';
import { deadFolder, delays, outboxStatus } from './outbox';
import type { Voice } from './speech/voice';

export const NOTIFY_CHECKS: readonly Check<NotifyChecked>[] = [
  ...CHANNEL_CHECKS,
  { id: 'notify.outbox', title: 'outbox', needsConfig: true, run: checkOutbox },
];

function checkOutbox({ area }: NotifyChecked): Finding[] {
  const { waiting } = outboxStatus(area);
  const causes = delays(area);
  const words = [waiting === 0 ? 'empty' : `${waiting} waiting`, ...causes].join('; ');
  const dead = deadReport(deadFolder(area));
  if (dead.count === 0 && causes.length > 0) return [warning(words, { fix: 'steward notify test' })];
  if (dead.count === 0) return [ok(words)];
  const hint = 'Resend a notification with `steward notify retry ID`. List the failed notifications:';
  return [warning(`${words}; ${deadText(dead) ?? ''}`, { hint, fix: 'steward notify history' })];
}

const REPEAT_MS = 60_000;

/** Collects unexpected errors in a long-lived process. */
export function faultsOf(clock: Clock) {
  let last = { message: '', reportedMs: -Infinity, atMs: -Infinity };
  const faults = {
    /** Called with the message of a fault, at most once a minute per message. */
    tell: (_message: string): void => undefined,
    note(error: unknown): void {
      const { message: text, hint } = toStewardError(error);
      const message = hint === undefined ? text : `${text} ${hint}`;
      const atMs = clock.monotonic();
      const isRepeated = last.message === message && atMs - last.reportedMs < REPEAT_MS;
      last = { message, atMs, reportedMs: isRepeated ? last.reportedMs : atMs };
      if (!isRepeated) faults.tell(message);
    },
    /** Returns the latest fault if it is less than a minute old. */
    last: () => (clock.monotonic() - last.atMs < REPEAT_MS ? last.message : undefined),
  };
  return faults;
}

/** Returns whether notifications work. Without a voice they are shown as banners. */
export function voiceFinding(voice: Pick<Voice, 'isOff' | 'status'>, problem: string | undefined): Finding {
  if (problem !== undefined) return failed(problem);
  if (voice.isOff()) return ok('voice off');
  const { engines, reason, hint } = voice.status();
  const where = hasSound() ? '' : ' without a sound device';
  if (reason === undefined) return ok(`voice ${engines[0] ?? 'on'}${where}`);
  const more = { ...(hint === undefined ? {} : { hint }), fix: 'steward notify test' };
  return engines.length === 0 ? off(reason, more) : warning(`${reason}; using banners instead`, more);
}
