import type { SenseConfig } from '../config/schema';
import { toStewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time/time';
import type { SenseEvent, SourceId } from './event';
import { rollPastDays, todayOf, type RollDeps } from './roll';
import type { Collected, SenseSource } from './source';
import { noticeJump, type LogName, type PendingAppend, type SenseState } from './state';
import type { SenseStore } from './store';

export interface CaptureDeps extends RollDeps {
  config: Pick<SenseConfig, 'enabled' | 'pollIntervalSec' | 'sources' | 'retentionDays'>;
  sources: readonly SenseSource[];
  /** How long one source may take, ms; the others do not wait for it longer. */
  sourceTimeoutMs?: number;
}

export interface SourceOutcome {
  id: SourceId;
  state: Collected['state'];
  reason?: string;
  events: number;
}

export interface CaptureResult {
  /** False: the kill switch is set, and nothing was read or written. */
  captured: boolean;
  ts: string;
  /** Events stored by this run. */
  events: number;
  sources: SourceOutcome[];
  /** Past days whose record was written. */
  rolled: Day[];
  /** Days whose raw log was discarded. */
  pruned: Day[];
  /** What went wrong beside the sources, in words; the capture itself stands. */
  problems: string[];
}

const SOURCE_TIMEOUT_MS = 20_000;

/** One capture: its deps and its moment. */
export interface Run {
  deps: CaptureDeps;
  nowMs: number;
  today: Day;
  problems: string[];
}

/**
 * Runs the enabled sources once, stores what they saw, and rolls past days. Call it under the lock of sense. The state
 * is replaced first, with the lines it stands for; then they are appended; then the state is relieved of them. The
 * next run completes what a crash left, so no event is lost and none is stored twice.
 */
export async function capture(deps: CaptureDeps): Promise<CaptureResult> {
  const nowMs = deps.clock.now();
  const { enabled, sources } = deps.config;
  const none = { events: 0, sources: [], rolled: [], pruned: [], problems: [] };
  const result = { captured: enabled, ts: toIso(nowMs), ...none };
  if (!enabled) return result;
  const { run, state } = openRun(deps);
  const stored = storedEvents(run, state);
  const asked = deps.sources.filter(({ id }) => sources[id]);
  const answers = await Promise.all(asked.map((source) => ask(run, source, state, stored)));
  const fresh = withoutStored(
    answers.flatMap(({ outcome }) => outcome.events),
    stored,
  );
  const next = advance(run, state, answers);
  appendEvents(run, next, fresh);
  const { rolled, pruned, problems } = rollPastDays(deps, next, run.today);
  return {
    ...result,
    events: fresh.length,
    sources: answers.map(({ source, outcome: { state, reason, events } }) => ({
      id: source.id,
      state,
      ...(reason === undefined ? {} : { reason }),
      events: events.length,
    })),
    rolled,
    pruned,
    problems: [...run.problems, ...problems],
  };
}

/** Begins a run: the state, with what an earlier run left undone completed; with `readOnly` as it is. */
export function openRun(deps: CaptureDeps, readOnly = false): { run: Run; state: SenseState } {
  const run: Run = { deps, nowMs: deps.clock.now(), today: todayOf(deps), problems: [] };
  if (readOnly) return { run, state: deps.store.readState().state };
  deps.store.prepare();
  const state = openState(run);
  completePending(deps.store, state, run.today, run.problems);
  return { run, state };
}

/** The state; a damaged one is set aside and begun anew. */
function openState({ deps: { store }, today, problems }: Run): SenseState {
  const { state, damaged, lost } = store.readState();
  if (damaged) {
    store.setStateAside();
    problems.push('state.json was damaged: it was started anew, and a copy is in quarantine/state.json');
  }
  return lost ? { ...state, lostOn: today } : state;
}

/**
 * Appends the lines that an earlier run decided on and did not live to write. A log of a day before `today` that cannot
 * be written stops nothing: its lines stay in the state.
 */
export function completePending(store: SenseStore, state: SenseState, today: Day, problems: string[]): void {
  state.pending = state.pending.filter((plan) => {
    // A log that was there and is gone was removed by somebody: its lines are not brought back.
    if (plan.offset > 0 && store.logBytes(plan.day) === undefined) return false;
    try {
      store.completeAppend(plan);
      return false;
    } catch (error) {
      if (plan.day === today) throw error;
      problems.push(
        `Events of ${plan.day} are kept until its log can be written: ${toStewardError(error).message}`,
      );
      return true;
    }
  });
}

/**
 * What is stored of the last two days, for as long as a lost state may make a source report it again. A source that fails
 * or is off may come back to it on the next day.
 */
function storedEvents({ deps: { store }, today, problems }: Run, { lostOn }: SenseState): SenseEvent[] {
  const from = addDays(today, -1);
  if (lostOn === null || lostOn < from) return [];
  const days = store.loggedDays().filter((day) => day >= from);
  return days.flatMap((day) => {
    try {
      return store.readLog(day).events;
    } catch (error) {
      if (day === today) throw error;
      problems.push(`What is stored of ${day} could not be read: ${toStewardError(error).message}`);
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

interface Answer {
  source: SenseSource;
  outcome: Collected;
}

/** What a source gives. Its error or silence is its own state, never stops the others, and keeps its cursor. */
async function ask(
  { deps, nowMs, today }: Run,
  source: SenseSource,
  state: SenseState,
  stored: readonly SenseEvent[],
): Promise<Answer> {
  const cursor = state.cursors[source.id] ?? (stored.length > 0 ? source.recover?.(stored) : undefined);
  const { startMs: dayStartMs } = dayBounds(today, deps.timezone);
  const failed = (reason: string): Collected => ({ events: [], cursor, state: 'error', reason });
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<Collected>((resolve) => {
    const reason = 'no answer in time; it is asked again next time';
    timer = setTimeout(resolve, deps.sourceTimeoutMs ?? SOURCE_TIMEOUT_MS, failed(reason));
  });
  try {
    // Also an error that the source throws before its first await.
    const answer = (async () => source.collect({ nowMs, dayStartMs, cursor }))();
    const outcome = await Promise.race([answer, silence]);
    return { source, outcome: { ...outcome, cursor: outcome.cursor ?? cursor } };
  } catch (error) {
    const { message, hint } = toStewardError(error);
    const reason = clean(`${source.label}: ${message}${hint === undefined ? '' : ` ${hint}`}`);
    return { source, outcome: failed(reason) };
  } finally {
    clearTimeout(timer);
  }
}

/** The state after this capture. */
function advance(run: Run, state: SenseState, answers: readonly Answer[]): SenseState {
  const { deps, nowMs } = run;
  const at = toIso(nowMs);
  const next: SenseState = {
    ...structuredClone(state),
    lastCaptureTs: at,
    away: awayTime(run, state, answers),
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

/** Time of today that was sampled while nobody was there: a poll at the most, as with app time. */
function awayTime(
  { deps, nowMs, today }: Run,
  { away, lastCaptureTs }: SenseState,
  answers: readonly Answer[],
): SenseState['away'] {
  const pollSec = deps.config.pollIntervalSec;
  const before = away?.day === today ? away.seconds : 0;
  const isIdle = answers.some(({ source, outcome }) => source.id === 'appFocus' && outcome.state === 'idle');
  const last = parseIso(lastCaptureTs ?? '');
  const since = last === undefined || last > nowMs ? pollSec : (nowMs - last) / 1000;
  return { day: today, seconds: before + (isIdle ? Math.round(Math.min(pollSec, since)) : 0) };
}

/** Stores the events and the state behind them. */
export function appendEvents(run: Run, next: SenseState, events: readonly SenseEvent[]): void {
  const { store } = run.deps;
  const kept = next.pending;
  const plans = plansFor(run, events);
  for (const { day } of plans) if (day !== 'late') next.zones[day] ??= run.deps.timezone;
  next.pending = [...kept, ...plans];
  store.writeState(next);
  if (plans.length === 0) return;
  next.pending = plans;
  completePending(store, next, run.today, run.problems);
  // Left in, they would bring back what somebody removes from the log by hand.
  next.pending = [...kept, ...next.pending];
  store.writeState(next);
}

/** The appends of the events, by their days. Those of a day whose raw log was discarded go to quarantine. */
function plansFor({ deps, nowMs, today, problems }: Run, events: readonly SenseEvent[]): PendingAppend[] {
  const { store, timezone } = deps;
  const byLog = new Map<LogName, SenseEvent[]>();
  for (const event of events) {
    const day = dayOf(parseIso(event.ts) ?? nowMs, timezone);
    const name = isOpen(store, day, today) ? day : 'late';
    const told = `Events of ${day} went to quarantine/late.jsonl: its raw log is discarded and its record stays.`;
    if (name === 'late' && day >= today && !problems.includes(told)) problems.push(told);
    const group = byLog.get(name);
    if (group === undefined) byLog.set(name, [event]);
    else group.push(event);
  }
  return [...byLog].map(([name, group]) => {
    try {
      return store.planAppend(name, group);
    } catch (error) {
      if (name === today || name === 'late') throw error;
      const { message } = toStewardError(error);
      problems.push(
        `Events of ${name} went to quarantine/late.jsonl, for its log cannot be written: ${message}`,
      );
      return store.planAppend('late', group);
    }
  });
}

/**
 * May a day still take events? Not when it is recorded and its raw log was discarded: a new roll would lose it. A clock
 * that was ahead for a while does that to days that are not over.
 */
export function isOpen(store: SenseStore, day: Day, today: Day): boolean {
  if (store.logBytes(day) !== undefined) return true;
  const record = store.recordState(day);
  return record === 'none' || record === 'empty' || (record !== 'final' && day >= today);
}
