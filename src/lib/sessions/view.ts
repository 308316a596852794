import { type Palette, minutes, palette, table, toAscii, wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { phase } from './phases';
import { type PhaseEntry, type Session, type SessionStatus, type SessionsState, statusOf } from './session';
import type { SpoolStatus } from './spool';

/** One session as `steward sessions --json` shows it. Times are ISO-8601 UTC. */
export interface SessionRow extends Pick<Session, (typeof SHOWN)[number]> {
  status: SessionStatus;
  /** Subagents that are active. */
  subagents: number;
}

const SHOWN = [
  ...(['slug', 'waitingFor', 'task', 'project', 'repo', 'mode', 'phase', 'startedAt', 'updatedAt'] as const),
  ...(['sessionIds', 'artifact', 'github_issue', 'github_issue_url'] as const),
] as const;

export interface SessionsReport {
  sessions: SessionRow[];
  working: number;
  waiting: number;
  crashed: number;
  spool: SpoolStatus;
}

const ORDER: readonly SessionStatus[] = ['waiting', 'working', 'crashed', 'ended'];

/** The sessions that run, those that wait first, the newest word first; with `all` also the others. */
export function sessionsReport(
  state: SessionsState,
  spool: SpoolStatus,
  options: { nowMs: number; all: boolean },
): SessionsReport {
  const rows = Object.values(state.sessions).map((session) => rowOf(session, options.nowMs));
  const count = (status: SessionStatus): number => rows.filter((row) => row.status === status).length;
  const isShown = ({ status }: SessionRow): boolean =>
    options.all || status === 'working' || status === 'waiting';
  return {
    sessions: rows.filter(isShown).sort(byStatusAndAge),
    working: count('working'),
    waiting: count('waiting'),
    crashed: count('crashed'),
    spool,
  };
}

function rowOf(session: Session, nowMs: number): SessionRow {
  const shown = Object.fromEntries(SHOWN.map((key) => [key, session[key]])) as Pick<
    Session,
    (typeof SHOWN)[number]
  >;
  return { ...shown, status: statusOf(session, nowMs), subagents: session.agents.length };
}

/** The order of `steward sessions`, as it is of whole sessions. */
export function orderOfSessions(nowMs: number): (a: Session, b: Session) => number {
  return (a, b) => byStatusAndAge(rowOf(a, nowMs), rowOf(b, nowMs));
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
  /** Are those that ended among them? */
  all?: boolean;
}

/** `steward sessions`: a row a session, its slug first, as one would type it next. */
export function sessionsText(report: SessionsReport, options: SessionsTextOptions): string {
  const colors = palette(options);
  const lines: string[] = [];
  if (report.sessions.length === 0) {
    const none =
      options.all === true
        ? 'No session is known. The hooks of your assistant report them: steward hooks install'
        : 'No session runs now. `steward sessions --all` shows those that ended.';
    lines.push(...wrap(none, options.columns));
  } else if (options.columns < NARROW) {
    // The slug is what one types next, so it is never cut: the rest comes below it.
    for (const row of report.sessions) {
      const [slug = '', ...rest] = cellsOf(row, options.nowMs).filter((cell) => cell !== '');
      lines.push(
        painted(slug, row, colors),
        painted(fit(`  ${rest.join(' · ')}`, options.columns), row, colors),
      );
    }
  } else {
    const rows = report.sessions.map((row) => cellsOf(row, options.nowMs));
    const text = table(rows, [{ max: 42 }, {}, {}, { align: 'right' }]);
    lines.push(
      ...text.split('\n').map((line, i) => painted(fit(line, options.columns), report.sessions[i], colors)),
    );
  }
  if (report.crashed > 0) {
    const noun = report.crashed === 1 ? 'session has' : 'sessions have';
    const where = options.all === true ? '' : ' `steward sessions --all` shows which.';
    lines.push('', `${report.crashed} ${noun} said nothing for 12 hours: crashed, or left.${where}`);
  }
  const { dead, deadFolder } = report.spool;
  if (dead > 0) {
    const noun = dead === 1 ? 'task of hooks was' : 'tasks of hooks were';
    lines.push(
      '',
      `${dead} ${noun} given up. "steward status" says why, "steward work retry" tries again.`,
      `Each is a file in ${deadFolder}.`,
    );
  }
  const text = lines.join('\n');
  return options.unicode === false ? toAscii(text) : text;
}

/** A table of sessions has no room for what they are about in less. */
const NARROW = 72;

function cellsOf(row: SessionRow, nowMs: number): string[] {
  return [
    row.slug,
    row.status,
    phase(row.phase).label,
    ago(row.startedAt, nowMs),
    [...aboutOf(row), ...agentsOf(row)].join(' · '),
  ];
}

function painted(line: string, row: SessionRow | undefined, colors: Palette): string {
  if (row?.status === 'waiting') return colors.attention(line);
  return row?.status === 'working' ? line : colors.neutral(line);
}

function aboutOf(row: SessionRow): string[] {
  const why = row.status === 'waiting' ? (WAITING_FOR[row.waitingFor ?? ''] ?? []) : [];
  return [...[row.repo, row.task].filter((text) => text !== null).map(clean), ...why];
}

/** The words of the assistant that say more than that it is the person's turn. */
const WAITING_FOR: Readonly<Record<string, readonly string[]>> = {
  permission_prompt: ['asks for permission'],
  elicitation_dialog: ['asks a question'],
};

function agentsOf({ subagents }: SessionRow): string[] {
  return subagents === 0 ? [] : [`${subagents} ${subagents === 1 ? 'subagent' : 'subagents'}`];
}

/** A session with its history. */
export interface SessionDetail extends SessionRow {
  effort: string | null;
  terminal: Session['terminal'];
  phaseHistory: PhaseEntry[];
}

export function sessionDetail(session: Session, nowMs: number): SessionDetail {
  const { effort, terminal, phaseHistory } = session;
  return { ...rowOf(session, nowMs), effort, terminal, phaseHistory };
}

export interface SessionTextOptions {
  nowMs: number;
  /** An instant as a person reads it. */
  localTime: (iso: string) => string;
}

/** `steward sessions show SLUG`. */
export function sessionText(detail: SessionDetail, { nowMs, localTime }: SessionTextOptions): string {
  const when = (iso: string): string => `${localTime(iso)}, ${ago(iso, nowMs)} ago`;
  const rows: [string, string | null][] = [
    ['status', [detail.status, ...aboutOf({ ...detail, repo: null, task: null })].join(', ')],
    ['task', detail.task],
    ['repository', detail.repo],
    ['project', detail.project],
    ['effort', detail.effort],
    ['subagents', detail.subagents === 0 ? null : String(detail.subagents)],
    ['started', when(detail.startedAt)],
    ['last active', when(detail.updatedAt)],
    ['artifact', detail.artifact],
    ['issue', detail.github_issue_url],
    ['terminal', detail.terminal?.tty ?? null],
    ['sessions', detail.sessionIds.join(', ')],
  ];
  const facts = rows.flatMap(([name, value]) => (value === null ? [] : [[name, clean(value)]]));
  const history = detail.phaseHistory.map(({ phase: id, at, source }) => [
    localTime(at),
    phase(id).label,
    source,
  ]);
  return [clean(detail.slug), '', table(facts), '', table(history)].join('\n');
}

/** `46 m`, `3 h 02 m`, `5 d`; a time that is still to come, of a clock that was put back, is now. */
function ago(iso: string, nowMs: number): string {
  const value = Math.max(0, nowMs - Date.parse(iso)) / 60_000;
  return value < 48 * 60 ? minutes(Math.floor(value)) : `${Math.floor(value / 1440)} d`;
}

export interface StatusLine {
  phase: Session['phase'] | null;
  session: string | null;
  /** Sessions that wait for a person, without the one that asks. */
  waiting: number;
  /** Minutes of creation today; null where sense captures nothing. */
  creationMinutes: number | null;
}

const MAX_NAME = 32;

/** The facts of the status line: of the session that the assistant names, else of the one that spoke last. */
export function statusLine(
  state: SessionsState,
  given: { session: string | undefined; creationMinutes: number | null; nowMs: number },
): StatusLine {
  const live = Object.values(state.sessions)
    .map((session) => ({ session, status: statusOf(session, given.nowMs) }))
    .filter(({ status }) => status === 'working' || status === 'waiting')
    .sort((a, b) => Date.parse(b.session.updatedAt) - Date.parse(a.session.updatedAt));
  const own =
    given.session === undefined
      ? live[0]
      : live.find(({ session }) => session.sessionIds.includes(given.session as string));
  return {
    phase: own?.session.phase ?? null,
    session: own === undefined ? null : (own.session.task ?? own.session.repo ?? own.session.slug),
    waiting: live.filter((one) => one.status === 'waiting' && (given.session === undefined || one !== own))
      .length,
    creationMinutes: given.creationMinutes,
  };
}

/** `▶ Execute · fix the login · 2 waiting · 1 h 10 m` */
export function statusLineText(line: StatusLine): string {
  const row = line.phase === null ? undefined : phase(line.phase);
  const parts = [
    row === undefined ? 'no session' : `${row.icon} ${row.label}`,
    ...(line.session === null ? [] : [fit(clean(line.session), MAX_NAME)]),
    ...(line.waiting === 0 ? [] : [`${line.waiting} waiting`]),
    ...(line.creationMinutes === null ? [] : [minutes(line.creationMinutes)]),
  ];
  return parts.join(' · ');
}
