import { byCodeUnits } from '../../platform/files/short-hash';
import type { DayBounds } from '../../platform/time/time';
import type { AppKind } from '../classify';
import type { DayTimeline, SessionParts } from '../day-timeline';
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
  const [start, end] = [Math.floor(bounds.startMs / 1000), Math.floor(bounds.endMs / 1000)];
  const shown = (from: number, to: number): [at: number, length: number] | undefined => {
    const at = Math.max(from, start);
    const until = Math.min(to, end);
    return at < until ? [at - start, until - at] : undefined;
  };
  const spans = [...(day?.spans ?? [])].sort((a, b) => a.from - b.from);
  const apps = appsOf(spans);
  const repos = [...new Set(spans.flatMap(({ repo }) => repo ?? []))].sort(byCodeUnits);
  return {
    apps,
    repos,
    spans: spans.flatMap(({ from, to, app, repo }): DayTimeline['spans'] => {
      const span = shown(from, to);
      const place = apps.findIndex(([name]) => name === app);
      if (span === undefined) return [];
      return [repo === undefined ? [...span, place] : [...span, place, repos.indexOf(repo)]];
    }),
    away: [],
    commits: (day?.commits ?? []).flatMap(({ repo, ts, subject = '' }): DayTimeline['commits'] =>
      ts < start || ts >= end ? [] : [{ at: ts - start, repo, branch: null, sha: '', subject }],
    ),
    sessions: sessions.flatMap(({ parts, ...session }): DayTimeline['sessions'] => {
      const known = parts.flatMap(([from, to, state]): DayTimeline['sessions'][number]['parts'] => {
        const part = shown(from, to);
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
