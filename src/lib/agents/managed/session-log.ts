import { join } from 'node:path';

import { ensureFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { isObject, parseObject } from '../../platform/files/json-object';
import { completeAppend, planAppend, readLines } from '../../platform/files/jsonl';
import { openMark, type MarkFile } from '../../platform/files/mark-file';
import type { OutputFile, ShownOutput } from '../../platform/terminal/stdio';
import { asEvent, eventKey, type ManagedEvent } from './event';
import type { Keyed } from './reader';

/** An event of a session may carry whole files; a line longer than this is not read back. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

export interface ShowDeps {
  output: ShownOutput;
  /** What is shown of an event: lines with their line feeds, or nothing. The same event gives the same text. */
  render: (event: ManagedEvent) => string;
}

/**
 * The local log of a session: `<session>.jsonl`, an event a line in the order of the service's log, and
 * `<session>.shown`, how much of it was shown. Both survive a kill at any point.
 */
export interface SessionLog {
  has: (key: string) => boolean;
  count: () => number;
  /** Appends the events that are new, durably, and returns them. */
  append: (events: readonly Keyed[]) => ManagedEvent[];
  /** Calls back for every event in the log, in order. */
  replay: (onEvent: (event: ManagedEvent) => void) => void;
  /** Shows what was not shown yet, each event once. */
  show: () => Promise<void>;
  /** From now on everything counts as not shown. */
  rewind: () => void;
  /** May an event have been shown twice, since a killed process wrote to an output that cannot be checked? */
  mayRepeat: () => boolean;
  close: () => void;
}

/** Bytes of the log that were shown; `to` while the bytes up to there are being written to `out`. */
interface Shown {
  upTo: number;
  to?: number;
  out?: OutputFile;
}

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

export function openSessionLog(folder: string, session: string, deps: ShowDeps): SessionLog {
  ensureFolder(folder);
  const path = sessionLogPath(folder, session);
  const markPath = join(folder, `${session}.shown`);
  const mark = openMark<Shown>(markPath);
  const shown = shownOf(mark.read(), lstatOf(path)?.size ?? 0);
  const log: Log = { ...deps, path, mark, keys: new Set(), shown, mayRepeat: false };
  let last = '';
  eachEvent(path, 0, (event) => {
    last = eventKey(event, last);
    log.keys.add(last);
  });
  return {
    has: (key) => log.keys.has(key),
    count: () => log.keys.size,
    append: (events) => append(log, events),
    replay: (onEvent) => eachEvent(path, 0, onEvent),
    show: () => show(log),
    rewind: () => setShown(log, { upTo: 0 }),
    mayRepeat: () => log.mayRepeat,
    close: () => {
      mark.close();
      // A session that showed nothing, such as one that does not exist, leaves nothing here.
      if (log.keys.size === 0) removeFile(markPath);
    },
  };
}

/** A line that a killed process left in part is skipped; its event stands whole behind it. */
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
  const lines = added.map(([, event]) => JSON.stringify(event));
  completeAppend(path, planAppend(path, lines));
  for (const [key] of added) keys.add(key);
  return added.map(([, event]) => event);
}

/** The rendered events behind an offset, up to `end`. */
function rendered({ path, render }: Log, from: number, end = Infinity): { text: string; to: number }[] {
  const found: { text: string; to: number }[] = [];
  eachEvent(path, from, (event, to) => {
    if (to <= end) found.push({ text: render(event), to });
  });
  return found;
}

async function show(log: Log): Promise<void> {
  await resume(log);
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

/** Writes the text of the log up to `to`. */
async function write(log: Log, text: string, to: number): Promise<void> {
  if (text !== '') {
    const out = log.output.file();
    setShown(log, { upTo: log.shown.upTo, to, ...(out === undefined ? {} : { out }) });
    await log.output.write(text);
  }
  setShown(log, { upTo: to });
}

/** Completes a write that was interrupted, where the output tells how far it came. */
async function resume(log: Log): Promise<void> {
  const { upTo, to, out } = log.shown;
  if (to === undefined) return;
  const now = log.output.file();
  const texts = rendered(log, upTo, to).map(({ text }) => text);
  const bytes = Buffer.from(texts.join(''), 'utf8');
  const done = (now?.size ?? 0) - (out?.size ?? 0);
  const isSame = out !== undefined && now?.dev === out.dev && now.ino === out.ino;
  if (!isSame || done < 0 || done > bytes.length) {
    log.mayRepeat = true;
    return;
  }
  if (done < bytes.length) await log.output.write(bytes.subarray(done));
  setShown(log, { upTo: to });
}

function setShown(log: Log, shown: Shown): void {
  log.shown = shown;
  log.mark.write(shown);
}

/** What a mark says; starts over if it is invalid, or stands behind the end of a log that was replaced. */
function shownOf(stored: unknown, logBytes: number): Shown {
  const { upTo, to, out } = isObject(stored) ? stored : {};
  if (!isOffset(upTo) || upTo > logBytes) return { upTo: 0 };
  if (!isOffset(to) || to < upTo) return { upTo };
  const { dev, ino, size } = isObject(out) ? out : {};
  const isFile = isOffset(dev) && isOffset(ino) && isOffset(size);
  return { upTo, to, ...(isFile ? { out: { dev, ino, size } } : {}) };
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}
