import { periodicJob, type DaemonJob } from '../daemon/jobs';
import { processHost } from '../platform/files/paths';
import { rowsOf, type SessionRow } from '../sessions/rows';
import { isLive } from '../sessions/session';
import { askHost, askHosts, hostsToAsk, knownElsewhere } from '../sync/hosts';
import { publishedRows } from '../sync/live';
import type { Context } from './context';
import { openRunning, openSessions } from './sessions';

/** Returns what is known of the running sessions of other machines, and when each ssh host answered. Asks nobody. */
export async function openKnown(context: Context) {
  const { folder } = (await context.loadConfig()).config.user.sync;
  return knownElsewhere(context, await openHosts(context), folder);
}

async function openHosts(context: Context): Promise<readonly string[]> {
  return hostsToAsk((await context.loadConfig()).config.user.sessions.hosts, processHost().env);
}

/** Asks the ssh hosts, and returns what `openKnown` then knows, and the hosts that did not answer. */
export async function openElsewhere(context: Context): Promise<{ rows: SessionRow[]; silent: string[] }> {
  const silent = await askHosts(context, await openHosts(context));
  return { rows: (await openKnown(context)).rows, silent };
}

const HOSTS_SEC = 30;

/**
 * The job that asks the ssh hosts for their sessions while nobody waits for them, so that a slow connection has an
 * answer when somebody does, and readers ask nobody. A page that is open asks more often.
 */
export function hostsJob(context: Context): DaemonJob {
  return periodicJob('hosts', 'machines', HOSTS_SEC, async () => {
    await Promise.all((await openHosts(context)).map((host) => askHost(context, host)));
  });
}

/** Returns this machine's running sessions in the form that it publishes. */
export async function openOwnRows(context: Context, details: boolean): Promise<object[]> {
  const nowMs = context.clock.now();
  const { sessions } = openRunning(context, await openSessions(context));
  const running = Object.values(sessions).filter((session) => isLive(session, nowMs));
  return publishedRows(rowsOf(running, { nowMs }), details);
}
