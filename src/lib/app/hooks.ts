import { ASSISTANTS, assistantsIn } from '../assistant';
import type { Assistant } from '../assistant/assistant';
import { claudeCode } from '../assistant/claude-code';
import { hooksStatuses, installCommand, type HooksStatus } from '../assistant/install-view';
import { installedEvents } from '../assistant/install';
import { entriesOf, idOf, manifestDeps, shimDeps } from '../assistant/install-deps';
import { isShimCurrent, refreshShim, shimPath } from '../assistant/shim';
import { hasSkill, skillPath } from '../assistant/skill';
import { StewardError } from '../errors';
import { off, ok, warning, type Finding } from '../platform/check';
import { exists } from '../platform/files/folder';
import { readInstallManifest, withInstallManifest } from '../platform/files/install-manifest';
import { processHost, type PathHost } from '../platform/files/paths';
import { findProgram } from '../platform/process/spawn';
import { CLAUDE_CODE } from '../sessions/session-key';
import { currentSessions } from '../sessions/state';
import { installerDeps, type Context, type InstallContext } from './context';
import { openSessions } from './sessions';

/**
 * Parses a list of assistants, such as `codex,copilot` or `all`. Without a list, returns the assistants that
 * are registered by default.
 */
export function openHooks(
  context: Context,
  list?: string,
): { deps: InstallContext; assistants: readonly Assistant[] } {
  const deps = installerDeps(context);
  return { deps, assistants: list === undefined ? chosenFrom(context, []) : assistantsIn(list) };
}

/** Returns the assistants whose folder or program exists. */
function installedAssistants(host: PathHost = processHost()): readonly Assistant[] {
  return ASSISTANTS.filter(
    ({ folder, programs }) =>
      orUndefined(() => exists(folder(host))) === true ||
      programs.some((name) => findProgram(name) !== undefined),
  );
}

export function isClaudeInstalled(): boolean {
  return installedAssistants().includes(claudeCode);
}

/** Returns the installed assistants, or Claude Code if none is installed. */
export function foundAssistants(): readonly Assistant[] {
  const found = installedAssistants();
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
 * Parses a list of assistants. Without a list, returns Claude Code and every assistant that has steward's
 * hooks.
 */
export function openRegistered(
  context: Context,
  list?: string,
): { deps: InstallContext; assistants: readonly Assistant[] } {
  if (list !== undefined) return openHooks(context, list);
  const registered = registeredAssistants(context);
  return {
    deps: installerDeps(context),
    assistants: [claudeCode, ...registered.filter((assistant) => assistant !== claudeCode)],
  };
}

export function unregisteredAssistants(context: Context): readonly Assistant[] {
  const registered = registeredAssistants(context);
  return installedAssistants().filter((assistant) => !registered.includes(assistant));
}

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
  const wanted = list === undefined ? shownAssistants(context) : assistantsIn(list);
  const assistants = wanted.filter(
    (one) => orUndefined(() => installedEvents(deps, one), onFailure) !== undefined,
  );
  const isHeard = await heardBy(context, assistants);
  return hooksStatuses({ area, host, product, run, isHeard }, assistants);
}

/** Returns a function that tells whether an assistant's hooks have run since the install. */
async function heardBy(
  context: Context,
  assistants: readonly Assistant[],
): Promise<(assistant: Assistant) => boolean> {
  const entries = readInstallManifest(context.area.installManifest);
  const needsTrust = assistants.some(({ pending }) => pending !== undefined);
  const sessions = needsTrust && exists(context.area.state) ? await lastActivity(context) : [];
  return (assistant) => {
    const { at = '', added } = entries.find(({ id }) => id === idOf(assistant)) ?? {};
    return added?.['heard'] === true || sessions.some(({ by, lastAt }) => by === assistant.id && lastAt > at);
  };
}

/** Stores in the manifest which hooks have run, before `sessions forget` deletes their sessions. */
export async function recordHeard(context: Context): Promise<void> {
  const deps = installerDeps(context);
  const needTrust = ASSISTANTS.filter(({ pending }) => pending !== undefined);
  const heard = needTrust.filter(await heardBy(context, needTrust));
  const entries = entriesOf(deps).filter(({ id }) => heard.some((assistant) => idOf(assistant) === id));
  if (entries.length === 0) return;
  await withInstallManifest(manifestDeps(deps), (manifest) => {
    for (const entry of entries) manifest.record({ ...entry, added: { ...entry.added, heard: true } });
  });
}

