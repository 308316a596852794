import * as v from 'valibot';

import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { route, type Route } from './route';

export type Written<T extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<T, undefined>>;

/** Returns a POST route for signed-in pages. Throws `usage` if a key is missing, invalid or unknown. */
export function writeRoute<T extends v.ObjectEntries>(
  path: string,
  entries: T,
  run: (input: Written<T>) => unknown,
): Route {
  const schema = v.strictObject(entries);
  return route({
    method: 'POST',
    path,
    needsPage: true,
    input: ({ body }) => checkedBody(schema, body),
    run,
  });
}

/** Returns a valid body. Throws `usage` if a key is missing, invalid or unknown. */
export function checkedBody<T>(schema: v.GenericSchema<unknown, T>, body: unknown): T {
  const { success, output, issues } = v.safeParse(schema, body);
  if (success) return output;
  const [issue] = issues;
  const key = v.getDotPath(issue);
  throw new StewardError('usage', `Invalid ${key === null ? 'body' : `key "${clean(key).slice(0, 40)}"`}.`, {
    hint: clean(hintOf(issue)).slice(0, 200),
  });
}

/** Returns what to send, instead of the validator's own words. */
function hintOf({ kind, type, expected, received, message }: v.BaseIssue<unknown>): string {
  if (expected === 'never') return 'Omit this key.';
  if (kind === 'schema' && received === 'undefined') return 'Send this key too.';
  if (expected === null) return message;
  const wanted = expected
    .replace(/^Object$/, 'an object')
    .replace(/^(?=string$|number$|boolean$)/, 'a ')
    .replace('<=', 'at most ')
    .replace('>=', 'at least ');
  return `Send ${wanted}${type.endsWith('_length') ? ' characters or items' : ''}, not ${received}.`;
}
