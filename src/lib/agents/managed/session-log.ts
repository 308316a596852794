import { join } from 'node:path';
import * as v from 'valibot';

import { ensureFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { parseObject } from '../../platform/files/json-object';
import { completeAppend, planAppend, readLines } from '../../platform/files/jsonl';
import { openMark, type MarkFile } from '../../platform/files/mark-file';
import type { ShownOutput } from '../../platform/terminal/stdio';
import { asEvent, eventKey, type ManagedEvent } from './event';

export interface Keyed {
  key: string;
  event: ManagedEvent;
}

/** Maximum line length. The limit is high, because an event may contain entire files. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

interface ShowDeps {
  output: ShownOutput;
  /** Returns the text that is shown for an event; may be empty. Must be deterministic. */
  render: (event: ManagedEvent) => string;
}

const OFFSET = v.pipe(v.number(), v.finite(), v.minValue(0));
/**
 * `upTo` is the log offset up to which events have been shown. `to` and `out` are the end offset and the
 * output file of an unfinished write.
 */
const SHOWN = v.object({
  upTo: OFFSET,
  to: v.fallback(v.optional(OFFSET), undefined),
  out: v.fallback(v.optional(v.object({ dev: OFFSET, ino: OFFSET, size: OFFSET })), undefined),
});
type Shown = v.InferOutput<typeof SHOWN>;

interface Log extends ShowDeps {
  path: string;
  mark: MarkFile<Shown>;
  keys: Set<string>;
  shown: Shown;
  mayRepeat: boolean;
}

export function sessionLogPath(folder: string, session: string): string {
  return join(folder, `${session}.jsonl`);
}

/**
 * Opens a session's local log. `<session>.jsonl` contains one event per line, in the service's order.
 * `<session>.shown` records how much has been shown.
 */
export function openSessionLog(folder: string, session: string, deps: ShowDeps) {
  ensureFolder(folder);
  const path = sessionLogPath(folder, session);
  const markPath = join(folder, `${session}.shown`);
  const mark = openMark<Shown>(markPath);
  const shown = parseShown(mark.read(), lstatOf(path)?.size ?? 0);
  const log: Log = { ...deps, path, mark, keys: new Set(), shown, mayRepeat: false };
  let last = '';
  eachEvent(path, 0, (event) => {
    last = eventKey(event, last);
    log.keys.add(last);
  });
  return {
    has: (key: string) => log.keys.has(key),
    count: () => log.keys.size,
    /** Appends new events to the log and returns them. */
    append: (events: readonly Keyed[]) => append(log, events),
    replay: (onEvent: (event: ManagedEvent) => void) => eachEvent(path, 0, onEvent),
    show: () => show(log),
    rewind: () => setShown(log, { upTo: 0 }),
    /** Returns whether an event may have been shown twice because of an interrupted write. */
    mayRepeat: () => log.mayRepeat,
    close: () => {
      mark.close();
      if (log.keys.size === 0) removeFile(markPath);
    },
  };
}

export type SessionLog = ReturnType<typeof openSessionLog>;

/**
 * Calls `onEvent` for each event in the log. Skips truncated lines, because their events are logged again
 * later.
 */
function eachEvent(path: string, from: number, onEvent: (event: ManagedEvent, to: number) => void): void {
  readLines(path, { from, maxLineBytes: MAX_LINE_BYTES }, ({ text, offset, bytes }) => {
    const event = text === undefined ? undefined : asEvent(parseObject(text));
    if (event !== undefined) onEvent(event, offset + bytes + 1);
  });
}

function append({ path, keys }: Log, events: readonly Keyed[]): ManagedEvent[] {
  const offered = new Map(events.map(({ key, event }) => [key, event]));
  const added = [...offered].filter(([key]) => !keys.has(key));
  if (added.length === 0) return [];
  completeAppend(path, planAppend(path, added.map(([, event]) => JSON.stringify(event)))); // prettier-ignore
  for (const [key] of added) keys.add(key);
  return added.map(([, event]) => event);
}

function rendered({ path, render }: Log, from: number, end = Infinity): { text: string; to: number }[] {
  const found: { text: string; to: number }[] = [];
  eachEvent(path, from, (event, to) => {
    if (to <= end) found.push({ text: render(event), to });
  });
  return found;
}

async function show(log: Log): Promise<void> {
  await completeWrite(log);
  let text = '';
  let to = log.shown.upTo;
  for (const line of rendered(log, to)) {
    if (text !== '' && text.length + line.text.length > log.output.chunkBytes) {
      await write(log, text, to);
      text = '';
    }
    text += line.text;
    to = line.to;
  }
  if (to > log.shown.upTo) await write(log, text, to);
}

async function write(log: Log, text: string, to: number): Promise<void> {
  if (text !== '') {
    const out = log.output.file();
    setShown(log, { upTo: log.shown.upTo, to, ...(out === undefined ? {} : { out }) });
    await log.output.write(text);
  }
  setShown(log, { upTo: to });
}

/** Completes an interrupted write if the output's size shows how much was written. */
async function completeWrite(log: Log): Promise<void> {
  const { upTo, to, out } = log.shown;
  if (to === undefined) return;
  const now = log.output.file();
  const texts = rendered(log, upTo, to).map(({ text }) => text);
  const bytes = Buffer.from(texts.join(''), 'utf8');
  const written = (now?.size ?? 0) - (out?.size ?? 0);
  const isSame = out !== undefined && now?.dev === out.dev && now.ino === out.ino;
  if (!isSame || written < 0 || written > bytes.length) {
    log.mayRepeat = true;
    return;
  }
  if (written < bytes.length) await log.output.write(bytes.subarray(written));
  setShown(log, { upTo: to });
}

function setShown(log: Log, shown: Shown): void {
  log.shown = shown;
  log.mark.write(shown);
}

/** Parses `<session>.shown`. Starts over if the content is invalid or `upTo` is past the end of the log. */
function parseShown(stored: unknown, logBytes: number): Shown {
  const { success, output } = v.safeParse(SHOWN, stored);
  if (!success || output.upTo > logBytes) return { upTo: 0 };
  return (output.to ?? 0) < output.upTo ? { upTo: output.upTo } : output;
}
