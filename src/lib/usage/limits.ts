import { join } from 'node:path';

import { isObject } from '../platform/files/json-object';
import { readObject, writeObject } from '../platform/files/object-file';
import { parseIso, toIso } from '../platform/time/clock';
import { ALERT_PERCENT, budgetStates, type BudgetDeps, type BudgetState } from './budgets';
import { readAt, readState } from './collect';
import type { LimitWindow } from './entry';
import { forecastText, LENGTH_MS, withStep, WORDS, type Steps, type UsageLimit } from './forecast';
import { READERS } from './readers';

const WINDOW_NAMES: Readonly<Record<LimitWindow, string>> = { fiveHour: '5 h', sevenDay: 'week' };
const WINDOWS = ['fiveHour', 'sevenDay'] as const;
const MAX_RESET_MS = 60 * 86_400_000;

interface LimitsDeps {
  limits: string;
  /** Machine-local folder for limits that were read from logs. */
  state: string;
}

/**
 * Returns the limits most recently reported in status lines and logs. Omits limits that have been reset
 * since.
 */
export function currentLimits(deps: LimitsDeps, nowMs: number): UsageLimit[] {
  const limits = [...reportedLimits(deps.limits, nowMs), ...loggedLimits(deps.state, nowMs)];
  return limits.filter(({ resetsAt }) => resetsAt === null || Date.parse(resetsAt) > nowMs);
}

/** Returns the limits that are used most, and how much of a budget is spent if that is at least 80%. */
export async function spendingOf(deps: LimitsDeps & BudgetDeps) {
  const limits = currentLimits(deps, deps.clock.now()).sort((a, b) => b.usedPercent - a.usedPercent);
  const most = (wanted: LimitWindow): Pick<UsageLimit, 'usedPercent' | 'resetsAt'> | null => {
    const { usedPercent, resetsAt = null } = limits.find(({ window }) => window === wanted) ?? {};
    return usedPercent === undefined ? null : { usedPercent, resetsAt };
  };
  const percents = (await budgetStates(deps)).map(({ percent }) => percent);
  const [budgetPercent = null] = percents.filter((percent) => percent >= ALERT_PERCENT).sort((a, b) => b - a);
  return { limits: { fiveHour: most('fiveHour'), sevenDay: most('sevenDay') }, budgetPercent };
}

function isCurrent(atMs: number, window: LimitWindow, nowMs: number): boolean {
  return nowMs - atMs < LENGTH_MS[window];
}

function reportedLimits(path: string, nowMs: number): UsageLimit[] {
  const stored = readObject(path);
  const assistants = isObject(stored?.['assistants']) ? stored['assistants'] : {};
  return Object.entries(assistants).flatMap(([assistant, report]) =>
    WINDOWS.flatMap((window): UsageLimit[] => {
      const limit = isObject(report) ? report[window] : undefined;
      const atMs = isObject(report) ? parseIso(String(report['seenAt'])) : undefined;
      if (!isObject(limit) || atMs === undefined || !isCurrent(atMs, window, nowMs)) return [];
      const { usedPercent, resetsAt } = limit;
      if (typeof usedPercent !== 'number') return [];
      const resets = typeof resetsAt === 'string' && parseIso(resetsAt) !== undefined ? resetsAt : null;
      return [{ assistant, name: nameOf(assistant), window, usedPercent, resetsAt: resets }];
    }),
  );
}

function loggedLimits(state: string, nowMs: number): UsageLimit[] {
  return Object.entries(readState(state).limits).flatMap(([assistant, { atMs, limits }]) =>
    limits
      .filter(({ window }) => isCurrent(atMs, window, nowMs))
      .map(({ window, usedPercent, resetsAtMs }) => ({
        assistant,
        name: nameOf(assistant),
        window,
        usedPercent,
        // A reset time that is far from the time of the log line is invalid.
        resetsAt:
          resetsAtMs === null || !(Math.abs(resetsAtMs - atMs) <= MAX_RESET_MS) ? null : toIso(resetsAtMs),
      })),
  );
}

function nameOf(assistant: string): string {
  return READERS.find((reader) => reader.assistant === assistant)?.name ?? assistant;
}

/** Formats one line for each assistant, such as `Codex: 5 h 63% until 18:00, week 31%`. */
export function limitTexts(limits: readonly UsageLimit[], localTime: (iso: string) => string): string[] {
  const names = [...new Set(limits.map(({ name }) => name))];
  return names.map((name) => {
    const own = limits.filter((limit) => limit.name === name);
    const parts = own.map(({ window, usedPercent, resetsAt }) => {
      const until = resetsAt === null ? '' : ` until ${localTime(resetsAt)}`;
      return `${WINDOW_NAMES[window]} ${usedPercent}%${until}`;
    });
    return `${name}: ${parts.join(', ')}`;
  });
}

/** Reset times of the limits that were announced, by assistant and period. */
type AnnouncedLimits = Readonly<Record<string, string>>;

