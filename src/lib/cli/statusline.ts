import { fieldsIn, isWholeJson } from '../assistant/payload';
import { keepLimits, readStatusInput, type Limits } from '../assistant/status-input';
import { userArea, type UserArea } from '../config/user-area';
import { readMarks } from '../inbox/marks';
import { toStewardError, orElse } from '../errors';
import { systemClock } from '../platform/time/clock';
import { processHost } from '../platform/files/paths';
import { machineId } from '../platform/files/machine';
import { markOfTarget } from '../platform/files/stat';
import { readStdin } from '../platform/process/stdin';
import { cleanLine } from '../platform/terminal/terminal';
import { stdoutColumns, writeOut } from '../platform/terminal/stdio';
import { storedId } from '../sessions/work-events';
import { runningSessions, type SessionsDeps } from '../sessions/state';
import { readCache, writeCache } from '../config/area-cache';
import { cachedHookSettings } from '../config/hook-settings';
import { sessionsDeps } from '../sessions/session-deps';
import { toJson } from '../platform/terminal/error-report';
import {
  BARS,
  barText,
  NO_INPUT,
  statusLine,
  statusLineText,
  type DayFigures,
  type OtherWaits,
  type StatusLine,
} from './statusline-text';

/** Limits for reading stdin. An assistant writes immediately, but a shell may keep stdin open without writing. */
const STDIN = { firstByteMs: 20, endMs: 500, keepBytes: 256 * 1024 };
const UNKNOWN_COLUMNS = 160;
const THEN = { timeoutMs: 5_000, maxBytes: 64 * 1024 };

interface StatusFlags {
  json: boolean;
  /** Command of another status line, whose output is printed first. */
  then?: string | undefined;
  /** The bar that shows the line. */
  bar?: string | undefined;
}

/**
 * Runs `steward statusline [--json] [--then CMD]` without oclif and the configuration loader. Returns
 * undefined if the full command must run, because the cache is stale or an error occurred.
 */
export async function runHot(argv: readonly string[]): Promise<number | undefined> {
  const flags = flagsIn(argv);
  if (flags === undefined) return undefined;
  try {
    const area = userArea();
    const settings = cachedHookSettings(area);
    const figures = keptFigures(area);
    if (settings === undefined || figures === undefined) return undefined;
    const deps = sessionsDeps({ area, clock: systemClock(), machineId }, settings);
    await printLine(area, deps, flags, figures);
    return 0;
  } catch {
    // stdin hasn't been read yet, so the full command can still run and report the error.
    return undefined;
  }
}

function flagsIn(argv: readonly string[]): StatusFlags | undefined {
  const [first, second] = argv;
  if (argv.length === 0) return { json: false };
  if (argv.length === 1 && first === '--json') return { json: true };
  if (argv.length === 2 && first === '--format' && BARS.some((bar) => bar === second))
    return { json: false, bar: second };
  return argv.length === 2 && first === '--then' ? { json: false, then: second } : undefined;
}

/** Prints the line for the session in the JSON on stdin, or for all sessions. */
export async function printLine(area: UserArea, deps: SessionsDeps, flags: StatusFlags, figures: Figures) {
  // Read the sessions before stdin: if reading them fails, the full command runs and needs stdin.
  const state = runningSessions(deps);
  const { bytes, end } = await readStdin(STDIN, isWholeJson);
  const fields = bytes.length === 0 ? undefined : fieldsIn(bytes, end === 'large');
  const session = storedId(fields?.['session_id']);
  const nowMs = deps.clock.now();
  const input = fields === undefined ? { ...NO_INPUT, ...figures.limits } : readStatusInput(fields);
  // Print the status line even if the limits can't be stored. A bar's line shows stored ones, of any assistant.
  if (fields !== undefined) orElse(undefined, () => keepLimits(area.limits, 'claude-code', input, nowMs));
  const shown = flags.then === undefined ? input : NO_INPUT;
  const line = statusLine(state, { session, input: shown, nowMs, ...figures, marks: readMarks(area.inbox) });
  const before = flags.then === undefined || flags.then === '' ? '' : await outputOf(flags.then, bytes);
  const own = [process.execPath, process.argv[1] ?? ''] as const;
  const text = flags.bar === undefined ? fittedText(line, nowMs) : barText(line, flags.bar, nowMs, own);
  writeOut(before + (flags.json || flags.bar === 'json' ? toJson(line) : `${text}\n`));
}

function fittedText(line: StatusLine, nowMs: number): string {
  const given = Number(processHost().env['COLUMNS']);
  const columns = Number.isInteger(given) && given > 0 ? given : (stdoutColumns() ?? UNKNOWN_COLUMNS);
  return statusLineText(line, { columns, nowMs });
}

/** Runs the other status line's command with the same input. Returns the command's output or error message. */
async function outputOf(command: string, input: Buffer): Promise<string> {
  const { run } = await import('../platform/process/process');
  const { platform, env } = processHost();
  const [file, args] =
    platform === 'win32'
      ? [env['ComSpec'] ?? 'cmd.exe', ['/d', '/s', '/c', command]]
      : ['sh', ['-c', command]];
  try {
    const { stdout, stderr, code } = await run(file, args, { ...THEN, env, input });
    if (stdout === '' && code !== 0) {
      const why = cleanLine(stderr.trim().split('\n').at(-1) ?? '', 60);
      return `--then failed (${code === null ? 'killed by a signal' : `exit ${code}`})${why === '' ? '' : `: ${why}`}\n`;
    }
    return stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`;
  } catch (error) {
    return `${cleanLine(toStewardError(error).message, 80)}\n`;
  }
}

/** What a status line shows beside the sessions. Kept for later status lines, because computing it takes longer. */
export interface Figures extends Omit<OtherWaits, 'marks'> {
  day: DayFigures;
  /** The limits that are used most, for a line without an assistant's input. */
  limits: Limits;
}

interface Kept {
  startMs: number;
  endMs: number;
  /** The files that the figures depend on, and their state. */
  files: string[];
  marks: string;
  figures: Figures;
}

function keptFigures(area: UserArea): Figures | undefined {
  const { startMs, endMs, files, marks, figures } = readCache<Kept>('statusline', area) ?? {};
  if (!Array.isArray(files) || figures === undefined || marks !== marksOf(files)) return undefined;
  const nowMs = systemClock().now();
  return typeof startMs === 'number' && typeof endMs === 'number' && nowMs >= startMs && nowMs < endMs
    ? figures
    : undefined;
}

export function keepFigures(area: UserArea, kept: Kept): void {
  writeCache('statusline', area, kept);
}

/** Returns a cache key for the figures. The key changes whenever the figures may have changed. */
export function marksOf(files: readonly string[]): string {
  return [
    ...files.map((path) => markOfTarget(path) ?? '-'),
    processHost().env['STEWARD_TIMEZONE'] ?? '',
  ].join(' ');
}
