import { isObject } from '../platform/files/json-object';

/**
 * A copy of nested keys and values with one value set; what stands in the place of a section is replaced. Setting
 * `undefined` removes the key, and the sections that it leaves empty; undefined when nothing is left.
 */
export function withValue(content: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const { [name]: old, ...others } = isObject(content) ? content : {};
  const next = withValue(old, rest, value);
  if (next !== undefined) return isObject(content) ? { ...content, [name]: next } : { [name]: next };
  return Object.keys(others).length === 0 ? undefined : others;
}

export function valueAt(content: unknown, path: readonly string[]): unknown {
  let at = content;
  for (const name of path) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}
