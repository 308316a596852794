import { join } from 'node:path';

import { ensureFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { isObject, parseObject } from '../../platform/files/json-object';
import { completeAppend, planAppend, readLines } from '../../platform/files/jsonl';
import { openMark } from '../../platform/files/mark-file';
import { keySet } from '../../platform/files/key-set';
import type { OutputFile, ShownOutput } from '../../platform/terminal/shown-output';
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
 * The local log of a session (decisions.md 7): `<session>.jsonl`, an event a line in the order of the service's log,
 * and `<session>.shown`, how much of it was shown. Both survive the process at any point.
 */
export interface SessionLog {
  has: (key: string) => boolean;
  /** Events in the log. */
  count: () => number;
  /** Appends what is not there yet, durably, and gives it back. */
  append: (events: readonly Keyed[]) => ManagedEvent[];
  /** Every event that is there, in order. */
  replay: (onEvent: (event: ManagedEvent) => void) => void;
  /** Shows what was not shown yet, each event once. */
  show: () => Promise<void>;
  /** From now on everything counts as not shown. */
  rewind: () => void;
  /** May an event have been shown whose mark was lost with the process? Only where the output cannot be asked. */
  mayRepeat: () => boolean;
  close: () => void;
}

/** Bytes of the log that were shown; `to`, while the bytes up to there were being written to `out`. */
interface Shown {
  upTo: number;
  to?: number;
  out?: OutputFile;
}

export function sessionLogPath(folder: string, session: string): string {
  return join(folder, `${session}.jsonl`);
}

export function openSessionLog(folder: string, session: string, { output, render }: ShowDeps): SessionLog {
  ensureFolder(folder);
  const path = sessionLogPath(folder, session);
  const markPath = join(folder, `${session}.shown`);
  const mark = openMark<Shown>(markPath);
  const keys = keySet();
  let last = '';
  let shown = shownOf(mark.read(), lstatOf(path)?.size ?? 0);
  /** What was appended by this process and not shown yet, so that it is not read back: from `from` to the end. */
  let fresh: { from: number; to: number; lines: { event: ManagedEvent; to: number }[] } | undefined;
  const interrupted = shown.to !== undefined;
  let repeats = false;

  const each = (from: number, onEvent: (event: ManagedEvent, to: number) => void): void => {
    readLines(path, { from, maxLineBytes: MAX_LINE_BYTES }, ({ text, offset, bytes }) => {
      // A line that a killed process left in part is no event; its event stands whole behind it.
      const event = text === undefined ? undefined : asEvent(parseObject(text));
      if (event !== undefined) onEvent(event, offset + bytes + 1);
    });
  };
  each(0, (event) => {
    last = eventKey(event, last);
    keys.add(last);
  });

  const keep = (next: Shown): void => {
    shown = next;
    mark.write(next);
  };

  /** Writes the text of the log up to `to`, behind what of it a killed process has written already. */
  const write = async (text: string, to: number): Promise<void> => {
    if (text !== '') {
      const out = output.file();
      keep({ upTo: shown.upTo, to, ...(out === undefined ? {} : { out }) });
      await output.write(text);
    }
    keep({ upTo: to });
  };

  /** Ends the write in whose middle the process before was killed. */
  const resume = async (): Promise<void> => {
    const { upTo, to, out } = shown;
    if (to === undefined) return;
    const now = output.file();
    if (out === undefined || now?.dev !== out.dev || now.ino !== out.ino || now.size < out.size) {
      repeats = true;
      return;
    }
    const texts: string[] = [];
    each(upTo, (event, end) => {
      if (end <= to) texts.push(render(event));
    });
    const bytes = Buffer.from(texts.join(''), 'utf8');
    const done = now.size - out.size;
    if (done > bytes.length) {
      repeats = true;
      return;
    }
    if (done < bytes.length) await output.write(bytes.subarray(done));
    keep({ upTo: to });
  };
  let resumed = !interrupted;

  const showLines = async (lines: Iterable<{ event: ManagedEvent; to: number }>): Promise<void> => {
    let text = '';
    let to = shown.upTo;
    for (const line of lines) {
      const more = render(line.event);
      if (text !== '' && text.length + more.length > output.chunkBytes) {
        await write(text, to);
        text = '';
      }
      text += more;
      to = line.to;
    }
    if (to > shown.upTo) await write(text, to);
  };

  return {
    has: (key) => keys.has(key),
    count: () => keys.size(),
    append: (events) => {
      const offered = new Set<string>();
      const unknown = events.filter(({ key }) => {
        const isNew = !keys.has(key) && !offered.has(key);
        offered.add(key);
        return isNew;
      });
      if (unknown.length === 0) return [];
      const lines = unknown.map(({ event }) => JSON.stringify(event));
      const plan = planAppend(path, lines);
      completeAppend(path, plan);
      let to = plan.offset + (plan.text.startsWith('\n') ? 1 : 0);
      const placed = unknown.map(({ event }, index) => {
        to += Buffer.byteLength(lines[index] ?? '') + 1;
        return { event, to };
      });
      if (fresh === undefined) fresh = { from: plan.offset, to, lines: placed };
      else fresh = { from: fresh.from, to, lines: [...fresh.lines, ...placed] };
      for (const { key } of unknown) keys.add(key);
      return unknown.map(({ event }) => event);
    },
    replay: (onEvent) => each(0, onEvent),
    show: async () => {
      if (!resumed) {
        resumed = true;
        await resume();
      }
      const ready = fresh;
      fresh = undefined;
      if (ready !== undefined && ready.from <= shown.upTo) {
        await showLines(ready.lines);
        return;
      }
      // What a process before has left. Read in parts: the log may be large.
      for (;;) {
        const lines: { event: ManagedEvent; to: number }[] = [];
        let rest = false;
        let bytes = 0;
        each(shown.upTo, (event, to) => {
          if (bytes > PART_BYTES) rest = true;
          else {
            bytes = to - shown.upTo;
            lines.push({ event, to });
          }
        });
        await showLines(lines);
        if (!rest) return;
      }
    },
    rewind: () => {
      keep({ upTo: 0 });
      resumed = true;
    },
    mayRepeat: () => repeats,
    close: () => {
      mark.close();
      // A session that showed nothing, such as one that does not exist, leaves nothing here.
      if (keys.size() === 0) removeFile(markPath);
    },
  };
}

/** What a mark says; from the beginning where it says nothing that can be, or stands behind a log that is another by now. */
function shownOf(stored: unknown, logBytes: number): Shown {
  const { upTo, to, out } = isObject(stored) ? stored : {};
  if (!isOffset(upTo) || upTo > logBytes) return { upTo: 0 };
  if (!isOffset(to) || to < upTo) return { upTo };
  const { dev, ino, size } = isObject(out) ? out : {};
  return isOffset(dev) && isOffset(ino) && isOffset(size)
    ? { upTo, to, out: { dev, ino, size } }
    : { upTo, to };
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value);
}

const PART_BYTES = 4 * 1024 * 1024;
