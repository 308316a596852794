import { turnDeps, type TurnDeps } from '../sync/turn';
import type { Context } from './context';

/** Returns what decides which machine notifies you, or undefined without an exchange folder. */
export async function openTurns(context: Context): Promise<TurnDeps | undefined> {
  return turnDeps(context, (await context.loadConfig()).config.user.sync.folder);
}
