import type { Day } from '../platform/time/time';
import type { MachineName } from '../time/machines/model';
import { chosenMachines } from '../time/machines/read';
import { sessionKey } from '../sessions/session-key';
import { damagedNotes, readPublishedUsage } from './exchange';
import { hashedId } from './format';
import { namedMachines } from './machine-days';
import type { ExchangeSource } from './received';
import type { MachineUsage } from '../usage/machines';
import type { DatedRow, Usage } from '../usage/rollup';

export interface UsageInput {
  own: MachineName;
  source: ExchangeSource | undefined;
  /** Called with the other machines that were found. */
  onOthers?: (others: readonly MachineName[]) => unknown;
  machine: string | undefined;
  from: Day;
  to: Day;
}

/**
 * Returns the merged usage of all machines in the exchange folder, or the usage of `machine`. Calls `note`
 * for each unusable file. Only other machines' session ids are hashed.
 */
export function usageOfMachines(
  { own: self, source, onOthers, machine: wanted, from, to }: UsageInput,
  readOwn: () => DatedRow[],
  merge: (machines: readonly MachineUsage[]) => DatedRow[],
  note: (text: string) => unknown,
): { rows: DatedRow[]; machines: Pick<Usage, 'machines'> } {
  const onDamaged = damagedNotes(note);
  const { others, own, nameOf, names } = namedMachines(self, source, onDamaged);
  onOthers?.(names);
  const chosen = chosenMachines({ own, others: names }, wanted);
  const hasOwn = chosen.has(own.id);
  const read = others.filter((machine) => chosen.has(machine.id));
  if (read.length === 0) return { rows: readOwn(), machines: {} };
  const ids = new Map<string, string>();
  const ownRows = (hasOwn ? readOwn() : []).map((row): DatedRow => {
    const session = hashedId('session', sessionKey(row.assistant, row.session));
    ids.set(session, row.session);
    return { ...row, session, machine: own.name };
  });
  const published = read.map((machine) => ({
    id: machine.id,
    rows: machine.days.usage
      .filter((day) => day >= from && day <= to)
      .flatMap((day) =>
        readPublishedUsage(machine, day, onDamaged).map((row) => ({
          ...row,
          day,
          machine: nameOf(machine).name,
        })),
      ),
  }));
  const all = [...(hasOwn ? [{ id: own.id, rows: ownRows }] : []), ...published];
  const stateOf = ({ id }: MachineName) =>
    all.some((machine) => machine.id === id && machine.rows.length > 0) ? 'recorded' : 'not-recorded';
  const shown = [...(hasOwn ? [own] : []), ...names.filter(({ id }) => chosen.has(id))];
  return {
    rows: merge(all).map((row) => ({ ...row, session: ids.get(row.session) ?? row.session })),
    machines: {
      machines: shown
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map((machine) => ({ ...machine, state: stateOf(machine) })),
    },
  };
}
