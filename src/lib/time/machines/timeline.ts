import { byCodeUnits } from '../../platform/files/short-hash';
import type { DayBounds } from '../../platform/time/time';
import type { AppKind } from '../classify';
import { drawnSpans, inSeconds, type DayTimeline, type SessionParts } from '../day-timeline';
import type { MachineDay } from './model';

/** A session's activity on one day. Times are in epoch seconds. */
export interface MachineSession extends Omit<SessionParts, 'parts'> {
  parts: readonly (readonly [from: number, to: number, state: 'w' | 'y'])[];
}

/** Timeline data that another machine published for a day. */
export interface MachineParts {
  day: MachineDay | undefined;
  sessions: readonly MachineSession[];
}

/** Returns the part of another machine's timeline that is within the bounds. */
export function machineTimeline({ day, sessions }: MachineParts, bounds: DayBounds): DayTimeline {
  const { startMs } = bounds;
  const spans = [...(day?.spans ?? [])].sort((a, b) => a.from - b.from);
  const found = spans.map((span) => ({ ...span, from: span.from * 1000, to: span.to * 1000 }));
  return {
    ...drawnSpans(appsOf(spans), found, bounds),
    away: [],
    commits: (day?.commits ?? []).flatMap(({ repo, ts, subject = '' }): DayTimeline['commits'] => {
      const at = Math.floor(ts - startMs / 1000);
      const isOfDay = ts * 1000 >= startMs && ts * 1000 < bounds.endMs;
      return isOfDay ? [{ at, repo, branch: null, sha: '', subject }] : [];
    }),
    sessions: sessions.flatMap(({ parts, ...session }): DayTimeline['sessions'] => {
      const known = parts.flatMap(([from, to, state]): DayTimeline['sessions'][number]['parts'] => {
        const part = inSeconds([from * 1000, to * 1000], bounds);
        return part === undefined ? [] : [[...part, state]];
      });
      return known.length === 0 ? [] : [{ ...session, parts: known }];
    }),
  };
}

function appsOf(spans: MachineDay['spans']): [app: string, kind: AppKind][] {
  const apps = new Map<string, { kind: AppKind; sec: number }>();
  for (const { app, kind, from, to } of spans)
    apps.set(app, { kind, sec: (apps.get(app)?.sec ?? 0) + to - from });
  return [...apps]
    .sort(([a, x], [b, y]) => y.sec - x.sec || byCodeUnits(a, b))
    .map(([app, { kind }]): [string, AppKind] => [app, kind]);
}
