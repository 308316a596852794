import { APP_KINDS, foldName, type AppKind, type Classifier } from './classify';
import type { Signal } from './log-line';
import { byCodeUnits } from '../platform/order';

/** Time is added up in whole milliseconds (sums of integers know no order) and rounded once, to tenths. */
const TENTH_MS = 6_000;

/**
 * The longest poll interval that the configuration accepts. An event's interval is at most the poll interval
 * of its capture, which may have been longer than today's: so the cap is this, not the present setting.
 */
const MAX_INTERVAL_SEC = 3_600;

/** An application as it was seen, for so long; most samples of a day say one of some dozens. */
interface Seen {
  app: string;
  bundleId: string | undefined;
  machine: string | undefined;
  ms: number;
  /** What it comes to in each hour of the day, ms; filled in at the end. */
  hours: number[];
}

/** One sample of the front application. */
interface Sample {
  at: number;
  seen: Seen;
}

/** Adds up the app-focus events of a day into tenths of a minute by kind, by app and by hour. */
export function focusTally(
  options: { pollIntervalSec: number; classify: Classifier },
  starts: readonly number[],
) {
  // Two lists of plain values: ten thousand objects would be moved about by the collector while they grow.
  const times: number[] = [];
  const seens: Seen[] = [];
  let inOrder = true;
  let last = Number.NEGATIVE_INFINITY;
  const known = new Map<object, Seen>();
  const seenBy = ({ app, detail }: Readonly<Signal>): Seen => {
    const bundleId = textOf(detail?.['bundleId']);
    return {
      app: textOf(app) ?? bundleId ?? 'unknown',
      bundleId,
      machine: textOf(detail?.['machine']),
      ms: Math.round(intervalSec(detail?.['intervalSec'], options.pollIntervalSec) * 1000),
      hours: [],
    };
  };
  return {
    add(at: number, signal: Readonly<Signal>): void {
      let seen = known.get(signal);
      if (seen === undefined) known.set(signal, (seen = seenBy(signal)));
      times.push(at);
      seens.push(seen);
      inOrder = inOrder && at > last;
      last = at;
    },
    result() {
      for (const seen of known.values()) seen.hours = starts.map(() => 0);
      let hour = 0;
      const count = (at: number, { hours, ms }: Seen): void => {
        hour = hourIndex(at, starts, hour);
        hours[hour] = (hours[hour] ?? 0) + ms;
      };
      // As a rule a log is in order, and no two lines are of one instant: then each of them counts.
      if (inOrder) seens.forEach((seen, i) => count(times[i] ?? 0, seen));
      else
        for (const { at, seen } of counted(seens.map((seen, i) => ({ at: times[i] ?? 0, seen }))))
          count(at, seen);
      const appMs = perKind(() => new Map<string, number>());
      const hourMs = perKind(() => starts.map(() => 0));
      for (const { app, bundleId, hours } of known.values()) {
        const { kind } = options.classify(app, bundleId);
        appMs[kind].set(app, (appMs[kind].get(app) ?? 0) + sum(hours));
        hours.forEach((ms, i) => (hourMs[kind][i] = (hourMs[kind][i] ?? 0) + ms));
      }
      return roundTime(appMs, hourMs);
    },
  };
}

/** A machine has one sample of an app at an instant: of two lines that say so the longer one counts. */
function counted(samples: Sample[]): Sample[] {
  samples.sort((a, b) => a.at - b.at);
  const kept: Sample[] = [];
  let instant = 0;
  for (const sample of samples) {
    if (sample.at !== kept[instant]?.at) instant = kept.length;
    const same = kept.slice(instant).find(({ seen }) => isSame(seen, sample.seen));
    if (same === undefined) kept.push(sample);
    else if (sample.seen.ms > same.seen.ms) same.seen = sample.seen;
  }
  return kept;
}

function isSame(a: Seen, b: Seen): boolean {
  return a === b || (a.app === b.app && a.bundleId === b.bundleId && a.machine === b.machine);
}

/**
 * Rounds from the top down, so that everything adds up: the day, its kinds, and within each kind both its
 * apps and its hours.
 */
function roundTime(appMs: Record<AppKind, Map<string, number>>, hourMs: Record<AppKind, number[]>) {
  const kindMs = APP_KINDS.map((kind) => sum(hourMs[kind]));
  const kindTenths = apportion(Math.round(sum(kindMs) / TENTH_MS), kindMs);
  const kinds: Record<AppKind, number> = { creation: 0, consumption: 0, neutral: 0 };
  const hours = perKind((): number[] => []);
  const rows: { app: string; kind: AppKind; tenths: number }[] = [];
  APP_KINDS.forEach((kind, i) => {
    const tenths = kindTenths[i] ?? 0;
    kinds[kind] = tenths;
    hours[kind] = apportion(tenths, hourMs[kind]);
    const apps = joinSpellings(appMs[kind]);
    const shares = apportion(
      tenths,
      apps.map(({ ms }) => ms),
    );
    apps.forEach(({ app }, n) => rows.push({ app, kind, tenths: shares[n] ?? 0 }));
  });
  return {
    kinds,
    hours,
    // An app of a few seconds that rounds to nothing has no row.
    apps: rows
      .filter(({ tenths }) => tenths > 0)
      .sort((a, b) => b.tenths - a.tenths || byCodeUnits(a.app, b.app) || byCodeUnits(a.kind, b.kind)),
  };
}

/**
 * One program is "Code" to one window system and "code" to another: a row for both, under the spelling that
 * most of the time was seen under. In the order of the names.
 */
