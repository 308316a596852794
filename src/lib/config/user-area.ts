import { join } from 'node:path';

import { ensureFolder } from '../platform/folder';
import { machineStateOf, processHost, userAreaPath, type PathHost } from '../platform/paths';

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
    /** What of the cache a terminal shows of the board. */
    board: string;
    /** When the cache was last brought up to date, and what went wrong since. */
    poll: string;
    /** Which issue belongs to what, and what was about to be created. */
    ledger: string;
    /** Which reminders were told of, and when. */
    reminders: string;
    /** The clone with TASKLIST.md. */
    tasklist: string;
  };
  /** Machine-local: locks, socket, token, pid file. */
  machine: string;
}

export function userArea(host: PathHost = processHost()): UserArea {
  const root = userAreaPath(host);
  const sense = join(root, 'sense');
  const work = join(root, 'work');
  return {
    root,
    config: join(root, 'config.yaml'),
    settings: join(root, 'settings.json'),
    goals: join(root, 'goals', 'goals.md'),
    goalsState: join(root, 'goals', 'state.json'),
    projects: join(root, 'projects.md'),
    pronunciations: join(root, 'principal', 'pronunciations.json'),
    sessions: join(root, 'sessions'),
    state: join(root, 'state'),
    sessionsState: join(root, 'state', 'sessions.json'),
    sessionsLive: join(root, 'state', 'sessions-live.json'),
    workEvents: join(root, 'state', 'work-events.jsonl'),
    installManifest: join(root, 'state', 'install-manifest.json'),
    bin: join(root, 'bin'),
    spool: join(root, 'state', 'spool'),
    observability: join(root, 'observability'),
    daemonLog: join(root, 'daemon', 'daemon.log'),
    agents: join(root, 'agents'),
    knowledge: join(root, 'knowledge'),
    outbox: join(root, 'state', 'outbox'),
    notifyLog: join(root, 'observability', 'notify.jsonl'),
    mute: join(root, 'state', 'mute.json'),
    managed: join(root, 'state', 'managed'),
    sense: {
      root: sense,
      config: join(sense, 'config.json'),
      state: join(sense, 'state.json'),
      classify: join(sense, 'classify.yaml'),
      events: join(sense, 'events'),
      daily: join(sense, 'daily'),
      insights: join(sense, 'insights'),
      quarantine: join(sense, 'quarantine'),
      logs: join(sense, 'logs'),
    },
    work: {
      root: work,
      repo: join(work, 'work_repo.json'),
      config: join(work, 'config.yaml'),
      labels: join(work, 'labels.yml'),
      readme: join(work, 'README.md'),
      restricted: join(work, 'customers', 'RESTRICTED.md'),
      cache: join(work, 'cache.json'),
      board: join(work, 'board.json'),
      poll: join(work, 'poll.json'),
      ledger: join(work, 'ledger.json'),
      reminders: join(work, 'reminders.json'),
      tasklist: join(work, 'tasklist'),
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
