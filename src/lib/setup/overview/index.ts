import { toStewardError } from '../../errors';
import { exists } from '../../platform/files/folder';
import type { Config } from '../../config/schema';
import type { Context } from '../../app/context';
import { daemonReport } from '../../app/serve';
import { localTimes } from '../../platform/time/local-times';
import { jobsHere } from '../../app/schedule';
import { sharedArea } from '../../app/shared-area';
import { VERSION } from '../../app/version';
import type { Overview, Part } from './part';
import { agentsPart, goalsPart, notifyPart, sensePart, sessionsPart, workPart } from './parts';
import { daemonPart, hooksPart, jobsPart, queuePart } from './parts-running';
import type { Sources } from './sources';

/** The rows in their order; a new part is a function and a row. */
const PARTS: readonly (readonly [
  id: string,
  look: (sources: Sources) => Omit<Part, 'id'> | Promise<Omit<Part, 'id'>>,
])[] = [
  ['sense', sensePart],
  ['work', workPart],
  ['notify', notifyPart],
  ['queue', queuePart],
  ['agents', agentsPart],
  ['sessions', sessionsPart],
  ['goals', goalsPart],
  ['daemon', daemonPart],
  ['hooks', hooksPart],
  ['jobs', jobsPart],
];

/**
 * Every part in one screen, with the next step for each that is off. Files are read, and the daemon is
 * asked over its socket, where it runs; nothing goes to the network, nothing is written. A part that cannot be looked
 * at says so and hides no other; a configuration that does not load is a row of its own, and the parts then have none.
 */
export async function overview(context: Context, root: string): Promise<Overview> {
  const { area } = context;
  const head = { userArea: area.root, version: VERSION, setUp: exists(area.root) };
  let config: Config;
  let zone: string;
  try {
    config = (await context.loadConfig()).config;
    zone = config.user.timezone;
  } catch (error) {
    return { ...head, parts: [{ id: 'configuration', ...inError(error, 'steward config path') }] };
  }
  const daemon = await gathered(() => daemonReport(context));
  const scheduler = await gathered(() => jobsHere(context, config.sense));
  const sources: Sources = {
    context,
    root,
    config,
    daemon: 'value' in daemon ? daemon.value : { running: false, cliVersion: VERSION },
    scheduler: 'value' in scheduler ? scheduler.value : 'unknown',
    localTime: localTimes(context.clock, zone),
  };
  const parts = await Promise.all(
    PARTS.map(async ([id, look]): Promise<Part> => {
      try {
        if (id === 'daemon' && 'failure' in daemon) throw daemon.failure;
        if (id === 'jobs' && 'failure' in scheduler) throw scheduler.failure;
        return { id, ...(await look(sources)) };
      } catch (error) {
        return { id, ...inError(error, null) };
      }
    }),
  );
  return { ...head, parts: [...areaPart(context), ...parts] };
}

/** A row only where the area is shared, since no part that it holds is whole then, or where that cannot be told. */
function areaPart(context: Context): Part[] {
  const next = 'steward doctor area';
  try {
    const shared = sharedArea(context);
    return shared === undefined ? [] : [{ id: 'area', state: 'needs-you', summary: shared, next }];
  } catch (error) {
    return [{ id: 'area', ...inError(error, next) }];
  }
}

/** What several parts ask for: a failure belongs to one of them, and is no reason to tell nothing of the others. */
async function gathered<T>(get: () => Promise<T>): Promise<{ value: T } | { failure: unknown }> {
  try {
    return { value: await get() };
  } catch (failure) {
    return { failure };
  }
}

function inError(error: unknown, next: string | null): Omit<Part, 'id'> {
  const { kind, message, hint } = toStewardError(error);
  if (kind === 'internal') throw error;
  // A list of problems ends without a stop.
  const words = /[.!?]$/.test(message) ? message : `${message}.`;
  return { state: 'error', summary: hint === undefined ? words : `${words} ${hint}`, next };
}
