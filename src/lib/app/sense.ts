import { dirname, join } from 'node:path';

import type { Config } from '../config/schema';
import { buildGoalsState, GOALS_WINDOW_DAYS } from '../goals/state';
import { parseGoals } from '../goals/record';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { toIso } from '../platform/time/clock';
import { ensureFolder } from '../platform/files/folder';
import { withLock } from '../platform/files/lock';
import { addDays, dayOf, type Day } from '../platform/time/time';
import { agentSessionSource } from '../sense/agent-session';
import { appFocusSource } from '../sense/app-focus';
import { capture, type CaptureDeps, type CaptureResult } from '../sense/capture';
import type { AppKind } from '../sense/app-kind';
import { makeClassifier, type ClassifyRule } from '../sense/classify';
import { gitSource } from '../sense/git';
import { initSense, type InitResult } from '../sense/init';
import type { ReadDeps } from '../sense/read';
import { rollAgain, type Rerolled } from '../sense/roll';
import { senseStore } from '../sense/store';
import type { Context } from './context';
import { noteWriter } from './shared-area';

/** What the sense commands call the library with. */
export interface SenseContext {
  deps: CaptureDeps & ReadDeps;
  /** What of the configuration is not as a person may think: unknown keys, open permissions. */
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

const GIT_DEADLINE_MS = 15_000;

/** Joins sense with the configuration, the machine and the goals record (house: the composition root). */
export async function openSense(context: Context): Promise<SenseContext> {
  const { config, warnings } = await context.loadConfig();
  const { area } = context;
  const store = senseStore(area);
  const deps: SenseContext['deps'] = {
    clock: context.clock,
    store,
    config: config.sense,
    timezone: config.user.timezone,
    classify: makeClassifier(await classifyRules(context)),
    sources: sourcesOf(context, config),
    afterRecords: (today) => refreshGoals(context, config, store, today),
  };
  return {
    deps,
    warnings,
    readDay: async (words) => {
      const { readDay } = await import('../platform/time/day-words');
      return readDay(words, { nowMs: context.clock.now(), zone: config.user.timezone });
    },
    locked: (work) =>
      withLock(
        join(area.machine, 'sense.lock'),
        { clock: context.clock, machineId: context.machineId, waitMs: LOCK_WAIT_MS },
        async () => work(),
      ),
    captureHere() {
      if (config.sense.enabled) noteWriter(area, context.machineId, context.clock.now());
      return capture(deps);
    },
  };
}

/** The zone that today, by a clock in `zone`, was given at its first write; undefined while nothing is written. */
export function zoneOfToday(context: Pick<Context, 'area' | 'clock'>, zone: string): string | undefined {
  const { state } = senseStore(context.area).readState();
  return state.zones[dayOf(context.clock.now(), zone)];
}

/** The rules of classify.yaml; none without the file. */
export async function classifyRules(context: Pick<Context, 'area'>): Promise<ClassifyRule[]> {
  const path = context.area.sense.classify;
  const text = readText(path, { maxBytes: 1024 * 1024 });
  if (text === undefined) return [];
  const { parseClassifyRules } = await import('../sense/classify-rules');
  return parseClassifyRules(text, path);
}

/** What `sense classify set` did. */
export interface Classified extends Rerolled {
  app: string;
  kind: AppKind;
  /** The classify.yaml that holds the rule. */
  file: string;
}

/** Writes the rule, then rolls the records from `since` on again; without it only today's, where one is stored. */
export async function setClassification(
  context: Context,
  app: string,
  kind: AppKind,
  since: Day | undefined,
): Promise<Classified> {
  const { withAppRule } = await import('../sense/classify-edit');
  const { deps, locked } = await openSense(context);
  const file = context.area.sense.classify;
  return locked(async () => {
    deps.store.prepare();
    replaceFile(file, await withAppRule(readText(file) ?? '', file, app, kind));
    const classify = makeClassifier(await classifyRules(context));
    const days = rollAgain({ ...deps, classify }, since ?? dayOf(context.clock.now(), deps.timezone));
    return { app, kind, file, ...days };
  });
}

function sourcesOf(context: Context, config: Config): CaptureDeps['sources'] {
  // A getter: reading commands never ask for the id, and so never make one.
  const machine = {
    get machineId() {
      return context.machineId;
    },
  };
  const shared = <T extends object>(more: T): T & { machineId: string } =>
    Object.defineProperties(more, Object.getOwnPropertyDescriptors(machine)) as T & { machineId: string };
  return [
    appFocusSource(shared({ desktop: context.desktop, config: config.sense })),
    gitSource(
      shared({
        run: context.run,
        config: config.sense,
        clock: context.clock,
        // Less than a source is given (sense/capture.ts): what it found by then is kept.
        deadlineMs: GIT_DEADLINE_MS,
      }),
    ),
    agentSessionSource(shared({ path: config.user.paths.workEvents, timezone: config.user.timezone })),
  ];
}

/** Sense sets its observed time beside the person's own words, in a file of its own (service.md: integration rule 4). */
function refreshGoals(
  context: Context,
  config: Config,
  store: ReturnType<typeof senseStore>,
  today: Day,
): void {
  const oldest = addDays(today, -GOALS_WINDOW_DAYS);
  const records = store
    .recordedDays()
    .filter((day) => day > oldest)
    .map((day) => store.readRecord(day, () => undefined))
    .filter((record) => record !== undefined);
  const state = buildGoalsState({
    goals: parseGoals(readText(config.user.paths.goals, { followLink: true }) ?? ''),
    records,
    date: today,
    generatedAt: toIso(context.clock.now()),
  });
  ensureFolder(dirname(context.area.goalsState));
  replaceFile(context.area.goalsState, `${JSON.stringify(state, null, 2)}\n`);
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

/** `sense init`, and what a first capture does by itself: the command is the consent (decisions.md 3). */
export async function setUpSense(context: Context): Promise<InitResult> {
  const { defaultConfig } = await import('../config/load');
  // What is there must be sound before anything is written beside it.
  await context.loadConfig();
  const { area } = context;
  return initSense({ area, store: senseStore(area) }, defaultConfig(area).sense, context.templates);
}
