import { dirname, join } from 'node:path';

import { readText } from '../platform/files/atomic-file';
import { exists } from '../platform/files/folder';
import { readInstallManifest, sha256 } from '../platform/files/install-manifest';
import { forShell } from '../platform/process/spawn';
import { realPath } from '../platform/files/stat';
import type { Shell } from './completion';
import { completionPath, ownShell } from './completion-install';
import { HOOK_LINES } from './hook';
import type { UserArea } from '../config/user-area';
import type { CheckedHost } from '../platform/check';
import { off, ok, warning, type Check, type Finding } from '../platform/check';

export interface ShellChecked extends Pick<CheckedHost, 'host' | 'run'> {
  area: Pick<UserArea, 'installManifest'>;
  /** Returns the machine id, creating one if necessary. */
  machineId: () => string;
  /** The folder with steward's package.json. */
  root: string;
}

export const SHELL_CHECKS: readonly Check<ShellChecked>[] = [
  { id: 'shell.completion', title: 'completion', needsConfig: false, run: checkCompletion },
  { id: 'shell.long', title: 'long commands', needsConfig: false, run: checkLong },
];

const MAX_BYTES = 4 * 1024 * 1024;
const LIMITS = { timeoutMs: 10_000, maxBytes: MAX_BYTES };

async function checkCompletion(at: ShellChecked): Promise<Finding[]> {
  const shell = ownShell(at.host);
  if (shell === undefined) return [off('the login shell is not bash, zsh or fish')];
  const path = completionPlacesOf(shell, at).find((file) => realPath(file) !== undefined);
  const install = `steward install completion --shell ${shell}`;
  if (path === undefined) return [off(`not installed for ${shell}`, { fix: install })];
  const text = readText(path, { followLink: true, maxBytes: MAX_BYTES }) ?? '';
  const script = await scriptOf(shell, at);
  if (script === undefined) return [warning(`cannot check ${path}: \`steward completion ${shell}\` failed`)];
  if (text.trimEnd() === script.trimEnd()) return [ok(`${shell}: ${path}`)];
  // The installer replaces a file only if steward wrote it and the user hasn't edited it.
  const fix = isAsInstalled(at, path, text) ? install : `steward completion ${shell} > ${forShell(path)}`;
  return [warning(`${path} is from another version of steward`, { fix })];
}

async function scriptOf(shell: Shell, { run, root }: ShellChecked): Promise<string | undefined> {
  const bin = join(root, 'bin', 'run.js');
  const result = await run(process.execPath, [bin, 'completion', shell], LIMITS);
  return result.code === 0 ? result.stdout : undefined;
}

function isAsInstalled(at: ShellChecked, path: string, text: string): boolean {
  const { installManifest } = at.area;
  if (!exists(installManifest)) return false;
  return readInstallManifest(installManifest, at.machineId()).some(
    (entry) => entry.path === path && entry.after === sha256(text),
  );
}

function completionPlacesOf(shell: Shell, { host }: ShellChecked): string[] {
  const own = completionPath(shell, host);
  switch (shell) {
    case 'bash':
      return [
        own,
        '/usr/local/share/bash-completion/completions/steward',
        '/usr/share/bash-completion/completions/steward',
      ];
    case 'zsh':
      return [
        dirname(own),
        ...(host.env['FPATH'] ?? '').split(':').filter((folder) => folder.startsWith('/')),
        ...['.zfunc', '.zsh/completions', '.zsh/functions'].map((folder) => join(host.home, folder)),
        '/usr/local/share/zsh/site-functions',
        '/opt/homebrew/share/zsh/site-functions',
      ].map((folder) => join(folder, '_steward'));
    case 'fish':
      return [own];
  }
}

function checkLong(at: ShellChecked): Finding[] {
  const shell = ownShell(at.host);
  if (shell === undefined) return [off('the login shell is not bash, zsh or fish')];
  const { line: hookLine, file } = HOOK_LINES[shell];
  const config = at.host.env['XDG_CONFIG_HOME'] ?? join(at.host.home, '.config');
  const zdot = at.host.env['ZDOTDIR'] ?? at.host.home;
  const path = {
    bash: join(at.host.home, '.bashrc'),
    zsh: join(zdot, '.zshrc'),
    fish: join(config, 'fish', 'config.fish'),
  }[shell];
  const text =
    realPath(path) === undefined ? '' : (readText(path, { followLink: true, maxBytes: MAX_BYTES }) ?? '');
  if (text.split('\n').some((line) => /\bshell-hook\b/.test(line.split('#', 1)[0] ?? '')))
    return [ok(`${shell}: ${path}`)];
  return [
    off('off', {
      hint: `To be notified of long commands, add this line to ${file}:`,
      fix: hookLine,
    }),
  ];
}
