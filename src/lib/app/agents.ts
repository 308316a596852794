import { join } from 'node:path';

import { readRoster } from '../agents/roster';
import type { AgentSettings } from '../agents/routing-find';
import type { SilenceAlert } from '../agents/watchdog';
import { toStewardError } from '../errors';
import { ensureFolder } from '../platform/files/folder';
import { appendLog } from '../platform/files/journal';
import { clean } from '../platform/terminal/terminal';
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

const LOG_ROTATE_BYTES = 1024 * 1024;

/**
 * Logs a silence alert and sends a notification. Returns failures instead of throwing, so that the watchdog
 * continues.
 */
export async function reportSilence(context: Context, alert: SilenceAlert, { notify }: { notify: boolean }) {
  const problems: string[] = [];
  const attempt = async (what: string, work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      problems.push(`${what}: ${clean(toStewardError(error).message)}`);
    }
  };
  await attempt('The alert was not logged', () => logSilence(context, alert));
  if (notify) await attempt('The notification was not sent', () => sendSilence(context, alert));
  return problems.length === 0 ? undefined : problems.join('\n');
}

function logSilence({ area }: Pick<Context, 'area'>, alert: SilenceAlert): void {
  const { ts, session, agents, silentSec, lastTool } = alert;
  const line = JSON.stringify({ ts, event: 'silence', session, agents, silentSec, lastTool });
  ensureFolder(area.observability);
  appendLog(join(area.observability, 'agents.jsonl'), line, {
    rotateBytes: LOG_ROTATE_BYTES,
    nowMs: Date.parse(ts),
  });
}

/** Sends at most one notification per silent period, without voice. */
async function sendSilence(context: Context, alert: SilenceAlert): Promise<void> {
  const { sendNotification } = await import('../notify/send');
  const { openNotify } = await import('./notify');
  await sendNotification(await openNotify(context), {
    event: 'backgroundAgent',
    title: 'Agents are silent',
    message: alert.message,
    slug: alert.session,
    voice_enabled: false,
    source: 'subagent',
    dedupe: `silence:${alert.session}:${alert.since}`,
  });
}
