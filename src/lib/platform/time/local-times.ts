import type { Clock } from './clock';
import { dayOf, systemZone, timeOf } from './time';

/** Times as a person reads them: `09:42` today, `2026-11-19 17:20` otherwise. The zone is the system's unless told. */
export function localTimes(clock: Pick<Clock, 'now'>, zone: string = systemZone()): (iso: string) => string {
  return (iso) => {
    const ms = Date.parse(iso);
    if (Number.isNaN(ms)) return iso;
    const day = dayOf(ms, zone);
    return day === dayOf(clock.now(), zone) ? timeOf(ms, zone) : `${day} ${timeOf(ms, zone)}`;
  };
}
