import { dirname, join } from 'node:path';

import type { Context } from '../app/context';
import { openSense, setUpSense } from '../app/sense';
import { openSessions } from '../app/sessions';
import { openSync } from '../app/sync';
import { openUsage } from '../app/usage';
import { keepLimits } from '../assistant/status-input';
import { loadConfig } from '../config/load';
import { userArea } from '../config/user-area';
import { setKeys } from '../config/write';
import { StewardError } from '../errors';
import { openAsk } from '../inbox/asks';
import { lineOf, logLine } from '../notify/history';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { setMachineId } from '../platform/files/machine';
import { machineStatePath, type PathHost } from '../platform/files/paths';
import { compactTime } from '../platform/files/spool';
import { toIso } from '../platform/time/clock';
import type { Day } from '../platform/time/time';
import { capture } from '../sense/capture';
import type { SenseSource } from '../sense/source';
import { keepTitle, namesFolder } from '../sessions/names';
import { idOfKey } from '../sessions/session-key';
import { updateSessions } from '../sessions/state';
import { appendWorkEvent } from '../sessions/work-events';
import { machinesFolder } from '../sync/exchange';
import { publish } from '../sync/publish';
import { readState, stateFile, writeState } from '../sync/state';
import type { SenseEvent } from '../time/event';
import { storeLedger } from '../usage/collect';
import { put, readLedger } from '../usage/ledger';
import { emptyCache, merged, writeCache, writePoll } from '../work/cache';
import { makeBody, toIssue, type Issue } from '../work/issue';
import type { Story, StoryDay, StoryMachine } from './story';
import { GOALS, ISSUES, PERSON, QUESTION, REPOSITORIES, REPOSITORY } from './words';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const RESPONSE_MINUTES = 5;
const LOCK_WAIT_MS = 10_000;
/** The days for which notifications are stored. */
const NOTIFIED_DAYS = 3;

export function repositoriesFolder(folder: string): string {
  return join(folder, 'src');
}

/** Writes a story's user areas below a folder: the one of its first machine, and `NAME/` for each other one. */
export async function writeStory(
  folder: string,
  story: Story,
  { templates, zone }: { templates: string; zone: string },
): Promise<Context> {
  for (const name of Object.keys(REPOSITORIES)) {
    const path = join(repositoriesFolder(folder), name, '.git');
    ensureFolder(path);
    replaceFile(join(path, 'HEAD'), 'ref: refs/heads/main\n');
  }
  const exchange = join(folder, 'exchange');
  ensureFolder(machinesFolder(exchange));
  const contexts: Context[] = [];
  for (const machine of [...story.machines].reverse()) {
    const isFirst = machine === story.machines[0];
    const home = isFirst ? folder : join(folder, machine.name);
    const { context, setTime } = contextAt(home, machine.id, templates);
    setTime(story.nowMs);
    setMachineId(machineStatePath(context.area.host), machine.id);
    await configure(context, { zone, exchange, repositories: repositoriesFolder(folder) });
    if (isFirst) await writeIssues(context, story.nowMs);
    for (const day of machine.days.filter(({ focus }) => isFirst || focus.length > 0)) {
      setTime(day.endMs);
      await writeDay(context, day);
    }
    setTime(story.nowMs);
    await writeUsage(context, machine);
    if (isFirst) {
      writeNotifications(context, machine.days.slice(-NOTIFIED_DAYS));
      keepLimits(context.area.limits, 'claude-code', limitsAt(story.nowMs), story.nowMs);
      await openAsk(context, { ...QUESTION, isHeld: false, untilMs: story.nowMs + 8 * HOUR });
    }
    writeState(stateFile(context.area), { ...readState(stateFile(context.area)), name: machine.name });
    const { deps, locked } = await openSync(context);
    await locked(() => publish(deps));
    contexts.unshift(context);
  }
  return contexts[0] as Context;
}

