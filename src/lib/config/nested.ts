import { isObject } from '../platform/json-object';

/** A copy of nested keys and values with one value set; what stands in the place of a section is replaced. */
export function withValue(content: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const here = isObject(content) ? content : {};
  return { ...here, [name]: withValue(Object.hasOwn(here, name) ? here[name] : undefined, rest, value) };
}

export function valueAt(content: unknown, path: readonly string[]): unknown {
  let at = content;
  for (const name of path) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}
