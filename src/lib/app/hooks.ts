import { ASSISTANTS, assistantsIn } from '../assistant';
import type { Assistant } from '../assistant/assistant';
import { claudeCode } from '../assistant/claude-code';
import { hooksStatuses, installCommand, type HooksStatus } from '../assistant/install-view';
import { installedEvents } from '../assistant/install';
import { entriesOf, idOf, manifestDeps, shimDeps } from '../assistant/install-deps';
import { isShimCurrent, refreshShim, shimPath } from '../assistant/shim';
import { hasSkill, skillPath } from '../assistant/skill';
import type { ModuleHealth } from '../daemon/status';
import { StewardError } from '../errors';
import { exists } from '../platform/files/folder';
import { readInstallManifest, withInstallManifest } from '../platform/files/install-manifest';
import { processHost, type PathHost } from '../platform/files/paths';
import { findProgram } from '../platform/process/spawn';
import { CLAUDE_CODE } from '../sessions/session-key';
import { currentSessions } from '../sessions/state';
import { installerDeps, type Context, type InstallerDeps } from './context';
import { openSessions } from './sessions';

/**
 * Returns the assistants in a list such as `codex,copilot` or `all`. Without a list, returns the installed
 * ones.
 */
export function openHooks(
  context: Context,
  list?: string,
): { deps: InstallerDeps; assistants: readonly Assistant[] } {
  const deps = installerDeps(context);
  return { deps, assistants: list === undefined ? foundAssistants() : assistantsIn(list) };
}

/** Returns the installed assistants, or Claude Code if none is found. */
export function foundAssistants(host: PathHost = processHost()): readonly Assistant[] {
  const found = ASSISTANTS.filter(
    ({ folder, programs }) =>
      orUndefined(() => exists(folder(host))) === true ||
      programs.some((name) => findProgram(name) !== undefined),
  );
  return found.length === 0 ? [claudeCode] : found;
}

/** Returns the assistants that have steward's hooks, according to the manifest or their settings. */
export function registeredAssistants(context: Context): readonly Assistant[] {
  const deps = installerDeps(context);
  const entries = readInstallManifest(context.area.installManifest);
  return ASSISTANTS.filter(
    (assistant) =>
      entries.some(({ id }) => id === idOf(assistant)) ||
      (orUndefined(() => installedEvents(deps, assistant)) ?? []).length > 0,
  );
}

/**
 * Returns the assistants in a list. Without a list, returns Claude Code and every assistant with steward's
 * hooks.
 */
export function openRegistered(
  context: Context,
  list?: string,
): { deps: InstallerDeps; assistants: readonly Assistant[] } {
  if (list !== undefined) return openHooks(context, list);
  const registered = registeredAssistants(context);
  return {
    deps: installerDeps(context),
    assistants: [claudeCode, ...registered.filter((assistant) => assistant !== claudeCode)],
  };
}

/** Returns the installed assistants without steward's hooks. */
export function unregisteredAssistants(context: Context): readonly Assistant[] {
  const registered = registeredAssistants(context);
  return foundAssistants().filter((assistant) => !registered.includes(assistant));
}

/**
 * Returns the hook status of the assistants in a list. Without a list, uses the registered or installed
 * assistants. If the settings of some can't be read, `onFailure` gets the errors; without it, throws the first.
 */
export async function openHooksStatus(
  context: Context,
  list?: string,
  onFailure?: (error: StewardError) => void,
): Promise<HooksStatus[]> {
  const deps = installerDeps(context);
  const { area, host, product, run } = deps;
  const wanted = list === undefined ? shownAssistants(context) : assistantsIn(list);
  const assistants =
    onFailure === undefined
      ? wanted
      : wanted.filter((one) => orUndefined(() => installedEvents(deps, one), onFailure) !== undefined);
  const entries = readInstallManifest(area.installManifest);
  const needsTrust = assistants.some(({ pending }) => pending !== undefined);
  const sessions = needsTrust && exists(area.state) ? await heard(context) : [];
  const isHeard = (assistant: Assistant): boolean => {
    const at = entries.find(({ id }) => id === idOf(assistant))?.at ?? '';
    return sessions.some(({ by, lastAt }) => by === assistant.id && lastAt > at);
  };
  return hooksStatuses({ area, host, product, run, isHeard }, assistants);
}

