import { clockSetBy, type Moment } from '../platform/time/boot-time';
import { parseIso, toIso } from '../platform/time/clock';
import { plural } from '../platform/terminal/plural';
import type { ClockJump, SenseState } from './state';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT = 5;

/** The clocks of a capture, and the jumps that are known with it. */
export function noticeJump(state: SenseState, now: Moment): Pick<SenseState, 'clock' | 'jumps'> {
  const byMs = jumpSince(state, now);
  const isJump = Math.abs(byMs) > HOUR_MS;
  return {
    clock: now,
    jumps: isJump ? [...state.jumps, { at: toIso(now.wallMs), byMs }].slice(-KEPT) : state.jumps,
  };
}

/** Without a clock that nobody sets, only a step back shows. */
function jumpSince({ clock, lastCaptureTs }: SenseState, now: Moment): number {
  const setBy = clock === null ? undefined : clockSetBy(clock, now);
  const lastMs = clock?.wallMs ?? parseIso(lastCaptureTs ?? '');
  return setBy ?? Math.min(0, now.wallMs - (lastMs ?? now.wallMs));
}

/** The jumps of the last `days`. One that a clock dated which was ahead is as old as the next one. */
export function recentJumps(jumps: readonly ClockJump[], nowMs: number, days = 7): ClockJump[] {
  const isRecent = ({ at }: ClockJump): boolean => {
    const ageMs = nowMs - (parseIso(at) ?? 0);
    return ageMs >= 0 && ageMs < days * DAY_MS;
  };
  return jumps.filter((_, i) => jumps.slice(i).some(isRecent));
}

/** `3 days ahead`, `2 hours back` */
export function jumpText({ byMs }: Pick<ClockJump, 'byMs'>): string {
  const size = Math.abs(byMs);
  const [count, unit] = size < 2 * DAY_MS ? [size / HOUR_MS, 'hour'] : [size / DAY_MS, 'day'];
  return `${plural(Math.round(count), unit)} ${byMs > 0 ? 'ahead' : 'back'}`;
}
