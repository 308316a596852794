import { dirname } from 'node:path';

import { type Clock } from '../platform/time/clock';
import { StewardError, toStewardError } from '../errors';
import {
  checkPlace,
  claimPlace,
  findPlace,
  hasGuests,
  type ClaimedPlace,
} from '../platform/files/area-owner';
import { sweepOnce } from '../platform/files/atomic-file';
import { ensureFolder, exists } from '../platform/files/folder';
import { osId } from '../platform/files/os-id';
import { machineStateOf, processHost, userAreaPath, type PathHost } from '../platform/files/paths';
import type { Place } from '../platform/files/place';

/**
 * Paths in the user area and the machine-local state. If another machine owns the area, this machine's files
 * are in `machines/ID`, except the files that people edit.
 */
export type UserArea = ReturnType<typeof areaAt>;

/** Where and when work is done: the part of the context that most features need. */
export interface Machine {
  area: UserArea;
  clock: Clock;
  /** The first read may create the id on disk, so read-only code must not use this property. */
  machineId: string;
  /** Tells the user what was done beside what they asked for. */
  tell?: (text: string) => void;
}

export function userArea(host: PathHost = processHost()): UserArea {
  const root = userAreaPath(host);
  return areaAt(root, findPlace(root, host), host);
}

/**
 * Returns the user area after checking for a change of owner. Never claims an area. Hooks skip the check and
 * use `userArea` instead.
 */
export function checkedArea(host: PathHost = processHost()): UserArea {
  const area = userArea(host);
  if (!area.isClaimed) return area;
  if (!exists(area.root)) return areaAt(area.root, undefined, host);
  const place = checkPlace(area.root, host, area.place);
  return place === area.place ? area : areaAt(area.root, place, host);
}

/**
 * Returns the user area's paths. `found` is the folder that this machine writes to; if undefined, this
 * machine writes to the area itself.
 */
export function areaAt(root: string, found: Place | undefined, host: PathHost = processHost()) {
  const sep = host.platform === 'win32' ? '\\' : '/';
  const base = root.endsWith(sep) ? root : `${root}${sep}`;
  const place = found ?? '';
  const own = sep === '/' ? base + place : base + place.replaceAll('/', sep);
  // Concatenate the paths, because `join` is too slow for the fifty paths that each hook run builds.
  const shared = (...names: string[]): string => base + names.join(sep);
  const at = (...names: string[]): string => own + names.join(sep);
  return {
    root,
    host,
    place,
    /** The folder that this machine writes to. */
    own: place === '' ? root : own.slice(0, -1),
    isClaimed: found !== undefined,
    ...editedFiles(shared),
    goalsState: at('goals', 'state.json'),
    state: at('state'),
    sessionsState: at('state', 'sessions.json'),
    /** Contains only the running sessions, so that a status line can read it quickly. */
    sessionsLive: at('state', 'sessions-live.json'),
    workEvents: at('state', 'work-events.jsonl'),
    /** The usage limits that an assistant last reported to its status line. */
    limits: at('state', 'limits.json'),
    usage: at('usage'),
    /** The install manifest. It lists the files outside the user area that `steward uninstall` must remove. */
    installManifest: at('state', 'install-manifest.json'),
    initState: at('state', 'init.json'),
    /** This machine's id in the area, and a hash of the operating system's machine ID. */
    owner: at('state', 'owner.json'),
    bin: at('bin'),
    spool: at('state', 'spool'),
    observability: at('observability'),
    daemonLog: at('daemon', 'daemon.log'),
    ...notifyFiles(at),
    /** What of the inbox is done or snoozed. */
    inbox: at('state', 'inbox.json'),
    /** What agents ask you, and your answers, until they are read. */
    asks: at('state', 'asks.json'),
    answersLog: at('observability', 'answers.jsonl'),
    managed: at('state', 'managed'),
    sense: senseArea(at, shared),
    work: workArea(at, shared),
    /** The exchange folder, if several machines write to the area; otherwise undefined. */
    get exchange() {
      return place !== '' || hasGuests(root) ? shared('exchange') : undefined;
    },
    /**
     * The machine-local folder for locks, the socket, the token and the pid file. A getter, because computing
     * the path resolves every symbolic link in it.
     */
    get machine() {
      return machineStateOf(root, host);
    },
  };
}

