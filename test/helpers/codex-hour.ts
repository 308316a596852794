import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { KEY, type Hour } from './assistant-hour';

/** What stands before Codex's line of input. */
export const INPUT = '›';

/** Points Codex at the hour's model, trusts the folder, and installs the hooks. */
export async function setUpCodex(
  { home, folder, model, steward }: Hour,
  reviewer: 'user' | 'auto_review' = 'user',
): Promise<void> {
  mkdirSync(join(home, '.codex'));
  const settings = [
    'model = "test-model"',
    'model_provider = "test"',
    'approval_policy = "on-request"',
    `approvals_reviewer = "${reviewer}"`,
    'check_for_update_on_startup = false',
    '[model_providers.test]',
    'name = "test"',
    `base_url = "${model.url}"`,
    'wire_api = "responses"',
    'env_key = "TEST_KEY"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    `[projects."${folder}"]`,
    'trust_level = "trusted"',
    '',
  ];
  writeFileSync(join(home, '.codex', 'config.toml'), settings.join('\n'));
  await steward('hooks', 'install', '--assistant', 'codex');
}

export async function startCodex(
  { open, shows, press, pressUntil, say }: Hour,
  pane: string,
  isFirst = false,
): Promise<void> {
  open(pane, ['codex'], { TEST_KEY: 'x', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' });
  if (isFirst) {
    await shows(pane, 'Trust all and continue');
    // If Codex missed the number, Enter would choose the first line.
    await pressUntil(pane, '2', '› 2. Trust all and continue');
    press(pane, KEY.enter);
  }
  await shows(pane, 'Ask Codex to do anything');
  // Codex reports a session with its first prompt.
  await say(pane, 'Hello', INPUT);
  await shows(pane, 'Done.');
}

/** Codex's daemon outlives its windows. */
export function endCodexDaemon({ home, tell }: Hour): void {
  for (const name of ['daemon-updater.pid', 'daemon.pid']) {
    const file = join(home, '.codex', 'app-server-daemon', name);
    if (!existsSync(file)) continue;
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
    tell(['kill', '-KILL', String(pid)]);
  }
}