interface LimitAlert {
  message: string;
  /** Identifies the alert within its period, so that a crash can't cause a duplicate notification. */
  dedupe: string;
}

const MAX_LATE_MS = 6 * 3_600_000;
/** How long an alert about a budget is remembered. No period of a budget is longer. */
const BUDGET_MS = 40 * 86_400_000;

interface AnnounceDeps extends LimitsDeps {
  nowMs: number;
  localTime: (iso: string) => string;
  zone: string;
  budgets: readonly BudgetState[];
}

/**
 * Returns the alerts to send. An alert is due when 80% of a limit or budget has been used, and again when the limit
 * has been reset or all of the budget is used.
 */
function dueAlerts(
  limits: readonly UsageLimit[],
  { windows, steps }: ReturnType<typeof readAnnounced>,
  { nowMs, localTime, zone, budgets }: AnnounceDeps,
): { alerts: LimitAlert[]; announced: AnnouncedLimits } {
  const alerts: LimitAlert[] = [];
  const next: Record<string, string> = {};
  for (const [key, resetsAt] of Object.entries(windows)) {
    const lateMs = nowMs - Date.parse(resetsAt);
    if (lateMs < 0) next[key] = resetsAt;
    else if (lateMs < MAX_LATE_MS && !key.startsWith('budget:')) {
      const [assistant = '', window] = key.split(':') as [string, LimitWindow];
      const message = `${nameOf(assistant)}: the ${WORDS[window]} limit has been reset.`;
      alerts.push({ message, dedupe: `limit:${key}:${resetsAt}:reset` });
    }
  }
  for (const limit of limits) {
    const { name, window, usedPercent, resetsAt } = limit;
    const key = keyOf(limit);
    if (usedPercent < ALERT_PERCENT || resetsAt === null || next[key] !== undefined) continue;
    next[key] = resetsAt;
    const message = `${name}: 80% of the ${WORDS[window]} limit has been used. It resets at ${localTime(resetsAt)}.`;
    const then = forecastText(limit, steps[key] ?? [], nowMs, zone);
    alerts.push({ message: `${message} ${then}`.trim(), dedupe: `limit:${key}:${resetsAt}` });
  }
  for (const budget of budgets) {
    const { name, percent, text } = budget;
    const crossed = crossedBy(budget);
    const [highest] = crossed;
    if (highest !== undefined && next[highest] === undefined)
      alerts.push({ message: `${percent}% of the ${name} is used: ${text}.`, dedupe: highest });
    for (const at of crossed) next[at] ??= toIso(nowMs + BUDGET_MS);
  }
  return { alerts, announced: next };
}

/** Returns the keys of the alerts about a budget, the highest first. */
function crossedBy({ key, percent }: BudgetState): string[] {
  return [100, ALERT_PERCENT].filter((at) => percent >= at).map((at) => `${key}:${at}`);
}

/** Returns the budgets of which much is spent, with the alert's key and time; before the alert, with the time of reading. */
export function crossedBudgets(state: string, budgets: readonly BudgetState[]) {
  const { windows: announced } = readAnnounced(state);
  return budgets.flatMap((budget) => {
    const [id] = crossedBy(budget);
    const until = announced[id ?? ''];
    const since = until === undefined ? readAt(state) : toIso(Date.parse(until) - BUDGET_MS);
    return id === undefined || since === null ? [] : [{ ...budget, id, since }];
  });
}

/** Reads what was announced, and the steps of each limit. */
function readAnnounced(state: string) {
  const stored = readObject(join(state, 'announced.json'));
  const { windows, steps } = stored ?? {};
  return {
    windows: (isObject(windows) ? windows : {}) as AnnouncedLimits,
    steps: (isObject(steps) ? steps : {}) as Readonly<Record<string, Steps>>,
  };
}

/** Says when each limit is reached, as far as its pace is known. */
export function forecastTexts(state: string, limits: readonly UsageLimit[], nowMs: number, zone: string) {
  const { steps } = readAnnounced(state);
  return limits.flatMap((limit) => {
    const text = forecastText(limit, steps[keyOf(limit)] ?? [], nowMs, zone);
    return text === '' ? [] : [`${limit.name}: ${text}`];
  });
}

function keyOf({ assistant, window }: UsageLimit): string {
  return `${assistant}:${window}`;
}

/** Sends due alerts, then records them. If steward crashes in between, the alert's key prevents a duplicate. */
export async function announceLimits(deps: AnnounceDeps, send: (alert: LimitAlert) => Promise<unknown>) {
  const before = readAnnounced(deps.state);
  const limits = currentLimits(deps, deps.nowMs);
  const steps = Object.fromEntries(
    limits.map((limit) => [keyOf(limit), withStep(before.steps[keyOf(limit)] ?? [], limit, deps.nowMs)]),
  );
  const { alerts, announced } = dueAlerts(limits, { windows: before.windows, steps }, deps);
  for (const alert of alerts) await send(alert);
  const after = { windows: announced, steps };
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  writeObject(join(deps.state, 'announced.json'), { version: 1, ...after });
}
