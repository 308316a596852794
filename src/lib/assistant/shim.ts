import { basename, win32 } from 'node:path';

import { readText } from '../platform/files/atomic-file';
import { exists } from '../platform/files/folder';
import type { InstallManifest } from '../platform/files/install-manifest';
import { type PathHost, userAreaPath } from '../platform/files/paths';
import { placePath } from '../platform/files/place';
import {
  type LauncherDeps,
  type LauncherForm,
  forBatch,
  isLauncherCurrent,
  launcherPath,
  launcherTarget,
  removeLauncher,
  writeLauncher,
} from '../platform/process/launcher';
import { forShell } from '../platform/process/spawn';
import type { Clock } from '../platform/time/clock';
import { wordsOf, type Assistant } from './assistant';
import { ASSISTANTS } from './index';
import { ASKING, WRITERS } from './payload';

export interface ShimDeps extends LauncherDeps {
  /** The user area, if STEWARD_HOME is set. */
  area: string | undefined;
}

const SHIM = { name: 'steward-hook', manifestId: 'hooks:shim' };

/** Returns the path of the shim: a shell script or, on Windows, a batch file. */
export function shimPath(deps: Pick<ShimDeps, 'bin' | 'host'>): string {
  return launcherPath(SHIM.name, deps);
}

/**
 * Writes the shim if it is missing or outdated, and records it in the manifest. Returns whether the shim was
 * written.
 */
export function writeShim(deps: ShimDeps & { clock: Clock; machineId: string }, manifest: InstallManifest) {
  return writeLauncher(shimForm(deps), deps, manifest);
}

export function isShimCurrent(deps: ShimDeps): boolean {
  return isLauncherCurrent(shimForm(deps), deps);
}

/**
 * Updates an installed shim unless the shim starts another installation of steward. Returns whether the shim
 * was updated.
 */
export function refreshShim(deps: ShimDeps & { clock: Clock; machineId: string }, manifest: InstallManifest) {
  const path = shimPath(deps);
  const text = manifest.find(SHIM.manifestId, path) === undefined ? undefined : readText(path);
  if (text === undefined) return false;
  const other = unquoted(/^steward=(.*)$/m.exec(text)?.[1] ?? '');
  if (other !== launcherTarget(deps).steward && exists(other)) return false;
  return writeShim(deps, manifest);
}

/** Removes the shim, and its folder if the folder is empty. Returns false if there was no shim. */
export function removeShim(
  deps: Pick<ShimDeps, 'bin' | 'host'> & { clock: Clock },
  manifest: InstallManifest,
): boolean {
  return removeLauncher(SHIM, deps, manifest);
}

export function shimForm({ area, host }: Pick<ShimDeps, 'area' | 'host'>): LauncherForm {
  const root = area ?? userAreaPath(host);
  return {
    ...SHIM,
    values: {
      ENVIRONMENT: environmentOf(area, host),
      AREA: forShell(root),
      PLACE: placeOf(root, host),
      TOOL_COMMANDS: ASSISTANTS.filter(({ toolKeys }) => toolKeys !== undefined)
        .map((assistant) => `'${wordsOf(assistant, 'tool')}'`)
        .join(' | '),
      TOOL_KEYS: ASSISTANTS.flatMap(patternsFor)
        .map((pattern) => `    '${pattern}'`)
        .join(' | \\\n'),
      FILE_TOOLS: [...WRITERS, 'NotebookEdit', 'apply_patch', ...ASKING].join(' | '),
    },
  };
}

/** Returns a shell expression for the path of this machine's place file (platform/files/place.ts). */
function placeOf(root: string, host: PathHost): string {
  const state =
    host.platform === 'darwin'
      ? '$HOME/Library/Application Support/steward/state'
      : '${XDG_STATE_HOME:-$HOME/.local/state}/steward';
  return `"${state}/${basename(placePath(root, host))}"`;
}

/** Returns shell patterns for the keys of a tool event, one for each combination of optional keys. */
function patternsFor({ id, toolKeys }: Assistant): string[] {
  if (toolKeys === undefined) return [];
  return toolKeys.reduce<string[]>((known, key) => known.flatMap((order) => withKey(order, key)), [id]);
}

function withKey(order: string, key: string): string[] {
  return key.endsWith('?') ? [order, `${order} ${key.slice(0, -1)}`] : [`${order} ${key}`];
}

/**
 * Returns a shell command that sets STEWARD_HOME to its value at install time, unless STEWARD_HOME is already
 * set.
 */
