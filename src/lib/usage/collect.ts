import { isAbsolute, join } from 'node:path';

import { throwIfBug } from '../errors';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { repositoryOf } from '../platform/files/git-folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { withLock } from '../platform/files/lock';
import { readObject } from '../platform/files/object-file';
import type { PathHost } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
import { stampOf } from '../platform/files/stat';
import { isRestricted } from '../sessions/restricted';
import { cleanLine } from '../platform/terminal/terminal';
import { toIso, type Clock } from '../platform/time/clock';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time/time';
import { yielder } from '../platform/time/wait';
import { mergeDay } from './days';
import { tokensOf, type UsageEntry, type SeenLimit, type Sink } from './entry';
import { findLogs, keyOf, newMark, type Position, type LogSource } from './find-logs';
import { put, readLedger, sumsOf, writeLedger, type Ledger } from './ledger';
import { withTier } from './prices';
import type { LineReader, LogReader } from './readers/reader';

export interface UsageDeps {
  clock: Clock;
  machineId: string;
  host: Pick<PathHost, 'env' | 'home'>;
  /** IANA time zone that determines the date of an entry. */
  zone: string;
  /** The folder `usage/` in the user area. It has one file per day. */
  days: string;
  /** Machine-local folder for positions in logs and ids of known responses. */
  state: string;
}

/** Number of days for which logs are read and response ids are remembered. */
export const KEPT_DAYS = 40;
const LOCK_WAIT_MS = 10_000;
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const SLICE_MS = 50;
const DAY_MS = 86_400_000;
const MAX_TEXT = 120;

interface State {
  files: Record<string, Position>;
  /** Each assistant's usage limits, and when it reported them. */
  limits: Record<string, { atMs: number; limits: readonly SeenLimit[] }>;
  /** Which logs the last run could not read, and why. */
  problems: readonly string[];
}

interface Run {
  deps: UsageDeps;
  state: State;
  isChanged: boolean;
  seen: Set<string>;
  oldest: Day;
  oldestMs: number;
  /** The ledger, which is loaded on demand because most runs find no new entries. */
  ledger?: Ledger;
  /** The day of the previous entry, cached because the next entry is usually from the same day. */
  day: { startMs: number; endMs: number; day: Day };
  /** Repository names by folder. Empty for restricted folders and folders outside a repository. */
  repos: Map<string, string>;
}

/**
 * Reads new entries from all assistants' logs. Stores the log positions last, so that the next run repeats
 * any interrupted work.
 */
export async function collectUsage(deps: UsageDeps): Promise<LogSource[]> {
  const oldest = addDays(dayOf(deps.clock.now(), deps.zone), 1 - KEPT_DAYS);
  const { startMs } = dayBounds(oldest, deps.zone);
  const before = readState(deps.state);
  const found = findLogs(deps.host, before.files, startMs);
  if (found.changed.length === 0 && String(problemsOf(found.sources)) === String(before.problems))
    return found.sources;
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: LOCK_WAIT_MS };
  return withLock(join(deps.state, 'usage.lock'), lock, async () => {
    const run: Run = {
      deps,
      oldest,
      oldestMs: startMs,
      seen: found.seen,
      isChanged: false,
      // Reread the state, because another process may have updated it before this process got the lock.
      state: readState(deps.state),
      repos: new Map(),
      day: { startMs: 0, endMs: 0, day: '' },
    };
    const pause = yielder(deps.clock, SLICE_MS);
    for (const { reader, path, source } of found.changed) {
      await pause();
      const problem = readLog(run, reader, path);
      if (problem !== undefined) source.problem = problem;
    }
    const problems = problemsOf(found.sources);
    run.isChanged ||= String(problems) !== String(run.state.problems);
    run.state.problems = problems;
    store(run);
    return found.sources;
  });
}

/** Returns which assistants' logs could not be read, and why. */
export function problemsOf(sources: readonly LogSource[]): string[] {
  return sources.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]));
}

function sinkOf(run: Run, assistant: string): Sink {
  return {
    entry: (entry) => take(run, assistant, entry),
    limits(atMs, limits) {
      const known = run.state.limits[assistant];
      if (limits.length > 0 && atMs >= (known?.atMs ?? 0)) run.state.limits[assistant] = { atMs, limits };
    },
  };
}

