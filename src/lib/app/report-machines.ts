import type { Day } from '../platform/time/time';
import type { DayFacts } from '../report/model';
import { daysOf, type Period } from '../report/period';
import type { UnionRecord } from '../time/machines/model';
import { unionDays, type Machines } from '../time/machines/read';
import { hashedId } from '../sync/format';

export interface ReportUnion {
  records: ReadonlyMap<Day, UnionRecord>;
  hasOwn: boolean;
  days: (notes: string[]) => DayFacts[];
}

/** Returns a period's merged days. `readOwn` reads this machine's days, including unpublished details. */
export function reportUnion(
  machines: Machines,
  period: Period,
  readOwn: (notes: string[]) => DayFacts[],
): ReportUnion {
  const records = unionDays(machines, daysOf(period));
  return {
    ...{ records, hasOwn: machines.hasOwn },
    days(notes) {
      const own = new Map((machines.hasOwn ? readOwn(notes) : []).map((day) => [day.date, day]));
      return [...records.values()].map((record) => unionFacts(record, own.get(record.date)));
    },
  };
}

function unionFacts(record: UnionRecord, own: DayFacts | undefined): DayFacts {
  const { date, apps, totalMinutes, creationMinutes, consumptionMinutes, commits, sessions } = record;
  const facts = {
    ...{ date, apps, totalMinutes, creationMinutes, consumptionMinutes },
    ...(record.backfilled === true ? { backfilled: true as const } : {}),
  };
  const known = new Set(own?.sessions.map((id) => hashedId('session', id)));
  const others = sessions.items.map(({ session }) => session).filter((id) => !known.has(id));
  const all = { ...facts, commits: commits.repos, sessions: [...(own?.sessions ?? []), ...others] };
  if (own !== undefined && own.raw === undefined) return all;
  const counts = new Map(own?.commits.map((row) => [row.repo, row.commits]));
  const elsewhere = commits.repos.map(({ repo, commits: count }) => ({
    repo,
    commits: count - (counts.get(repo) ?? 0),
  }));
  return {
    ...all,
    raw: own?.raw ?? { commits: [], activity: [] },
    elsewhere: elsewhere.filter(({ commits: count }) => count > 0),
  };
}
