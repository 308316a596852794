import { installerDeps, type Context } from '../../app/context';
import { openSessions } from '../../app/sessions';
import { assistantsIn } from '../../assistant';
import { claudeCode } from '../../assistant/claude-code';
import { installedEvents } from '../../assistant/install';
import { hooksStatuses, type HooksStatus } from '../../assistant/install-view';
import {
  chosenFrom,
  heardBy,
  orUndefined,
  registeredAssistants,
  shownAssistants,
} from '../../assistant/registered';
import type { StewardError } from '../../errors';
import { currentSessions } from '../../sessions/state';

/**
 * Parses a list of assistants, such as `codex,copilot` or `all`. Without a list, returns the assistants that
 * are registered by default.
 */
export function listedAssistants(context: Context, list?: string) {
  const deps = installerDeps(context);
  return { deps, assistants: list === undefined ? chosenFrom(deps, []) : assistantsIn(list) };
}

/**
 * Parses a list of assistants. Without a list, returns Claude Code and every assistant that has steward's
 * hooks.
 */
export function hookedAssistants(context: Context, list?: string) {
  if (list !== undefined) return listedAssistants(context, list);
  const deps = installerDeps(context);
  return { deps, assistants: [...new Set([claudeCode, ...registeredAssistants(deps)])] };
}

/**
 * Returns the hook status of the listed assistants. Default: all registered or installed assistants. Passes
 * an error in an assistant's settings to `onFailure`, and omits that assistant.
 */
export async function hooksStatusHere(
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
