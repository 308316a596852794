import { assistantsIn } from '../assistant';
import { installedEvents } from '../assistant/install';
import { hooksStatuses, type HooksStatus } from '../assistant/install-view';
import { heardBy, orUndefined, shownAssistants } from '../assistant/registered';
import type { StewardError } from '../errors';
import { currentSessions } from '../sessions/state';
import { installerDeps, type Context } from './context';
import { openSessions } from './sessions';

/**
 * Returns the hook status of the listed assistants. Default: all registered or installed assistants. Passes
 * an error in an assistant's settings to `onFailure`, and omits that assistant.
 */
export async function openHooksStatus(
  context: Context,
  list: string | undefined,
  onFailure: (error: StewardError) => void,
): Promise<HooksStatus[]> {
  const deps = installerDeps(context);
  const { area, host, product, run } = deps;
  const wanted = list === undefined ? shownAssistants(deps) : assistantsIn(list);
  const assistants = wanted.filter(
    (one) => orUndefined(() => installedEvents(deps, one), onFailure) !== undefined,
  );
  const sessions = async () => currentSessions(await openSessions(context));
  const isHeard = await heardBy(deps, sessions, assistants);
  return hooksStatuses({ area, host, product, run, isHeard }, assistants);
}
