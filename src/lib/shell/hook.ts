import { join } from 'node:path';

import WORDS from '../../../templates/data/shell-words.json';
import { realPath } from '../platform/files/stat';
import { filled, readTemplate } from '../platform/files/template';
import { findProgram, forFish } from '../platform/process/spawn';
import { quote, TEMPLATES, type Shell } from './completion';

/** The output of `steward shell-hook SHELL --json`. */
export type ShellHook = ReturnType<typeof shellHook>;

/** Each shell's startup file and the line to add to it. */
export const HOOK_LINES: Readonly<Record<Shell, { line: string; file: string }>> = {
  bash: { line: 'eval "$(steward shell-hook bash)"', file: '~/.bashrc' },
  zsh: { line: 'eval "$(steward shell-hook zsh)"', file: '~/.zshrc' },
  fish: { line: 'steward shell-hook fish | source', file: '~/.config/fish/config.fish' },
};

/**
 * Returns a shell snippet that notifies the user about commands that take at least `longSec` seconds.
 * @param root the folder with steward's package.json
 */
export function shellHook(root: string, shell: Shell, longSec: number) {
  const isFish = shell === 'fish';
  const steward = stewardWords(root);
  const values: Record<string, string> = {
    LONG_SEC: String(longSec),
    STEWARD: steward.map(forFish).join(' '),
    SEND: `command ${[...steward, 'notify', 'send'].map(quote).join(' ')}`,
  };
  for (const [name, words] of Object.entries(WORDS)) {
    values[name.toUpperCase()] = words.join(isFish ? ' ' : ' | ');
  }
  if (!isFish) values['TELL'] = filled(readTemplate(root, 'shell-hook/tell.sh').trimEnd(), values);
  return {
    shell,
    script: filled(readTemplate(root, `shell-hook/${TEMPLATES[shell]}`), values),
    ...HOOK_LINES[shell],
  };
}

/**
 * Returns the command line that runs steward. Prefers a symbolic link on the PATH, because the link's path
 * stays the same after an upgrade.
 */
function stewardWords(root: string): string[] {
  const own = join(root, 'bin', 'run.js');
  const onPath = findProgram('steward');
  return onPath !== undefined && realPath(onPath) === realPath(own) ? [onPath] : [process.execPath, own];
}
