import { readText } from '../platform/files/atomic-file';
import type { PathHost } from '../platform/files/paths';
import { cursor } from './cursor';
import type { HookCall } from './hook';
import { readHookJson } from './payload';

const MAX_BYTES = 1024 * 1024;

/** Returns whether the event is a duplicate. Cursor runs both its own hooks and those of other assistants. */
export function isTwin({ assistant, bytes, cut }: HookCall, host: PathHost): boolean {
  if (assistant === cursor.id) return false;
  const read = readHookJson(bytes, cut, host.env);
  if ('problem' in read || read.input.assistant !== cursor.id) return false;
  const own = readText(cursor.path(host), { maxBytes: MAX_BYTES, followLink: true }) ?? '';
  return own.includes('steward-hook');
}
