import { OTHER_SITES } from '../platform/net/site';
import { minutes } from '../platform/terminal/format';
import { listIn } from './ledger/spans';
import { appOf, siteOf } from './site';

interface Row {
  app: string;
  kind: string;
  minutes: number;
}

/** Joins the rows of a browser's sites into one for each kind. */
export function withoutSites<T extends Row>(rows: readonly T[]): T[] {
  return joinRows(rows.map((row) => ({ ...row, app: appOf(row.app) })));
}

/** Returns a line for each browser, such as `Firefox: github.com 42 m, docs.rs 18 m, other sites 31 m`. */
export function siteLines(rows: readonly Row[]): string[] {
  const lines = new Map<string, string[]>();
  const isOther = ({ app }: Row): boolean => siteOf(app) === OTHER_SITES;
  const sites = joinRows(rows.map((row) => ({ ...row, kind: '' }))).filter(({ app }) => siteOf(app));
  for (const { app, minutes: time } of [...sites.filter((row) => !isOther(row)), ...sites.filter(isOther)])
    listIn(lines, appOf(app)).push(`${siteOf(app)} ${minutes(time)}`);
  return [...lines].map(([app, list]) => `${app}: ${list.join(', ')}`);
}

/** Adds up the rows of one application and kind, in tenths of a minute. Returns the longest first. */
function joinRows<T extends Row>(rows: readonly T[]): T[] {
  const joined = new Map<string, T>();
  for (const row of rows) {
    const key = `${row.kind} ${row.app}`;
    const tenths = Math.round(row.minutes * 10) + Math.round((joined.get(key)?.minutes ?? 0) * 10);
    joined.set(key, { ...row, minutes: tenths / 10 });
  }
  return [...joined.values()].sort((a, b) => b.minutes - a.minutes);
}
