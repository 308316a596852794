import { bashHook } from './bash';
import { fishHook } from './fish';
import type { HookSettings } from './settings';
import { zshHook } from './zsh';

export const HOOK_SHELLS = ['bash', 'zsh', 'fish'] as const;
export type HookShell = (typeof HOOK_SHELLS)[number];

/** The snippet of a shell; the same settings give the same bytes. */
export const SHELL_HOOKS: Readonly<Record<HookShell, (settings: HookSettings) => string>> = {
  bash: bashHook,
  zsh: zshHook,
  fish: fishHook,
};

/** The line for the file that a shell reads when it starts, and that file. */
export const HOOK_LINES: Readonly<Record<HookShell, { line: string; file: string }>> = {
  bash: { line: 'eval "$(steward shell-hook bash)"', file: '~/.bashrc' },
  zsh: { line: 'eval "$(steward shell-hook zsh)"', file: '~/.zshrc' },
  fish: { line: 'steward shell-hook fish | source', file: '~/.config/fish/config.fish' },
};