function joinSpellings(appMs: ReadonlyMap<string, number>): { app: string; ms: number }[] {
  const joined = new Map<string, { app: string; most: number; ms: number }>();
  for (const [app, ms] of [...appMs].sort(([a], [b]) => byCodeUnits(a, b))) {
    const folded = foldName(app);
    const known = joined.get(folded);
    if (known === undefined) joined.set(folded, { app, most: ms, ms });
    else {
      known.ms += ms;
      if (ms > known.most) Object.assign(known, { app, most: ms });
    }
  }
  return [...joined.values()].sort((a, b) => byCodeUnits(a.app, b.app));
}

/** Shares out `tenths` over the parts by largest remainder; of equal remainders the earlier part is first. */
function apportion(tenths: number, partsMs: readonly number[]): number[] {
  const shares = partsMs.map((ms) => Math.floor(ms / TENTH_MS));
  let left = tenths - sum(shares);
  const byRemainder = partsMs
    .map((ms, index) => ({ index, rest: ms % TENTH_MS }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRemainder) {
    if (left <= 0) break;
    shares[index] = (shares[index] ?? 0) + 1;
    left -= 1;
  }
  return shares;
}

/**
 * The distinct commits of a day by repository. The source counts a rewritten commit once (decisions.md 3);
 * should its memory have been lost, the same author date and subject still tell a rebased one.
 */
export function commitTally() {
  const repos = new Map<string, { repo: string; path: string | undefined; commits: Set<string> }>();
  return {
    add(at: number, event: Readonly<Signal>): void {
      const path = textOf(event.detail?.['path']);
      const repo = textOf(event.repo) ?? path ?? 'unknown';
      const sha = textOf(event.detail?.['sha']) ?? String(at);
      const authored = textOf(event.detail?.['authoredAt']);
      const subject = textOf(event.detail?.['subject']);
      const identity =
        authored === undefined || subject === undefined ? sha : `${Date.parse(authored)}\n${subject}`;
      const key = path ?? repo;
      let tally = repos.get(key);
      if (tally === undefined) repos.set(key, (tally = { repo, path, commits: new Set() }));
      // Folder names of one path differ only if it was renamed in between; any fixed choice will do.
      if (byCodeUnits(repo, tally.repo) < 0) tally.repo = repo;
      tally.commits.add(identity);
    },
    result(): { count: number; repos: { repo: string; commits: number }[] } {
      const tallies = [...repos.values()];
      const uses = new Map<string, number>();
      for (const { repo } of tallies) uses.set(repo, (uses.get(repo) ?? 0) + 1);
      const counts = new Map<string, number>();
      for (const { repo, path, commits } of tallies) {
        // Two repositories of one folder name are told apart by the folder above.
        const name = (uses.get(repo) ?? 0) > 1 && path !== undefined ? lastTwo(path) : repo;
        counts.set(name, (counts.get(name) ?? 0) + commits.size);
      }
      const rows = [...counts].map(([repo, commits]) => ({ repo, commits }));
      rows.sort((a, b) => b.commits - a.commits || byCodeUnits(a.repo, b.repo));
      return { count: sum(rows.map(({ commits }) => commits)), repos: rows };
    },
  };
}

/** The repositories of a day's sessions and how many were in each: not part of the record, shown beside it. */
export type SessionRepos = readonly { repo: string; sessions: number }[];

/** The distinct assistant sessions of a day, and how many work events each had. */
export function sessionTally() {
  const repos = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const sessions = new Map<string, number>();
  return {
    /** An event that names no session cannot be told from another and is left out. */
    add(at: number, event: Readonly<Signal>): void {
      const session = textOf(event.detail?.['session']);
      if (session === undefined) return;
      const repo = textOf(event.repo);
      if (repo !== undefined) repos.set(repo, (repos.get(repo) ?? new Set()).add(session));
      const count = event.detail?.['events'];
      const events = typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : 1;
      const key = `${at}\n${textOf(event.detail?.['machine']) ?? ''}\n${events}\n${session}`;
      if (seen.has(key)) return;
      seen.add(key);
      sessions.set(session, (sessions.get(session) ?? 0) + events);
    },
    repos(): SessionRepos {
      const rows = [...repos].map(([repo, ids]) => ({ repo, sessions: ids.size }));
      return rows.sort((a, b) => b.sessions - a.sessions || byCodeUnits(a.repo, b.repo));
    },
    result(): { count: number; items: { session: string; events: number }[] } {
      const items = [...sessions].map(([session, events]) => ({ session, events }));
      items.sort((a, b) => b.events - a.events || byCodeUnits(a.session, b.session));
      return { count: items.length, items };
    },
  };
}

/** What an app-focus event of this interval stands for; a value that is no time at all counts like a missing one. */
function intervalSec(value: unknown, pollIntervalSec: number): number {
  const sound = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return Math.min(sound ? value : pollIntervalSec, MAX_INTERVAL_SEC);
}

/** Looked for from a guess: samples come in the order of time, as a rule. */
function hourIndex(ms: number, starts: readonly number[], guess: number): number {
  let index = guess;
  while (index > 0 && ms < (starts[index] ?? 0)) index -= 1;
  while (index < starts.length - 1 && ms >= (starts[index + 1] ?? 0)) index += 1;
  return index;
}

function lastTwo(path: string): string {
  return path
    .split(/[\\/]+/)
    .filter((part) => part !== '')
    .slice(-2)
    .join('/');
}

function perKind<T>(make: () => T): Record<AppKind, T> {
  return { creation: make(), consumption: make(), neutral: make() };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
