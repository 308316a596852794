import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { exists, removeFile } from '../platform/files/folder';
import type { InstallManifest } from '../platform/files/install-manifest';
import {
  removeMadeFolders,
  sha256,
  withInstallManifest,
  writeRecorded,
  type InstallEntry,
} from '../platform/files/install-manifest';
import { processHost, type PathHost } from '../platform/files/paths';
import { forShell } from '../platform/process/spawn';
import { clean } from '../platform/terminal/terminal';
import { type Machine } from '../config/user-area';
import { SHELLS, type Shell } from './completion';

export type CompletionInstall = Awaited<ReturnType<typeof installCompletion>>;

const MAX_BYTES = 4 * 1024 * 1024;

/** Returns the path of a shell's completion script. In zsh, the script's folder must be in $fpath. */
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

/** Returns the shell in `$SHELL`, if steward supports it. */
export function ownShell({ env }: Pick<PathHost, 'env'> = processHost()): Shell | undefined {
  const name = (env['SHELL'] ?? '').split(/[/\\]/).at(-1);
  return SHELLS.find((shell) => shell === name);
}

export function completionText({ changed, shell, path, note }: CompletionInstall, dryRun: boolean): string {
  const done = changed ? (dryRun ? 'Would install' : 'Installed') : 'Already installed';
  return [
    clean(`${done}: ${shell} completion in ${path}`),
    note ?? 'Open a new shell to use completion.',
  ].join('\n');
}

export function ownShellOrThrow(): Shell {
  const shell = ownShell();
  if (shell !== undefined) return shell;
  throw new StewardError('usage', 'steward has no completion for your shell ($SHELL).', {
    hint: `Name a supported shell: ${SHELLS.join(', ')}.`,
  });
}

/**
 * Writes a completion script and records it in the manifest. In a dry run, only sets `changed`. Throws
 * `conflict` for a file that steward didn't write.
 */
export async function installCompletion(
  deps: Machine,
  shell: Shell,
  script: string,
  { dryRun = false } = {},
) {
  const host = processHost();
  const path = completionPath(shell, host);
  const zshNote = `Add this line to ~/.zshrc, before compinit: fpath+=(${forShell(dirname(path))})`;
  const result = { shell, path, note: shell === 'zsh' ? zshNote : null };
  const text = script.endsWith('\n') ? script : `${script}\n`;
  const id = `completion:${shell}`;
  const install = (manifest: InstallManifest) => {
    const changed = isToWrite(path, text, manifest.find(id, path));
    if (changed) writeRecorded(manifest, { id, path, text }, deps);
    return { ...result, changed };
  };
  return withInstallManifest(deps, install, { dryRun });
}

function isToWrite(path: string, text: string, known: InstallEntry | undefined): boolean {
  const current = readText(path, { followLink: true, maxBytes: MAX_BYTES });
  if (current === text && known !== undefined) return false;
  if (current === undefined || current === text || known?.after === sha256(current)) return true;
  throw new StewardError('conflict', `${path} was not written by steward, or was edited later.`, {
    hint: 'Move or rename it, then rerun the command.',
  });
}

/**
 * Removes a file in the manifest and its empty folders. If the user edited the file, removes nothing and
 * returns false.
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
