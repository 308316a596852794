import { StewardError, undefinedIf } from '../errors';
import { modeOf } from '../platform/files/folder';
import type { PathHost } from '../platform/files/paths';
import type { Run } from '../platform/process/process';
import { plural } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { CLAUDE_CODE } from '../sessions/session-key';
import type { Assistant } from './assistant';
import { type HooksInstalled, installedEvents } from './install';
import { type HookInstallDeps, commandsOf, shimDeps } from './install-deps';
import { readSettings } from './settings-file';
import { strangersIn, switchedOffBy } from './settings-hooks';
import { statusLineOwner } from './settings-statusline';
import { shimPath } from './shim';
import { type SkillResult, hasSkill, skillPath } from './skill';
import type { HooksUninstalled } from './uninstall';

export function installText(results: readonly HooksInstalled[]): string {
  const isActive = results.some(
    (result) => hasChanges(result) && !result.dryRun && result.warnings.length === 0,
  );
  return [
    ...results.map(resultText),
    ...(isActive ? ['steward records sessions that start from now on.'] : []),
  ].join('\n');
}

function hasChanges({ added, shim, skill, statusLine }: HooksInstalled): boolean {
  return added.length > 0 || shim.written || skill !== null || statusLine !== null;
}

function resultText(result: HooksInstalled): string {
  const { added, kept, settings, backup, shim, skill, statusLine, dryRun } = result;
  if (!hasChanges(result)) return clean(`Hooks already installed in ${settings}`);
  const lines = [
    ...(added.length === 0
      ? []
      : [
          `${dryRun ? 'Would add' : 'Added'} ${plural(added.length, 'hook')} to ${settings}: ${added.join(', ')}`,
        ]),
    ...(kept.length === 0 ? [] : [`Already installed: ${kept.join(', ')}`]),
    ...(statusLine === null || statusLine === 'unsupported' ? [] : [LINES[statusLine](dryRun, settings)]),
    ...(backup === null ? [] : [`${dryRun ? 'Would back up the settings to' : 'Backup'}: ${backup}`]),
    ...(shim.written ? [`${dryRun ? 'Would write' : 'Wrote'} ${shim.path}`] : []),
    ...(skill === null ? [] : skillLines(skill, dryRun)),
  ];
  return lines.map(clean).join('\n');
}

const LINES = {
  added: (dryRun: boolean, path: string) =>
    `${dryRun ? 'Would add' : 'Added'} steward's status line to ${path}`,
  chained: (dryRun: boolean, path: string) =>
    `${dryRun ? 'Would add' : 'Added'} steward's status line below the existing one in ${path}`,
  unchanged: (_: boolean, path: string) => `steward's status line is already in ${path}`,
} as const;

function skillLines({ path, changed, left }: SkillResult, dryRun: boolean): string[] {
  return [
    ...(changed.length > 0 ? [`${dryRun ? 'Would write' : 'Wrote'} the work skill: ${path}`] : []),
    ...(changed.length === 0 && left.length === 0 ? [`The work skill is already installed: ${path}`] : []),
    ...left.map((file) => `Not replaced, because you edited it: ${file}`),
  ];
}

/** Formats the output of `hooks uninstall`; undefined if nothing was removed. */
export function uninstallText(result: HooksUninstalled): string | undefined {
  const { settings, statusLine, shim, skill, left, strangers, dryRun } = result;
  const removed = dryRun ? 'Would remove' : 'Removed';
  const lines = [
    ...settings.flatMap(({ path, entries, removed: isRemoved }) => {
      if (isRemoved) return `${removed} ${path}, which ${dryRun ? 'contains' : 'contained'} nothing else`;
      return entries === 0 ? [] : `${removed} ${plural(entries, 'hook')} from ${path}`;
    }),
    ...(statusLine === 'restored'
      ? [`${dryRun ? 'Would restore' : 'Restored'} the previous status line`]
      : []),
    ...(statusLine === 'removed' ? [`${removed} steward's status line`] : []),
    ...(shim.removed ? [`${removed} ${shim.path}`] : []),
    ...(skill.changed.length > 0 ? [`${removed} the work skill: ${skill.path}`] : []),
    ...left.map(
      (what) =>
        `Not removed, because you edited it${what.includes(shim.path) ? ' (it runs a removed script)' : ''}: ${what}`,
    ),
    ...strangers.map(
      (command) =>
        `Hook from another user area (to remove it, run "STEWARD_HOME=… steward uninstall hooks"): ${command}`,
    ),
  ];
  return lines.length === 0 ? undefined : lines.map(clean).join('\n');
}

export function statusText(status: HooksStatus): string {
  const { state, settings, events, switchedOffBy: off, node, steward, skill } = status;
  const { pending, statusLine, strangers } = status;
  const [own, program] = [steward, node].map((found) => `${found?.version ?? ''} (${found?.path ?? ''})`);
  const runs = `runs steward ${own ?? ''} with Node.js ${program ?? ''}`;
  const missing = events.filter(({ registered }) => !registered).map(({ event }) => event);
  const lines = [
    `${WORDS[state]} in ${settings}`,
    ...(pending === null ? [] : [`  ${pending}`]),
    ...(state === 'partly' && missing.length > 0 ? [`  not registered: ${missing.join(', ')}`] : []),
    ...(off === null ? [] : [`  all hooks are disabled by ${off}`]),
    ...(state === 'not' ? [] : [`  ${shimTrouble(status) ?? runs}`]),
    ...(skill?.exists === true
      ? [`  work skill: ${skill.path}`]
      : state === 'not' || skill === null
        ? []
        : ['  work skill: not installed; to add it: steward install hooks --skill']),
    ...(statusLine === 'steward'
      ? ["  status line: steward's"]
      : state === 'not' || statusLine === null
        ? []
        : [`  status line: ${statusLine}; to add steward's: steward install hooks --statusline`]),
    ...strangers.map((command) => `  another user area's hooks also record each event: ${command}`),
    ...(state === 'installed' ? [] : [`Run "${installCommand(status.assistant)}" to install the hooks.`]),
  ];
  return lines.map(clean).join('\n');
}

