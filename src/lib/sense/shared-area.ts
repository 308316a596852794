import { dirname, join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { toStewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { conflictCopies, knownMachineId } from '../platform/files/machine';
import { plural } from '../platform/terminal/format';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { senseStore } from './store';

/**
 * The contents of `state/owner.json`: the first machine that wrote to the area, and the time of each
 * machine's last write, in ISO 8601, UTC.
 */
interface Owner {
  owner: string;
  machines: Record<string, string>;
}

const HOUR_MS = 3_600_000;
const RECENT_MS = 7 * 24 * HOUR_MS;
const MAX_MACHINES = 20;
/** The folders that steward writes to, apart from the root. */
const WRITTEN = ['sense', 'state', 'goals', 'observability'];

function readOwner(path: string): Owner | undefined {
  const { owner, machines } = parseObject(readText(path, { maxBytes: 64 * 1024 }) ?? '') ?? {};
  if (typeof owner !== 'string' || !isObject(machines)) return undefined;
  const valid = Object.entries(machines).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && parseIso(entry[1]) !== undefined,
  );
  return { owner, machines: Object.fromEntries(valid) };
}

/**
 * Records, at most once per hour, that this machine writes to the area. If `owner.json` can't be read,
 * returns the problem.
 */
export function noteWriter(area: UserArea, machineId: string, nowMs: number): string | undefined {
  let known: Owner;
  try {
    known = readOwner(area.owner) ?? { owner: machineId, machines: {} };
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind === 'internal') throw error;
    return `cannot tell which machines write to this area: ${message}`;
  }
  const lastMs = parseIso(known.machines[machineId] ?? '') ?? 0;
  if (Math.abs(nowMs - lastMs) < HOUR_MS) return undefined;
  const rest = Object.entries(known.machines).filter(([id]) => id !== machineId);
  const machines = Object.fromEntries([[machineId, toIso(nowMs)], ...rest].slice(0, MAX_MACHINES));
  ensureFolder(dirname(area.owner));
  replaceFile(area.owner, `${JSON.stringify({ owner: known.owner, machines })}\n`);
  return undefined;
}

/**
 * Returns a warning if other machines have written to the area in the last seven days, or if a sync tool has
 * left conflict copies. Throws if `owner.json` or an event log can't be read.
 */
export function sharedArea({ area, clock }: { area: UserArea; clock: Clock }): string | undefined {
  const nowMs = clock.now();
  const own = knownMachineId();
  const writers = Object.entries(readOwner(area.owner)?.machines ?? {})
    .filter(([, at]) => nowMs - (parseIso(at) ?? 0) < RECENT_MS)
    .map(([id]) => id);
  const machines = [...new Set([...writers, ...machinesOfEvents(area, nowMs)])].filter((id) => id !== own);
  const copies = [
    ...conflictCopies(area.root, 0),
    ...WRITTEN.flatMap((folder) => conflictCopies(join(area.root, folder)).map((path) => join(folder, path))),
  ];
  const facts: string[] = [];
  if (machines.length > 0) {
    const names = machines.slice(0, 3).join(', ');
    facts.push(`${plural(machines.length, 'other machine')} wrote to it in the last 7 days (${names})`);
  }
  if (copies.length > 0) {
    const count = plural(copies.length, 'conflict copy', 'conflict copies');
    facts.push(`a sync tool left ${count}, such as ${copies.slice(0, 3).join(', ')}`);
  }
  if (facts.length === 0) return undefined;
  return `${area.root} is shared: ${facts.join('; ')}. Events get lost or count twice`;
}

/** Returns the machines that have events in the newest logs. */
function machinesOfEvents(area: UserArea, nowMs: number): Set<string> {
  const machines = new Set<string>();
  const store = senseStore(area);
  for (const day of store.loggedDays().slice(-2)) {
    store.scanLog(day, ({ detail }, ms) => {
      const machine = detail?.['machine'];
      if (typeof machine === 'string' && nowMs - ms < RECENT_MS) machines.add(machine);
    });
  }
  return machines;
}
