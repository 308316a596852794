import { join } from 'node:path';

import type { Config } from '../config/schema';
import { ensureUserArea } from '../config/user-area';
import { hasRules } from '../goals/match';
import { readGoals } from '../goals/record';
import { refreshGoals } from '../goals/state';
import { isLockHeld, withMachineLock } from '../platform/files/lock';
import { processHost } from '../platform/files/paths';
import { withTempFolder } from '../platform/files/system-files';
import type { Day } from '../platform/time/time';
import { agentSessionSource } from '../sense/agent-session';
import { appFocusSource } from '../sense/app-focus';
import type { BackfillDeps } from '../sense/backfill';
import { type CaptureDeps, capture } from '../sense/capture';
import { type Classified, readClassifier, setAppKind } from '../sense/classify-file';
import { type FocusWatch, watchFocus } from '../sense/focus-watch';
import type { Desktop } from '../sense/front-app/adapter';
import { gitSource } from '../sense/git';
import type { BuildDeps } from '../sense/insight';
import { type InsightReadDeps, insightStore } from '../sense/insight-reads';
import { type Last, type ObserveDeps, observe } from '../sense/observe';
import { forgetRunning } from '../sense/purge';
import { type ReadDeps, recordsBetween } from '../sense/read';
import { type InitResult, initSense, senseStore } from '../sense/store';
import { type SiteVisit, storeVisit, webSource } from '../sense/web';
import { readPairing } from '../sense/web-pairing';
import { sessionsById } from '../sessions/session';
import { currentSessions } from '../sessions/state';
import type { AppKind } from '../time/classify';
import { goalTagger } from '../time/ledger/rows';
import type { Context } from './context';
import { openSessions, sessionsOn } from './sessions';
import { prepareArea } from './shared-area';

/**
 * Timeout for the sense lock, in ms. Long enough for two captures, but shorter than the default poll
 * interval.
 */
const LOCK_WAIT_MS = 30_000;

/** @param watch set only in the daemon */
export async function openSense(context: Context, watch?: () => FocusWatch | undefined) {
  const { config, warnings } = await context.loadConfig();
  const { area, clock } = context;
  const { timezone } = config.user;
  const deps: CaptureDeps & ReadDeps = {
    clock,
    store: senseStore(area),
    config: config.sense,
    timezone,
    classify: await readClassifier(context.templates, area.sense.classify),
    sources: sourcesOf(context, config, watch),
    goalTags: await goalTagsIn(context),
    afterRecords: (today) =>
      refreshGoals({ area, clock }, today, (days) =>
        recordsBetween({ store: senseStore(area) }, days, () => undefined),
      ),
  };
  return {
    deps,
    /** Warnings about unknown configuration keys, and about files that other users can access. */
    warnings,
    /** Parses a day such as `yesterday` in your time zone. */
    readDay: async (words: string) => {
      const { readDay } = await import('../platform/time/day-words');
      return readDay(words, { nowMs: clock.now(), zone: timezone });
    },
    /** Runs `work` under the lock shared by this machine's captures, rollups and purges. */
    locked: <T>(work: () => T | Promise<T>): Promise<T> =>
      withMachineLock(context, 'sense', LOCK_WAIT_MS, work),
    /** Forgets the running sessions, for `sessions forget`. The caller must hold the lock. */
    forgetRunning: () => forgetRunning(deps),
    /** Checks the area's owner and runs a capture. The caller must hold the lock. */
    async captureHere() {
      const problems = config.sense.enabled ? await prepareArea(context) : [];
      const result = await capture(deps);
      return { ...result, problems: [...problems, ...result.problems] };
    },
    /** Stores what the browser extension sent. Returns the problems. The caller must hold the lock. */
    storeVisit: (visit: SiteVisit) => storeVisit({ ...deps, config: config.sense }, visit, context.machineId),
    /** Returns the current focus. Reuses the focus in `last` if there has been no input since that observation. */
    observe: (last: Last | undefined, desktop: Desktop) =>
      observe({ ...observeDeps(context, config), desktop }, clock.now(), last),
  };
}

export type SenseContext = Awaited<ReturnType<typeof openSense>>;

/** Returns undefined if no goal has rules, to avoid reading sessions and issues. */
async function goalTagsIn(context: Context): Promise<CaptureDeps['goalTags']> {
  if (!hasRules(readGoals(context.area.goals))) return undefined;
  const { openWorkNames } = await import('./work-names');
  return goalTagger(await openWorkNames(context));
}

