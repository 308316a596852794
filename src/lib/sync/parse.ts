import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { cleanLine } from '../platform/terminal/terminal';
import { FORMAT, isInfo, type MachineInfo } from './format';

const MAX_NAME = 60;
const MAX_TEXT = 500;

export function isNewer(text: string): boolean {
  const format = parseObject(text)?.['format'];
  return typeof format === 'number' && format > FORMAT;
}

/** Matches JSON text that `cleanLine` might change: a character beyond ASCII, or an escape other than a quote or slash. */
const UNUSUAL = /[^\n\x20-\x7e]|\\[^"\\/]/;
/** Steward's own files are nested 6 deep. */
const MAX_DEPTH = 16;

/** Parses another machine's file and sanitizes its strings. Returns undefined if the format is unknown. */
export function parseClean(text: string): Record<string, unknown> | undefined {
  const value = parseObject(text);
  if (value === undefined || (value['format'] ?? FORMAT) !== FORMAT || isDeeper(value, MAX_DEPTH))
    return undefined;
  return UNUSUAL.test(text) ? (cleaned(value) as Record<string, unknown>) : value;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((item) => isDeeper(item, depth - 1));
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return cleanLine(value, MAX_TEXT);
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanLine(key, MAX_TEXT), cleaned(item)]),
  );
}

export function parseInfo(text: string): MachineInfo | undefined {
  const value = parseClean(text);
  const name = cleanLine(textOf(value?.['name']) ?? '', MAX_NAME);
  return isInfo(value) && name !== '' ? { ...value, name } : undefined;
}

export function arrayOf<T>(value: unknown, isItem: (item: unknown) => item is T): T[] | undefined {
  return Array.isArray(value) && value.every(isItem) ? value : undefined;
}
