import { toStewardError } from '../../errors';
import { exists } from '../../platform/files/folder';
import type { DaemonReport } from '../../daemon/view';
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
 * Every part in one screen, with the next step for each that is off (decisions.md 2). Files are read, and the daemon is
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
  const daemon = await reportOfDaemon(context);
  const sources: Sources = {
    context,
    root,
    config,
    daemon: 'report' in daemon ? daemon.report : { running: false, cliVersion: VERSION },
    scheduler: await jobsHere(context, config.sense),
    localTime: localTimes(context.clock, zone),
  };
  const parts = await Promise.all(
    PARTS.map(async ([id, look]): Promise<Part> => {
      try {
        if (id === 'daemon' && 'failure' in daemon) throw daemon.failure;
        return { id, ...(await look(sources)) };
      } catch (error) {
        return { id, ...inError(error, null) };
      }
    }),
  );
  // A row only where it is shared: no part that it holds is whole then.
  const shared = sharedArea(context);
  const first: Part[] =
    shared === undefined
      ? []
      : [{ id: 'area', state: 'needs-you', summary: shared, next: 'steward doctor area' }];
  return { ...head, parts: [...first, ...parts] };
}

/** A daemon that is too busy to answer is no reason to tell nothing. */
async function reportOfDaemon(context: Context): Promise<{ report: DaemonReport } | { failure: unknown }> {
  try {
    return { report: await daemonReport(context) };
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
