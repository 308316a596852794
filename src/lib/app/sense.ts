import { dirname, join } from 'node:path';

import type { Config } from '../config/schema';
import { parseGoals } from '../goals/record';
import { buildGoalsState, GOALS_WINDOW_DAYS } from '../goals/state';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import { toIso } from '../platform/time/clock';
import { addDays, dayOf, type Day } from '../platform/time/time';
import { agentSessionSource } from '../sense/agent-session';
import { appFocusSource } from '../sense/app-focus';
import { capture, type CaptureDeps, type CaptureResult } from '../sense/capture';
import type { AppKind } from '../sense/classify';
import { readClassifier, setAppKind, type Classified } from '../sense/classify-file';
import { gitSource } from '../sense/git';
import { recordsBetween, type ReadDeps } from '../sense/read';
import { initSense, senseStore, type InitResult } from '../sense/store';
import type { BackfillDeps } from '../sense/backfill';
import { processHost } from '../platform/files/paths';
import type { Context } from './context';
import { noteWriter } from '../sense/shared-area';

/** What the sense commands call the library with. */
export interface SenseContext {
  deps: CaptureDeps & ReadDeps;
  /** Unknown keys and open permissions of the configuration. */
  warnings: readonly string[];
  /** A day as a person says it, by the clock and the zone of the principal. */
  readDay: (words: string) => Promise<Day>;
  /** One capture, rollup or purge at a time on this machine. */
  locked: <T>(work: () => T | Promise<T>) => Promise<T>;
  /** A capture that also notes which machine writes the area. Call it under the lock. */
  captureHere: () => Promise<CaptureResult>;
}

/** A capture waits for a running one; both fit well within a poll interval. */
const LOCK_WAIT_MS = 30_000;

/** Joins sense with the configuration, the machine and the goals record. */
export async function openSense(context: Context): Promise<SenseContext> {
  const { config, warnings } = await context.loadConfig();
  const { area, clock } = context;
  const { timezone } = config.user;
  const store = senseStore(area);
  const deps: SenseContext['deps'] = {
    clock,
    store,
    config: config.sense,
    timezone,
    classify: await readClassifier(context.templates, area.sense.classify),
    sources: sourcesOf(context, config),
    afterRecords: (today) => refreshGoals(context, config, today),
  };
  return {
    deps,
    warnings,
    readDay: async (words) => {
      const { readDay } = await import('../platform/time/day-words');
      return readDay(words, { nowMs: clock.now(), zone: timezone });
    },
    locked: (work) =>
      withLock(
        join(area.machine, 'sense.lock'),
        { clock, machineId: context.machineId, waitMs: LOCK_WAIT_MS },
        async () => work(),
      ),
    async captureHere() {
      const problem = config.sense.enabled && noteWriter(area, context.machineId, clock.now());
      const result = await capture(deps);
      return problem ? { ...result, problems: [problem, ...result.problems] } : result;
    },
  };
}

/** `sense backfill`, and what a set-up does. Call it under the lock of sense. */
export async function openBackfill(
  context: Context,
  { deps }: Pick<SenseContext, 'deps'>,
  onProgress?: (done: number, total: number) => void,
): Promise<BackfillDeps> {
  const { config } = await context.loadConfig();
  const { run, clock, machineId } = context;
  const { readTranscripts, transcriptFolders } = await import('../assistant/transcripts');
  return {
    ...deps,
    git: { run, clock, machineId, config: config.sense },
    pastActivity: (sinceMs, take) => readTranscripts(transcriptFolders(processHost()), sinceMs, take),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
}

/** The id is a getter: reading commands never ask for it, and so never make one. */
function sourcesOf(context: Context, { sense, user }: Config): CaptureDeps['sources'] {
  const { run, clock, desktop } = context;
  return [
    appFocusSource({
      desktop,
      config: sense,
      get machineId() {
        return context.machineId;
      },
    }),
    gitSource({
      run,
      clock,
      config: sense,
      get machineId() {
        return context.machineId;
      },
    }),
    agentSessionSource({
      path: user.paths.workEvents,
      timezone: user.timezone,
      get machineId() {
        return context.machineId;
      },
    }),
  ];
}

/** Sets the observed time beside the person's own words, in a file of its own. */
function refreshGoals({ area, clock }: Context, { user }: Config, today: Day): void {
  const window = { from: addDays(today, 1 - GOALS_WINDOW_DAYS), to: today };
  const state = buildGoalsState({
    goals: parseGoals(readText(user.paths.goals, { followLink: true }) ?? ''),
    records: [...recordsBetween({ store: senseStore(area) }, window, () => undefined)],
    date: today,
    generatedAt: toIso(clock.now()),
  });
  ensureFolder(dirname(area.goalsState));
  replaceFile(area.goalsState, `${JSON.stringify(state, null, 2)}\n`);
}

/** The zone that today, by a clock in `zone`, was given at its first write; undefined while nothing is written. */
export function zoneOfToday(
  { area, clock }: Pick<Context, 'area' | 'clock'>,
  zone: string,
): string | undefined {
  return senseStore(area).readState().state.zones[dayOf(clock.now(), zone)];
}

/** `sense classify set` */
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

/** `sense capture`: sets up where nothing is set. With the kill switch it writes nothing, not even a lock. */
export async function captureNow(
  context: Context,
): Promise<Pick<SenseContext, 'deps' | 'warnings'> & { result: CaptureResult }> {
  const { config } = await context.loadConfig();
  if (config.sense.enabled) await setUpSense(context);
  const { deps, locked, captureHere, warnings } = await openSense(context);
  const result = config.sense.enabled ? await locked(captureHere) : await captureHere();
  return { deps, warnings, result };
}

/** `sense init`, and what a first capture does by itself: the command is the consent. */
export async function setUpSense(context: Context): Promise<InitResult> {
  const { defaultConfig } = await import('../config/load');
  // What is there must be sound before anything is written beside it.
  await context.loadConfig();
  const { area, templates } = context;
  return initSense({ area, store: senseStore(area) }, defaultConfig(area).sense, templates);
}
