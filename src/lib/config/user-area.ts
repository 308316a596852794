import { ensureFolder } from '../platform/files/folder';
import { machineStateOf, processHost, userAreaPath, type PathHost } from '../platform/files/paths';

/** The paths in the user area and the machine-local state. Creates nothing. */
export type UserArea = ReturnType<typeof userArea>;

export function userArea(host: PathHost = processHost()) {
  const root = userAreaPath(host);
  const sep = host.platform === 'win32' ? '\\' : '/';
  const base = root.endsWith(sep) ? root : `${root}${sep}`;
  // Not `join`, which is slow for the fifty paths in every hook run.
  const at = (...names: string[]): string => base + names.join(sep);
  return {
    root,
    config: at('config.yaml'),
    settings: at('settings.json'),
    goals: at('goals', 'goals.md'),
    goalsState: at('goals', 'state.json'),
    projects: at('projects.md'),
    /** Pronunciations for the voice. */
    pronunciations: at('principal', 'pronunciations.json'),
    sessions: at('sessions'),
    state: at('state'),
    sessionsState: at('state', 'sessions.json'),
    /** Only the running sessions, so that a status line can read the file quickly. */
    sessionsLive: at('state', 'sessions-live.json'),
    workEvents: at('state', 'work-events.jsonl'),
    /** The usage limits that an assistant last reported to its status line. */
    limits: at('state', 'limits.json'),
    /** Usage of the assistants, one file per day. */
    usage: at('usage'),
    /** The install manifest: files outside the user area, for the uninstall. */
    installManifest: at('state', 'install-manifest.json'),
    /** Answers to the questions of `init`. */
    initState: at('state', 'init.json'),
    /** The owner of the area, and the machines that have written to it. */
    owner: at('state', 'owner.json'),
    bin: at('bin'),
    spool: at('state', 'spool'),
    observability: at('observability'),
    daemonLog: at('daemon', 'daemon.log'),
    /** The roster, with one file per agent. */
    agents: at('agents'),
    knowledge: at('knowledge'),
    /** Deliveries that are not sent yet, one file each. */
    outbox: at('state', 'outbox'),
    /** The result of each notification. */
    notifyLog: at('observability', 'notify.jsonl'),
    /** When the mute ends. */
    mute: at('state', 'mute.json'),
    /** Logs, outboxes and cursors of hosted sessions. */
    managed: at('state', 'managed'),
    sense: senseArea(at),
    work: workArea(at),
    /**
     * Machine-local: locks, socket, token, pid file. A getter, because it resolves every link in the path.
     */
    get machine() {
      return machineStateOf(root, host);
    },
  };
}

function senseArea(at: (...names: string[]) => string) {
  return {
    root: at('sense'),
    config: at('sense', 'config.json'),
    state: at('sense', 'state.json'),
    classify: at('sense', 'classify.yaml'),
    events: at('sense', 'events'),
    daily: at('sense', 'daily'),
    insights: at('sense', 'insights'),
    quarantine: at('sense', 'quarantine'),
    logs: at('sense', 'logs'),
  };
}

function workArea(at: (...names: string[]) => string) {
  return {
    root: at('work'),
    /** The work repository and the result of its privacy check. */
    repo: at('work', 'work_repo.json'),
    config: at('work', 'config.yaml'),
    labels: at('work', 'labels.yml'),
    readme: at('work', 'README.md'),
    /** Marks the customers' folder as restricted, so nothing in it is ever sent. */
    restricted: at('work', 'customers', 'RESTRICTED.md'),
    cache: at('work', 'cache.json'),
    /** The part of the cache that the board shows. */
    board: at('work', 'board.json'),
    /** When the cache was last updated, and why an update last failed. */
    poll: at('work', 'poll.json'),
    /** Issues by identity, and issues that are being created. */
    ledger: at('work', 'ledger.json'),
    /** Reminders that were sent. */
    reminders: at('work', 'reminders.json'),
    /** Why captured issues wait in the spool. */
    waiting: at('work', 'waiting.json'),
    /** The clone that contains TASKLIST.md. */
    tasklist: at('work', 'tasklist'),
  };
}

/** Creates the user area (0700) if it is missing. It may be a link, because users may move it. */
export function ensureUserArea(area: UserArea): void {
  ensureFolder(area.root, { allowLink: true });
}
