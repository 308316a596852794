import { textOf } from '../platform/files/json-object';
import { byCodeUnits } from '../platform/files/order';
import { changeOf } from './commit-change';
import type { Signal } from './log-line';

/** The distinct commits of a day by repository. A change that was captured again, after its memory was lost, counts once. */
export function commitTally() {
  const repos = new Map<string, { repo: string; path: string | undefined; commits: Set<string> }>();
  return {
    add(at: number, event: Readonly<Signal>): void {
      const path = textOf(event.detail?.['path']);
      const repo = textOf(event.repo) ?? path ?? 'unknown';
      const key = path ?? repo;
      let tally = repos.get(key);
      if (tally === undefined) repos.set(key, (tally = { repo, path, commits: new Set() }));
      // Folder names of one path differ only if it was renamed in between; any fixed choice will do.
      if (byCodeUnits(repo, tally.repo) < 0) tally.repo = repo;
      tally.commits.add(changeOf(event) ?? String(at));
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

function lastTwo(path: string): string {
  return path
    .split(/[\\/]+/)
    .filter((part) => part !== '')
    .slice(-2)
    .join('/');
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}
