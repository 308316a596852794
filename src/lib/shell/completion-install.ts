import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import type { Clock } from '../platform/time/clock';
import { exists, removeFile } from '../platform/files/folder';
import {
  readInstallManifest,
  removeMadeFolders,
  sha256,
  withInstallManifest,
  writeRecorded,
  type InstallEntry,
} from '../platform/files/install-manifest';
import { processHost, type PathHost } from '../platform/files/paths';
import { forShell } from '../platform/process/spawn';
import type { UserArea } from '../config/user-area';
import type { Shell } from './completion';

/** What an install of completion needs of the machine. */
export interface CompletionDeps {
  area: UserArea;
  clock: Clock;
  machineId: string;
}

export interface CompletionInstall {
  shell: Shell;
  path: string;
  /** False: it was there as it should be. */
  changed: boolean;
  /** What else has to be done, once; null: nothing. */
  note: string | null;
}

const MAX_BYTES = 4 * 1024 * 1024;

/** Where a shell finds the script: by itself in bash (with bash-completion) and fish; zsh has to be told of the folder. */
export function completionPath(shell: Shell, { env, home }: Pick<PathHost, 'env' | 'home'>): string {
  const folder = (name: string, ...fallback: string[]): string => {
    const set = env[name] ?? '';
    return set.startsWith('/') ? set : join(home, ...fallback);
  };
  const data = folder('XDG_DATA_HOME', '.local', 'share');
  if (shell === 'bash') return join(data, 'bash-completion', 'completions', 'steward');
  if (shell === 'fish')
    return join(folder('XDG_CONFIG_HOME', '.config'), 'fish', 'completions', 'steward.fish');
  return join(data, 'zsh', 'site-functions', '_steward');
}

/** The shell of the person, by `$SHELL`; undefined for one that has no completion here. */
export function ownShell({ env }: Pick<PathHost, 'env'> = processHost()): Shell | undefined {
  const name = (env['SHELL'] ?? '').split(/[/\\]/).at(-1);
  return (['bash', 'zsh', 'fish'] as const).find((shell) => shell === name);
}

/**
 * Writes a shell's completion script to where that shell looks for it, recorded in the manifest first. A script there
 * that is none of ours is `conflict`, and stays. In a dry run `changed` says whether it would be written.
 */
export async function installCompletion(
  deps: CompletionDeps,
  shell: Shell,
  script: string,
  { dryRun = false } = {},
): Promise<CompletionInstall> {
  const host = processHost();
  const path = completionPath(shell, host);
  const zshNote = `Add this to ~/.zshrc, before compinit, if it is not there: fpath+=(${forShell(dirname(path))})`;
  const result = { shell, path, note: shell === 'zsh' ? zshNote : null };
  const text = script.endsWith('\n') ? script : `${script}\n`;
  const id = `completion:${shell}`;
  if (dryRun) {
    const { installManifest } = deps.area;
    const entries = exists(installManifest) ? readInstallManifest(installManifest, deps.machineId) : [];
    const known = entries.find((entry) => entry.id === id && entry.path === path);
    return { ...result, changed: isToWrite(path, text, known) };
  }
  return withInstallManifest(manifestOf(deps), (manifest) => {
    const known = manifest.find(id, path);
    if (!isToWrite(path, text, known)) return { ...result, changed: false };
    writeRecorded(manifest, { id, path, text, top: topOf(path, host.home) }, deps);
    return { ...result, changed: true };
  });
}

function isToWrite(path: string, text: string, known: InstallEntry | undefined): boolean {
  const there = readText(path, { followLink: true, maxBytes: MAX_BYTES });
  if (there === text && known !== undefined) return false;
  if (there === undefined || there === text || known?.after === sha256(there)) return true;
  throw new StewardError('conflict', `${path} was written or changed by somebody else.`, {
    hint: 'Move it away, then run it again.',
  });
}

/**
 * Removes a file that an installer has recorded and nobody changed since, and the folders that were made for it where
 * they are empty now. False: it was changed, and stays.
 */
export function removeRecorded(entry: InstallEntry): boolean {
  if (exists(entry.path)) {
    const text = readText(entry.path, { followLink: true, maxBytes: MAX_BYTES });
    if (text === undefined || entry.after !== sha256(text)) return false;
    removeFile(entry.path);
  }
  removeMadeFolders([entry]);
  return true;
}

export function manifestOf({
  area,
  clock,
  machineId,
}: CompletionDeps): Parameters<typeof withInstallManifest>[0] {
  return { path: area.installManifest, lockPath: join(area.machine, 'install.lock'), clock, machineId };
}

/** The folder that is there already, the home folder at the highest. */
function topOf(path: string, home: string): string {
  let at = dirname(path);
  while (!exists(at) && at !== home && dirname(at) !== at) at = dirname(at);
  return at;
}
