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
interface OtherWaits {
  others: number;
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
  return {
    ...given.input,
    phase: own?.session.phase ?? null,
    session: own === undefined ? null : (own.session.task ?? labelOf(own.session) ?? own.session.slug),
    assistant: own === undefined ? null : (own.session.assistant ?? CLAUDE_CODE),
    /** Number of rows in the inbox, without the given session's own row. */
    waiting:
      given.others +
      waits.filter(({ slug }) => given.session === undefined || slug !== own?.session.slug).length,
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

/** What a bar takes: plain text, or the markup of its own. */
export const BARS = ['plain', 'waybar', 'genmon'] as const;

/** Formats the number of pending rows and today's time for a bar. The text contains no names, so that it needs no escaping. */
export function barText(line: StatusLine, bar: string): string {
  const parts = [...part(0, line.waiting === 0 ? null : `${line.waiting} waiting`), ...dayParts(line)];
  const text = parts.map((one) => one.text).join(' · ');
  if (bar === 'waybar') return JSON.stringify({ text, class: line.waiting === 0 ? 'idle' : 'waiting' });
  return bar === 'genmon' ? `<txt>${text}</txt>` : text;
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
