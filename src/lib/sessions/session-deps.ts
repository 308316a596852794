import type { HookSettings } from '../config/hook-settings';
import type { UserArea } from '../config/user-area';
import { processHost } from '../platform/files/paths';
import type { Clock } from '../platform/time/clock';
import { dayOf, isZone, systemZone } from '../platform/time/time';
import type { SessionsDeps } from './state';

/**
 * Returns the dependencies of sessions. Computes the time zone and machine id on demand, because most hooks
 * don't need them.
 */
export function sessionsDeps(
  parts: { area: UserArea; clock: Clock; machineId: () => string },
  settings: HookSettings,
): SessionsDeps {
  const { area, clock } = parts;
  return {
    area,
    clock,
    dayOf: (ms) => dayOf(ms, zoneOf(settings)),
    get machineId() {
      return parts.machineId();
    },
  };
}

function zoneOf(settings: HookSettings): string {
  const zone = processHost().env['STEWARD_TIMEZONE'] ?? '';
  return zone !== '' && isZone(zone) ? zone : (settings.timezone ?? systemZone());
}
