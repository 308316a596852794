import { toStewardError, type StewardError } from '../../errors';
import type { Desktop } from '../front-app/adapter';
import type { Idle, IdleAdapter } from './adapter';
import { logind } from './logind';
import { macosIdle } from './macos';
import { mutterIdle, screensaverLock } from './session-bus';
import { windowsIdle } from './windows';
import { x11Idle } from './x11';

/** What counts input itself first, what only marks a session idle later. */
export const IDLE_ADAPTERS: readonly IdleAdapter[] = [
  mutterIdle,
  x11Idle,
  screensaverLock,
  logind,
  macosIdle,
  windowsIdle,
];

export type IdleSight = (Idle & { via: string }) | { unknown: string };

/**
 * Idle time and lock of this desktop, each from whoever knows: the idle time is the first one told, and the
 * screen is locked when anybody says so. `via` names those who told something, joined by `+`; `unknown` is
 * the reason when nobody did. Throws only for a bug.
 */
export async function readIdle(
  desktop: Desktop,
  adapters: readonly IdleAdapter[] = IDLE_ADAPTERS,
): Promise<IdleSight> {
  const told: Idle = {};
  const via: string[] = [];
  let failure: StewardError | undefined;
  const asked = adapters.filter((adapter) => adapter.detect(desktop));
  const answers = await Promise.allSettled(asked.map((adapter) => adapter.read(desktop)));
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'rejected') {
      const known = toStewardError(answer.reason);
      if (known.kind === 'internal') throw answer.reason;
      failure ??= known;
      continue;
    }
    const { idleMs, locked } = answer.value;
    if (idleMs === undefined && locked === undefined) continue;
    via.push(asked[index]?.id ?? '');
    if (idleMs !== undefined) told.idleMs ??= idleMs;
    if (locked !== undefined) told.locked = told.locked === true || locked;
  }
  if (via.length > 0) return { ...told, via: via.join('+') };
  return { unknown: failure?.message ?? 'This desktop does not tell how long there was no input.' };
}
