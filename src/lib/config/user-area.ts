import { ensureFolder } from '../platform/files/folder';
import { machineStateOf, processHost, userAreaPath, type PathHost } from '../platform/files/paths';

/** Every place of the user area by name (decisions.md 1). Plain strings; nothing is created here. */
export interface UserArea {
  root: string;
  config: string;
  settings: string;
  goals: string;
  goalsState: string;
  projects: string;
  /** How the voice is to say the principal's terms. */
  pronunciations: string;
  sessions: string;
  state: string;
  sessionsState: string;
  /** The sessions that run now, a part of the state that a status line can afford to read. */
  sessionsLive: string;
  workEvents: string;
  /** What was written outside of the user area, and how to take it back. */
  installManifest: string;
  /** Which questions of the set-up were answered. */
  initState: string;
  /** Whose area it is, and which machines have written it. */
  owner: string;
  bin: string;
  spool: string;
  observability: string;
  daemonLog: string;
  /** The roster: a file an agent. */
  agents: string;
  /** The archive of people, companies, ideas and research. */
  knowledge: string;
  /** Notifications that wait for their channels, a file a delivery. */
  outbox: string;
  /** What became of each notification. */
  notifyLog: string;
  /** Until when the voice is muted. */
  mute: string;
  /** Logs of hosted sessions, what is being sent to them, and what was shown. */
  managed: string;
  sense: {
    root: string;
    config: string;
    state: string;
    classify: string;
    events: string;
    daily: string;
    insights: string;
    quarantine: string;
    logs: string;
  };
  work: {
    root: string;
    /** Which repository, and what was seen of its privacy. */
    repo: string;
    config: string;
    labels: string;
    readme: string;
    /** Marks the subtree of customers as restricted: nothing of it is ever sent. */
    restricted: string;
    cache: string;
    /** When the cache was last brought up to date, and what went wrong since. */
    poll: string;
    /** Which issue belongs to what, and what was about to be created. */
    ledger: string;
    /** Which reminders were told of, and when. */
    reminders: string;
    /** Why captures wait in the spool. */
    waiting: string;
    /** The clone with TASKLIST.md. */
    tasklist: string;
  };
  /** Machine-local: locks, socket, token, pid file. */
  machine: string;
}

export function userArea(host: PathHost = processHost()): UserArea {
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
    pronunciations: at('principal', 'pronunciations.json'),
    sessions: at('sessions'),
    state: at('state'),
    sessionsState: at('state', 'sessions.json'),
    sessionsLive: at('state', 'sessions-live.json'),
    workEvents: at('state', 'work-events.jsonl'),
    installManifest: at('state', 'install-manifest.json'),
    initState: at('state', 'init.json'),
    owner: at('state', 'owner.json'),
    bin: at('bin'),
    spool: at('state', 'spool'),
    observability: at('observability'),
    daemonLog: at('daemon', 'daemon.log'),
    agents: at('agents'),
    knowledge: at('knowledge'),
    outbox: at('state', 'outbox'),
    notifyLog: at('observability', 'notify.jsonl'),
    mute: at('state', 'mute.json'),
    managed: at('state', 'managed'),
    sense: {
      root: at('sense'),
      config: at('sense', 'config.json'),
      state: at('sense', 'state.json'),
      classify: at('sense', 'classify.yaml'),
      events: at('sense', 'events'),
      daily: at('sense', 'daily'),
      insights: at('sense', 'insights'),
      quarantine: at('sense', 'quarantine'),
      logs: at('sense', 'logs'),
    },
    work: {
      root: at('work'),
      repo: at('work', 'work_repo.json'),
      config: at('work', 'config.yaml'),
      labels: at('work', 'labels.yml'),
      readme: at('work', 'README.md'),
      restricted: at('work', 'customers', 'RESTRICTED.md'),
      cache: at('work', 'cache.json'),
      poll: at('work', 'poll.json'),
      ledger: at('work', 'ledger.json'),
      reminders: at('work', 'reminders.json'),
      waiting: at('work', 'waiting.json'),
      tasklist: at('work', 'tasklist'),
    },
    // Lazy: it looks at every folder of the path, and most runs need no lock.
    get machine() {
      return machineStateOf(root, host);
    },
  };
}

/**
 * Makes the user area (0700) where there is none. It may be a link: a person may have moved it. An area that
 * others can look into is left as it is; `loadConfig` warns of it.
 */
export function ensureUserArea(area: UserArea): void {
  ensureFolder(area.root, { allowLink: true });
}
