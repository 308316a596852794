import { textOf } from '../platform/files/json-object';
import { byCodeUnits } from '../platform/files/short-hash';
import type { DayBounds } from '../platform/time/time';
import { foldName, type AppKind, type Classifier } from './classify';
import { changeOf, type SenseEvent } from './event';
import { awaySpan, focusMs, focusSamples, type FocusSample } from './focus-samples';
import { joinSpellings } from './focus-tally';
import { coveredBy } from './ledger/ledger';
import { within, type Span } from './ledger/spans';
import { timeIn, timelineTally, type Stay } from './ledger/timeline';

/** A day's timeline. Times are the seconds elapsed since the start of the day. */
export interface DayTimeline {
  /** Applications, most used first. */
  apps: [app: string, kind: AppKind][];
  repos: string[];
  /** Spans in chronological order. `app` and `repo` are indexes into `apps` and `repos`. */
  spans: [at: number, length: number, app: number, repo?: number][];
  away: [at: number, length: number, reason: string][];
  commits: { at: number; repo: string; branch: string | null; sha: string; subject: string }[];
  sessions: SessionParts[];
}

/** `w`: working. `y`: waiting for your answer. `r`: turn finished. */
export type DrawnState = 'w' | 'y' | 'r';

/** A session's activity on one day. */
export interface SessionParts {
  id: string;
  repo: string | null;
  branch: string | null;
  /** Set only if the session ran on another machine and that machine publishes details. */
  slug?: string;
  title?: string;
  issue?: number;
  parts: [at: number, length: number, state: DrawnState][];
}

export interface TimelineOptions extends DayBounds {
  pollIntervalSec: number;
  classify: Classifier;
}

/** Computes a day's timeline from its events, in any order. No span extends past the last event. */
export function dayTimeline(events: readonly SenseEvent[], options: TimelineOptions): DayTimeline {
  return {
    ...focusSpans(events, options),
    away: awaySpans(events, options),
    commits: commitsOf(events, options),
    sessions: sessionParts(events, options),
  };
}

export function inSeconds([from, to]: Span, { startMs, endMs }: DayBounds): [number, number] | undefined {
  const [at, end] = [from, to].map((ms) =>
    Math.round((Math.min(Math.max(ms, startMs), endMs) - startMs) / 1000),
  );
  const length = (end as number) - (at as number);
  return length > 0 ? [at as number, length] : undefined;
}

interface DrawnSpan {
  from: number;
  to: number;
  app: string;
  repo?: string | undefined;
}

/** Draws spans, whose times are in milliseconds, with the applications of the day. */
export function drawnSpans(
  apps: DayTimeline['apps'],
  found: readonly DrawnSpan[],
  bounds: DayBounds,
): Pick<DayTimeline, 'apps' | 'repos' | 'spans'> {
  const places = new Map(apps.map(([app], i) => [foldName(app), i]));
  const repos = [...new Set(found.flatMap(({ repo }) => repo ?? []))].sort(byCodeUnits);
  const spans = found.flatMap(({ app, repo, from, to }): DayTimeline['spans'] => {
    const span = inSeconds([from, to], bounds);
    if (span === undefined) return [];
    const place = places.get(foldName(app)) ?? 0;
    return [repo === undefined ? [...span, place] : [...span, place, repos.indexOf(repo)]];
  });
  return { apps, repos, spans: spans.sort((a, b) => a[0] - b[0]) };
}

function focusSpans(
  events: readonly SenseEvent[],
  options: TimelineOptions,
): Pick<DayTimeline, 'apps' | 'repos' | 'spans'> {
  const { pollIntervalSec, classify } = options;
  const samples = focusSamples(events, pollIntervalSec);
  const counts = new Map<string, number>();
  for (const { app, from, to } of samples) counts.set(app, (counts.get(app) ?? 0) + to - from);
  const joined = joinSpellings(counts).sort((a, b) => b.ms - a.ms);
  const spelling = new Map(joined.map(({ app }) => [foldName(app), app]));
  const kinds = new Map<string, AppKind>();
  for (const { app, bundleId } of samples) {
    const name = spelling.get(foldName(app)) ?? app;
    if (!kinds.has(name)) kinds.set(name, classify(app, bundleId).kind);
  }
  const apps = joined.map(({ app }): [string, AppKind] => [app, kinds.get(app) ?? 'neutral']);
  return drawnSpans(apps, joinedSamples(samples, pollIntervalSec * 1000), options);
}

