import { byCodeUnits } from '../../platform/files/short-hash';
import type { SessionState } from '../event';
import { apportion, TENTH_MS } from '../focus-tally';
import type { Piece } from './attention';
import { AGENT_STATES, PLACES, type AgentRow, type Answers, type Cells, type DayLedger } from './model';
import { lengthOf, listIn, merged, within, without, type Span } from './spans';
import { timeIn, type Stay, type Timeline } from './timeline';

interface Presence {
  covered: readonly Span[];
  away: readonly Span[];
  /** Spans in which an application was in the foreground. */
  desk: readonly Span[];
  pieces: readonly Piece[];
}

type CellMs = number[];

const CELLS = AGENT_STATES.flatMap((state) => PLACES.map((place) => ({ state, place })));

/** Computes the agents' time by session and by frontmost application. */
export function agentCells(
  timeline: Timeline,
  presence: Presence,
): Pick<DayLedger, 'agents' | 'apps' | 'cells'> {
  const rows = new Map<string, { row: Omit<AgentRow, 'cells'>; ms: CellMs }>();
  const apps = new Map(
    [...spansByApp(presence.pieces)].map(([app, spans]) => [app, { spans, ms: noCells() }]),
  );
  for (const [session, stays] of timeline.stays) {
    const front = merged([
      ...presence.pieces.filter((piece) => piece.session === session).map(({ span }) => span),
      ...timeline.proofs.filter((proof) => proof.session === session).map(({ span }) => span),
    ]);
    const assistant = stays.findLast((each) => each.assistant !== null)?.assistant ?? null;
    for (const stay of stays) {
      const place = stay.otherFolder
        ? { repo: null, otherFolder: true as const, branch: null }
        : { repo: stay.repo, branch: stay.branch };
      const row = { session, assistant, ...place };
      const known = rows.get(JSON.stringify(row)) ?? { row, ms: noCells() };
      rows.set(JSON.stringify(row), known);
      addCells(known.ms, stay.state, placesOf([stay], front, presence).map(lengthOf));
    }
    for (const state of AGENT_STATES) {
      const places = placesOf(
        stays.filter((stay) => stay.state === state),
        front,
        presence,
      ).slice(0, 2);
      for (const { spans, ms } of apps.values()) {
        addCells(
          ms,
          state,
          places.map((place) => lengthOf(within(place, spans))),
        );
      }
    }
  }
  const sorted = [...rows].sort(([a, x], [b, y]) => total(y.ms) - total(x.ms) || byCodeUnits(a, b));
  const agents = rounded(sorted.map(([, { row, ms }]) => ({ ...row, ms })));
  const byTime = [...apps].sort(([a, x], [b, y]) => total(y.ms) - total(x.ms) || byCodeUnits(a, b));
  return { agents, apps: rounded(byTime.map(([app, { ms }]) => ({ app, ms }))), cells: sumOf(agents) };
}

/**
 * Splits the sessions' time by where you were. Returns the spans for each place, in the order of `PLACES`.
 */
function placesOf(stays: readonly Stay[], front: readonly Span[], presence: Presence): Span[][] {
  const { covered, desk, away } = presence;
  const spans = stays.filter(({ state }) => state !== 'over').map(({ ms, untilMs }): Span => [ms, untilMs]);
  const all = within(merged(spans), covered);
  const rest = without(all, front);
  const elsewhere = without(rest, desk);
  return [within(all, front), within(rest, desk), within(elsewhere, away), without(elsewhere, away)];
}

function spansByApp(pieces: readonly Piece[]): Map<string, Span[]> {
  const spans = new Map<string, Span[]>();
  for (const { app, span } of pieces) listIn(spans, app).push(span);
  return new Map([...spans].map(([app, list]) => [app, merged(list)]));
}

function noCells(): CellMs {
  return CELLS.map(() => 0);
}

function addCells(cells: CellMs, state: SessionState, places: readonly number[]): void {
  CELLS.forEach((cell, i) => {
    if (cell.state === state) cells[i] = (cells[i] ?? 0) + (places[PLACES.indexOf(cell.place)] ?? 0);
  });
}