function take(run: Run, assistant: string, entry: UsageEntry): void {
  const { id, ms, session, cwd, model, amounts, depth = 0 } = entry;
  // An entry dated more than a day in the future was logged while the clock was wrong.
  if (ms < run.oldestMs || ms > run.deps.clock.now() + DAY_MS || tokensOf(amounts) === 0) return;
  if (ms < run.day.startMs || ms >= run.day.endMs) {
    const day = dayOf(ms, run.deps.zone);
    run.day = { ...dayBounds(day, run.deps.zone), day };
  }
  const repo = run.repos.get(cwd) ?? repoAt(cwd);
  run.repos.set(cwd, repo);
  const [ownSession = '', ownRepo = '', ownModel = ''] = [session, repo, model].map((text) =>
    cleanLine(text, MAX_TEXT),
  );
  run.ledger ??= readLedger(run.deps.state);
  const row = [assistant, ownSession, ownRepo, withTier(ownModel, amounts)] as const;
  put(run.ledger, { id, ms, day: run.day.day, row, amounts, depth });
}

function repoAt(cwd: string): string {
  if (!isAbsolute(cwd) || cwd.includes('\0') || isRestricted(cwd)) return '';
  return repositoryOf(cwd)?.name ?? '';
}

function readLog(run: Run, reader: LogReader, path: string): string | undefined {
  const { files } = run.state;
  const key = keyOf(path);
  const known = files[key];
  const mark = newMark(reader, path, known, run.oldestMs);
  if (mark === undefined) return undefined;
  const sink = sinkOf(run, reader.assistant);
  try {
    if (reader.kind === 'database') {
      reader.read(path, run.oldestMs, sink);
      files[key] = { mark };
    } else {
      const isSame = known?.mark.split(':')[0] === mark.split(':')[0];
      files[key] = { mark, ...readNewLines(reader, path, isSame ? known : undefined, sink) };
    }
    run.isChanged = true;
    return undefined;
  } catch (error) {
    const { message } = throwIfBug(error);
    return message;
  }
}

/**
 * Continues after the last line that was read. If that line has changed, the log was rewritten, so reading
 * starts over.
 */
function readNewLines(
  reader: LineReader,
  path: string,
  known: Position | undefined,
  sink: Sink,
): Omit<Position, 'mark'> {
  const carry = { ...known?.carry };
  const from = known?.last?.offset ?? 0;
  let last: { offset: number; text: string } | undefined;
  let isKnown = known?.last === undefined;
  readLines(path, { from, maxLineBytes: MAX_LINE_BYTES }, ({ text = '', offset }) => {
    if (last === undefined && !isKnown) isKnown = known?.last?.hash === shortHash(text);
    else if (isKnown) {
      const fields = reader.markers.some((marker) => text.includes(marker)) ? parseObject(text) : undefined;
      if (fields !== undefined) reader.read(fields, carry, sink, path);
    }
    last = { offset, text };
  });
  if (!isKnown) return readNewLines(reader, path, undefined, sink);
  if (typeof carry['cwd'] === 'string' && repoAt(carry['cwd']) === '') carry['cwd'] = '';
  return {
    ...(last === undefined ? {} : { last: { offset: last.offset, hash: shortHash(last.text) } }),
    ...(Object.keys(carry).length === 0 ? {} : { carry }),
  };
}

function store(run: Run): void {
  const { deps, ledger, oldest, state, seen } = run;
  if (ledger !== undefined) storeLedger(deps, ledger, oldest);
  for (const key of Object.keys(state.files)) {
    if (seen.has(key)) continue;
    delete state.files[key];
    run.isChanged = true;
  }
  if (!run.isChanged) return;
  ensureFolder(deps.state);
  const text = JSON.stringify({ version: 1, ...state });
  replaceFile(stateFile(deps.state), `${text}\n`, { sync: 'content' });
}

/**
 * Stores the changed days of a ledger. Writes the day files first, so that the next run repeats any
 * interrupted work.
 */
export function storeLedger(deps: Pick<UsageDeps, 'days' | 'state'>, ledger: Ledger, oldest: Day): void {
  if (ledger.dirty.size === 0) return;
  for (const day of ledger.dirty) {
    const shrunk = [...ledger.shrunk].filter((key) => key.startsWith(`${day}\n`));
    mergeDay(deps.days, day, sumsOf(ledger, day), new Set(shrunk.map((key) => key.slice(day.length + 1))));
  }
  writeLedger(deps.state, ledger, oldest);
}

/** Reads the state. If it is damaged, returns an empty state, so that all logs are read again. */
export function readState(folder: string): State {
  const stored = readObject(stateFile(folder));
  const { files, limits } = stored ?? {};
  if (stored?.['version'] !== 1 || !isObject(files) || !isObject(limits))
    return { files: {}, limits: {}, problems: [] };
  const problems = Array.isArray(stored['problems']) ? stored['problems'] : [];
  return { files, limits, problems } as unknown as State;
}

/** Returns when something new was last read; null if nothing was yet. */
export function readAt(folder: string): string | null {
  const stamp = stampOf(stateFile(folder));
  return stamp === undefined ? null : toIso(stamp.changedMs);
}

function stateFile(folder: string): string {
  return join(folder, 'logs.json');
}
