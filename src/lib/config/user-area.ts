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
  /** Machine-local: locks, socket, token, pid file. */
  machine: string;
}

export function userArea(host: PathHost = processHost()): UserArea {
  const root = userAreaPath(host);
  const sense = join(root, 'sense');
  return {
    root,
    config: join(root, 'config.yaml'),
    settings: join(root, 'settings.json'),
    goals: join(root, 'goals', 'goals.md'),
    goalsState: join(root, 'goals', 'state.json'),
    projects: join(root, 'projects.md'),
    sessions: join(root, 'sessions'),
    state: join(root, 'state'),
    sessionsState: join(root, 'state', 'sessions.json'),
    sessionsLive: join(root, 'state', 'sessions-live.json'),
    workEvents: join(root, 'state', 'work-events.jsonl'),
    installManifest: join(root, 'state', 'install-manifest.json'),
    bin: join(root, 'bin'),
    spool: join(root, 'state', 'spool'),
    observability: join(root, 'observability'),
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
    // Lazy: its hash loads a module that costs a run several milliseconds.
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
