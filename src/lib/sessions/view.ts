import {
  type Palette,
  minutes,
  palette,
  plural,
  table,
  wrap,
  type TextOptions,
} from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, fit, fitName } from '../platform/terminal/text-width';
import { phase } from './phases';
import type { SessionDetail, SessionRow, SessionsReport } from './rows';
import type { SessionStatus } from './session';
import { CLAUDE_CODE } from './session-key';

export interface SessionsTextOptions extends TextOptions {
  nowMs: number;
  all?: boolean;
  /** Whether hooks are registered, so that new sessions are recorded. */
  isRegistered?: boolean;
}

/**
 * Formats the output of `steward sessions`. Names come first, because other commands take them as arguments.
 */
export function sessionsText(report: SessionsReport, options: SessionsTextOptions): string {
  const lines =
    report.sessions.length === 0
      ? wrap(
          options.all === true
            ? `No sessions yet. ${options.isRegistered === true ? 'Sessions that start from now on are recorded.' : 'Run "steward install hooks" to record them.'}`
            : 'No sessions are running. `steward sessions --all` includes ended ones.',
          options.columns,
        )
      : numberedSessions(report.sessions, options);
  const { dead, deadFolder } = report.spool;
  if (dead > 0) {
    lines.push(
      '',
      `${plural(dead, 'hook task')} failed. Run "steward status" to see why, or "steward work retry" to retry.`,
      `Files: ${deadFolder}`,
    );
  }
  return lines.join('\n');
}

/** Formats the rows with the number that `steward go` takes before each running session. */
export function numberedSessions(rows: readonly SessionRow[], options: SessionsTextOptions): string[] {
  const digits = String(rows.length).length;
  const lines = sessionLines(rows, { ...options, columns: options.columns - digits - 2 });
  const linesPerRow = lines.length / rows.length;
  return lines.map((line, index) => {
    const status = rows[index / linesPerRow]?.status;
    const isNumbered = status !== undefined && status !== 'ended' && status !== 'crashed';
    return `${isNumbered ? index / linesPerRow + 1 : ''}`.padStart(digits) + `  ${line}`;
  });
}

/** Formats the rows as lines that fit the terminal. On a narrow terminal, each session takes two lines. */
export function sessionLines(rows: readonly SessionRow[], options: SessionsTextOptions): string[] {
  const { columns } = options;
  const colors = palette(options);
  if (columns < NARROW) {
    return rows.flatMap((row) => {
      const [name = '', status, does, age, whose, place, about] = cellsOf(row, options);
      const rest = [status, does, whose, place, age, about].filter((cell) => cell !== '').join(' · ');
      return [fitName(name, columns), fit(`  ${rest}`, columns)].map((line) => painted(line, row, colors));
    });
  }
  const hasOthers = rows.some((row) => whoseOf(row) !== '');
  const cells = rows.map((row) => cellsOf(row, options).filter((_, at) => hasOthers || at !== WHOSE_CELL));
  // The name is cut first, because what a session asks for matters more.
  const others = [
    {},
    { max: hasOthers && columns < MEDIUM ? 14 : MAX_DOES_CELL },
    { align: 'right' as const },
    ...(hasOthers ? [{}] : []),
    { max: 14 },
  ];
  const widthOf = (at: number, max: number): number =>
    GAP + Math.min(max, Math.max(...cells.map((row) => displayWidth(row[at] ?? ''))));
  const rest = others.reduce<number>(
    (sum, { max = columns }: { max?: number }, at) => sum + widthOf(at + 1, max),
    0,
  );
  const nameMax = Math.max(MIN_NAME_CELL, Math.min(MAX_NAME_CELL, columns - rest));
  const hasRoom = columns - rest - widthOf(0, nameMax) >= MIN_ABOUT_CELL;
  const shown = cells.map(([name = '', ...row]) => [fitName(name, nameMax), ...row]);
  return table(hasRoom ? shown : shown.map((row) => row.slice(0, -1)), [{}, ...others])
    .split('\n')
    .map((line, index) => painted(fit(line, columns), rows[index], colors));
}

/** Narrower terminals show two lines for each session instead of a table. */
const NARROW = 69;
/** A terminal of 80 columns, without the number of each session. */
const MEDIUM = 77;
const WIDE = 100;
const MAX_NAME_CELL = 32;
const MIN_NAME_CELL = 12;
/** The title is left out if it would have less room. */
const MIN_ABOUT_CELL = 8;
/** The longest request is `stopped: rate limit until Tue 18:00`. */
const MAX_DOES_CELL = 35;
/** Spaces between two columns. */
const GAP = 2;
const WHOSE_CELL = 4;

