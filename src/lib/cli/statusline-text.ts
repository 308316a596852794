import type { Limit, StatuslineInput } from '../assistant/status-input';
import { type Marks, unmarked } from '../inbox/marks';
import { sessionWaits } from '../inbox/waits';
import { minutes } from '../platform/terminal/format';
import { comingTime } from '../platform/time/clock';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, fit, fitName } from '../platform/terminal/text-width';
import { labelOf } from '../sessions/describe';
import { phase } from '../sessions/phases';
import { type SessionsState, statusOf } from '../sessions/session';
import { CLAUDE_CODE } from '../sessions/session-key';

/** The rows of the inbox that aren't sessions, and which rows are done or snoozed. */
export interface OtherWaits {
  others: number;
  /** Since when the oldest of them waits. */
  othersSince: string | null;
  /** How much of a budget is spent, if that is at least 80%. */
  budgetPercent: number | null;
  marks: Marks;
}

export interface DayFigures {
  /** Minutes today that count as creation; null if no time has been recorded today. */
  creationMinutes: number | null;
  /**
   * Rounded to one decimal place. `heldUpMinutes` is how long agents waited for you while you were active in another
   * application. Null if no time has been recorded today.
   */
  time: { totalMinutes: number; heldUpMinutes: number } | null;
}

export const NO_INPUT: StatuslineInput = {
  model: null,
  contextPercent: null,
  fiveHour: null,
  sevenDay: null,
};

const MAX_NAME = 32;

/** Returns the status line's data for the given session, or for the most recent session. */
export function statusLine(
  state: SessionsState,
  given: { session: string | undefined; input: StatuslineInput; day: DayFigures; nowMs: number } & OtherWaits,
) {
  const live = Object.values(state.sessions)
    .map((session) => ({ session, status: statusOf(session, given.nowMs) }))
    .filter(({ status }) => status === 'working' || status === 'waiting')
    .sort((a, b) => Date.parse(b.session.updatedAt) - Date.parse(a.session.updatedAt));
  const own =
    given.session === undefined
      ? live[0]
      : live.find(({ session }) => session.sessionIds.includes(given.session as string));
  const waits = unmarked(sessionWaits(Object.values(state.sessions), given.nowMs), given.marks, given.nowMs);
  const shown = waits.filter(({ slug }) => given.session === undefined || slug !== own?.session.slug);
  const [oldest] = [...shown.map(({ since }) => since), given.othersSince ?? []].flat().sort();
  return {
    ...given.input,
    budgetPercent: given.budgetPercent,
    phase: own?.session.phase ?? null,
    session: own === undefined ? null : (own.session.task ?? labelOf(own.session) ?? own.session.slug),
    assistant: own === undefined ? null : (own.session.assistant ?? CLAUDE_CODE),
    /** Number of rows in the inbox, without the given session's own row. */
    waiting: given.others + shown.length,
    longestWaitMinutes:
      oldest === undefined ? null : Math.max(0, Math.floor((given.nowMs - Date.parse(oldest)) / 60_000)),
    ...given.day,
  };
}

/** The output of `steward statusline --json`. */
export type StatusLine = ReturnType<typeof statusLine>;

/**
 * Formats the status line: `Opus 4.8 · context 42% · 5 h 63% until 18:00 · ▶ Execute · Fix the login · 2
 * waiting · 1 h 10 m today`. If the line is too long, drops the reset times first, then the least important parts.
 */
