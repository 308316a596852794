import { byCodeUnits } from '../../platform/files/short-hash';
import { inMinutes, TENTH_MS } from '../focus-tally';
import { joinAnswers, sumOf } from '../ledger/cells';
import {
  AGENT_STATES,
  minutesIn,
  type AgentRow,
  type AttentionRow,
  type Cells,
  type DayLedger,
} from '../ledger/model';
import { capturedFirst, type Counted } from './overlap';
import type { MachineDay } from './model';
import type { DaySeconds } from './time';

interface Part {
  counted: Counted;
  seconds: DaySeconds;
}

/** Merges the machines' ledgers. Each row has its machine's id. */
export function unionLedger(parts: readonly Part[]): DayLedger {
  const ledgers = parts.map(({ counted }) => counted.day.record.ledger);
  const agents = agentRows(parts);
  const cells = sumOf(agents);
  return {
    attention: attentionRows(parts),
    agents,
    apps: appRows(ledgers),
    cells,
    heldUpMinutes: minutesIn(cells, 'waiting', 'desk'),
    answers: joinAnswers(ledgers.map(({ answers }) => answers)),
    parallel: parallelOf(ledgers),
  };
}

/** Returns the rows for your time, each reduced in proportion to the time assigned to other machines. */
function attentionRows(parts: readonly Part[]): AttentionRow[] {
  const rows = parts.flatMap(({ counted, seconds }) =>
    seconds.isWhole ? ownRows(counted) : countedRows(counted),
  );
  rows.sort((a, b) => b.ms - a.ms || byText(a.row, b.row) || byCodeUnits(a.machine, b.machine));
  return inMinutes(rows, ({ row, machine }, minutes) => {
    // Copy the fields one by one, because object spread makes reading a year of records 10% slower.
    const { app, repo, branch, session, assistant, otherFolder } = row;
    const shown = { app, repo, branch, session, assistant, machine, minutes };
    return otherFolder === undefined ? shown : { ...shown, otherFolder };
  });
}

interface TimedRow {
  row: Omit<AttentionRow, 'minutes'>;
  machine: string;
  ms: number;
}

function ownRows({ day }: Counted): TimedRow[] {
  const { attention } = day.record.ledger;
  const { machine } = day;
  return attention.map((row) => ({ row, machine, ms: Math.round(row.minutes * 10) * TENTH_MS }));
}

function countedRows(counted: Counted): TimedRow[] {
  const { machine } = counted.day;
  const groups = new Map<string, { app: string; repo: string | null; ms: number; rows: TimedRow[] }>();
  for (const { app, repo = null, from, to } of counted.parts) {
    const key = placeKey(app, repo);
    const group = groups.get(key) ?? { app, repo, ms: 0, rows: [] };
    group.ms += (to - from) * 1000;
    groups.set(key, group);
  }
  const groupOf = (app: string, repo: string | null) => groups.get(placeKey(app, repo));
  for (const each of ownRows(counted))
    (groupOf(each.row.app, each.row.repo) ?? groupOf(each.row.app, null))?.rows.push(each);
  return [...groups.values()].flatMap(({ app, repo, ms, rows }) => {
    const total = rows.reduce((sum, row) => sum + row.ms, 0);
    if (total === 0)
      return [{ row: { app, repo, branch: null, session: null, assistant: null }, machine, ms }];
    let before = 0;
    return rows.map((each) => {
      const start = Math.round((ms * before) / total);
      before += each.ms;
      return { row: each.row, machine, ms: Math.round((ms * before) / total) - start };
    });
  });
}

function placeKey(app: string, repo: string | null): string {
  return repo === null ? app : `${app}\n${repo}`;
}

const NAMES = ['app', 'repo', 'branch', 'session', 'assistant', 'machine'] as const;
type Named = Partial<Record<(typeof NAMES)[number], string | null>>;

function byText(a: Named, b: Named): number {
  const other = NAMES.find((name) => byName(a[name], b[name]) !== 0);
  return other === undefined ? byCodeUnits(JSON.stringify(a), JSON.stringify(b)) : byName(a[other], b[other]);
}

function byName(a: string | null | undefined, b: string | null | undefined): number {
  return a === b ? 0 : byCodeUnits(a ?? '', b ?? '');
}

/** Identifies a row that must not count again: a session of a backfill, or the same minutes of it in a copied area. */
function keyIn({ record }: MachineDay, { session, cells }: AgentRow): string {
  return record.backfilled === true ? session : JSON.stringify([session, cells]);
}

/** Returns the agents' rows. A session that ran on two machines has a row for each. */
function agentRows(parts: readonly Part[]): AgentRow[] {
  const rows: AgentRow[] = [];
  for (const { day } of capturedFirst(parts.map(({ counted }) => counted))) {
    const known = new Set(rows.map((row) => keyIn(day, row)));
    const { agents } = day.record.ledger;
    rows.push(
      ...agents.filter((row) => !known.has(keyIn(day, row))).map((row) => ({ ...row, machine: day.machine })),
    );
  }
  return sortedByTime(rows);
}

function appRows(ledgers: readonly DayLedger[]): DayLedger['apps'] {
  const apps = new Map<string, { cells: Cells }[]>();
  for (const row of ledgers.flatMap((ledger) => ledger.apps))
    apps.set(row.app, [...(apps.get(row.app) ?? []), row]);
  return sortedByTime([...apps].map(([app, rows]) => ({ app, cells: sumOf(rows) })));
}

function sortedByTime<T extends Named & { cells: Cells }>(rows: readonly T[]): T[] {
  const timeOf = ({ cells }: T): number =>
    AGENT_STATES.reduce((sum, state) => sum + Math.round(minutesIn(cells, state) * 10), 0);
  const sorted = rows.map((row) => ({ row, time: timeOf(row) }));
  return sorted.sort((a, b) => b.time - a.time || byText(a.row, b.row)).map(({ row }) => row);
}

/** Estimates the values for all machines together, because records don't store when each session worked. */
function parallelOf(ledgers: readonly DayLedger[]): DayLedger['parallel'] {
  const worked = ledgers.map(({ cells, parallel: { mean } }) => {
    const work = mean === 0 ? 0 : minutesIn(cells, 'working');
    return { work, active: mean === 0 ? 0 : work / mean };
  });
  const active = worked.reduce((sum, each) => sum + each.active, 0);
  const work = worked.reduce((sum, each) => sum + each.work, 0);
  return {
    most: Math.max(0, ...ledgers.map(({ parallel }) => parallel.most)),
    mean: active === 0 ? 0 : Math.round((work / active) * 10) / 10,
  };
}
