import { type Palette, minutes, palette, plural, table, toAscii, wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { activityOf, labelOf, namesOf, requestOf } from './describe';
import { phase } from './phases';
import {
  isLive,
  type PhaseEntry,
  type Session,
  type SessionStatus,
  type SessionsState,
  statusOf,
} from './session';
import { CLAUDE_CODE, idOfKey } from './session-key';
import type { SpoolStatus } from './spool';

/** A session in `steward sessions --json`. Times are ISO 8601 in UTC. */
export interface SessionRow extends Pick<Session, (typeof SHOWN)[number]> {
  /** The displayed name, which is unique among the listed sessions. */
  name: string;
  givenName: string | null;
  status: SessionStatus;
  branch: string | null;
  /** Folder name of a linked worktree; null in the main checkout. */
  worktree: string | null;
  assistant: string;
  model: string | null;
  /** What the session is doing, such as `editing` or `running a command`; null if it isn't working. */
  activity: string | null;
  waitingFor: string | null;
  waitingSince: string | null;
  /** The first line of the session's first prompt. Set only if `sessions.titles` is on. */
  title: string | null;
  /**
   * Where the session's terminal is: `work:2` in tmux, or the tab in kitty. Null if unknown or not requested.
   */
  place: string | null;
  /** Process id of the assistant on this machine; null if it isn't known to be running. */
  pid: number | null;
  subagents: number;
  /**
   * The command that brings the session's terminal to the front. Null if there is no terminal or the session
   * has ended.
   */
  go: string | null;
}

const SHOWN = [
  ...(['slug', 'task', 'project', 'repo', 'mode', 'phase', 'startedAt', 'updatedAt'] as const),
  ...(['sessionIds', 'artifact', 'github_issue', 'github_issue_url'] as const),
] as const;

export interface SessionsReport {
  sessions: SessionRow[];
  working: number;
  waiting: number;
  crashed: number;
  spool: SpoolStatus;
}

export interface RowOptions {
  nowMs: number;
  places?: ReadonlyMap<string, string>;
}

const ORDER: readonly SessionStatus[] = ['waiting', 'working', 'no-signal', 'crashed', 'ended'];

/**
 * Lists the running sessions, and sessions whose unexpected end has not been reported yet. With `all`, lists
 * every session. Lists waiting sessions first, then the most recent ones.
 */
export function sessionsReport(
  state: SessionsState,
  spool: SpoolStatus,
  options: RowOptions & { all: boolean },
): SessionsReport {
  const rows = rowsOf(Object.values(state.sessions), options);
  const lost = new Set(lostSessions(state));
  const count = (status: SessionStatus): number => rows.filter((row) => row.status === status).length;
  const isShown = ({ slug, status }: SessionRow): boolean =>
    options.all || (status !== 'crashed' && status !== 'ended') || lost.has(slug);
  return {
    sessions: rows.filter(isShown),
    working: count('working'),
    waiting: count('waiting'),
    crashed: count('crashed'),
    spool,
  };
}

/** Returns the slugs of sessions whose unexpected end has not been reported yet. */
export function lostSessions(state: SessionsState): string[] {
  return Object.values(state.sessions)
    .filter(({ isAlive }) => isAlive === false)
    .map(({ slug }) => slug);
}

/** Returns the rows in the order of `steward sessions`. Names are unique among running sessions. */
export function rowsOf(sessions: readonly Session[], options: RowOptions): SessionRow[] {
  const names = namesOf(sessions.filter((session) => isLive(session, options.nowMs)));
  return sessions.map((session) => rowOf(session, options, names.get(session.slug))).sort(byStatusAndAge);
}

function rowOf(session: Session, { nowMs, places }: RowOptions, name?: string): SessionRow {
  const shown = Object.fromEntries(SHOWN.map((key) => [key, session[key]])) as Pick<
    Session,
    (typeof SHOWN)[number]
  >;
  const status = statusOf(session, nowMs);
  return {
    name: name ?? labelOf(session) ?? session.slug,
    ...shown,
    sessionIds: session.sessionIds.map(idOfKey),
    givenName: session.givenName ?? null,
    status,
    branch: session.branch ?? null,
    worktree: session.worktree ?? null,
    assistant: session.assistant ?? CLAUDE_CODE,
    model: session.model ?? null,
    activity: activityOf(session, nowMs),
    waitingFor: requestOf(session, nowMs),
    waitingSince: status === 'waiting' ? (session.waitingSince ?? session.updatedAt) : null,
    title: session.title ?? null,
    place: places?.get(session.slug) ?? null,
    pid: session.isAlive === true ? (session.process?.pid ?? null) : null,
    subagents: session.agents.length,
    go: isLive(session, nowMs) && session.terminal !== null ? `steward go ${session.slug}` : null,
  };
}

/**
 * Returns the session's given name. If it has none, returns the first of its task, title, label and slug that
 * is set.
 */
export function titleOf(session: Session): string {
  return session.givenName ?? session.task ?? session.title ?? labelOf(session) ?? session.slug;
}

export function orderOfSessions(nowMs: number): (a: Session, b: Session) => number {
  return (a, b) => byStatusAndAge(rowOf(a, { nowMs }), rowOf(b, { nowMs }));
}

function byStatusAndAge(a: SessionRow, b: SessionRow): number {
  const order = ORDER.indexOf(a.status) - ORDER.indexOf(b.status);
  return order !== 0 ? order : Date.parse(b.updatedAt) - Date.parse(a.updatedAt);
}

export interface SessionsTextOptions {
  columns: number;
  color: boolean;
  unicode?: boolean;
  nowMs: number;
  all?: boolean;
}

/**
 * Formats the output of `steward sessions`. Names come first, because other commands take them as arguments.
 */
export function sessionsText(report: SessionsReport, options: SessionsTextOptions): string {
  const lines =
    report.sessions.length === 0
      ? wrap(
          options.all === true
            ? 'No sessions yet. Run "steward hooks install" to record them.'
            : 'No sessions are running. `steward sessions --all` includes ended ones.',
          options.columns,
        )
      : sessionLines(report.sessions, options);
  const { dead, deadFolder } = report.spool;
  if (dead > 0) {
    lines.push(
      '',
      `${plural(dead, 'hook task')} failed. Run "steward status" to see why, or "steward work retry" to retry.`,
      `Files: ${deadFolder}`,
    );
  }
  const text = lines.join('\n');
  return options.unicode === false ? toAscii(text) : text;
}

/** Formats the rows as lines that fit the terminal. On a narrow terminal, each session takes two lines. */
export function sessionLines(rows: readonly SessionRow[], options: SessionsTextOptions): string[] {
  const { columns } = options;
  const colors = palette(options);
  if (columns < NARROW) {
    return rows.flatMap((row) => {
      const [name = '', status, does, age, whose, place, about] = cellsOf(row, options);
      const rest = [status, does, whose, place, age, about].filter((cell) => cell !== '').join(' · ');
      return [fit(name, columns), fit(`  ${rest}`, columns)].map((line) => painted(line, row, colors));
    });
  }
  const hasOthers = rows.some((row) => whoseOf(row) !== '');
  const cells = rows.map((row) => cellsOf(row, options).filter((_, at) => hasOthers || at !== WHOSE_CELL));
  const widths = [
    { max: hasOthers ? Math.min(MAX_NAME_CELL, columns - 56) : MAX_NAME_CELL },
    {},
    { max: hasOthers && columns < WIDE ? 14 : MAX_DOES_CELL },
    { align: 'right' as const },
    ...(hasOthers ? [{}] : []),
    { max: 14 },
  ];
  return table(cells, widths)
    .split('\n')
    .map((line, index) => painted(fit(line, columns), rows[index], colors));
}

/** Narrower terminals show two lines for each session instead of a table. */
const NARROW = 72;
const WIDE = 100;
const MAX_NAME_CELL = 32;
const MAX_DOES_CELL = 24;
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
    [...model, ...aboutOf(row), ...agentsOf(row)].join(' · '),
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

function agentsOf({ subagents }: SessionRow): string[] {
  return subagents === 0 ? [] : [plural(subagents, 'subagent')];
}

export interface SessionDetail extends SessionRow {
  effort: string | null;
  terminal: Session['terminal'];
  phaseHistory: PhaseEntry[];
}

export function sessionDetail(session: Session, options: RowOptions): SessionDetail {
  const { effort, terminal, phaseHistory } = session;
  return { ...rowOf(session, options), effort, terminal, phaseHistory };
}

export interface SessionTextOptions {
  nowMs: number;
  localTime: (iso: string) => string;
}

export function sessionText(detail: SessionDetail, options: SessionTextOptions): string {
  const { localTime } = options;
  const history = detail.phaseHistory.map(({ phase: id, at, source }) => [
    localTime(at),
    phase(id).label,
    source,
  ]);
  return [clean(detail.name), '', table(factsOf(detail, options)), '', table(history)].join('\n');
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
function ago(iso: string, nowMs: number): string {
  const value = Math.max(0, nowMs - Date.parse(iso)) / 60_000;
  return value < 48 * 60 ? minutes(Math.floor(value)) : `${Math.floor(value / 1440)} d`;
}
