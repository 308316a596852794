import type { Config } from '../config/schema';
import type { Secret } from '../config/secret';
import type { UserArea } from '../config/user-area';
import { toStewardError } from '../errors';
import { type Check, type Finding, ok, warning } from '../platform/check';
import { deadReport, deadText } from '../platform/files/dead-letters';
import type { PathHost } from '../platform/files/paths';
import type { GetUrl } from '../platform/net/fetch';
import type { FindProgram } from '../platform/process/spawn';
import type { Clock } from '../platform/time/clock';
import { CHANNEL_CHECKS } from './channels';
import { dead, outboxStatus } from './outbox';
import type { Voice, VoiceDeps } from './speech/voice';

/** What the checks of notify are given. */
export interface NotifyChecked {
  clock: Clock;
  area: UserArea;
  host: PathHost;
  find: FindProgram;
  config: Pick<Config, 'settings'>;
  /** Hosts beyond this machine may be asked. */
  online: boolean;
  /** The voice may be heard. */
  sound: boolean;
  askHost: GetUrl;
  /** The voice as it is configured. */
  voice: () => Promise<Omit<VoiceDeps, 'onProblem'>>;
  /** The value of a secret; undefined when none is set. */
  secret: (stored: Secret) => string | undefined;
}

/** Each channel brings its own row. */
export const NOTIFY_CHECKS: readonly Check<NotifyChecked>[] = [
  ...CHANNEL_CHECKS,
  { id: 'notify.outbox', title: 'what waits to be delivered', needsConfig: true, run: checkOutbox },
];

function checkOutbox({ area }: NotifyChecked): Finding[] {
  const { waiting } = outboxStatus(area);
  const words = waiting === 0 ? 'nothing waits' : `${waiting} wait`;
  const graves = deadReport(dead(area));
  if (graves.count === 0) return [ok(words)];
  const hint = 'See which, and have one sent again with `steward notify retry`:';
  return [warning(`${words}; ${deadText(graves) ?? ''}`, { hint, mend: 'steward notify history' })];
}

const SAME_FAULT_MS = 60_000;

export interface Faults {
  note: (error: unknown) => void;
  /** Told of each fault, once a minute where it is the same. */
  tell: (message: string) => void;
  /** What went wrong within the last minute. */
  last: () => string | undefined;
}

/** The unexpected errors of a process that lives long. */
export function faultsOf(clock: Clock): Faults {
  let last = { message: '', toldMs: -Infinity, seenMs: -Infinity };
  const faults: Faults = {
    tell: () => undefined,
    note(error) {
      const { message: what, hint } = toStewardError(error);
      const message = hint === undefined ? what : `${what} ${hint}`;
      const seenMs = clock.monotonic();
      const isSame = last.message === message && seenMs - last.toldMs < SAME_FAULT_MS;
      last = { message, seenMs, toldMs: isSame ? last.toldMs : seenMs };
      if (!isSame) faults.tell(message);
    },
    last: () => (clock.monotonic() - last.seenMs < SAME_FAULT_MS ? last.message : undefined),
  };
  return faults;
}

export interface Health {
  state: 'ok' | 'error' | 'needs-you';
  reason?: string;
  fix?: string;
}

/** Do the notifications of a daemon work? */
export function healthOf(voice: Voice, problem: string | undefined): Health {
  if (problem !== undefined) return { state: 'error', reason: problem };
  if (voice.isOff()) return { state: 'ok', reason: 'The voice is switched off.' };
  const { engines, hint } = voice.status();
  if (engines.length > 0) return { state: 'ok' };
  const reason = `Nothing here can speak; what is said is shown. ${hint ?? ''}`.trim();
  return { state: 'needs-you', reason, fix: 'steward notify test' };
}
