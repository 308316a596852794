import { isObject } from './json-object';

/**
 * Returns whether a parsed value has the expected shape. For many small rows, this is faster than a
 * validation library.
 */
export type ShapeCheck<T = unknown> = (value: unknown) => value is T;

type Checked<C> = C extends ShapeCheck<infer T> ? T : never;
type Fields = Readonly<Record<string, ShapeCheck>>;
type OptionalKey<F extends Fields> = { [K in keyof F]: undefined extends Checked<F[K]> ? K : never }[keyof F];
/** The type of the values that a shape accepts. */
export type ShapeOf<F extends Fields> = { [K in Exclude<keyof F, OptionalKey<F>>]: Checked<F[K]> } & {
  [K in OptionalKey<F>]?: Exclude<Checked<F[K]>, undefined>;
};

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
/** More minutes, tokens or money than a day can have; sums of a lifetime of days stay exact. */
const MAX_AMOUNT = 1e12;
export const isAmount = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_AMOUNT;

export function oneOf<const T>(values: readonly T[]): ShapeCheck<T> {
  return (value): value is T => values.includes(value as T);
}

export function nullable<T>(check: ShapeCheck<T>): ShapeCheck<T | null> {
  return (value): value is T | null => value === null || check(value);
}

export function optional<T>(check: ShapeCheck<T>): ShapeCheck<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value);
}

export function listOf<T>(check: ShapeCheck<T>): ShapeCheck<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.every((item) => check(item));
}

/** Returns a check that the value also passes a test. */
export function where<T>(check: ShapeCheck<T>, test: (value: T) => boolean): ShapeCheck<T> {
  return (value): value is T => check(value) && test(value);
}

/** Returns a check of an object's fields. Allows additional fields. */
export function shape<const F extends Fields>(fields: F): ShapeCheck<ShapeOf<F>> {
  const keys = Object.keys(fields);
  return (value): value is ShapeOf<F> => isObject(value) && keys.every((key) => fields[key]?.(value[key]));
}
