import { StewardError } from '../errors';
import type { Day } from '../platform/time/time';
import type { MachineRow } from '../time/machines/model';
import { countedDays, unionDays } from '../time/machines/read';
import { machinesOver } from '../time/machines/view';
import type { ReadDeps } from './read';
import type { DailyRecord } from '../time/record';
import { recordReader } from './roll';
import type { Piece } from '../time/ledger/attention';
import { ledgerTally } from '../time/ledger/ledger';
import type { DayLedger } from '../time/ledger/model';
import { lengthOf, merged, within } from '../time/ledger/spans';

export interface Ledgers {
  ledgers: DayLedger[];
  /** Number of days without recorded time, such as backfilled days. */
  notRecorded: number;
  commits: number;
  /** The days' time zone, or undefined if they have several. */
  timezone?: string | undefined;
  /** Errors about damaged records that can't be rebuilt. */
  damaged: StewardError[];
  /** The merged machines, or absent if this is the only machine. */
  machines?: MachineRow[];
}

/** Returns the days' ledgers. Recomputes damaged and old records if their event logs still exist. */
export function ledgersOf(deps: ReadDeps, days: readonly Day[]): Ledgers {
  const machines = deps.machines?.();
  if (machines !== undefined) return ledgersIn([...unionDays(machines, days).values()], days, []);
  const damaged: StewardError[] = [];
  const onDamaged = ({ kind, message }: StewardError): void => {
    const hint =
      'The event log is deleted or unreadable, so the record cannot be rebuilt. Restore it from a backup, or delete it.';
    damaged.push(new StewardError(kind, message, { hint }));
  };
  const read = recordReader(deps);
  const records = days.flatMap((day) => read(day, onDamaged) ?? []);
  return ledgersIn(records, days, damaged);
}

function ledgersIn(records: readonly DailyRecord[], days: readonly Day[], damaged: StewardError[]): Ledgers {
  const backfilled = records.filter((record) => record.backfilled === true);
  const machines = machinesOver(records);
  const zones = [...new Set(records.map(({ timezone }) => timezone))];
  return {
    ...(machines && { machines }),
    ledgers: records.map(({ ledger }) => ledger),
    notRecorded: backfilled.length + days.length - records.length - damaged.length,
    commits: records.reduce((sum, { commits }) => sum + commits.count, 0),
    damaged,
    ...(zones.length === 1 ? { timezone: zones[0] } : {}),
  };
}

/** Returns the tracked time of all machines as intervals, and the days on which a machine has only totals. */
export function piecesOf(deps: ReadDeps, days: readonly Day[]): { pieces: TrackedPiece[]; skipped: Day[] } {
  const machines = deps.machines?.();
  if (machines === undefined) {
    const hasData = (day: Day): boolean => !['none', 'empty'].includes(deps.store.recordState(day));
    const skipped = days.filter((day) => deps.store.logBytes(day) === undefined && hasData(day));
    return { pieces: days.flatMap((day) => dayPieces(deps, day)), skipped };
  }
  const pieces: TrackedPiece[] = [];
  const skipped = new Set<Day>();
  for (const { day, parts, lostSec } of countedDays(machines, days)) {
    const { machine, record, spans } = day;
    if (spans.length === 0 && record.totalMinutes > 0) skipped.add(record.date);
    const counted = parts.map(({ app, repo = null, from, to }): TrackedPiece => ({
      ...{ span: [from * 1000, to * 1000], app, repo, machine },
      ...{ branch: null, session: null, assistant: null, otherFolder: false },
    }));
    // This machine's log also knows branches and sessions, unless part of it was deleted.
    const own = machine === machines.ownId ? dayPieces(deps, record.date) : [];
    const loggedMs = lengthOf(merged(own.map(({ span }) => span)));
    const isWhole = loggedMs + 60_000 >= spans.reduce((sum, { from, to }) => sum + (to - from) * 1000, 0);
    const limits = merged(counted.map(({ span }) => span));
    const clipped = own.flatMap((piece) =>
      (lostSec === 0 ? [piece.span] : within([piece.span], limits)).map((span) => ({
        ...piece,
        span,
        machine,
      })),
    );
    pieces.push(...(own.length > 0 && isWhole ? clipped : counted));
  }
  return { pieces, skipped: [...skipped] };
}

type TrackedPiece = Piece & { machine?: string };

/**
 * Returns a day's tracked time as a list of intervals. The list is empty if the day's event log was deleted.
 */
function dayPieces({ store, config }: ReadDeps, day: Day): Piece[] {
  if (store.logBytes(day) === undefined) return [];
  const tally = ledgerTally(config.pollIntervalSec);
  store.scanLog(day, (event, ms) => tally.add(ms, event));
  return tally.pieces();
}