export function statusLineText(line: StatusLine, options: { columns: number; nowMs: number }): string {
  // Parts with larger numbers are dropped first.
  const parts: Part[] = [
    ...part(5, line.model),
    ...part(2, line.contextPercent === null ? null : `context ${line.contextPercent}%`),
    ...limitPart(3, '5 h', line.fiveHour, options.nowMs),
    ...limitPart(4, 'week', line.sevenDay, options.nowMs),
    ...part(1, phaseOf(line.phase)),
    ...part(1, line.session === null ? null : fitName(clean(line.session), MAX_NAME)),
    ...part(5, line.assistant === CLAUDE_CODE ? null : line.assistant),
    ...part(3, line.budgetPercent === null ? null : `budget ${line.budgetPercent}%`),
    ...part(0, line.waiting === 0 ? null : `${line.waiting} waiting`),
    ...dayParts(line),
  ];
  const textOf = (shown: readonly Part[]): string => shown.map(({ text }) => text).join(' · ');
  const fits = (shown: readonly Part[]): boolean => displayWidth(textOf(shown)) <= options.columns;
  if (fits(parts)) return textOf(parts);
  let shown = parts.map((one) => ({ ...one, text: one.short ?? one.text }));
  for (let rank = 6; rank > 0 && !fits(shown); rank -= 1) {
    const next = shown.filter((one) => one.rank !== rank);
    if (next.length > 0) shown = next;
  }
  return fit(textOf(shown), options.columns);
}

/** The programs whose bars show the line. Most take plain text. */
export const BARS = [
  ...['plain', 'json', 'waybar', 'polybar', 'i3blocks', 'tmux', 'starship'],
  ...['swiftbar', 'xbar', 'genmon'],
] as const;

/**
 * Formats the pending rows, the limits and today's time for a bar. The text contains no names, so that it needs no
 * escaping. A click runs steward by the absolute paths in `own`, because a bar may have another PATH.
 */
export function barText(
  line: StatusLine,
  bar: string,
  nowMs: number,
  own: readonly [string, string],
): string {
  const waited = line.longestWaitMinutes ?? 0;
  const longest = waited < 1 ? '' : `, longest ${minutes(waited)}`;
  const parts = [
    ...part(0, line.waiting === 0 ? null : `${line.waiting} waiting${longest}`),
    ...limitPart(3, '5 h', line.fiveHour, nowMs),
    ...limitPart(4, 'week', line.sevenDay, nowMs),
    ...part(3, line.budgetPercent === null ? null : `budget ${line.budgetPercent}%`),
    ...dayParts(line),
  ];
  const text = parts.map((one) => one.short ?? one.text).join(' · ');
  const tooltip = parts.map((one) => one.text).join('\n');
  if (bar === 'waybar')
    return JSON.stringify({ text, tooltip, class: line.waiting === 0 ? 'idle' : 'waiting' });
  const [program, script] = own.map((path) => JSON.stringify(path));
  if (bar === 'genmon') return `<txt>${text}</txt><txtclick>${program} ${script} open</txtclick>`;
  const isMenu = bar === 'swiftbar' || bar === 'xbar';
  // A menu needs a title to click.
  return isMenu
    ? `${text || 'steward'}\n---\nOpen the pages | shell=${program} param1=${script} param2=open terminal=false`
    : text;
}

interface Part {
  rank: number;
  text: string;
  short?: string;
}

function part(rank: number, text: string | null): Part[] {
  return text === null ? [] : [{ rank, text }];
}

function dayParts({ time }: StatusLine): Part[] {
  if (time === null) return [];
  const { totalMinutes, heldUpMinutes } = time;
  const held = heldUpMinutes < 0.5 ? null : `held up ${minutes(heldUpMinutes)}`;
  return [...part(6, `${minutes(totalMinutes)} today`), ...part(5, held)];
}

/** A session without a session file has no phase worth showing. */
function phaseOf(id: StatusLine['phase']): string | null {
  if (id === null) return 'no session';
  const { icon, label } = phase(id);
  return id === 'native' ? null : `${icon} ${label}`;
}

/**
 * Formats a usage limit, such as `5 h 63% until 18:00`. Adds the weekday if the reset isn't today. Omits a
 * limit whose reset time has passed.
 */
function limitPart(rank: number, name: string, limit: Limit | null, nowMs: number): Part[] {
  if (limit === null) return [];
  const short = `${name} ${limit.usedPercent}%`;
  const resetMs = limit.resetsAt === null ? undefined : Date.parse(limit.resetsAt);
  if (resetMs === undefined) return [{ rank, text: short }];
  if (resetMs <= nowMs) return [];
  return [{ rank, text: `${short} until ${comingTime(resetMs, nowMs)}`, short }];
}
