import { bashScript } from './bash';
import { fishScript } from './fish';
import type { Place } from './tree';
import { zshScript } from './zsh';

export { completionPlaces } from './tree';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The completion script of a shell; the same commands give the same bytes. */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Where each shell looks for the script by itself. */
const COMPLETION_FILES: Readonly<Record<Shell, string>> = {
  bash: '~/.local/share/bash-completion/completions/steward',
  zsh: '"${fpath[1]}/_steward"',
  fish: '~/.config/fish/completions/steward.fish',
};

/** Folders that a fresh home lacks. */
const FOLDERS: Readonly<Record<Shell, string>> = {
  bash: 'mkdir -p ~/.local/share/bash-completion/completions && ',
  zsh: '',
  fish: 'mkdir -p ~/.config/fish/completions && ',
};

/** The command that switches completion on in a shell. */
export const COMPLETION_SWITCH = Object.fromEntries(
  SHELLS.map((shell) => [
    shell,
    `${FOLDERS[shell]}steward autocomplete script ${shell} > ${COMPLETION_FILES[shell]}`,
  ]),
) as Readonly<Record<Shell, string>>;