/** Files that the user edits. All machines of a synced area share them. */
function editedFiles(shared: PathOf) {
  return {
    /** The one file of settings; the other files of settings are read, and moved into it. */
    config: shared('config.yaml'),
    settings: shared('settings.json'),
    /** The exchange folder, and the program that exchanges it. */
    syncPlace: shared('state', 'sync.json'),
    goals: shared('goals', 'goals.md'),
    projects: shared('projects.md'),
    pronunciations: shared('principal', 'pronunciations.json'),
    /** Session files, written by the sessions on all machines. */
    sessions: shared('sessions'),
    agents: shared('agents'),
    knowledge: shared('knowledge'),
  };
}

function notifyFiles(at: PathOf) {
  return {
    /** Deliveries that haven't been sent yet, one file each. */
    outbox: at('state', 'outbox'),
    notifyLog: at('observability', 'notify.jsonl'),
    /** The time when the current mute ends. */
    mute: at('state', 'mute.json'),
    /** Whether you let steward speak when an event happens. */
    maySpeak: at('state', 'may-speak.json'),
  };
}

type PathOf = (...names: string[]) => string;

function senseArea(at: PathOf, shared: PathOf) {
  const setUp = shared('sense', 'set-up.json');
  return {
    root: at('sense'),
    config: shared('sense', 'config.json'),
    setUp,
    /** Whether sense is set up: by steward, or by a configuration in the file that the specification names. */
    get isSetUp() {
      return exists(setUp) || exists(this.config);
    },
    state: at('sense', 'state.json'),
    classify: shared('sense', 'classify.yaml'),
    events: at('sense', 'events'),
    daily: at('sense', 'daily'),
    insights: at('sense', 'insights'),
    quarantine: at('sense', 'quarantine'),
    logs: at('sense', 'logs'),
  };
}

function workArea(at: PathOf, shared: PathOf) {
  return {
    root: at('work'),
    /** The work repository and the result of its privacy check. */
    repo: shared('work', 'work_repo.json'),
    config: shared('work', 'config.yaml'),
    labels: shared('work', 'labels.yml'),
    readme: shared('work', 'README.md'),
    /** Marks the `customers` folder as restricted, so that nothing in it is ever sent. */
    restricted: shared('work', 'customers', 'RESTRICTED.md'),
    cache: at('work', 'cache.json'),
    /** The part of the issue cache that the board needs. */
    board: at('work', 'board.json'),
    /** The time of the last cache update, and the reason for the last failure. */
    poll: at('work', 'poll.json'),
    /** The pull requests that you are asked to review. */
    reviews: at('work', 'reviews.json'),
    /** Captured issues, keyed by identity. Includes issues that are being created. */
    ledger: at('work', 'ledger.json'),
    reminders: at('work', 'reminders.json'),
    /** Why captured issues are still in the spool. */
    waiting: at('work', 'waiting.json'),
    tasklist: at('work', 'tasklist'),
  };
}

/**
 * Creates the user area (mode 0700) if needed, and claims an area without an owner. The path may be a
 * symbolic link.
 */
export function ensureUserArea(area: UserArea): void {
  ensureFolder(area.root, { allowLink: true });
  if (area.isClaimed) return;
  try {
    claimArea(area);
  } catch (error) {
    // An unreadable owner file or local state must not stop a hook. Captures report the problem.
    if (['conflict', 'internal'].includes(toStewardError(error).kind)) throw error;
  }
}

/** Removes the temp files that killed runs left in the area. */
export function sweepArea(area: UserArea): void {
  const { root, state, sense, work, observability, machine } = area;
  const parents = [area.goals, area.pronunciations].map((path) => dirname(path));
  for (const folder of [root, state, sense.root, work.root, ...parents, observability, machine])
    sweepOnce(folder);
}

/**
 * Returns the area's ownership, and claims an area without an owner. Throws `conflict` if the owner has
 * changed since `place` was read.
 */
export function claimArea({ root, place, host }: UserArea): ClaimedPlace {
  const claimed = claimPlace(root, { host, osId });
  if (claimed.place === place) return claimed;
  throw new StewardError('conflict', `${root} now belongs to another machine.`, {
    hint: 'Rerun the command. The daemon restarts automatically.',
  });
}
