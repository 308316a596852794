import { isWholeJson, readHookJson } from '../assistant/claude-code';
import { userArea, type UserArea } from '../config/user-area';
import { systemClock } from '../platform/time/clock';
import { processHost } from '../platform/files/paths';
import { machineId } from '../platform/files/machine';
import { markOfTarget } from '../platform/files/stat';
import { readStdin } from '../platform/process/stdin';
import { foldFor } from '../platform/terminal/fold';
import { writeOut } from '../platform/terminal/stdio';
import { storedId } from '../sessions/work-events';
import { runningSessions, type SessionsDeps } from '../sessions/state';
import { statusLine, statusLineText, type StatusLine } from '../sessions/view';
import { writeCache, cachedHookSettings, readCache } from '../app/mirror';
import { sessionsDeps } from '../app/sessions';
import { toJson } from '../platform/terminal/error-report';

/** An assistant has written its JSON before Node has started; a shell that leaves its stdin to us writes nothing. */
const STDIN = { firstByteMs: 20, endMs: 500, keepBytes: 64 * 1024 };

/**
 * `steward statusline [--json]` without oclif and without the configuration's loader. The full command answers when
 * something that the line is made of has changed, and keeps it for the next time; and when anything is wrong, to say so.
 */
export async function runHot(argv: readonly string[]): Promise<number | undefined> {
  const json = argv[0] === '--json';
  if (argv.length > (json ? 1 : 0)) return undefined;
  try {
    const area = userArea();
    const settings = cachedHookSettings(area);
    const creation = keptCreation(area);
    if (settings === undefined || creation === undefined) return undefined;
    const deps = sessionsDeps({ area, clock: systemClock(), machineId }, settings);
    writeLine(await lineOf(deps, creation), json);
    return 0;
  } catch {
    // Nothing was read of stdin: the full command meets the same, and says what it is.
    return undefined;
  }
}

/** The id of the session that the assistant asks for; undefined when a shell asks. */
async function askedSession(): Promise<string | undefined> {
  const { bytes, end } = await readStdin(STDIN, isWholeJson);
  if (bytes.length === 0) return undefined;
  const read = readHookJson(bytes, end === 'large', processHost().env);
  return 'problem' in read ? undefined : storedId(read.input.session);
}

/** The line for the session that asks, or for all. */
export async function lineOf(deps: SessionsDeps, creationMinutes: number | null): Promise<StatusLine> {
  // First what may fail: stdin can be read once only.
  const state = runningSessions(deps);
  const session = await askedSession();
  return statusLine(state, { session, creationMinutes, nowMs: deps.clock.now() });
}

export function writeLine(line: StatusLine, json: boolean): void {
  writeOut(json ? toJson(line) : `${foldFor('stdout', statusLineText(line))}\n`);
}

/** Today's creation time as it was last made, and what it was made of. */
interface Kept {
  startMs: number;
  endMs: number;
  /** Path of the day's log. */
  log: string;
  marks: string;
  minutes: number;
}

/**
 * Today's minutes of creation without reading the day: null where sense is not set up, undefined when what it
 * was made of has changed since it was kept.
 */
function keptCreation(area: UserArea): number | null | undefined {
  if (markOfTarget(area.sense.config) === undefined) return null;
  const { startMs, endMs, log, marks, minutes } = readCache<Kept>('creation', area) ?? {};
  if (typeof log !== 'string' || typeof minutes !== 'number' || marks !== marksOf(area, log))
    return undefined;
  const nowMs = systemClock().now();
  return typeof startMs === 'number' && typeof endMs === 'number' && nowMs >= startMs && nowMs < endMs
    ? minutes
    : undefined;
}

export function keepCreation(area: UserArea, made: Omit<Kept, 'marks'>, marks: string): void {
  writeCache('creation', area, { ...made, marks });
}

/** Everything that the figure depends on but the clock. */
export function marksOf(area: UserArea, log: string): string {
  const files = [log, area.config, area.sense.config, area.sense.classify];
  return [
    ...files.map((path) => markOfTarget(path) ?? '-'),
    processHost().env['STEWARD_TIMEZONE'] ?? '',
  ].join(' ');
}
