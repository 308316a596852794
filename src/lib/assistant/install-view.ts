import { plural } from '../platform/terminal/plural';
import { clean } from '../platform/terminal/terminal';
import type { InstallResult } from './install';
import type { HooksStatus } from './install-status';
import type { SkillResult } from './skill';
import type { UninstallResult } from './uninstall';

/** `hooks install` */
export function installText(result: InstallResult): string {
  const { added, kept, settings, backup, shim, skill, dryRun } = result;
  if (added.length === 0 && !shim.written && skill === null)
    return clean(`The hooks are installed already, in ${settings}`);
  const lines = [
    ...(added.length === 0
      ? []
      : [
          `${dryRun ? 'Would add' : 'Added'} ${plural(added.length, 'hook')} to ${settings}: ${added.join(', ')}`,
        ]),
    ...(kept.length === 0 ? [] : [`There already: ${kept.join(', ')}`]),
    ...(backup === null ? [] : [`${dryRun ? 'Would keep it as it is' : 'As it was'}: ${backup}`]),
    ...(shim.written ? [`${dryRun ? 'Would write' : 'Wrote'} ${shim.path}`] : []),
    ...(skill === null ? [] : skillLines(skill, dryRun)),
    ...(dryRun || result.warnings.length > 0 ? [] : ['Sessions that start from now on are seen.']),
  ];
  return lines.map(clean).join('\n');
}

function skillLines({ path, changed, left }: SkillResult, dryRun: boolean): string[] {
  return [
    ...(changed.length > 0 ? [`${dryRun ? 'Would write' : 'Wrote'} the work skill: ${path}`] : []),
    ...(changed.length === 0 && left.length === 0 ? [`The work skill is there already: ${path}`] : []),
    ...left.map((file) => `Left, since it was written or changed by somebody else: ${file}`),
  ];
}

/** `hooks uninstall` */
export function uninstallText({ settings, shim, skill, left, strangers, dryRun }: UninstallResult): string {
  const lines = [
    ...settings
      .filter(({ entries, removed }) => entries > 0 || removed)
      .map(({ path, entries, removed }) =>
        removed
          ? `${dryRun ? 'Would remove' : 'Removed'} ${path}, which ${dryRun ? 'holds' : 'held'} nothing else`
          : `${dryRun ? 'Would take' : 'Took'} ${plural(entries, 'hook')} out of ${path}`,
      ),
    ...(shim.removed ? [`${dryRun ? 'Would remove' : 'Removed'} ${shim.path}`] : []),
    ...(skill.changed.length > 0
      ? [`${dryRun ? 'Would remove' : 'Removed'} the work skill: ${skill.path}`]
      : []),
    ...left.map(
      (what) =>
        `Left, since it was written or changed by somebody else${what.includes(shim.path) ? ', and it runs what is gone now' : ''}: ${what}`,
    ),
    ...strangers.map(
      (command) => `Another user area's, see "STEWARD_HOME=… steward hooks uninstall": ${command}`,
    ),
  ];
  return lines.length === 0 ? 'No hooks of steward are installed.' : lines.map(clean).join('\n');
}

/** `hooks status` */
export function statusText(status: HooksStatus): string {
  const { state, settings, events, switchedOff, shim, node, steward, skill, strangers } = status;
  const missing = events.filter(({ registered }) => !registered).map(({ event }) => event);
  const lines = [
    `${WORDS[state]}, in ${settings}`,
    ...(state === 'partly' && missing.length > 0 ? [`  not registered: ${missing.join(', ')}`] : []),
    ...(switchedOff ? ['  switched off there: all hooks are disabled'] : []),
    ...(state === 'not' ? [] : [shimText(shim, node, steward)]),
    ...(skill.exists
      ? [`  work skill: ${skill.path}`]
      : state === 'not'
        ? []
        : ['  no work skill: "steward hooks install --skill" adds it']),
    ...strangers.map((command) => `  another user area's hooks count each event there: ${command}`),
    ...(state === 'installed' ? [] : ['Run "steward hooks install" to install what is missing.']),
  ];
  return lines.map(clean).join('\n');
}

const WORDS = { installed: 'Installed', partly: 'Partly installed', not: 'Not installed' } as const;

function shimText(
  shim: HooksStatus['shim'],
  node: HooksStatus['node'],
  steward: HooksStatus['steward'],
): string {
  if (!shim.exists) return `  ${shim.path} is missing: the hooks do nothing`;
  if (!shim.runs) return `  ${shim.path} does not run: the hooks do nothing`;
  if (node === null) return `  ${shim.path} finds no Node.js that runs: the hooks do nothing`;
  if (steward === null) return `  ${shim.path} finds no steward that runs: the hooks do nothing`;
  return `  runs steward ${steward.version} (${steward.path}) with Node.js ${node.version} (${node.path})`;
}