function shownAssistants(context: Context): readonly Assistant[] {
  const deps = installerDeps(context);
  const registered = registeredAssistants(context);
  const found = foundAssistants();
  // Unreadable settings don't matter for an assistant without steward's hooks.
  return ASSISTANTS.filter(
    (assistant) =>
      registered.includes(assistant) ||
      (found.includes(assistant) &&
        (assistant === claudeCode || orUndefined(() => installedEvents(deps, assistant)) !== undefined)),
  );
}

/** Returns undefined if an assistant's settings, or the variable that holds their path, are invalid. */
export function orUndefined<T>(work: () => T, onFailure?: (error: StewardError) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    onFailure?.(error);
    return undefined;
  }
}

async function heard(context: Context): Promise<{ by: string; lastAt: string }[]> {
  const { sessions } = currentSessions(await openSessions(context));
  return Object.values(sessions).map(({ assistant = CLAUDE_CODE, updatedAt }) => ({
    by: assistant,
    lastAt: updatedAt,
  }));
}

/**
 * Returns the assistants to register hooks with: Claude Code if installed, plus any others that the user
 * agrees to. Without Claude Code, returns all installed assistants.
 */
export async function chosenAssistants(context: Context, mayAsk: boolean): Promise<string> {
  const { isInteractive, confirm } = await import('../platform/terminal/ask');
  const found = foundAssistants();
  if (!found.includes(claudeCode)) return listOf(found);
  const others = unregisteredAssistants(context).filter((assistant) => assistant !== claudeCode);
  const chosen: Assistant[] = [claudeCode];
  if (mayAsk && isInteractive()) {
    for (const assistant of others)
      if (await confirm(`Register hooks with ${assistant.title} too?`)) chosen.push(assistant);
  }
  return listOf(chosen);
}

/** Returns whether the registered assistants have all hooks and their script. */
export function hooksHealth(context: Context): ModuleHealth {
  const { deps } = openHooks(context);
  const registered = registeredAssistants(context);
  if (registered.length === 0) {
    const reason = `not registered with ${titlesOf(foundAssistants())}`;
    return { state: 'off', reason, fix: 'steward hooks install' };
  }
  if (!exists(shimPath(shimDeps(deps)))) {
    const fix = installCommand(registered[0]?.id ?? '');
    return { state: 'needs-you', reason: 'their script is missing', fix };
  }
  for (const assistant of registered) {
    const [events, all] = [installedEvents(deps, assistant).length, assistant.hooks.length];
    if (events < all) {
      const reason = `${events} of ${all} registered`;
      return { state: 'needs-you', reason, fix: installCommand(assistant.id) };
    }
  }
  return { state: 'ok', reason: `registered with ${titlesOf(registered)}` };
}

/** Formats `Claude Code, Codex CLI`. */
export function titlesOf(assistants: readonly Assistant[]): string {
  return assistants.map(({ title }) => title).join(', ');
}

function listOf(assistants: readonly Assistant[]): string {
  return assistants.map(({ id }) => id).join(',');
}

/** Updates a shim that an earlier version installed. */
export async function refreshHooks(context: Context): Promise<void> {
  const deps = installerDeps(context);
  const shim = shimDeps(deps);
  if (entriesOf(deps).length === 0 || isShimCurrent(shim)) return;
  const { clock, machineId } = deps;
  await withInstallManifest(manifestDeps(deps), (manifest) =>
    refreshShim({ ...shim, clock, machineId }, manifest),
  );
}

/**
 * Asks whether to install the work skill. False if there is no terminal, or the assistant already has the
 * skill.
 */
export async function askForSkill(deps: { host: PathHost }): Promise<boolean> {
  const { isInteractive, confirm } = await import('../platform/terminal/ask');
  if (!isInteractive() || hasSkill(deps, claudeCode)) return false;
  return confirm(
    `Install the work skill for ${claudeCode.title} too? It checks tasks and adds issues and reminders. It goes to ${skillPath(deps, claudeCode)}.`,
    'no',
  );
}
