import type { Machine, UserArea } from '../config/user-area';
import { off, ok, warning, type Finding } from '../platform/check';
import { StewardError } from '../errors';
import { exists } from '../platform/files/folder';
import { readInstallManifest, withInstallManifest } from '../platform/files/install-manifest';
import { processHost, type PathHost } from '../platform/files/paths';
import { toIso } from '../platform/time/clock';
import { findProgram } from '../platform/process/spawn';
import type { Session, SessionsState } from '../sessions/session';
import { CLAUDE_CODE } from '../sessions/session-key';
import { ASSISTANTS } from './index';
import type { Assistant } from './assistant';
import { claudeCode } from './claude-code';
import { installedEvents } from './install';
import { entriesOf, type HookInstallDeps, idOf, shimDeps } from './install-deps';
import { installCommand } from './install-view';
import { isShimCurrent, refreshShim, shimPath } from './shim';
import { hasSkill, skillPath } from './skill';

/** Returns the assistants whose folder or program exists. */
function installedAssistants(): readonly Assistant[] {
  const host = processHost();
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
export function registeredAssistants(deps: HookInstallDeps): readonly Assistant[] {
  const entries = readInstallManifest(deps.area.installManifest);
  return ASSISTANTS.filter(
    (assistant) =>
      entries.some(({ id }) => id === idOf(assistant)) ||
      (orUndefined(() => installedEvents(deps, assistant)) ?? []).length > 0,
  );
}

export function unregisteredAssistants(deps: HookInstallDeps): readonly Assistant[] {
  const registered = registeredAssistants(deps);
  return installedAssistants().filter((assistant) => !registered.includes(assistant));
}

type ReadSessions = () => Promise<SessionsState>;

/** Returns a function that tells whether an assistant's hooks have run since the install. */
export async function heardBy(
  { area }: { area: Pick<UserArea, 'installManifest' | 'state'> },
  readSessions: ReadSessions,
  assistants: readonly Assistant[],
): Promise<(assistant: Assistant) => boolean> {
  const entries = readInstallManifest(area.installManifest);
  const needsTrust = assistants.some(({ pending }) => pending !== undefined);
  const sessions = needsTrust && exists(area.state) ? Object.values((await readSessions()).sessions) : [];
  return (wanted) => {
    const { at = '', added } = entries.find(({ id }) => id === idOf(wanted)) ?? {};
    const isOf = ({ assistant = CLAUDE_CODE }: Session): boolean => assistant === wanted.id;
    return added?.['heard'] === true || sessions.some((session) => isOf(session) && session.updatedAt > at);
  };
}

/** Stores in the manifest which hooks have run, before `sessions forget` deletes their sessions. */
export async function recordHeard(deps: HookInstallDeps & Pick<Machine, 'area'>, readSessions: ReadSessions) {
  const needTrust = ASSISTANTS.filter(({ pending }) => pending !== undefined);
  const heard = needTrust.filter(await heardBy(deps, readSessions, needTrust)).map(idOf);
  const entries = entriesOf(deps).filter(({ id }) => heard.includes(id));
  if (entries.length === 0) return;
  await withInstallManifest(deps, (manifest) => {
    for (const entry of entries) manifest.record({ ...entry, added: { ...entry.added, heard: true } });
  });
}

/** Returns the assistants that `hooks status` shows by default. */
export function shownAssistants(deps: HookInstallDeps): readonly Assistant[] {
  const registered = registeredAssistants(deps);
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

/**
 * Returns a comma-separated list of the assistants to register: Claude Code if installed, and others that the
 * user confirms. Throws `not_found` if the list is empty.
 */
export async function chosenAssistants(deps: HookInstallDeps, mayAsk: boolean): Promise<string> {
  const { isInteractive, confirm } = await import('../platform/terminal/ask');
  const agreed: Assistant[] = [];
  if (mayAsk && isInteractive()) {
    for (const assistant of unregisteredAssistants(deps))
      if (assistant !== claudeCode && (await confirm(`Register hooks with ${assistant.title}?`)))
        agreed.push(assistant);
  }
  return listOf(chosenFrom(deps, agreed));
}

/** Returns Claude Code if installed, or else the registered assistants, and those that the user confirmed. */
export function chosenFrom(deps: HookInstallDeps, agreed: readonly Assistant[]): readonly Assistant[] {
  const found = installedAssistants();
  const own = found.includes(claudeCode) ? [claudeCode] : registeredAssistants(deps);
  const chosen = [...own, ...agreed];
  if (chosen.length > 0) return chosen;
  if (found.length === 0) {
    throw new StewardError('not_found', 'None of the supported assistants is installed.', {
      hint: 'To register hooks before you install an assistant: steward install hooks --assistant NAME',
    });
  }
  throw new StewardError('not_found', 'Claude Code is not installed.', {
    hint: othersText(found),
  });
}

/** Lists the installed assistants without hooks, and the command that registers the hooks. */
export function othersText(others: readonly Assistant[]): string {
  return `Also installed: ${titlesOf(others)}. To register hooks: steward install hooks --assistant ${listOf(others)}`;
}

/**
 * Returns the health of the hooks. Checks that registered assistants have all hooks, and that the hook script
 * exists.
 */
export function hooksFinding(deps: HookInstallDeps): Finding {
  const registered = registeredAssistants(deps);
  if (registered.length === 0) {
    return off(`not registered with ${titlesOf(foundAssistants())}`, { fix: 'steward install hooks' });
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

/** Returns the hooks that are incomplete, or that an assistant doesn't trust yet. */
export async function waitingHooks(
  deps: HookInstallDeps & Pick<Machine, 'area'>,
  readSessions: ReadSessions,
) {
  const registered = registeredAssistants(deps);
  if (registered.length === 0) return [];
  const { state, found, fix = null } = hooksFinding(deps);
  const pending = registered.filter((one) => one.pending !== undefined);
  const isHeard = await heardBy(deps, readSessions, pending);
  const untrusted = pending.filter((one) => !isHeard(one));
  const since = entriesOf(deps).at(-1)?.at ?? toIso(deps.clock.now());
  return [
    ...(state === 'warning' ? [{ id: 'hooks', title: found, go: fix, since }] : []),
    ...untrusted.map(({ id, title, pending = '' }) => {
      return { id: `hooks-${id}`, title: `${title}: ${pending}`, go: null, since };
    }),
  ];
}

export function titlesOf(assistants: readonly Assistant[]): string {
  return assistants.map(({ title }) => title).join(', ');
}

export function listOf(assistants: readonly Assistant[]): string {
  return assistants.map(({ id }) => id).join(',');
}

/** Updates a shim that an earlier version installed. */
export async function refreshHooks(deps: HookInstallDeps): Promise<void> {
  const shim = shimDeps(deps);
  if (entriesOf(deps).length === 0 || isShimCurrent(shim)) return;
  const { clock, machineId } = deps;
  await withInstallManifest(deps, (manifest) => refreshShim({ ...shim, clock, machineId }, manifest));
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
