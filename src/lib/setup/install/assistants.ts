import { installerDeps, type Context } from '../../app/context';
import { assistantsIn } from '../../assistant';
import { claudeCode } from '../../assistant/claude-code';
import { chosenFrom, registeredAssistants } from '../../assistant/registered';

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
