import { dirname, join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { toStewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { parseIso, toIso, type Clock } from '../platform/time/clock';
import { conflictCopies, knownMachineId } from '../platform/files/machine';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { plural } from '../platform/terminal/format';
import { senseStore } from './store';

/** `state/owner.json`: the machine that wrote the area first, and when each wrote it last, ISO-8601 UTC. */
interface Owner {
  owner: string;
  machines: Record<string, string>;
}

const HOUR_MS = 3_600_000;
const RECENT_MS = 7 * 24 * HOUR_MS;
/** More machines than this are not remembered. */
const MAX_MACHINES = 20;
/** Where steward writes, beside the root itself; the folders of a person's own files are left out. */
const WRITTEN = ['sense', 'state', 'goals', 'observability'];

function readOwner(path: string): Owner | undefined {
  const value = parseObject(readText(path, { maxBytes: 64 * 1024 }) ?? '');
  const { owner, machines } = value ?? {};
  if (typeof owner !== 'string' || !isObject(machines)) return undefined;
  const known = Object.entries(machines).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && parseIso(entry[1]) !== undefined,
  );
  return { owner, machines: Object.fromEntries(known) };
}

/** Notes that this machine writes the area: as its owner if it is the first, and once an hour. Returns why it could not. */
export function noteWriter(area: UserArea, machineId: string, nowMs: number): string | undefined {
  let known: Owner;
  try {
    known = readOwner(area.owner) ?? { owner: machineId, machines: {} };
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind === 'internal') throw error;
    return `which machines write this area is unknown: ${message}`;
  }
  const lastMs = parseIso(known.machines[machineId] ?? '') ?? 0;
  if (Math.abs(nowMs - lastMs) < HOUR_MS) return undefined;
  const others = Object.entries(known.machines).filter(([id]) => id !== machineId);
  const machines = Object.fromEntries([[machineId, toIso(nowMs)], ...others].slice(0, MAX_MACHINES));
  ensureFolder(dirname(area.owner));
  replaceFile(area.owner, `${JSON.stringify({ owner: known.owner, machines })}\n`);
  return undefined;
}

/**
 * Why the area is not one machine's: others have written it in the last seven days, or a sync tool made copies. Undefined
 * where neither shows. Throws for an `owner.json` or a log that cannot be read.
 */
export function sharedArea({ area, clock }: { area: UserArea; clock: Clock }): string | undefined {
  const nowMs = clock.now();
  const mine = knownMachineId();
  const writers = new Set(
    Object.entries(readOwner(area.owner)?.machines ?? {})
      .filter(([, at]) => nowMs - (parseIso(at) ?? 0) < RECENT_MS)
      .map(([id]) => id),
  );
  for (const id of machinesOfEvents(area, nowMs)) writers.add(id);
  const others = [...writers].filter((id) => id !== mine);
  const copies = [
    ...conflictCopies(area.root, 0),
    ...WRITTEN.flatMap((folder) => conflictCopies(join(area.root, folder)).map((path) => join(folder, path))),
  ];
  if (others.length === 0 && copies.length === 0) return undefined;
  const facts = [
    ...(others.length === 0
      ? []
      : [
          `${plural(others.length, 'other machine')} wrote it in the last 7 days (${others.slice(0, 3).join(', ')})`,
        ]),
    ...(copies.length === 0
      ? []
      : [
          `a sync tool left ${plural(copies.length, 'conflict copy', 'conflict copies')}, such as ${copies.slice(0, 3).join(', ')}`,
        ]),
  ];
  return `${area.root} is shared: ${facts.join('; ')}. Events are lost or counted twice`;
}

/** The machines whose events are in the newest logs. */
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