function environmentOf(area: string | undefined, host: PathHost): string {
  if (area === undefined) return '';
  return host.platform === 'win32'
    ? `if not defined STEWARD_HOME set "STEWARD_HOME=${forBatch(area, host.env)}"`
    : `[ -n "\${STEWARD_HOME-}" ] || export STEWARD_HOME=${forShell(area)}`;
}

/**
 * Returns the commands for the shim at `shimPath`. POSIX commands end with `|| :`, so that a deleted shim
 * doesn't make the assistant's hook fail.
 */
export function shimCommands(shimPath: string, host: Pick<PathHost, 'platform' | 'home'>) {
  // Both Git Bash and cmd accept a path with slashes in double quotes.
  const written = host.platform === 'win32' ? `"${shimPath.replaceAll('\\', '/')}"` : forShell(shimPath);
  const spellings = spellingsOf(shimPath, host).sort((a, b) => b.length - a.length);
  /**
   * Returns the verb of a command that only runs the shim, even if the user has rewritten it (quotes, `~` or
   * `$HOME`, extra arguments, redirection).
   */
  const verbOf = (command: string): string | undefined => {
    const text = command.trim();
    const spelling = spellings.find((start) => text.startsWith(start));
    if (spelling === undefined) return undefined;
    const found = REST.exec(text.slice(spelling.length));
    return found === null ? undefined : (found[1] ?? '');
  };
  const commandFor = (verb: string): string =>
    host.platform === 'win32' ? `${written} ${verb}` : `${written} ${verb} || :`;
  return {
    commandFor,
    verbOf,
    /** Returns whether the command contains the shim's path. */
    isMentionedIn: (command: string) => spellings.some((spelling) => command.includes(spelling)),
    /**
     * Returns a status line command that also runs the command `then`, if given. Returns undefined if `then`
     * can't be quoted.
     */
    statusLineFor(then: string | undefined) {
      if (then === undefined) return commandFor(STATUS_LINE);
      if (host.platform !== 'win32') return commandFor(`${STATUS_LINE} --then ${forShell(then)}`);
      return PLAIN.test(then) ? commandFor(`${STATUS_LINE} --then "${then}"`) : undefined;
    },
    /** Parses a command from `statusLineFor`, even if the user has edited it slightly. */
    statusLineOf(command: string): { then: string | undefined } | undefined {
      const text = command.trim();
      const spelling = spellings.find((start) => text.startsWith(start));
      const found = CHAINED.exec(text.slice(spelling?.length ?? text.length));
      if (found !== null) return { then: unquoted(found[1] ?? '') };
      return verbOf(text) === STATUS_LINE && !text.includes('--then') ? { then: undefined } : undefined;
    },
  };
}

/** Builds and parses the commands that are registered with an assistant. */
export type ShimCommands = ReturnType<typeof shimCommands>;

const STATUS_LINE = 'statusline';
/** Matches text that bash, cmd and batch files leave unchanged between double quotes. */
const PLAIN = /^[\w./:~ -]+$/;
const CHAINED =
  /^\s+statusline\s+--then\s+('[^']*'(?:\\''[^']*')*|"[\w./:~ -]*"|[\w@%+=:,./-]+)(?:\s*\|\|\s*:)?$/;

function unquoted(word: string): string {
  return /^['"]/.test(word) ? word.slice(1, -1).replaceAll(`'\\''`, `'`) : word;
}

/** Matches what may follow the shim's path: arguments, redirections and `|| :`. */
const REST =
  /^(?:\s+([a-z][a-z-]*))?(?:\s+[\w.=:/-]+)*(?:\s*(?:(?:[0-9]?>{1,2}|&>)\s*[\w./-]+(?=[\s>&|;]|$)|[0-9]?>&[0-9]))*(?:\s*\|\|\s*(?::|true|exit 0))?(?:\s*;)?$/;

function spellingsOf(path: string, host: Pick<PathHost, 'platform' | 'home'>): string[] {
  const paths = host.platform === 'win32' ? [path, path.replaceAll('\\', '/')] : [path];
  const separator = host.platform === 'win32' ? win32.sep : '/';
  const inHome = path.startsWith(host.home + separator)
    ? path.slice(host.home.length).replaceAll('\\', '/')
    : undefined;
  return [
    ...paths.flatMap((text) => [text, forShell(text), `'${text.replaceAll("'", `'\\''`)}'`, `"${text}"`]),
    ...(inHome === undefined
      ? []
      : [
          `~${inHome}`,
          ...['$HOME', '${HOME}'].flatMap((home) => [
            `${home}${inHome}`,
            `"${home}${inHome}"`,
            `"${home}"${inHome}`,
          ]),
        ]),
  ];
}
