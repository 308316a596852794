import { weekday } from '../platform/terminal/format';
import { dayOf, timeOf } from '../platform/time/time';
import type { LimitWindow } from './entry';

/** A usage limit whose period has not ended yet. */
export interface UsageLimit {
  assistant: string;
  name: string;
  window: LimitWindow;
  usedPercent: number;
  resetsAt: string | null;
}

export const LENGTH_MS = { fiveHour: 5 * 3_600_000, sevenDay: 7 * 86_400_000 } as const;
export const WORDS: Readonly<Record<LimitWindow, string>> = { fiveHour: 'five-hour', sevenDay: 'weekly' };

/** When each used percentage of a limit was first seen, oldest first. */
export type Steps = readonly (readonly [ms: number, percent: number])[];

/** Into how many parts a period is divided to measure how the pace varies: six hours of a week. */
const PARTS = 28;
const MIN_PARTS = 4;
const MIN_PERCENT = 5;
/** Standard deviations on each side that contain 80% of a normal distribution. */
const DEVIATIONS = 1.28;
/** A forecast that varies by at most this is one time. */
const CLOSE_PARTS = 0.5;

/** Adds the current percentage of a limit, and removes those of the period before. */
export function withStep(steps: Steps, { window, usedPercent }: UsageLimit, nowMs: number): Steps {
  const own = steps.filter(([ms, percent]) => ms > nowMs - LENGTH_MS[window] && percent <= usedPercent);
  return own.at(-1)?.[1] === usedPercent ? own : [...own, [nowMs, usedPercent]];
}

/**
 * Returns between which times a limit is reached, with a probability of about 80% if its pace varies as before.
 * Undefined while too little of the period has passed, or of the limit is used, to measure a pace.
 */
export function forecast({ window, usedPercent, resetsAt }: UsageLimit, steps: Steps, nowMs: number) {
  const [resetMs, partMs] = [Date.parse(resetsAt ?? ''), LENGTH_MS[window] / PARTS];
  const passed = PARTS - (resetMs - nowMs) / partMs;
  if (!(passed >= MIN_PARTS) || usedPercent < MIN_PERCENT || usedPercent >= 100) return undefined;
  const percentAt = (ms: number): number => steps.findLast(([atMs]) => atMs <= ms)?.[1] ?? 0;
  const mean = usedPercent / passed;
  const whole = Math.floor(passed);
  const squares = Array.from({ length: whole }, (_, ago) => {
    const endMs = nowMs - ago * partMs;
    return (percentAt(endMs) - percentAt(endMs - partMs) - mean) ** 2;
  });
  const variance = squares.reduce((sum, square) => sum + square, 0) / (whole - 1);
  const left = (100 - usedPercent) / mean;
  const spread = (DEVIATIONS * Math.sqrt(variance * (left + left ** 2 / whole))) / mean;
  const [fromMs, toMs] = [left - spread, left + spread].map((parts) => nowMs + Math.max(0, parts) * partMs);
  return { fromMs: fromMs ?? 0, toMs: toMs ?? 0, resetMs, isClose: spread <= CLOSE_PARTS };
}

/** Says when a limit is reached, and how certain that is. Empty if the pace isn't known yet. */
export function forecastText(limit: UsageLimit, steps: Steps, nowMs: number, zone: string): string {
  const about = `the ${WORDS[limit.window]} limit`;
  if (limit.resetsAt === null) return `No forecast for ${about}, because its reset time is unknown.`;
  const found = forecast(limit, steps, nowMs);
  if (found === undefined) return '';
  const { fromMs, toMs, resetMs, isClose } = found;
  const at = (ms: number): string => `${weekday(dayOf(ms, zone))} ${timeOf(ms, zone)}`;
  if (fromMs >= resetMs) return `At this pace, ${about} is probably not reached before it resets.`;
  if (isClose) return `At this pace, ${about} is reached about ${at((fromMs + toMs) / 2)}.`;
  return toMs < resetMs
    ? `At this pace, ${about} is probably reached between ${at(fromMs)} and ${at(toMs)}.`
    : `At this pace, ${about} may be reached from ${at(fromMs)} on, or not before it resets.`;
}
