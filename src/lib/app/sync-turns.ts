import { join } from 'node:path';

import { type Finding, off, ok } from '../platform/check';
import { kindOf } from '../platform/files/stat';
import { machinesFolder, readMachines } from '../sync/exchange';
import { ago } from '../sessions/view';
import { activeMachines, noteTold, takeTurns, type TurnDeps } from '../sync/turn';
import type { OtherMachines } from '../work/reminders';
import type { Context } from './context';

/** Returns functions that decide which machine notifies you, or undefined without an exchange folder. */
export async function otherMachines(context: Context): Promise<OtherMachines | undefined> {
  const deps = await turnDeps(context);
  if (deps === undefined) return undefined;
  return { turns: (due) => takeTurns(deps, due), noteTold: (keys) => noteTold(deps, keys) };
}

/** Returns whether you used another machine in the last ten minutes. */
export async function isElsewhere(context: Context): Promise<boolean> {
  const deps = await turnDeps(context);
  if (deps === undefined) return false;
  const nowMs = context.clock.now();
  return activeMachines(deps).some(
    ({ info }) => info.lastInput !== null && nowMs - Date.parse(info.lastInput) < RECENT_MS,
  );
}

const RECENT_MS = 10 * 60_000;

/** Returns how old the news of each other machine is. */
export async function openMachinesFinding(context: Context): Promise<Finding> {
  const deps = await turnDeps(context);
  if (deps === undefined) return off('no exchange folder', { fix: 'steward sync setup FOLDER' });
  const others = readMachines(deps.folder).filter(({ id }) => id !== deps.machineId);
  const news = others.map(
    ({ info }) => `${info.name}: news ${ago(info.publishedAt, context.clock.now())} old`,
  );
  return ok(news.join(' · ') || 'none yet');
}

async function turnDeps(context: Context): Promise<TurnDeps | undefined> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  // Don't create a missing exchange folder; its drive may not be mounted.
  if (folder === undefined || kindOf(machinesFolder(folder)) !== 'folder') return undefined;
  const { clock, machineId, area } = context;
  return { clock, folder, machineId, news: join(area.machine, 'machines-news.json') };
}