/** Returns the dependencies of a backfill, which requires the sense lock. */
export async function openBackfill(
  context: Context,
  { deps }: Pick<SenseContext, 'deps'>,
  onProgress?: (done: number, total: number) => void,
): Promise<BackfillDeps> {
  const { config } = await context.loadConfig();
  const { run, clock, machineId } = context;
  const { pastActivity } = await import('../assistant/past-activity');
  return {
    ...deps,
    git: { run, clock, machineId, config: config.sense, yours: config.user.user.emails },
    pastActivity: (sinceMs, take) => pastActivity(processHost(), sinceMs, take),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}

function sourcesOf(context: Context, config: Config, watch?: () => FocusWatch | undefined) {
  const { run, clock } = context;
  const { sense, user } = config;
  const deps = {
    run,
    clock,
    timezone: user.timezone,
    path: context.area.workEvents,
    ...observeDeps(context, config),
    config: sense,
    yours: user.user.emails,
    // A getter, because the first read may create the machine id. Read-only commands must not create it.
    get machineId() {
      return context.machineId;
    },
    ...(watch && { watch: { since: async (ms: number) => watch()?.since(ms) } }),
    isWatched: () => isLockHeld(leaseOf(context), context),
  };
  const web = webSource(() => readPairing(context.area) !== undefined);
  return [appFocusSource(deps), gitSource(deps), agentSessionSource(deps), web];
}

function observeDeps(context: Context, { sense }: Config): ObserveDeps {
  const { desktop } = context;
  const place = { desktop, repos: sense.repos, sessionsOn: (tty: string) => sessionsOn(context, tty) };
  return {
    desktop,
    config: sense,
    async place(app, inputMs) {
      const { readPlace } = await import('../sense/pane/place');
      return readPlace(place, app, inputMs);
    },
  };
}

function leaseOf({ area }: Context): string {
  return join(area.machine, 'focus.lock');
}

export function openFocusWatch(
  context: Context,
  sense: () => SenseContext | Promise<SenseContext>,
  options: { isSetUp: () => boolean; onProblem: (problem: string) => void },
): FocusWatch {
  const { clock, machineId, desktop } = context;
  return watchFocus({
    clock,
    machineId,
    desktop,
    lease: leaseOf(context),
    onProblem: options.onProblem,
    async isWanted() {
      if (!options.isSetUp()) return false;
      const { enabled, sources } = (await sense()).deps.config;
      return enabled && sources.appFocus;
    },
    observe: async (last, watched) => (await sense()).observe(last, watched),
  });
}

export async function setClassification(
  context: Context,
  app: string,
  kind: AppKind,
  since: Day | undefined,
): Promise<Classified> {
  const { deps, locked } = await openSense(context);
  const files = { templates: context.templates, path: context.area.sense.classify };
  return locked(() => setAppKind(deps, files, { app, kind, since }));
}

/**
 * Sets up sense if needed, then captures. Writes nothing if `sense.enabled` is false, which `isEnabled` tells.
 */
export async function captureNow(context: Context) {
  const { config } = await context.loadConfig();
  if (config.sense.enabled) await setUpSense(context);
  const { deps, locked, captureHere, warnings } = await openSense(context);
  const isEnabled = config.sense.enabled;
  const result = isEnabled ? await locked(captureHere) : await captureHere();
  return { deps, warnings, result, isEnabled };
}

/** Sets sense up unless it is. */
export async function setUpSense(context: Context): Promise<InitResult> {
  // Load the configuration first, so that nothing is written if it is invalid.
  await context.loadConfig();
  const { area, templates } = context;
  ensureUserArea(area);
  return initSense({ area, store: senseStore(area) }, templates);
}

export async function openInsight(context: Context): Promise<{ deps: BuildDeps & InsightReadDeps }> {
  const { config } = await context.loadConfig();
  const { deps, locked } = await openSense(context);
  const { area, clock, run } = context;
  const { store, timezone } = deps;
  const sessions = await openSessions(context);
  return {
    deps: {
      clock,
      store,
      timezone,
      run,
      locked,
      config: config.sense,
      insights: insightStore(area.sense.insights),
      sessions: () => sessionsById(Object.values(currentSessions(sessions).sessions)),
      env: processHost().env,
      inEmptyFolder: withTempFolder,
      // A separate lock, so that captures continue while the assistant responds.
      alone: (work) => withMachineLock(context, 'insight', 0, work),
    },
  };
}
