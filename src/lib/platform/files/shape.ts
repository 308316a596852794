import { isObject } from './json-object';

/**
 * Returns whether a parsed value has the expected shape. For many small rows, this is faster than a
 * validation library.
 */
export type ShapeCheck = (value: unknown) => boolean;

export const isText: ShapeCheck = (value) => typeof value === 'string';
export const isFlag: ShapeCheck = (value) => typeof value === 'boolean';
/** More minutes, tokens or money than a day can have; sums of a lifetime of days stay exact. */
const MAX_AMOUNT = 1e12;
export const isAmount: ShapeCheck = (value) => typeof value === 'number' && value >= 0 && value <= MAX_AMOUNT;

export function nullable(check: ShapeCheck): ShapeCheck {
  return (value) => value === null || check(value);
}

export function optional(check: ShapeCheck): ShapeCheck {
  return (value) => value === undefined || check(value);
}

export function listOf(check: ShapeCheck): ShapeCheck {
  return (value) => Array.isArray(value) && value.every((item) => check(item));
}

/** Returns a check of an object's fields. Allows additional fields. */
export function shape(fields: Readonly<Record<string, ShapeCheck>>): ShapeCheck {
  const checks = Object.entries(fields);
  return (value) => isObject(value) && checks.every(([key, check]) => check(value[key]));
}
