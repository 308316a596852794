import { makeClassifier } from '../../src/lib/time/classify';
import { SENSE_VERSION, type SenseEvent } from '../../src/lib/time/event';
import type { MachineDay, MachineSpan } from '../../src/lib/time/machines/model';
import { toIso } from '../../src/lib/platform/time/clock';
import { buildDailyRecord, commit, focus } from './sense';
import type { Random } from './random';

export const MACHINES = [
  { id: 'aaaaaaaaaaaa', name: 'laptop' },
  { id: 'bbbbbbbbbbbb', name: 'desktop' },
  { id: 'cccccccccccc', name: 'server' },
] as const;

const classify = makeClassifier('templates');

export interface DayOptions {
  date?: string;
  timezone?: string;
  final?: boolean;
  /** Seconds between the end of a span and the last input before it. */
  idleSec?: number;
  /** Commit ids and their repositories. */
  commits?: readonly (readonly [id: string, repo: string])[];
  /** Session ids with the number of minutes they worked from noon on. */
  sessions?: readonly (readonly [id: string, minutes: number])[];
}

/** A machine's day: time in front of applications, as `['09:00', '09:30', 'Code', 'shop']`, times in UTC. */
export function machineDay(
  machine: string,
  times: readonly (readonly [from: string, to: string, app: string, repo?: string])[],
  options: DayOptions = {},
): MachineDay {
  const { date = '2026-11-20', timezone = 'UTC', final = true, idleSec = 0 } = options;
  const { commits = [], sessions = [] } = options;
  const secOf = (time: string): number =>
    Date.parse(time.includes('T') ? time : `${date}T${time}:00Z`) / 1000;
  const at = toIso(Date.parse(`${date}T12:00:00Z`));
  const spans = times.map(([from, to, app, repo]): MachineSpan => ({
    ...{ from: secOf(from), to: secOf(to), app, kind: classify(app).kind },
    ...(repo === undefined ? {} : { repo }),
    input: secOf(to) - idleSec,
  }));
  const events: SenseEvent[] = [
    ...spans.flatMap(samplesOf),
    ...commits.map(([id, repo]) => commit(at, repo, id)),
    ...sessions.flatMap(([session, minutes]) => sessionEvents(session, Date.parse(at), minutes)),
  ];
  const label = { version: SENSE_VERSION, generatedAt: toIso(Date.parse(`${date}T23:59:00Z`)), final };
  return {
    machine,
    record: buildDailyRecord(date, events, { ...label, timezone, pollIntervalSec: 120, classify }),
    spans,
    commits: commits.map(([id, repo]) => ({ id, repo, ts: Date.parse(at) / 1000 })),
  };
}

/** What captures every minute would have stored. */
function samplesOf({ from, to, app, repo }: MachineSpan): SenseEvent[] {
  const ends: number[] = [];
  for (let end = from; end < to;) ends.push((end = Math.min(to, end + 60)));
  return ends.map((end, i) => ({
    ...focus(toIso(end * 1000), app, end - (ends[i - 1] ?? from)),
    ...(repo === undefined ? {} : { repo }),
  }));
}

function sessionEvents(session: string, fromMs: number, minutes: number): SenseEvent[] {
  const stateAt = (ms: number, state: string): SenseEvent => ({
    ...{ ts: toIso(ms), type: 'session-state', source: 'agentSession', repo: 'shop' },
    detail: { session, state, assistant: 'codex' },
  });
  const endMs = fromMs + minutes * 60_000;
  const active: SenseEvent = {
    ...{ ts: toIso(endMs), type: 'agent-session', source: 'agentSession', repo: 'shop' },
    detail: { session, events: minutes },
  };
  return [stateAt(fromMs, 'working'), stateAt(endMs, 'ready'), active];
}

const APPS = ['Code', 'Firefox', 'Slack', 'kitty'];
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York'];

/** A random day: a few spans that don't overlap, commits and sessions that other machines may have as well. */
export function randomDay(random: Random, machine: string, date = '2026-11-20'): MachineDay {
  const startMs = Date.parse(`${date}T06:00:00Z`);
  let at = startMs;
  const times = Array.from({ length: random.below(20) }, () => {
    const from = at + random.below(3_000) * 1000;
    at = from + (1 + random.below(4_000)) * 1000;
    const repo = random.chance(0.5) ? { repo: random.pick(['shop', 'site']) } : {};
    return [toIso(from), toIso(at), random.pick(APPS), repo.repo] as const;
  });
  const ids = ['c1', 'c2', 'c3', 'c4'].filter(() => random.chance(0.4));
  const day = machineDay(
    machine,
    times.map(([from, to, app, repo]) => (repo === undefined ? [from, to, app] : [from, to, app, repo])),
    {
      ...{ date, timezone: random.pick(ZONES), final: random.chance(0.8), idleSec: random.below(3_000) },
      commits: ids.map((id) => [id, 'shop'] as const),
      sessions: ['s1', 's2', 's3'].filter(() => random.chance(0.4)).map((id) => [id, 1 + random.below(60)]),
    },
  );
  if (random.chance(0.1)) return { ...day, spans: [], commits: [] };
  return day;
}
