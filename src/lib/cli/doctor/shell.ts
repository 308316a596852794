import { basename, join } from 'node:path';

import { readText } from '../../platform/atomic-file';
import { realPath } from '../../platform/stat';
import { COMPLETION_SWITCH, SHELLS, type Shell } from '../completion';
import { HOOK_LINES } from '../shell-hook';
import { off, ok, warning, type Check, type DoctorContext, type Finding } from './finding';

export const SHELL_CHECKS: readonly Check[] = [
  { id: 'shell.completion', part: 'shell', title: 'completion', needsConfig: false, run: checkCompletion },
  { id: 'shell.long', part: 'shell', title: 'announcing long commands', needsConfig: false, run: checkLong },
];

const MAX_BYTES = 4 * 1024 * 1024;

/** The shell that a person logs in with, of those that are known. */
function shellOf({ host }: DoctorContext): Shell | undefined {
  const name = basename(host.env['SHELL'] ?? '');
  return SHELLS.find((shell) => shell === name);
}

function checkCompletion(at: DoctorContext): Finding[] {
  const shell = shellOf(at);
  if (shell === undefined) return [off('your login shell is none of bash, zsh and fish')];
  const path = completionPlacesOf(shell, at).find((file) => realPath(file) !== undefined);
  const mend = COMPLETION_SWITCH[shell];
  if (path === undefined) return [off(`not installed for ${shell}, where steward looks`, { mend })];
  const text = readText(path, { followLink: true, maxBytes: MAX_BYTES }) ?? '';
  // A command of this version that an older script does not know.
  if (!text.includes('shell-hook')) return [warning(`${path} is of an older version`, { mend })];
  return [ok(`${shell}: ${path}`)];
}

function completionPlacesOf(shell: Shell, { host }: DoctorContext): string[] {
  const data = host.env['XDG_DATA_HOME'] ?? join(host.home, '.local', 'share');
  const config = host.env['XDG_CONFIG_HOME'] ?? join(host.home, '.config');
  switch (shell) {
    case 'bash':
      return [
        join(data, 'bash-completion', 'completions', 'steward'),
        '/usr/local/share/bash-completion/completions/steward',
        '/usr/share/bash-completion/completions/steward',
      ];
    case 'zsh':
      return [
        ...(host.env['FPATH'] ?? '').split(':').filter((folder) => folder.startsWith('/')),
        ...['.zfunc', '.zsh/completions', '.zsh/functions'].map((folder) => join(host.home, folder)),
        '/usr/local/share/zsh/site-functions',
        '/opt/homebrew/share/zsh/site-functions',
      ].map((folder) => join(folder, '_steward'));
    case 'fish':
      return [join(config, 'fish', 'completions', 'steward.fish')];
  }
}

function checkLong(at: DoctorContext): Finding[] {
  const shell = shellOf(at);
  if (shell === undefined) return [off('your login shell is none of bash, zsh and fish')];
  const { line, file } = HOOK_LINES[shell];
  const config = at.host.env['XDG_CONFIG_HOME'] ?? join(at.host.home, '.config');
  const zdot = at.host.env['ZDOTDIR'] ?? at.host.home;
  const path = {
    bash: join(at.host.home, '.bashrc'),
    zsh: join(zdot, '.zshrc'),
    fish: join(config, 'fish', 'config.fish'),
  }[shell];
  const text =
    realPath(path) === undefined ? '' : (readText(path, { followLink: true, maxBytes: MAX_BYTES }) ?? '');
  if (/^[^#\n]*\bshell-hook\b/m.test(text)) return [ok(`${shell}: ${path}`)];
  return [
    off('not switched on', {
      hint: `To have commands announced that took long, add this line to ${file}:`,
      mend: line,
    }),
  ];
}