/** Returns the command that registers an assistant's hooks. */
export function installCommand(assistant: string): string {
  return assistant === CLAUDE_CODE
    ? 'steward install hooks'
    : `steward install hooks --assistant ${assistant}`;
}

const WORDS = { installed: 'Installed', partly: 'Partly installed', not: 'Not installed' } as const;

/** Returns why the hooks do nothing, or undefined if they work. */
export function shimTrouble({ shim, node, steward }: HooksStatus): string | undefined {
  const lacking = node === null ? 'Node.js' : steward === null ? 'steward' : undefined;
  if (shim.exists && shim.runs && lacking === undefined) return undefined;
  const found = shim.runs ? `cannot find a working ${lacking ?? ''}` : 'cannot be run';
  return `${shim.path} ${shim.exists ? found : 'is missing'}, so the hooks do nothing`;
}

export interface StatusDeps extends Omit<HookInstallDeps, 'clock' | 'machineId'> {
  run: Run;
  /** Returns whether one of this assistant's hooks has run since the install. */
  isHeard: (assistant: Assistant) => boolean;
}

/** What the shim would use; null for what doesn't work. */
type Probed = Record<'node' | 'steward', { path: string; version: string } | null> & { runs: boolean };

const PROBE_MS = 10_000;
const NOTHING = { runs: false, node: null, steward: null };

/**
 * Returns the status of each assistant's hooks. Throws `config` if the settings can't be read.
 */
export async function hooksStatuses(
  deps: StatusDeps,
  assistants: readonly Assistant[],
): Promise<HooksStatus[]> {
  const shim = shimPath(shimDeps(deps));
  const probed = modeOf(shim) === undefined ? NOTHING : await probe(deps.run, shim, deps.host);
  return assistants.map((assistant) => statusOf(deps, assistant, probed));
}

function statusOf(deps: StatusDeps, assistant: Assistant, { runs, ...found }: Probed) {
  const path = assistant.path(deps.host);
  const isClaude = assistant.id === CLAUDE_CODE;
  const { statusLineKey: key } = assistant;
  const source = assistant.ownFile === undefined ? readSettings(path) : undefined;
  const registered = new Set(installedEvents(deps, assistant));
  const events = assistant.hooks.map(({ event }) => ({ event, registered: registered.has(event) }));
  const shim = shimPath(shimDeps(deps));
  const exists = modeOf(shim) !== undefined;
  const works = found.node !== null && found.steward !== null;
  const isAll = registered.size === assistant.hooks.length;
  /** `installed` means that all events are registered and the shim works. */
  const state: keyof typeof WORDS = isAll && works ? 'installed' : registered.size === 0 ? 'not' : 'partly';
  return {
    assistant: assistant.id,
    settings: path,
    state,
    events,
    /** The setting that disables all hooks, as `KEY in PATH`; null if no setting does. */
    switchedOffBy: switchedOffBy(source, path, assistant, deps.host),
    /** The script that hooks call. `runs` tells whether the script responds to `--where`. */
    shim: { path: shim, exists, runs },
    /** What the user must do before the hooks can run; null if no action is needed. */
    pending: registered.size > 0 && !deps.isHeard(assistant) ? (assistant.pending ?? null) : null,
    /** The work skill in the assistant's folder; null if the assistant doesn't support skills. */
    skill: isClaude ? { path: skillPath(deps, assistant), exists: hasSkill(deps, assistant) } : null,
    /** The owner of the status line in the settings; null if the assistant doesn't support status lines. */
    statusLine:
      key === undefined
        ? null
        : source === undefined
          ? ('none' as const)
          : statusLineOwner(source, path, key, commandsOf(deps)),
    /** Commands that run another user area's hooks. */
    strangers: source === undefined ? [] : strangersIn(source, path, assistant, commandsOf(deps)),
    ...found,
  };
}

export type HooksStatus = ReturnType<typeof statusOf>;

/** Returns the Node.js binary and the steward installation that the shim would use, with their versions. */
async function probe(run: Run, shim: string, { platform, env }: PathHost): Promise<Probed> {
  const answer =
    platform === 'win32'
      ? await ask(run, env['ComSpec'] ?? 'cmd.exe', ['/d', '/c', shim, '--where'])
      : await ask(run, shim, ['--where']);
  const [node = '', steward = ''] = (answer ?? '').split(/\r?\n/).map((line) => line.replace(/^"|"$/g, ''));
  if (node === '' || steward === '') return { ...NOTHING, runs: answer !== undefined };
  const nodeVersion = await ask(run, node, ['-p', 'process.versions.node']);
  const version = await ask(run, node, [steward, '--version']);
  return {
    runs: true,
    node: nodeVersion === undefined ? null : { path: node, version: nodeVersion },
    steward: version === undefined ? null : { path: steward, version: version.replace(/^steward /, '') },
  };
}

async function ask(run: Run, file: string, args: readonly string[]): Promise<string | undefined> {
  const asked = run(file, args, { timeoutMs: PROBE_MS });
  const answer = await asked.catch(undefinedIf((error) => error instanceof StewardError));
  return answer?.code === 0 ? answer.stdout.trim() : undefined;
}