/**
 * Joins consecutive samples of the same application and repository. Ignores small gaps caused by late
 * captures.
 */
function joinedSamples(samples: readonly FocusSample[], intervalMs: number): DrawnSpan[] {
  const spans: DrawnSpan[] = [];
  for (const { from, to, app, event } of samples) {
    const last = spans.at(-1);
    const repo = textOf(event.repo);
    const fromMs = Math.max(from, last?.to ?? from);
    const isSame = last !== undefined && foldName(last.app) === foldName(app) && last.repo === repo;
    if (isSame && fromMs - last.to <= intervalMs / 2) last.to = to;
    else spans.push({ from: fromMs, to, app, repo });
  }
  return spans;
}

function awaySpans(events: readonly SenseEvent[], bounds: DayBounds): DayTimeline['away'] {
  const rows = events.flatMap((event): DayTimeline['away'] => {
    const [found] = event.type === 'away' ? awaySpan(Date.parse(event.ts), event) : [];
    const span = found === undefined ? undefined : inSeconds(found, bounds);
    return span === undefined ? [] : [[...span, textOf(event.detail?.['reason']) ?? 'idle']];
  });
  return rows.sort((a, b) => a[0] - b[0]);
}

function commitsOf(events: readonly SenseEvent[], { startMs, endMs }: DayBounds): DayTimeline['commits'] {
  return commitsIn(events).map(({ ms, repo, branch, sha, subject }) => {
    const at = Math.floor((Math.min(Math.max(ms, startMs), endMs) - startMs) / 1000);
    return { at, repo, branch, sha, subject };
  });
}

/** Returns the commits among events, each once and oldest first. */
export function commitsIn(events: readonly SenseEvent[]) {
  const commits = new Map<string, ReturnType<typeof commitIn>>();
  for (const event of events.filter(({ type }) => type === 'git-commit')) {
    const commit = commitIn(event);
    const key = `${commit.path ?? commit.repo}\n${commit.change}`;
    if (!commits.has(key)) commits.set(key, commit);
  }
  return [...commits.values()].sort((a, b) => a.ms - b.ms || byCodeUnits(a.change, b.change));
}

function commitIn({ ts, repo, detail = {} }: SenseEvent) {
  const ms = Date.parse(ts);
  const at = Math.floor(ms / 1000);
  const path = textOf(detail['path']);
  return {
    ms,
    at,
    path,
    repo: textOf(repo) ?? path ?? 'unknown',
    /** Distinguishes changes of the same author and second; undefined in older logs. */
    patch: textOf(detail['patch']),
    change: changeOf({ detail }) ?? String(at),
    branch: textOf(detail['branch']) ?? null,
    sha: textOf(detail['sha']) ?? '',
    subject: textOf(detail['subject']) ?? '',
  };
}

function sessionParts(events: readonly SenseEvent[], options: TimelineOptions): SessionParts[] {
  const tally = timelineTally(options.pollIntervalSec);
  const times = new Set<number>();
  for (const event of events) {
    const ms = Date.parse(event.ts);
    times.add(ms);
    if (event.type === 'app-focus') times.add(ms - focusMs(event, options.pollIntervalSec));
    if (event.type === 'agent-session') times.add(ms - options.pollIntervalSec * 1000);
    if (event.type === 'agent-session' || event.type === 'session-state') tally.add(ms, event);
  }
  const covered = coveredBy([...times]);
  return [...tally.result().stays].flatMap(([id, stays]): SessionParts[] => {
    const partsOf = (state: DrawnState, wanted: Stay['state']): SessionParts['parts'] =>
      within(timeIn(stays, wanted), covered).flatMap((span): SessionParts['parts'] => {
        const shown = inSeconds(span, options);
        return shown === undefined ? [] : [[...shown, state]];
      });
    const parts = [...partsOf('w', 'working'), ...partsOf('y', 'waiting'), ...partsOf('r', 'ready')];
    const last = stays.findLast(({ repo }) => repo !== null);
    if (parts.length === 0) return [];
    return [
      {
        id,
        repo: last?.repo ?? null,
        branch: last?.branch ?? null,
        parts: parts.sort((a, b) => a[0] - b[0]),
      },
    ];
  });
}
