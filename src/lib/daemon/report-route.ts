import type { ZonedNow } from '../platform/time/day-words';
import { readPeriod, type Period } from '../platform/time/period';
import type { Report, ReportOptions } from '../report/model';
import { machineIn, oneOf, route, type Route } from './route';

interface ReportRouteDeps {
  now: () => Promise<ZonedNow>;
  openReport: (period: Period, options: ReportOptions) => Promise<Report>;
}

/** The longest period of a report, in days. A longer report would block the daemon. */
const MAX_DAYS = 366;

/**
 * Handles `GET /api/report?from=2026-11-16&to=2026-11-20`. Returns the output of `steward standup --json`, or
 * with `usage=1`, of `steward week --json`.
 */
export function reportRoute({ now, openReport }: ReportRouteDeps): Route {
  return route({
    method: 'GET',
    path: '/api/report',
    input: ({ query }) => ({
      days: `${query.get('from') ?? 'yesterday'}..${query.get('to') ?? 'today'}`,
      usage: oneOf(query, 'usage', ['0', '1']) === '1',
      machine: machineIn(query),
    }),
    async run({ days, usage, machine }): Promise<Report> {
      const period = await readPeriod(days, await now());
      const options = { evidence: false, reminders: false, maxDays: MAX_DAYS, usage, machine };
      return openReport(period, options);
    },
  });
}
