import { ensureFolder } from '../platform/files/folder';
import { machineStateOf, processHost, userAreaPath, type PathHost } from '../platform/files/paths';

/** Every place of the user area by name, and of the machine-local state. Plain strings; nothing is created here. */
export type UserArea = ReturnType<typeof userArea>;

export function userArea(host: PathHost = processHost()) {
  const root = userAreaPath(host);
  const sep = host.platform === 'win32' ? '\\' : '/';
  const base = root.endsWith(sep) ? root : `${root}${sep}`;
  // Not `join`: it would look at every letter of fifty paths, and every hook waits for them.
  const at = (...names: string[]): string => base + names.join(sep);
  return {
    root,
    config: at('config.yaml'),
    settings: at('settings.json'),
    goals: at('goals', 'goals.md'),
    goalsState: at('goals', 'state.json'),
    projects: at('projects.md'),
    /** How the voice is to say the principal's terms. */
    pronunciations: at('principal', 'pronunciations.json'),
    sessions: at('sessions'),
    state: at('state'),
    sessionsState: at('state', 'sessions.json'),
    /** The sessions that run now, a part of the state that a status line can afford to read. */
    sessionsLive: at('state', 'sessions-live.json'),
    workEvents: at('state', 'work-events.jsonl'),
    /** The usage limits that an assistant has told its status line. */
    limits: at('state', 'limits.json'),
    /** What was written outside of the user area, and how to take it back. */
    installManifest: at('state', 'install-manifest.json'),
    /** Which questions of the set-up were answered. */
    initState: at('state', 'init.json'),
    /** Whose area it is, and which machines have written it. */
    owner: at('state', 'owner.json'),
    bin: at('bin'),
    spool: at('state', 'spool'),
    observability: at('observability'),
    daemonLog: at('daemon', 'daemon.log'),
    /** The roster: a file an agent. */
    agents: at('agents'),
    /** The archive of people, companies, ideas and research. */
    knowledge: at('knowledge'),
    /** Notifications that wait for their channels, a file a delivery. */
    outbox: at('state', 'outbox'),
    /** What became of each notification. */
    notifyLog: at('observability', 'notify.jsonl'),
    /** Until when the voice is muted. */
    mute: at('state', 'mute.json'),
    /** Logs of hosted sessions, what is being sent to them, and what was shown. */
    managed: at('state', 'managed'),
    sense: senseArea(at),
    work: workArea(at),
    /** Machine-local: locks, socket, token, pid file. Lazy: it looks at every folder of the path. */
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
    /** Which repository, and what was seen of its privacy. */
    repo: at('work', 'work_repo.json'),
    config: at('work', 'config.yaml'),
    labels: at('work', 'labels.yml'),
    readme: at('work', 'README.md'),
    /** Marks the subtree of customers as restricted: nothing of it is ever sent. */
    restricted: at('work', 'customers', 'RESTRICTED.md'),
    cache: at('work', 'cache.json'),
    /** What of the cache a terminal shows of the board. */
    board: at('work', 'board.json'),
    /** When the cache was last brought up to date, and what went wrong since. */
    poll: at('work', 'poll.json'),
    /** Which issue belongs to what, and what was about to be created. */
    ledger: at('work', 'ledger.json'),
    /** Which reminders were told of, and when. */
    reminders: at('work', 'reminders.json'),
    /** Why captures wait in the spool. */
    waiting: at('work', 'waiting.json'),
    /** The clone with TASKLIST.md. */
    tasklist: at('work', 'tasklist'),
  };
}

/**
 * Makes the user area (0700) where there is none. It may be a link: a person may have moved it. An area that
 * others can look into is left as it is; `loadConfig` warns of it.
 */
export function ensureUserArea(area: UserArea): void {
  ensureFolder(area.root, { allowLink: true });
}