const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  waiting: 'waiting',
  working: 'working',
  'no-signal': 'no signal',
  crashed: 'ended unexpectedly',
  ended: 'ended',
};

function cellsOf(row: SessionRow, { nowMs, columns }: SessionsTextOptions): string[] {
  const model = columns < WIDE || row.model === null ? [] : [clean(row.model)];
  return [
    clean(row.name),
    statusWords(row, nowMs),
    doesOf(row) ?? '',
    ago(row.startedAt, nowMs),
    whoseOf(row),
    clean(row.place ?? ''),
    [...model, ...aboutOf(row), ...agentsOf(row), ...newsOf(row, nowMs)].join(' · '),
  ];
}

function doesOf({ status, waitingFor, activity, startedAt, updatedAt }: SessionRow): string | null {
  const hasWorked = updatedAt !== startedAt;
  return waitingFor ?? activity ?? (status === 'waiting' && hasWorked ? 'turn finished' : null);
}

/** Formats a status and its duration, such as `waiting 2 m` or `ended 5 m ago`. */
function statusWords({ status, waitingSince, updatedAt }: SessionRow, nowMs: number): string {
  const words = STATUS_WORDS[status];
  if (waitingSince !== null) return `${words} ${ago(waitingSince, nowMs)}`;
  return status === 'ended' ? `${words} ${ago(updatedAt, nowMs)} ago` : words;
}

function painted(line: string, row: SessionRow | undefined, colors: Palette): string {
  if (row?.status === 'waiting') return colors.attention(line);
  return row?.status === 'working' ? line : colors.neutral(line);
}

function whoseOf({ assistant }: SessionRow): string {
  return assistant === CLAUDE_CODE ? '' : clean(assistant);
}

function aboutOf({ phase: id, task, title }: SessionRow): string[] {
  const about = task ?? title;
  return [...(id === 'native' ? [] : [phase(id).label]), ...(about === null ? [] : [clean(about)])];
}

/** Says how old the news of another machine is, such as `40 s ago`. */
export function newsOf({ elsewhere }: Partial<Pick<SessionRow, 'elsewhere'>>, nowMs: number): string[] {
  if (elsewhere === null || elsewhere === undefined) return [];
  const sec = Math.max(0, Math.round((nowMs - Date.parse(elsewhere.asOf)) / 1000));
  return [`${sec < 60 ? `${sec} s` : ago(elsewhere.asOf, nowMs)} ago`];
}

function agentsOf({ subagents }: SessionRow): string[] {
  return subagents === 0 ? [] : [plural(subagents, 'subagent')];
}

export interface SessionTextOptions {
  nowMs: number;
  localTime: (iso: string) => string;
}

export function sessionText(detail: SessionDetail, options: SessionTextOptions): string {
  const { localTime } = options;
  // A session without a session file has no phase worth showing.
  const entries = detail.phaseHistory.filter(({ phase: id }) => id !== 'native');
  const history = entries.map(({ phase: id, at, source }) => [localTime(at), phase(id).label, source]);
  const facts = [clean(detail.name), '', table(factsOf(detail, options))];
  return [...facts, ...(history.length === 0 ? [] : ['', table(history)])].join('\n');
}

export function factsOf(detail: SessionDetail, { nowMs, localTime }: SessionTextOptions): string[][] {
  const when = (iso: string): string => `${localTime(iso)}, ${ago(iso, nowMs)} ago`;
  const does = doesOf(detail);
  const rows: [string, string | null][] = [
    ['status', [STATUS_WORDS[detail.status], ...(does === null ? [] : [does])].join(', ')],
    ['task', detail.task],
    ['title', detail.title],
    ['repository', detail.repo],
    ['branch', detail.branch],
    ['worktree', detail.worktree],
    ['project', detail.project],
    ['effort', detail.effort],
    ['assistant', [detail.assistant, ...(detail.model === null ? [] : [detail.model])].join(', ')],
    ['subagents', detail.subagents === 0 ? null : String(detail.subagents)],
    ['started', when(detail.startedAt)],
    ['last active', when(detail.updatedAt)],
    ['terminal', detail.place ?? detail.terminal?.tty ?? null],
    ['slug', detail.slug],
    ['session file', detail.artifact],
    ['issue', detail.github_issue_url],
    ['ids', detail.sessionIds.join(', ')],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, clean(value)]]));
}

/** Formats the time since `iso` as `46 m`, `3 h 02 m` or `5 d`. Treats a future time as now. */
export function ago(iso: string, nowMs: number): string {
  const value = Math.max(0, nowMs - Date.parse(iso)) / 60_000;
  return value < 48 * 60 ? minutes(Math.floor(value)) : `${Math.floor(value / 1440)} d`;
}
