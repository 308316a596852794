import { isObject } from '../platform/files/json-object';
import { readObject, writeObject } from '../platform/files/object-file';
import { cleanLine } from '../platform/terminal/terminal';
import { toIso } from '../platform/time/clock';

export interface Limit {
  usedPercent: number;
  /** ISO 8601 in UTC; null if unknown. */
  resetsAt: string | null;
}

export interface Limits {
  fiveHour: Limit | null;
  sevenDay: Limit | null;
}

/** An assistant's input for the status line. Null means unknown. */
export type StatuslineInput = ReturnType<typeof readStatusInput>;

const MAX_MODEL = 40;
/** Valid range of reset times: the years 2020 to 2100, in epoch seconds. */
const [FIRST_RESET, LAST_RESET] = [1_577_836_800, 4_102_444_800];

/** Reads the status line's fields from Claude Code's JSON. Sanitizes strings and clamps numbers. */
export function readStatusInput(fields: Record<string, unknown>) {
  const [model, context, limits] = ['model', 'context_window', 'rate_limits'].map((key) =>
    objectAt(fields, key),
  );
  const name = model?.['display_name'] ?? model?.['id'];
  return {
    model: typeof name === 'string' ? cleanLine(name.slice(0, 200), MAX_MODEL) || null : null,
    /** How much of the context window is used, from 0 to 100. */
    contextPercent: percentOf(context?.['used_percentage']),
    fiveHour: limitOf(objectAt(limits, 'five_hour')),
    sevenDay: limitOf(objectAt(limits, 'seven_day')),
  };
}

function limitOf(fields: Record<string, unknown> | undefined): Limit | null {
  const usedPercent = percentOf(fields?.['used_percentage']);
  const seconds = fields?.['resets_at'];
  if (usedPercent === null) return null;
  const isTime = typeof seconds === 'number' && seconds >= FIRST_RESET && seconds <= LAST_RESET;
  return { usedPercent, resetsAt: isTime ? toIso(Math.floor(seconds) * 1000) : null };
}

function percentOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? Math.min(100, Math.round(value)) : null;
}

function objectAt(fields: Record<string, unknown> | undefined, key: string) {
  const value = fields?.[key];
  return isObject(value) ? value : undefined;
}

/** Minimum interval between writes of unchanged limits. */
const REWRITE_MS = 60_000;

/** Stores the limits for `status` and `usage`. Skips the write if recently stored limits haven't changed. */
export function keepLimits(path: string, assistant: string, { fiveHour, sevenDay }: Limits, nowMs: number) {
  if (fiveHour === null && sevenDay === null) return;
  const stored = readObject(path) ?? {};
  const before = objectAt(objectAt(stored, 'assistants'), assistant);
  const isSame = JSON.stringify([before?.['fiveHour'], before?.['sevenDay']]) === JSON.stringify([fiveHour, sevenDay]); // prettier-ignore
  if (isSame && Math.abs(nowMs - Date.parse(String(before?.['seenAt']))) < REWRITE_MS) return;
  const assistants = {
    ...objectAt(stored, 'assistants'),
    [assistant]: { fiveHour, sevenDay, seenAt: toIso(nowMs) },
  };
  writeObject(path, { version: 1, assistants }, { sync: false });
}