/** Returns where a demo's files are: the home folder and everything below it. */
export function hostAt(home: string): PathHost {
  const env = {
    STEWARD_HOME: join(home, '.steward'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    LOCALAPPDATA: join(home, 'AppData', 'Local'),
  };
  return { platform: process.platform, env, home };
}

function contextAt(home: string, machineId: string, templates: string) {
  let nowMs = 0;
  const host = hostAt(home);
  const area = userArea(host);
  const run: Context['run'] = (file) =>
    Promise.reject(new StewardError('internal', `The demo must not start ${file}.`));
  const context: Context = {
    clock: { now: () => nowMs, monotonic: () => nowMs },
    area,
    machineId,
    loadConfig: () => loadConfig({ area, env: {}, home }),
    run,
    desktop: { platform: host.platform, env: {}, run },
    templates,
  };
  return { context, setTime: (ms: number) => (nowMs = ms) };
}

function limitsAt(nowMs: number) {
  const at = (usedPercent: number, hours: number) => ({ usedPercent, resetsAt: toIso(nowMs + hours * HOUR) });
  return { fiveHour: at(63, 2), sevenDay: at(31, 80) };
}

async function configure(
  context: Context,
  { zone, exchange, repositories }: { zone: string; exchange: string; repositories: string },
): Promise<void> {
  const { area, clock } = context;
  await setUpSense(context);
  ensureFolder(dirname(area.goals));
  replaceFile(area.goals, GOALS);
  await setKeys(context, {
    timezone: zone,
    'principal.name': PERSON.name,
    'user.emails': [PERSON.email],
    'sync.folder': exchange,
    'notify.voice.engine': 'none',
    'daemon.requireToken': false,
    'usage.budgets': [{ per: 'day', usd: 10 }],
    'sense.repos': Object.keys(REPOSITORIES).map((name) => join(repositories, name)),
    'WORK.POLL_INTERVAL_SECONDS': 3600,
    'WORK.repo': REPOSITORY,
    'WORK.privacy': {
      verifiedPrivate: true,
      visibility: 'private',
      verifiedAt: toIso(clock.now()),
      repo: REPOSITORY,
      repoId: 1,
    },
  });
}

/** Stores a day as hooks and one capture at its end do. */
async function writeDay(context: Context, { focus, commits, hooks, sessions }: StoryDay): Promise<void> {
  const { deps, locked } = await openSense(context);
  const stored = await openSessions(context);
  ensureFolder(context.area.state);
  for (const { key, title } of sessions)
    keepTitle(namesFolder(stored.area.machine), key, title, (text) => text);
  for (const event of hooks) appendWorkEvent(stored.area.workEvents, event);
  if (hooks.length > 0) await updateSessions(stored, LOCK_WAIT_MS, [], () => undefined);
  const told: Readonly<Record<string, SenseEvent[]>> = { appFocus: focus, git: commits };
  const sources = deps.sources.map((source): SenseSource => {
    const events = told[source.id];
    if (events === undefined) return source as SenseSource;
    return { ...source, collect: () => Promise.resolve({ events, cursor: null, state: 'ok' }) };
  });
  await locked(() => capture({ ...deps, sources }));
}

async function writeUsage(context: Context, { days }: StoryMachine): Promise<void> {
  const { deps } = await openUsage(context);
  const ledger = readLedger(deps.state);
  for (const { day, sessions } of days) {
    sessions.forEach(({ key, assistant, repo, model, fromMs, toMs }, index) => {
      const session = idOfKey(key);
      for (let ms = fromMs; ms < toMs; ms += RESPONSE_MINUTES * MINUTE) {
        const minutes = Math.min(RESPONSE_MINUTES, Math.round((toMs - ms) / MINUTE));
        put(ledger, {
          id: `${session}.${index}-${ms}`,
          ms,
          day,
          row: [assistant, session, repo, model],
          amounts: [900 * minutes, 420 * minutes, 31_000 * minutes, 2_100 * minutes, 0, 0],
          depth: 0,
        });
      }
    });
  }
  storeLedger(deps, ledger, days[0]?.day as Day);
}

/** Logs a notification for each time that a session waited, as if the desktop had shown it. */
function writeNotifications({ area }: Context, days: readonly StoryDay[]): void {
  ensureFolder(area.observability);
  const waits = days.flatMap(({ hooks, sessions }) =>
    hooks.flatMap(({ ts, session, asks, type }) => {
      const isWait = asks !== undefined || type === 'notification';
      const about = sessions.find(({ key }) => key === session);
      return isWait && about !== undefined ? [{ ms: Date.parse(ts), about, asks }] : [];
    }),
  );
  waits.forEach(({ ms, about, asks }, index) => {
    const verb = asks === undefined ? 'needs your permission' : 'asks a question';
    const id = `${compactTime(ms)}-${index.toString(16).padStart(12, '0')}`;
    const notice = { id, event: 'attention' as const, priority: 4, message: `${about.title}: ${verb}` };
    const isLost = index === waits.length - 2;
    const shown = {
      result: isLost ? ('failed' as const) : ('delivered' as const),
      attempts: 1,
      reason: isLost ? 'no notification service' : null,
      nextAt: null,
      maybeTwice: false,
    };
    const line = lineOf({ ...notice, source: 'job' }, [{ channel: 'desktop', ...shown }]);
    logLine({ clock: { now: () => ms, monotonic: () => ms }, history: area.notifyLog }, line);
  });
}

async function writeIssues({ area }: Context, nowMs: number): Promise<void> {
  ensureFolder(area.work.root);
  const at = (hours: number): string => toIso(nowMs - hours * HOUR);
  const issues = ISSUES.map(({ days, title, labels, closed = false, dueHours }, index): Issue => {
    const number = 31 + index;
    const due = dueHours === undefined ? undefined : toIso(Math.ceil(nowMs / HOUR + dueHours) * HOUR);
    return toIssue({
      number,
      title,
      labels: [...labels],
      url: `https://github.com/${REPOSITORY}/issues/${number}`,
      state: closed ? 'closed' : 'open',
      stateReason: closed ? 'completed' : null,
      createdAt: at(24 * days + 50),
      updatedAt: at(24 * days + 1.5),
      closedAt: closed ? at(24 * days + 1.5) : null,
      body: makeBody('', { kind: 'id', value: `demo-${number}` }, { due }),
    });
  });
  writeCache(area.work.cache, merged(emptyCache(REPOSITORY), issues, { full: true, nowMs, malformed: 0 }));
  writePoll(area.work.poll, REPOSITORY, { lastFetch: toIso(nowMs), failure: null });
}
