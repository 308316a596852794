import { textOf } from '../platform/files/json-object';
import { foldName, type AppKind } from './classify';
import { commitsIn, dayTimeline, type SessionParts, type TimelineOptions } from './day-timeline';
import type { SenseEvent } from './event';
import { focusSamples } from './focus-samples';
import type { MachineSpan } from './machines/model';

/**
 * A day's application time, commits and sessions, in the form published to other machines. Times are in epoch
 * seconds.
 */
export interface DayParts {
  /** In chronological order. */
  spans: FocusSpan[];
  commits: ReturnType<typeof commitsIn>;
  sessions: (Omit<SessionParts, 'parts'> & { parts: [from: number, to: number, state: 'w' | 'y'][] })[];
  /** Time of the last event. */
  lastAt: number;
}

type FocusSpan = Omit<MachineSpan, 'repo'> & { repo: string | undefined };

/**
 * Computes the data to publish for a day. Time with input and time without input are stored as separate
 * spans.
 */
export function dayParts(events: readonly SenseEvent[], options: TimelineOptions): DayParts {
  const start = Math.floor(options.startMs / 1000);
  const timeline = dayTimeline(events, options);
  return {
    spans: spansOf(
      events,
      options,
      new Map(timeline.apps.map(([app, kind]) => [foldName(app), { app, kind }])),
    ),
    commits: commitsIn(events),
    sessions: timeline.sessions.map(({ parts, ...session }) => ({
      ...session,
      // Publish `r` as `y`, because older versions of steward don't know `r`.
      parts: parts.map(([at, length, state]) => [start + at, start + at + length, state === 'w' ? 'w' : 'y']),
    })),
    lastAt: Math.floor(events.reduce((last, { ts }) => Math.max(last, Date.parse(ts)), 0) / 1000),
  };
}

function spansOf(
  events: readonly SenseEvent[],
  { endMs, pollIntervalSec }: TimelineOptions,
  apps: ReadonlyMap<string, { app: string; kind: AppKind }>,
): FocusSpan[] {
  const spans: (FocusSpan & { isQuiet: boolean | undefined })[] = [];
  // What rounding to seconds left out so far, so that the spans add up to the record's time.
  let restMs = 0;
  let endedMs = 0;
  for (const sample of focusSamples(events, pollIntervalSec)) {
    const repo = textOf(sample.event.repo);
    const last = spans.at(-1);
    const shown = apps.get(foldName(sample.app)) ?? { app: sample.app, kind: 'neutral' };
    const toMs = Math.min(sample.to, endMs);
    const fromMs = Math.max(sample.from, endedMs);
    endedMs = Math.max(endedMs, toMs);
    restMs += Math.max(0, toMs - fromMs);
    const from = Math.max(Math.round(fromMs / 1000), last?.to ?? 0);
    const to = from + Math.round(restMs / 1000);
    if (from >= to) continue;
    restMs -= (to - from) * 1000;
    const input = sample.input === null ? null : Math.min(Math.floor(sample.input / 1000), to);
    const isQuiet = input === null ? undefined : input < from;
    const isSame = last?.app === shown.app && last.repo === repo && last.isQuiet === isQuiet;
    // A gap is not time at the computer, however short.
    if (isSame && from === last.to) Object.assign(last, { to, input });
    else spans.push({ from, to, ...shown, repo, input, isQuiet });
  }
  return spans.map(({ isQuiet: _isQuiet, ...span }) => span);
}
