import { claudeCode } from '../assistant/claude-code';
import { acceptNotification, acceptOnce, type AcceptDeps } from '../notify/accept';
import { keepPresenceFile, presenceFiles } from '../notify/presence-file';
import { drainTriggers, hasTriggers, isAtDesk, type TriggerDeps } from '../notify/triggers';
import { readText } from '../platform/files/atomic-file';
import { listFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { processHost } from '../platform/files/paths';
import { runningSessions } from '../sessions/state';
import type { DaemonJob } from './jobs';
import { route, type Route } from './route';
import type { Surroundings } from './surroundings';

export function notifyRoute(deps: AcceptDeps, refresh: () => Promise<unknown>): Route {
  return route({
    method: 'POST',
    path: '/notify',
    status: 202,
    // Only requests over the local socket may choose the notification id.
    input: ({ body, head }) => ({ body, id: head.isLocal && isObject(body) ? body['id'] : undefined }),
    run: async ({ body, id }) => {
      await refresh();
      return id === undefined ? acceptNotification(deps, body) : acceptOnce(deps, body, id);
    },
  });
}

/** Turns queued hook events into notifications. `openTriggers` reads the settings again. */
export function triggersJob(spool: string, openTriggers: () => Promise<TriggerDeps>): DaemonJob {
  let seen: string | undefined;
  return {
    id: 'triggers',
    everySec: () => 1,
    async run() {
      const names = (): string => listFolder(spool).join();
      // If the queue hasn't changed, it contains only files for other consumers.
      if (names() === seen) return;
      const deps = await openTriggers();
      await drainTriggers(deps);
      const unchanged = names();
      seen = hasTriggers(deps) ? undefined : unchanged;
    },
  };
}

/** Keeps the files that tell Claude Code that you are at the desk; removes them when the daemon stops. */
export function keepPresence({ machine, openSessions, presence }: Surroundings) {
  const kept = new Set<string>();
  const keep = (isThere: boolean): void => {
    for (const path of kept) keepPresenceFile(path, isThere);
  };
  const run = async (): Promise<undefined> => {
    if (!machine.area.sense.isSetUp) return;
    const host = processHost();
    const settings = parseObject(readText(claudeCode.path(host), { followLink: true }) ?? '');
    const sessions = Object.values(runningSessions(await openSessions()).sessions);
    for (const path of presenceFiles(host.env, sessions, settings)) kept.add(path);
    if (kept.size > 0) keep(isAtDesk(await presence(undefined)));
  };
  return {
    job: { id: 'presence', everySec: () => 10, run },
    close: () => Promise.resolve(keep(false)),
  };
}
