import { isAbsolute } from 'node:path';

import { lstatOf } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';

/** How a turn ended, as far as the assistant's own record of the session tells. */
export interface TurnEnd {
  /** The last thing that the assistant said in the turn. */
  text?: string;
  /** The record's id of that. */
  id?: string;
  /** It ended with an error of the assistant's. */
  isError: boolean;
}

/** Of a record only its end is read: a last response is not longer. */
const TAIL_BYTES = 512 * 1024;

/**
 * Reads the end of a transcript (JSONL; the format is the assistant's own and changes: what is not understood is
 * passed over). Undefined when there is no such file. Nothing that a subagent said is in it.
 */
export function readTurnEnd(path: string): TurnEnd | undefined {
  const found = isAbsolute(path) ? lstatOf(path) : undefined;
  if (found?.isFile !== true) return undefined;
  let end: TurnEnd = { isError: false };
  readLines(path, { from: Math.max(0, found.size - TAIL_BYTES), tail: true }, ({ text }) => {
    const entry = text === undefined ? undefined : parseObject(text);
    if (entry === undefined || entry['isSidechain'] === true || entry['isMeta'] === true) return;
    const message = isObject(entry['message']) ? entry['message'] : {};
    const said = textOf(message['content']);
    if (entry['type'] === 'user' && said !== undefined) end = { isError: false };
    if (entry['type'] !== 'assistant') return;
    const isError = entry['isApiErrorMessage'] === true || typeof entry['error'] === 'string';
    const id = entry['uuid'];
    if (said === undefined) end = { ...end, isError };
    else end = { text: said, isError, ...(typeof id === 'string' ? { id } : {}) };
  });
  return end;
}

/** The texts of a message; undefined where it has none, as the results of tools. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part: unknown) =>
    isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string' ? [part['text']] : [],
  );
  return texts.length === 0 ? undefined : texts.join('\n');
}
