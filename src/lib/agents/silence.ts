import { join } from 'node:path';

import { toStewardError } from '../errors';
import { ensureFolder } from '../platform/files/folder';
import { appendLog } from '../platform/files/journal';
import { clean } from '../platform/terminal/terminal';
import type { SilenceAlert } from './watchdog';

const LOG_ROTATE_BYTES = 1024 * 1024;

/**
 * Logs a silence alert in `folder` and sends a notification. Returns failures instead of throwing, so that the
 * watchdog continues.
 */
export async function reportSilence(
  folder: string,
  alert: SilenceAlert,
  send: ((notification: object) => Promise<unknown>) | undefined,
): Promise<string | undefined> {
  const problems: string[] = [];
  const attempt = async (what: string, work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      problems.push(`${what}: ${clean(toStewardError(error).message)}`);
    }
  };
  await attempt('The alert was not logged', () => logSilence(folder, alert));
  await attempt('The notification was not sent', () => send?.(noticeOf(alert)));
  return problems.length === 0 ? undefined : problems.join('\n');
}

function logSilence(folder: string, alert: SilenceAlert): void {
  const { ts, session, agents, silentSec, lastTool } = alert;
  const line = JSON.stringify({ ts, event: 'silence', session, agents, silentSec, lastTool });
  ensureFolder(folder);
  appendLog(join(folder, 'agents.jsonl'), line, { rotateBytes: LOG_ROTATE_BYTES, nowMs: Date.parse(ts) });
}

/** Returns a notification without voice, at most one per silent period. */
function noticeOf({ message, session, since }: SilenceAlert): object {
  return {
    event: 'backgroundAgent',
    title: 'Agents are silent',
    message,
    slug: session,
    voice_enabled: false,
    source: 'subagent',
    dedupe: `silence:${session}:${since}`,
  };
}
