import { isObject, parseObject } from '../platform/files/json-object';
import { isDay } from '../platform/time/time';
import { APP_KINDS } from './app-kind';
import type { DailyRecord } from './record';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number' && value >= 0;
const listOf =
  (fields: Record<string, Check>): Check =>
  (value) =>
    Array.isArray(value) && value.every(objectOf(fields));
const objectOf =
  (fields: Record<string, Check>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

/** What every reader of a record relies on. */
const isRecord = objectOf({
  date: (value) => typeof value === 'string' && isDay(value),
  timezone: isText,
  version: isText,
  generatedAt: isText,
  final: (value) => typeof value === 'boolean',
  totalMinutes: isNumber,
  creationMinutes: isNumber,
  consumptionMinutes: isNumber,
  neutralMinutes: isNumber,
  apps: listOf({ app: isText, kind: (value) => APP_KINDS.some((kind) => kind === value), minutes: isNumber }),
  hours: listOf({ start: isText, creation: isNumber, consumption: isNumber, neutral: isNumber }),
  commits: objectOf({ count: isNumber, repos: listOf({ repo: isText, commits: isNumber }) }),
  sessions: objectOf({ count: isNumber, items: listOf({ session: isText, events: isNumber }) }),
});

/** The record in a file's text; undefined if it is damaged, or edited so that a field is missing. */
export function parseRecord(text: string): DailyRecord | undefined {
  const value = parseObject(text);
  return isRecord(value) ? (value as unknown as DailyRecord) : undefined;
}
