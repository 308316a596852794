import { readRoster } from '../agents/roster';
import type { AgentSettings } from '../agents/routing-find';
import { reportSilence } from '../agents/silence';
import type { SilenceAlert } from '../agents/watchdog';
import type { Context } from './context';

/** Returns the routing settings. Reads only config.yaml, so that errors in older files don't stop routing. */
export async function agentSettings(context: Pick<Context, 'area'>): Promise<AgentSettings> {
  const { loadConfig } = await import('../config/load');
  const { CONFIG } = await import('../config/files');
  const { config } = await loadConfig({ area: context.area, files: [CONFIG] });
  const { entries, problems } = await readRoster(context.area.agents);
  const broken = new Set(problems.filter(({ level }) => level === 'error').map(({ file }) => file)).size;
  return { types: config.user.agents.types, named: entries, broken };
}

/** Returns a function that logs a silence alert, and notifies you if `notify` is set. */
export function openSilence(context: Context, notify: boolean) {
  const send = async (notice: object) => {
    const { sendNotification } = await import('../notify/send');
    const { openNotify } = await import('./notify');
    await sendNotification(await openNotify(context), notice);
  };
  return (alert: SilenceAlert) => reportSilence(context.area.observability, alert, notify ? send : undefined);
}
