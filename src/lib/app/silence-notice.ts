import { join } from 'node:path';

import type { SilenceAlert } from '../agents/watchdog';
import { toStewardError } from '../errors';
import { appendLog } from '../platform/files/journal';
import { ensureFolder } from '../platform/files/folder';
import { clean } from '../platform/terminal/terminal';
import type { Context } from './context';

const LOG_ROTATE_BYTES = 1024 * 1024;

/** Logs an alert of the watchdog and sends a notification. Returns what failed, or undefined; a failure must not end the watch. */
export async function tellOfSilence(
  context: Context,
  alert: SilenceAlert,
  { notify }: { notify: boolean },
): Promise<string | undefined> {
  const problems: string[] = [];
  try {
    logSilence(context, alert);
  } catch (error) {
    problems.push(`The alert was not logged: ${messageOf(error)}`);
  }
  try {
    if (notify) await sendSilence(context, alert);
  } catch (error) {
    problems.push(`The notification was not sent: ${messageOf(error)}`);
  }
  return problems.length === 0 ? undefined : problems.join('\n');
}

/** Appends to `observability/agents.jsonl`, without the task of the session. */
function logSilence({ area }: Pick<Context, 'area'>, alert: SilenceAlert): void {
  const { ts, session, agents, silentSec, lastTool } = alert;
  const line = JSON.stringify({ ts, event: 'silence', session, agents, silentSec, lastTool });
  ensureFolder(area.observability);
  appendLog(join(area.observability, 'agents.jsonl'), line, {
    rotateBytes: LOG_ROTATE_BYTES,
    nowMs: Date.parse(ts),
  });
}

/** The key identifies the silence, so that each one is sent once. */
async function sendSilence(context: Context, alert: SilenceAlert): Promise<void> {
  const { sendNotification } = await import('../notify/send');
  const { openNotify } = await import('./notify');
  const notify = await openNotify(context);
  const body = {
    event: 'backgroundAgent',
    title: 'Agents are silent',
    message: alert.message,
    voice_enabled: false,
    source: 'subagent',
    dedupe: `silence:${alert.session}:${alert.since}`,
  };
  await sendNotification(notify, body);
}

function messageOf(error: unknown): string {
  return clean(toStewardError(error).message);
}