function shownAssistants(context: Context): readonly Assistant[] {
  const deps = installerDeps(context);
  const registered = registeredAssistants(context);
  const found = foundAssistants();
  // Omit an assistant whose settings are unreadable, unless steward's hooks are registered with it.
  return ASSISTANTS.filter(
    (assistant) =>
      registered.includes(assistant) ||
      (found.includes(assistant) &&
        (assistant === claudeCode || orUndefined(() => installedEvents(deps, assistant)) !== undefined)),
  );
}

/** Returns the result of `work`. If `work` throws a StewardError, calls `onFailure` and returns undefined. */
export function orUndefined<T>(work: () => T, onFailure?: (error: StewardError) => void): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    onFailure?.(error);
    return undefined;
  }
}

async function lastActivity(context: Context): Promise<{ by: string; lastAt: string }[]> {
  const { sessions } = currentSessions(await openSessions(context));
  return Object.values(sessions).map(({ assistant = CLAUDE_CODE, updatedAt }) => ({
    by: assistant,
    lastAt: updatedAt,
  }));
}

/**
 * Returns a comma-separated list of the assistants to register: Claude Code if installed, and others that the
 * user confirms. Throws `not_found` if the list is empty.
 */
export async function chosenAssistants(context: Context, mayAsk: boolean): Promise<string> {
  const { isInteractive, confirm } = await import('../platform/terminal/ask');
  const agreed: Assistant[] = [];
  if (mayAsk && isInteractive()) {
    for (const assistant of unregisteredAssistants(context))
      if (assistant !== claudeCode && (await confirm(`Register hooks with ${assistant.title}?`)))
        agreed.push(assistant);
  }
  return listOf(chosenFrom(context, agreed));
}

function chosenFrom(context: Context, agreed: readonly Assistant[]): readonly Assistant[] {
  const found = installedAssistants();
  const own = found.includes(claudeCode) ? [claudeCode] : registeredAssistants(context);
  const chosen = [...own, ...agreed];
  if (chosen.length > 0) return chosen;
  if (found.length === 0) {
    throw new StewardError('not_found', 'None of the supported assistants is installed.', {
      hint: 'To register hooks before you install an assistant: steward hooks install --assistant NAME',
    });
  }
  throw new StewardError('not_found', 'Claude Code is not installed.', {
    hint: othersText(found),
  });
}

/** Lists the installed assistants without hooks, and the command that registers the hooks. */
export function othersText(others: readonly Assistant[]): string {
  return `Also installed: ${titlesOf(others)}. To register hooks: steward hooks install --assistant ${listOf(others)}`;
}

/**
 * Returns the health of the hooks. Checks that registered assistants have all hooks, and that the hook script
 * exists.
 */
export function hooksFinding(context: Context): Finding {
  const deps = installerDeps(context);
  const registered = registeredAssistants(context);
  if (registered.length === 0) {
    return off(`not registered with ${titlesOf(foundAssistants())}`, { fix: 'steward hooks install' });
  }
  if (!exists(shimPath(shimDeps(deps)))) {
    const fix = installCommand(registered[0]?.id ?? '');
    return warning('the hook script is missing', { fix });
  }
  const failures: StewardError[] = [];
  const readable: Assistant[] = [];
  for (const assistant of registered) {
    const events = orUndefined(
      () => installedEvents(deps, assistant),
      (error) => failures.push(error),
    );
    if (events === undefined) continue;
    const all = assistant.hooks.length;
    if (events.length < all) {
      const found = `${assistant.title}: ${events.length} of ${all} hooks registered`;
      return warning(found, { fix: installCommand(assistant.id) });
    }
    readable.push(assistant);
  }
  const found = [
    ...(readable.length === 0 ? [] : [`registered with ${titlesOf(readable)}`]),
    ...failures.map(({ message }) => message),
  ].join(' · ');
  return failures.length === 0 ? ok(found) : warning(found, { fix: 'steward doctor hooks' });
}

export function titlesOf(assistants: readonly Assistant[]): string {
  return assistants.map(({ title }) => title).join(', ');
}

export function listOf(assistants: readonly Assistant[]): string {
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
 * Asks whether to install the work skill. Returns false without a terminal, or if Claude Code already has the
 * skill.
 */
export async function askForSkill(deps: { host: PathHost }): Promise<boolean> {
  const { isInteractive, confirm } = await import('../platform/terminal/ask');
  if (!isInteractive() || hasSkill(deps, claudeCode)) return false;
  return confirm(
    `Also install the work skill in ${skillPath(deps, claudeCode)}? It lets ${claudeCode.title} check tasks and add issues and reminders.`,
    'no',
  );
}
