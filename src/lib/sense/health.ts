import type { SenseStatus } from './status-types';

/** How sense is doing, in the words of the status page. */
export interface SenseHealth {
  state: 'ok' | 'off' | 'needs-you';
  reason?: string;
  fix?: string;
}

/** From the status alone: the kill switch, then what the sources say of themselves. */
export function senseHealth(status: Pick<SenseStatus, 'enabled' | 'sources'>): SenseHealth {
  if (!status.enabled) {
    return { state: 'off', reason: 'sense.enabled is false', fix: 'steward config set sense.enabled true' };
  }
  const unwell = status.sources.filter(({ state }) => state === 'unsupported' || state === 'error');
  if (unwell.length === 0) return { state: 'ok' };
  const reason = unwell.map(({ label, state, reason: why }) => `${label}: ${why ?? state}`).join('; ');
  return { state: 'needs-you', reason, fix: 'steward sense status' };
}
