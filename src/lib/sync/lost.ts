import { byCodeUnits } from '../platform/files/short-hash';
import { lengthOf, merged, without, type Span } from '../time/ledger/spans';
import { mergeDays } from '../time/machines/merge';
import { keyOfCommit, type MachineDay, type UnionRecord } from '../time/machines/model';
import type { DailyRecord } from '../time/record';
import type { DayRow } from '../usage/days';
import type { DaySet, PublishedDay, PublishedSession } from './format';

/** Rounding may shorten a day by this much. */
const ROUNDING_SEC = 60;
/** While a day lasts, a break that is detected late shortens the end of its last span. */
const OPEN_END_SEC = 600;

/**
 * Returns the published day with this machine's data added if the machine lost part of what it published, for
 * example because its area was restored from a backup. Returns undefined if it lost nothing.
 */
export function withLost(local: DaySet, published: DaySet): DaySet | undefined {
  const { day: own, ...rest } = local;
  const { day: before } = published;
  if (own === undefined || before === undefined) return undefined;
  return isPoorer({ day: own, ...rest }, { ...published, day: before })
    ? joinedSet(local, published)
    : undefined;
}

/** Merges what two machines published for a day, or one at two times. */
export function joinedSet({ day: own, ...local }: DaySet, { day: before, ...published }: DaySet): DaySet {
  return {
    day: own === undefined || before === undefined ? (own ?? before) : joinedDay(own, before),
    sessions: joinedSessions(local.sessions, published.sessions),
    usage: joinedUsage(local.usage, published.usage),
  };
}

type WholeSet = DaySet & { day: PublishedDay };

function isPoorer(local: WholeSet, published: WholeSet): boolean {
  const { record, spans } = published.day;
  const end = Math.max(0, ...spans.map(({ to }) => to));
  const settled: Span = [record.final ? end : end - OPEN_END_SEC, end];
  const lost = without(without(spansOf(spans), spansOf(local.day.spans)), [settled]);
  const isShorter = local.day.record.totalMinutes < record.totalMinutes - (end - settled[0]) / 60 - 1;
  const known = new Set([...local.day.commits, ...local.sessions].map(keyOfCommit));
  return (
    isShorter ||
    (local.usage.length === 0 && published.usage.length > 0) ||
    lengthOf(lost) > ROUNDING_SEC ||
    [...published.day.commits, ...published.sessions].some((item) => !known.has(keyOfCommit(item)))
  );
}

function spansOf(spans: PublishedDay['spans']): Span[] {
  return merged(spans.map(({ from, to }): Span => [from, to]));
}

function joinedDay(own: PublishedDay, before: PublishedDay): PublishedDay {
  const known = new Set(before.commits.map(keyOfCommit));
  const commits = own.commits.filter((commit) => !known.has(keyOfCommit(commit)));
  const covered = spansOf(before.spans);
  const spans = own.spans.flatMap((span) =>
    without([[span.from, span.to]], covered).map(([from, to]) => ({ ...span, from, to })),
  );
  const hasNew = spans.length > 0 || commits.length > 0;
  const record = hasNew ? joinedRecord(own, before) : before.record;
  return {
    ...before,
    record: { ...record, final: own.record.final || before.record.final },
    spans: [...before.spans, ...spans].sort((a, b) => a.from - b.from),
    commits: [...before.commits, ...commits].sort((a, b) => a.ts - b.ts || byCodeUnits(a.id, b.id)),
  };
}

/** Merges the records as those of two machines. Sessions of `own` that `before` contains are ignored. */
function joinedRecord(own: PublishedDay, before: PublishedDay): DailyRecord {
  const { date } = before.record;
  const copy: MachineDay = { machine: '1', ...own, record: { ...own.record, backfilled: true } };
  const [union] = mergeDays([{ machine: '0', ...before }, copy], new Set([date]), []);
  if (union === undefined) return before.record;
  const record: DailyRecord & Partial<UnionRecord> = { ...union };
  delete record.machines;
  delete record.overlapMinutes;
  record.sessions.items = record.sessions.items.map(withoutMachine);
  record.ledger.attention = record.ledger.attention.map(withoutMachine);
  record.ledger.agents = record.ledger.agents.map(withoutMachine);
  return record;
}

function withoutMachine<T extends object>(row: T): T {
  const rest: T & { machine?: string } = { ...row };
  delete rest.machine;
  return rest;
}

function joinedSessions(
  own: readonly PublishedSession[],
  before: readonly PublishedSession[],
): PublishedSession[] {
  const lengthIn = ({ parts }: PublishedSession): number =>
    parts.reduce((sum, [from, to]) => sum + to - from, 0);
  const sessions = new Map(before.map((session) => [session.id, session]));
  for (const session of own) {
    const known = sessions.get(session.id);
    if (known === undefined || lengthIn(session) >= lengthIn(known)) sessions.set(session.id, session);
  }
  return [...sessions.values()].sort((a, b) => byCodeUnits(a.id, b.id));
}

function joinedUsage(own: readonly DayRow[], before: readonly DayRow[]): DayRow[] {
  const known = new Set(own.map(({ session }) => session));
  return [...own, ...before.filter(({ session }) => !known.has(session))];
}
