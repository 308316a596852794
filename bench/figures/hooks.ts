import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome } from '../../test/helpers/cli';
import { hookJson } from '../../test/helpers/hooks';
import { manySessions } from '../../test/helpers/sessions';
import type { Figure } from '../figure';

/** What an assistant waits for at each prompt and each tool call; its hook JSON comes through a pipe. */
export const FIGURES: readonly Figure[] = [
  hook('steward hook tool', 'tool', 0, 1.3),
  hook('steward hook prompt (no match)', 'prompt', 0, 1.3),
  hook('steward hook tool, 2,000 sessions', 'tool', 2000, 1.5),
  hook('steward hook prompt, 2,000 sessions', 'prompt', 2000, 1.5),
  hook('steward statusline', undefined, 0, 1.4),
  hook('steward statusline, 2,000 sessions', undefined, 2000, 1.5),
];

const SESSION = 'bench-0001';

function hook(name: string, verb: 'tool' | 'prompt' | undefined, sessions: number, ratio: number): Figure {
  return {
    name,
    limit: { ratio },
    rounds: 40,
    prepare() {
      const home = emptyHome();
      const env = definedOnly(cleanEnv(home.path));
      const state = join(home.path, '.steward', 'state');
      mkdirSync(state, { recursive: true, mode: 0o700 });
      if (sessions > 0) {
        writeFileSync(join(state, 'sessions.json'), manySessions(sessions), { mode: 0o600 });
      }
      const start = hookJson('session-start', { session_id: SESSION, cwd: home.path });
      const begun = spawnSync(process.execPath, [BIN, 'hook', 'session-start', '--strict'], {
        env,
        input: start,
      });
      if (begun.status !== 0) throw new Error(String(begun.stderr));
      const args = verb === undefined ? [BIN, 'statusline'] : [BIN, 'hook', verb];
      const input = hookJson(verb ?? 'stop', { session_id: SESSION, cwd: home.path });
      return {
        program: { args, env, input },
        yardstick: { args: ['-e', '0'], env, input },
        against: 'node -e 0',
        remove: home.remove,
      };
    },
  };
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
