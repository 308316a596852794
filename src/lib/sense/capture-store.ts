import { toStewardError } from '../errors';
import { parseIso } from '../platform/time/clock';
import { addDays, dayOf, type Day } from '../platform/time/time';
import type { SenseEvent } from './event';
import type { LogName, PendingAppend, SenseState } from './state';
import type { SenseStore } from './store';

interface StoreDeps {
  store: SenseStore;
  timezone: string;
}

/** The state; a damaged one is set aside and begun anew. */
export function openState(store: SenseStore, today: Day, problems: string[]): SenseState {
  const { state, damaged, lost } = store.readState();
  if (damaged) {
    store.setStateAside();
    problems.push('state.json was damaged: it was started anew, and a copy is in quarantine/state.json');
  }
  return lost ? { ...state, lostOn: today } : state;
}

/**
 * Sources that have no cursor yet take the day's events from its start: for as long as a lost state may make
 * them do so, what is stored is looked at, too. A source that fails or is off may come back to it tomorrow.
 */
export function wasLost(state: SenseState, today: Day): boolean {
  return state.lostOn !== null && state.lostOn >= addDays(today, -1);
}

/**
 * Brings lines into their logs that an earlier run decided on and did not live to write. The file of a day
 * before `today` that cannot be written stops nothing: its lines stay in the state, and it is said.
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
      const { message } = toStewardError(error);
      problems.push(`Events of ${plan.day} are kept until its log can be written: ${message}`);
      return true;
    }
  });
}

/**
 * Stores the events of a capture and the state behind them. Events of a day that is recorded and whose raw
 * log was discarded go to quarantine: its record stays.
 */
export function storeCapture(
  deps: StoreDeps,
  next: SenseState,
  events: readonly SenseEvent[],
  nowMs: number,
  today: Day,
  problems: string[],
): void {
  const byLog = new Map<LogName, SenseEvent[]>();
  const late = new Set<Day>();
  for (const event of events) {
    const day = dayOf(parseIso(event.ts) ?? nowMs, deps.timezone);
    const name = isOpen(deps.store, day, today) ? day : 'late';
    if (name === 'late' && day >= today) late.add(day);
    const group = byLog.get(name);
    if (group === undefined) byLog.set(name, [event]);
    else group.push(event);
  }
  for (const day of late) {
    problems.push(
      `Events of ${day} went to quarantine/late.jsonl: its raw log is discarded and its record stays.`,
    );
  }
  const plans: PendingAppend[] = [];
  for (const [name, group] of byLog) {
    const plan = planOf(deps.store, name, group, today, problems);
    if (plan.day !== 'late') next.zones[plan.day] ??= deps.timezone;
    plans.push(plan);
  }
  const kept = next.pending;
  next.pending = [...kept, ...plans];
  deps.store.writeState(next);
  if (plans.length === 0) return;
  next.pending = plans;
  completePending(deps.store, next, today, problems);
  // Left in, they would bring back what somebody removes from the log by hand.
  next.pending = [...kept, ...next.pending];
  deps.store.writeState(next);
}

/** An append to a log; events of a past day whose file cannot be written go to those that came too late. */
function planOf(
  store: SenseStore,
  name: LogName,
  events: readonly SenseEvent[],
  today: Day,
  problems: string[],
): PendingAppend {
  try {
    return store.planAppend(name, events);
  } catch (error) {
    if (name === today || name === 'late') throw error;
    problems.push(
      `Events of ${name} went to quarantine/late.jsonl, for its log cannot be written: ${toStewardError(error).message}`,
    );
    return store.planAppend('late', events);
  }
}

/**
 * May a day still take events? Not when it is recorded and its raw log was discarded: a new roll would lose it. A clock
 * that was ahead for a while does that to days that are not over.
 */
function isOpen(store: SenseStore, day: Day, today: Day): boolean {
  if (store.logBytes(day) !== undefined) return true;
  const record = store.recordState(day);
  return record === 'none' || record === 'empty' || (record !== 'final' && day >= today);
}

/** Events of the last two days, to tell what a lost state had stored already. */
export function storedEvents(store: SenseStore, today: Day, problems: string[]): SenseEvent[] {
  const from = addDays(today, -1);
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

/** The events that are not stored yet. */
export function keepNew(events: SenseEvent[], stored: readonly SenseEvent[]): SenseEvent[] {
  if (stored.length === 0) return events;
  const key = (event: SenseEvent): string =>
    event.type === 'git-commit'
      ? JSON.stringify([event.detail?.['path'], event.detail?.['sha']])
      : JSON.stringify(event);
  const known = new Set(stored.map(key));
  return events.filter((event) => !known.has(key(event)));
}
