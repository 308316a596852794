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
import type { SpoolStatus } from './spool';

/** One session as `steward sessions --json` shows it. Times are ISO-8601 UTC. */
export interface SessionRow extends Pick<Session, (typeof SHOWN)[number]> {
  /** What a person calls it; unlike that of every other session shown. */
  name: string;
  status: SessionStatus;
  branch: string | null;
  /** The folder name of a linked worktree; null in the main checkout. */
  worktree: string | null;
  assistant: string;
  model: string | null;
  /** What it does now, the kind of tool: `edits`, `runs a command`; null when it does not work. */
  activity: string | null;
  /** What it asks a person for: `asks to run Bash`; null when it asks for nothing. */
  waitingFor: string | null;
  /** Since when a person is waited for; null when nobody is. */
  waitingSince: string | null;
  /** The first line of its first prompt, where `sessions.titles` is on. */
  title: string | null;
  /** Its terminal: `work:2` in tmux, the tab in kitty; null where it is unknown or was not asked for. */
  place: string | null;
  /** The assistant's process on this machine, while it is known to run. */
  pid: number | null;
  /** Subagents that are active. */
  subagents: number;
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

/** How sessions are shown. */
export interface RowOptions {
  nowMs: number;
  /** The terminals of sessions by slug (terminals.ts). */
  places?: ReadonlyMap<string, string>;
}

const ORDER: readonly SessionStatus[] = ['waiting', 'working', 'no-signal', 'crashed', 'ended'];

/**
 * The running sessions and those that ended unexpectedly since the last look (`noteLost`), waiting ones first and the
 * most recent first; with `all` also the others.
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

/** Slugs of the sessions whose process is gone without anybody having been shown that. */
export function lostSessions(state: SessionsState): string[] {
  return Object.values(state.sessions)
    .filter(({ isAlive }) => isAlive === false)
    .map(({ slug }) => slug);
}

/** The rows of sessions in the order of `steward sessions`. Names are told apart among the running ones. */
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
    status,
    branch: session.branch ?? null,
    worktree: session.worktree ?? null,
    assistant: session.assistant ?? 'claude-code',
    model: session.model ?? null,
    activity: activityOf(session, nowMs),
    waitingFor: requestOf(session, nowMs),
    waitingSince: status === 'waiting' ? (session.waitingSince ?? session.updatedAt) : null,
    title: session.title ?? null,
    place: places?.get(session.slug) ?? null,
    pid: session.isAlive === true ? (session.process?.pid ?? null) : null,
    subagents: session.agents.length,
  };
}

/** The order of `steward sessions`. */
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
  /** False for terminals without such characters. */
  unicode?: boolean;
  nowMs: number;
  /** Are ended sessions included? */
  all?: boolean;
}

/** `steward sessions`: a row a session, its name first, as a person would type it next. */
export function sessionsText(report: SessionsReport, options: SessionsTextOptions): string {
  const lines =
    report.sessions.length === 0
      ? wrap(
          options.all === true
            ? 'No session is known. The hooks of your assistant report them: steward hooks install'
            : 'No session runs now. `steward sessions --all` shows those that ended.',
          options.columns,
        )
      : sessionLines(report.sessions, options);
  const { dead, deadFolder } = report.spool;
  if (dead > 0) {
    lines.push(
      '',
      `${plural(dead, 'hook task')} failed. "steward status" says why, "steward work retry" tries again.`,
      `Files: ${deadFolder}`,
    );
  }
  const text = lines.join('\n');
  return options.unicode === false ? toAscii(text) : text;
}

/** The lines of rows, each at most as wide as the terminal; two lines a session where it is narrow. */
export function sessionLines(rows: readonly SessionRow[], options: SessionsTextOptions): string[] {
  const { columns, nowMs } = options;
  const colors = palette(options);
  if (columns < NARROW) {
    return rows.flatMap((row) => {
      const [name = '', ...rest] = cellsOf(row, nowMs).filter((cell) => cell !== '');
      return [fit(name, columns), fit(`  ${rest.join(' · ')}`, columns)].map((line) =>
        painted(line, row, colors),
      );
    });
  }
  const cells = rows.map((row) => cellsOf(row, nowMs));
  const widths = [
    { max: MAX_NAME_CELL },
    {},
    { max: MAX_DOES_CELL },
    { align: 'right' as const },
    { max: 14 },
  ];
  return table(cells, widths)
    .split('\n')
    .map((line, index) => painted(fit(line, columns), rows[index], colors));
}

/** A table of sessions has no room for what they are about in less. */
const NARROW = 72;
const MAX_NAME_CELL = 32;
const MAX_DOES_CELL = 24;

const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  waiting: 'waiting',
  working: 'working',
  'no-signal': 'no signal',
  crashed: 'ended unexpectedly',
  ended: 'ended',
};

function cellsOf(row: SessionRow, nowMs: number): string[] {
  return [
    clean(row.name),
    statusWords(row, nowMs),
    doesOf(row) ?? '',
    ago(row.startedAt, nowMs),
    clean(row.place ?? ''),
    [...aboutOf(row), ...agentsOf(row)].join(' · '),
  ];
}

/** What a session does or waits for; null when it is over or silent. */
function doesOf({ status, waitingFor, activity }: SessionRow): string | null {
  return waitingFor ?? activity ?? (status === 'waiting' ? 'turn finished' : null);
}

/** `waiting 2 m`, `ended 5 m ago`. */
function statusWords({ status, waitingSince, updatedAt }: SessionRow, nowMs: number): string {
  const words = STATUS_WORDS[status];
  if (waitingSince !== null) return `${words} ${ago(waitingSince, nowMs)}`;
  return status === 'ended' ? `${words} ${ago(updatedAt, nowMs)} ago` : words;
}

function painted(line: string, row: SessionRow | undefined, colors: Palette): string {
  if (row?.status === 'waiting') return colors.attention(line);
  return row?.status === 'working' ? line : colors.neutral(line);
}

/** What a session is about: the task of its artifact with its phase, else the title. */
function aboutOf({ phase: id, task, title }: SessionRow): string[] {
  const about = task ?? title;
  return [...(id === 'native' ? [] : [phase(id).label]), ...(about === null ? [] : [clean(about)])];
}

function agentsOf({ subagents }: SessionRow): string[] {
  return subagents === 0 ? [] : [plural(subagents, 'subagent')];
}

/** A session with its history. */
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
  /** An instant as a person reads it. */
  localTime: (iso: string) => string;
}

/** `steward sessions show SESSION`. */
export function sessionText(detail: SessionDetail, options: SessionTextOptions): string {
  const { localTime } = options;
  const history = detail.phaseHistory.map(({ phase: id, at, source }) => [
    localTime(at),
    phase(id).label,
    source,
  ]);
  return [clean(detail.name), '', table(factsOf(detail, options)), '', table(history)].join('\n');
}

/** The facts of a session that are known, a label and a value each. */
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
    ['artifact', detail.artifact],
    ['issue', detail.github_issue_url],
    ['ids', detail.sessionIds.join(', ')],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [[name, clean(value)]]));
}

/** `46 m`, `3 h 02 m`, `5 d`; a time that is still to come, of a clock that was put back, is now. */
function ago(iso: string, nowMs: number): string {
  const value = Math.max(0, nowMs - Date.parse(iso)) / 60_000;
  return value < 48 * 60 ? minutes(Math.floor(value)) : `${Math.floor(value / 1440)} d`;
}
