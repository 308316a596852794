import { join } from 'node:path';

import type { SilenceAlert } from '../agents/watchdog';
import { toStewardError } from '../errors';
import { appendLog } from '../platform/files/journal';
import { ensureFolder } from '../platform/files/folder';
import { clean } from '../platform/terminal/terminal';
import type { Context } from './context';

const LOG_ROTATE_BYTES = 1024 * 1024;

/**
 * Notes an alert of the watchdog in the log and sends it as a notification. Neither ends the watch when it fails: what
 * did not happen is given back in words, undefined when all did.
 */
export async function tellOfSilence(
  context: Context,
  alert: SilenceAlert,
  { notify }: { notify: boolean },
): Promise<string | undefined> {
  const unsent: string[] = [];
  try {
    logSilence(context, alert);
  } catch (error) {
    unsent.push(`The alert is not in the log: ${messageOf(error)}`);
  }
  try {
    if (notify) await sendSilence(context, alert);
  } catch (error) {
    unsent.push(`No notification was sent: ${messageOf(error)}`);
  }
  return unsent.length === 0 ? undefined : unsent.join('\n');
}

/** A line in `observability/agents.jsonl`, without a word of what the session is about. */
function logSilence({ area }: Pick<Context, 'area'>, alert: SilenceAlert): void {
  const { ts, session, agents, silentSec, lastTool } = alert;
  const line = JSON.stringify({ ts, event: 'silence', session, agents, silentSec, lastTool });
  ensureFolder(area.observability);
  appendLog(join(area.observability, 'agents.jsonl'), line, {
    rotateBytes: LOG_ROTATE_BYTES,
    nowMs: Date.parse(ts),
  });
}

/**
 * Through the daemon where one runs, else through the outbox. Never spoken: only the assistant's own lines are. The key
 * names the silence, so that each is reported once.
 */
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
