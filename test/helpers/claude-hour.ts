import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Hour } from './assistant-hour';

/** Claude Code offers its mode `auto` with newer models only. */
const AUTO_MODEL = 'claude-opus-4-6';

/** What the screen shows in each mode once it takes a prompt. */
const SHOWN = { default: 'for shortcuts', plan: 'plan mode on', auto: 'auto mode on' } as const;

/** Trusts the hour's folder as after a first start, and installs the hooks. */
export async function setUpClaude({ home, folder, steward }: Hour): Promise<void> {
  mkdirSync(join(home, '.claude'));
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const settings = { hasCompletedOnboarding: true, theme: 'dark', projects: { [folder]: trusted } };
  writeFileSync(join(home, '.claude.json'), JSON.stringify(settings));
  await steward('hooks', 'install', '--assistant', 'claude-code');
}

export async function startClaude(
  { open, shows, env, model }: Hour,
  pane: string,
  mode: keyof typeof SHOWN = 'default',
): Promise<void> {
  open(pane, ['claude', '--permission-mode', mode], {
    ANTHROPIC_BASE_URL: dirname(model.url),
    ANTHROPIC_AUTH_TOKEN: 'x',
    ANTHROPIC_MODEL: mode === 'auto' ? AUTO_MODEL : 'claude-sonnet-4-5',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    PATH: env.PATH,
  });
  await shows(pane, SHOWN[mode]);
}
