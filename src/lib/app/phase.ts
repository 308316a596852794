import type { PhaseDeps } from '../notify/phase';
import type { Context } from './context';
import { hookSettings } from './hook-settings';
import { sessionsDeps } from './sessions';

/** Joins the phase writes with the sessions; the configuration is as it is at the call. */
export async function openPhase(context: Context): Promise<PhaseDeps> {
  const settings = await hookSettings(context);
  const { area, clock } = context;
  const sessions = sessionsDeps({ area, clock, machineId: () => context.machineId }, settings);
  return { sessions, tab: settings.tab };
}