/** Rounds all cells by the largest-remainder method, so that their sum is the rounded total. */
function rounded<T extends { ms: CellMs }>(rows: readonly T[]): (Omit<T, 'ms'> & { cells: Cells })[] {
  const all = rows.flatMap(({ ms }) => ms);
  const shares = apportion(Math.round(total(all) / TENTH_MS), all, TENTH_MS);
  return rows.flatMap(({ ms: _ms, ...row }, n) => {
    const cells = cellsOf(shares.slice(n * CELLS.length, (n + 1) * CELLS.length));
    return Object.keys(cells).length === 0 ? [] : [{ ...row, cells }];
  });
}

function cellsOf(tenths: readonly number[]): Cells {
  const cells: Cells = {};
  CELLS.forEach(({ state, place }, i) => {
    const value = tenths[i] ?? 0;
    if (value > 0) cells[state] = { ...cells[state], [place]: value / 10 };
  });
  return cells;
}

/** Adds up the rows' cells. Uses tenths of a minute to avoid floating-point errors. */
export function sumOf(rows: readonly { cells: Cells }[]): Cells {
  const sums = CELLS.map(() => 0);
  for (const { cells } of rows) {
    CELLS.forEach(({ state, place }, i) => {
      const minutes = cells[state]?.[place];
      if (minutes !== undefined) sums[i] = (sums[i] ?? 0) + Math.round(minutes * 10);
    });
  }
  return cellsOf(sums);
}

function total(parts: readonly number[]): number {
  return parts.reduce((sum, ms) => sum + ms, 0);
}

/**
 * Returns how long each question waited for its answer. Ignores questions that were unanswered when the
 * session exited.
 */
export function answersIn({ stays }: Timeline): Answers {
  const waits = [...stays.values()]
    .flat()
    .filter(({ state, next }) => state === 'waiting' && (next === 'working' || next === 'ready'))
    .map(({ sinceMs, untilMs }) => Math.round((untilMs - sinceMs) / TENTH_MS))
    .sort((a, b) => a - b);
  const minutes = waits.map((tenths) => tenths / 10);
  return {
    count: waits.length,
    medianMinutes: medianOf(minutes),
    longestMinutes: minutes.at(-1) ?? null,
    ...(minutes.length === 0 ? {} : { times: minutes.length <= MAX_TIMES ? minutes : evenly(minutes) }),
  };
}

const MAX_TIMES = 500;

function evenly(sorted: readonly number[]): number[] {
  return Array.from({ length: MAX_TIMES }, (_, i) => {
    return sorted[Math.round((i * (sorted.length - 1)) / (MAX_TIMES - 1))] ?? 0;
  });
}

function medianOf(sorted: readonly number[]): number | null {
  const middle = sorted.slice(Math.floor((sorted.length - 1) / 2), Math.floor(sorted.length / 2) + 1);
  return sorted.length === 0 ? null : Math.round((total(middle) / middle.length) * 10) / 10;
}

/** Merges the answer times from several days or machines. The median is null if any answer times are missing. */
export function joinAnswers(days: readonly Answers[]): Answers {
  const answered = days.filter(({ count }) => count > 0);
  const [first = { count: 0, medianMinutes: null, longestMinutes: null }] = answered;
  if (answered.length < 2) return first;
  const isKnown = answered.every(({ times }) => times !== undefined);
  const times = answered.flatMap((day) => day.times ?? []).sort((a, b) => a - b);
  return {
    count: total(answered.map(({ count }) => count)),
    medianMinutes: isKnown ? medianOf(times) : null,
    longestMinutes: Math.max(...answered.map(({ longestMinutes }) => longestMinutes ?? 0)),
    ...(isKnown ? { times: times.length <= MAX_TIMES ? times : evenly(times) } : {}),
  };
}

/** Returns the maximum and mean number of sessions that worked at the same time. */
export function parallelIn({ stays }: Timeline, covered: readonly Span[]): DayLedger['parallel'] {
  const work = [...stays.values()].flatMap((list) => within(timeIn(list, 'working'), covered));
  const steps = work.flatMap(([from, to]) => [[from, 1] as const, [to, -1] as const]);
  // If one session ends when another starts, process the end first, so that the sessions don't count as
  // parallel.
  steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let [now, most] = [0, 0];
  for (const [, step] of steps) most = Math.max(most, (now += step));
  const activeMs = lengthOf(merged(work));
  return { most, mean: activeMs === 0 ? 0 : Math.round((lengthOf(work) / activeMs) * 10) / 10 };
}
