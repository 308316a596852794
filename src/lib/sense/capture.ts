import { within } from '../platform/time/wait';
import type { SenseConfig } from '../config/schema';
import { toStewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time/time';
import type { SenseEvent, SourceId } from '../time/event';
import { withoutPurged } from './purged';
import { rollPastDays, todayOf, type RollDeps } from './roll';
import type { Collected, SenseSource } from './source';
import { noticeJump, type LogName, type SenseState } from './state';
import type { SenseStore } from './store';

export interface CaptureDeps extends RollDeps {
  config: Pick<SenseConfig, 'enabled' | 'pollIntervalSec' | 'sources' | 'retentionDays'>;
  sources: readonly SenseSource[];
  /** Timeout for each source, in ms. Default: 20,000. */
  sourceTimeoutMs?: number;
}

const SOURCE_TIMEOUT_MS = 20_000;

/** How long a stopping daemon may spend on the last focus capture, in ms. */
const LAST_FOCUS_MS = 2_000;

/** Captures only the focus. Called when the daemon stops, so that the last observations aren't lost. */
export async function captureFocus(deps: CaptureDeps, locked: <T>(work: () => Promise<T>) => Promise<T>) {
  const sources = deps.sources.filter(({ id }) => id === 'appFocus');
  const stored = locked(() => capture({ ...deps, sources }));
  await within(LAST_FOCUS_MS, stored, undefined);
}

/** A capture or backfill in progress. */
export interface CaptureRun {
  deps: CaptureDeps;
  nowMs: number;
  today: Day;
  problems: string[];
}

/**
 * Captures events from each enabled source and writes the records of past days. The caller must hold the
 * sense lock.
 */
export async function capture(deps: CaptureDeps) {
  const { enabled, sources } = deps.config;
  const result = { captured: enabled, ts: toIso(deps.clock.now()) };
  const none: Record<'rolled' | 'pruned', Day[]> & {
    sources: { id: SourceId; state: Collected['state']; reason?: string; events: number }[];
    problems: string[];
  } = { sources: [], rolled: [], pruned: [], problems: [] };
  if (!enabled) return { ...result, events: 0, ...none };
  const { run, state } = openRun(deps);
  const stored = storedEvents(run, state);
  const enabledSources = deps.sources.filter(({ id }) => sources[id]);
  const answers = await Promise.all(enabledSources.map((source) => query(run, source, state, stored)));
  const collected = answers.flatMap(({ outcome }) => outcome.events);
  const fresh = withoutPurged(withoutStored(collected, stored), state.cursors['purges'], run);
  const next = nextState(run, state, answers);
  appendEvents(run, next, fresh);
  const { rolled, pruned, problems } = rollPastDays(deps, next, run.today);
  return {
    ...result,
    events: fresh.length,
    sources: answers.map(({ source, outcome: { state: status, reason, events } }) => ({
      id: source.id,
      state: status,
      ...(reason === undefined ? {} : { reason }),
      events: events.length,
    })),
    rolled,
    pruned,
    problems: [...run.problems, ...problems],
  };
}

export type CaptureResult = Awaited<ReturnType<typeof capture>>;

/** Reads the state and completes an interrupted run. With `readOnly`, only reads the state. */
export function openRun(deps: CaptureDeps, readOnly = false): { run: CaptureRun; state: SenseState } {
  const { store } = deps;
  const run: CaptureRun = { deps, nowMs: deps.clock.now(), today: todayOf(deps), problems: [] };
  if (!readOnly) store.prepare();
  const { state, damaged, lost } = store.readState();
  if (readOnly) return { run, state };
  if (damaged) {
    store.quarantineState();
    run.problems.push(
      'state.json was damaged and has been reset; the damaged file was moved to quarantine/state.json',
    );
  }
  if (lost) state.lostOn = run.today;
  completePending(store, state, run.today, run.problems);
  return { run, state };
}

/**
 * Appends the pending lines of an interrupted run. Lines that can't be written to a past day's log stay
 * pending.
 */
export function completePending(store: SenseStore, state: SenseState, today: Day, problems: string[]): void {
  state.pending = state.pending.filter((plan) => {
    // The user has deleted the log, so don't restore its lines.
    if (plan.offset > 0 && store.logBytes(plan.day) === undefined) return false;
    try {
      store.completeAppend(plan);
      return false;
    } catch (error) {
      if (plan.day === today) throw error;
      const { message } = toStewardError(error);
      problems.push(
        `Could not write the event log for ${plan.day}; retrying at the next capture: ${message}`,
      );
      return true;
    }
  });
}

/**
 * Returns the events of the last two days if the state was lost, to detect events that the sources report
 * again.
 */
function storedEvents({ deps: { store }, today, problems }: CaptureRun, { lostOn }: SenseState) {
  const from = addDays(today, -1);
  if (lostOn === null || lostOn < from) return [];
  const days = store.loggedDays().filter((day) => day >= from);
  return days.flatMap((day) => {
    try {
      return store.readLog(day).events;
    } catch (error) {
      if (day === today) throw error;
      problems.push(`Could not read the events for ${day}: ${toStewardError(error).message}`);
      return [];
    }
  });
}

function withoutStored(events: SenseEvent[], stored: readonly SenseEvent[]): SenseEvent[] {
  const keyOf = ({ detail, ...event }: SenseEvent): string =>
    event.type === 'git-commit'
      ? JSON.stringify([detail?.['path'], detail?.['sha']])
      : JSON.stringify({ ...event, detail });
  const known = new Set(stored.map(keyOf));
  return events.filter((event) => !known.has(keyOf(event)));
}

type Answer = Awaited<ReturnType<typeof query>>;

async function query(
  { deps, nowMs, today }: CaptureRun,
  source: SenseSource,
  state: SenseState,
  stored: readonly SenseEvent[],
) {
  const cursor = state.cursors[source.id] ?? (stored.length > 0 ? source.recover?.(stored) : undefined);
  const { startMs: dayStartMs } = dayBounds(today, deps.timezone);
  const failed = (reason: string): Collected => ({ events: [], cursor, state: 'error', reason });
  const limitMs = deps.sourceTimeoutMs ?? SOURCE_TIMEOUT_MS;
  const late = failed('timed out; retrying at the next capture');
  try {
    const answer = (async () => source.collect({ nowMs, dayStartMs, cursor }))();
    const outcome = await within(limitMs, answer, late);
    return { source, outcome: { ...outcome, cursor: outcome.cursor ?? cursor } };
  } catch (error) {
    const { message, hint } = toStewardError(error);
    const reason = clean(`${source.label}: ${message}${hint === undefined ? '' : ` ${hint}`}`);
    return { source, outcome: failed(reason) };
  }
}

function nextState(run: CaptureRun, state: SenseState, answers: readonly Answer[]): SenseState {
  const { deps, nowMs } = run;
  const at = toIso(nowMs);
  const next: SenseState = {
    ...state,
    cursors: { ...state.cursors },
    sources: { ...state.sources },
    lastCaptureTs: at,
    away: awayTime(run, state, answers),
    zones: { ...state.zones, [run.today]: state.zones[run.today] ?? deps.timezone },
    ...noticeJump(state, { wallMs: nowMs, boot: deps.clock.boot?.() }),
  };
  for (const { source, outcome } of answers) {
    if (outcome.cursor !== undefined) next.cursors[source.id] = outcome.cursor;
    const newest = outcome.events.map((event) => event.ts).sort();
    next.sources[source.id] = {
      state: outcome.state,
      ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      at,
      lastEventTs: newest.at(-1) ?? state.sources[source.id]?.lastEventTs ?? null,
    };
  }
  return next;
}

/** Returns how long you were away today. Counts at most one poll interval per capture. */
function awayTime(
  { deps, nowMs, today }: CaptureRun,
  { away, lastCaptureTs }: SenseState,
  answers: readonly Answer[],
): SenseState['away'] {
  const pollSec = deps.config.pollIntervalSec;
  const before = away?.day === today ? away.seconds : 0;
  const isIdle = answers.some(({ source, outcome }) => source.id === 'appFocus' && outcome.state === 'idle');
  const lastMs = parseIso(lastCaptureTs ?? '');
  const elapsedSec = lastMs === undefined || lastMs > nowMs ? pollSec : (nowMs - lastMs) / 1000;
  return { day: today, seconds: before + (isIdle ? Math.round(Math.min(pollSec, elapsedSec)) : 0) };
}

/** Stores the state with the pending lines, then appends the lines to the day logs. */
export function appendEvents(run: CaptureRun, next: SenseState, events: readonly SenseEvent[]): void {
  const { store } = run.deps;
  const waiting = next.pending;
  const plans = planAppends(run, events);
  for (const { day } of plans) if (day !== 'late') next.zones[day] ??= run.deps.timezone;
  next.pending = [...waiting, ...plans];
  store.writeState(next);
  if (plans.length === 0) return;
  next.pending = plans;
  completePending(store, next, run.today, run.problems);
  next.pending = [...waiting, ...next.pending];
  store.writeState(next);
}

/** Groups events by day. Quarantines events for days whose log was deleted or can't be written. */
function planAppends({ deps, nowMs, today, problems }: CaptureRun, events: readonly SenseEvent[]) {
  const { store, timezone } = deps;
  const byLog = new Map<LogName, SenseEvent[]>();
  for (const event of events) {
    const day = dayOf(parseIso(event.ts) ?? nowMs, timezone);
    const name = isOpen(store, day, today) ? day : 'late';
    const problem = `The event log for ${day} was deleted, so new events were stored in quarantine/late.jsonl. The record is unchanged.`;
    if (name === 'late' && day >= today && !problems.includes(problem)) problems.push(problem);
    const group = byLog.get(name) ?? [];
    group.push(event);
    byLog.set(name, group);
  }
  return [...byLog].map(([name, group]) => {
    try {
      return store.planAppend(name, group);
    } catch (error) {
      if (name === today || name === 'late') throw error;
      const { message } = toStewardError(error);
      problems.push(
        `Could not write the event log for ${name}; stored its events in quarantine/late.jsonl: ${message}`,
      );
      return store.planAppend('late', group);
    }
  });
}

/**
 * Returns whether a day accepts new events. A day with a deleted log doesn't, because rebuilding the day's
 * record would lose earlier events.
 */
export function isOpen(store: SenseStore, day: Day, today: Day): boolean {
  if (store.logBytes(day) !== undefined) return true;
  const record = store.recordState(day);
  return record === 'none' || record === 'empty' || (record !== 'final' && day >= today);
}
