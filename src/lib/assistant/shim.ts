import { win32 } from 'node:path';

import { readText } from '../platform/files/atomic-file';
import { exists } from '../platform/files/folder';
import type { InstallManifest } from '../platform/files/install-manifest';
import { type PathHost, userAreaPath } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
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
import { WRITERS } from './payload';

export interface ShimDeps extends LauncherDeps {
  /** The user area, if STEWARD_HOME sets it. */
  area: string | undefined;
}

const SHIM = { name: 'steward-hook', manifestId: 'hooks:shim' };

/** Returns the path of the shim: a shell script, on Windows a batch file. */
export function shimPath(deps: Pick<ShimDeps, 'bin' | 'host'>): string {
  return launcherPath(SHIM.name, deps);
}

/** Records and writes the shim if it is missing or stale; true if written. */
export function writeShim(
  deps: ShimDeps & { clock: Clock; machineId: string },
  manifest: InstallManifest,
): boolean {
  return writeLauncher(shimForm(deps), deps, manifest);
}

/** Would `writeShim` write? */
export function isShimCurrent(deps: ShimDeps): boolean {
  return isLauncherCurrent(shimForm(deps), deps);
}

/**
 * Writes the current shim over an installed one. Leaves one that starts another installation of steward. True if
 * written.
 */
export function refreshShim(
  deps: ShimDeps & { clock: Clock; machineId: string },
  manifest: InstallManifest,
): boolean {
  const path = shimPath(deps);
  const text = manifest.find(SHIM.manifestId, path) === undefined ? undefined : readText(path);
  if (text === undefined) return false;
  const other = unquoted(/^steward=(.*)$/m.exec(text)?.[1] ?? '');
  if (other !== launcherTarget(deps).steward && exists(other)) return false;
  return writeShim(deps, manifest);
}

/** Removes the shim, and its folder if empty; true if it existed. */
export function removeShim(
  deps: Pick<ShimDeps, 'bin' | 'host'> & { clock: Clock },
  manifest: InstallManifest,
): boolean {
  return removeLauncher(SHIM, deps, manifest);
}

/** Returns the shim's name and template values. */
export function shimForm({ area, host }: Pick<ShimDeps, 'area' | 'host'>): LauncherForm {
  const root = area ?? userAreaPath(host);
  return {
    ...SHIM,
    values: {
      ENVIRONMENT: environmentOf(area, host),
      AREA: forShell(root),
      MIRROR: mirrorOf(root, host),
      TOOL_COMMANDS: ASSISTANTS.filter(({ toolKeys }) => toolKeys !== undefined)
        .map((assistant) => `'${wordsOf(assistant, 'tool')}'`)
        .join(' | '),
      TOOL_KEYS: ASSISTANTS.flatMap(patternsFor)
        .map((pattern) => `    '${pattern}'`)
        .join(' | \\\n'),
      FILE_TOOLS: [...WRITERS, 'NotebookEdit', 'apply_patch'].join(' | '),
    },
  };
}

/** Returns the cached settings' path for a shell: the assistant's environment may move the cache folder. */
function mirrorOf(root: string, { platform }: PathHost): string {
  const cache = platform === 'darwin' ? '$HOME/Library/Caches' : '${XDG_CACHE_HOME:-$HOME/.cache}';
  return `"${cache}/steward/settings-${shortHash(root)}.json"`;
}

/** Returns a shell's patterns for the assistant and its keys, one for each choice of the optional keys. */
function patternsFor({ id, toolKeys }: Assistant): string[] {
  if (toolKeys === undefined) return [];
  return toolKeys.reduce<string[]>((known, key) => known.flatMap((order) => withKey(order, key)), [id]);
}

function withKey(order: string, key: string): string[] {
  return key.endsWith('?') ? [order, `${order} ${key.slice(0, -1)}`] : [`${order} ${key}`];
}

/** Sets the area chosen at install time, unless the assistant's environment sets one. */
function environmentOf(area: string | undefined, host: PathHost): string {
  if (area === undefined) return '';
  return host.platform === 'win32'
    ? `if not defined STEWARD_HOME set "STEWARD_HOME=${forBatch(area, host.env)}"`
    : `[ -n "\${STEWARD_HOME-}" ] || export STEWARD_HOME=${forShell(area)}`;
}

/** Writes and recognizes the commands that are registered with an assistant. */
export interface ShimCommands {
  commandFor: (verb: string) => string;
  /**
   * The verb of a command that runs our shim and does nothing else, however a person has spelled it since
   * (other quotes, `~` or `$HOME`, further words, an output that goes elsewhere); undefined for any other.
   */
  verbOf: (command: string) => string | undefined;
  /** Does the command contain the shim's path? */
  isMentionedIn: (command: string) => boolean;
  /** The status line's command, above `then` if given; undefined if `then` cannot be quoted. */
  statusLineFor: (then: string | undefined) => string | undefined;
  /** The parts of a command that `statusLineFor` wrote, or one like it; undefined for any other. */
  statusLineOf: (command: string) => { then: string | undefined } | undefined;
}

/**
 * The commands for the shim at `shimPath`. A hook never fails the assistant, even when the whole user area
 * was removed by hand: what the shell says of a missing file must not become the hook's exit code.
 */
export function shimCommands(shimPath: string, host: Pick<PathHost, 'platform' | 'home'>): ShimCommands {
  const written = host.platform === 'win32' ? forWindows(shimPath) : forShell(shimPath);
  const spellings = spellingsOf(shimPath, host).sort((a, b) => b.length - a.length);
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
    isMentionedIn: (command) => spellings.some((spelling) => command.includes(spelling)),
    statusLineFor(then) {
      if (then === undefined) return commandFor(STATUS_LINE);
      if (host.platform !== 'win32') return commandFor(`${STATUS_LINE} --then ${forShell(then)}`);
      return PLAIN.test(then) ? commandFor(`${STATUS_LINE} --then "${then}"`) : undefined;
    },
    statusLineOf(command) {
      const text = command.trim();
      const spelling = spellings.find((start) => text.startsWith(start));
      const found = CHAINED.exec(text.slice(spelling?.length ?? text.length));
      if (found !== null) return { then: unquoted(found[1] ?? '') };
      return verbOf(text) === STATUS_LINE && !text.includes('--then') ? { then: undefined } : undefined;
    },
  };
}

const STATUS_LINE = 'statusline';
/** What bash, cmd and a batch file's %* all pass on unchanged between double quotes. */
const PLAIN = /^[\w./:~ -]+$/;
const CHAINED =
  /^\s+statusline\s+--then\s+('[^']*'(?:\\''[^']*')*|"[\w./:~ -]*"|[\w@%+=:,./-]+)(?:\s*\|\|\s*:)?$/;

function unquoted(word: string): string {
  return /^['"]/.test(word) ? word.slice(1, -1).replaceAll(`'\\''`, `'`) : word;
}

/** Words, redirections and `|| :`. */
const REST =
  /^(?:\s+([a-z][a-z-]*))?(?:\s+[\w.=:/-]+)*(?:\s*(?:(?:[0-9]?>{1,2}|&>)\s*[\w./-]+(?=[\s>&|;]|$)|[0-9]?>&[0-9]))*(?:\s*\|\|\s*(?::|true|exit 0))?(?:\s*;)?$/;

/** Assistants on Windows run hooks with Git's bash or with cmd: both take this spelling. */
function forWindows(path: string): string {
  return `"${path.replaceAll('\\', '/')}"`;
}

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
