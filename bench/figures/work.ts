import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, definedOnly, emptyHome } from '../../test/helpers/cli';
import { hookJson } from '../../test/helpers/hooks';
import { manyIssues, manySessions } from '../../test/helpers/large-data';
import type { Figure } from '../figure';

const ISSUES = 3000;
const ROWS = 250;

/** A person waits for these at each prompt and each view of the board. */
export const FIGURES: readonly Figure[] = [
  prompt('steward hook prompt, work set up, no match', () => 'please fix the login', 1.4),
  prompt('steward hook prompt, a match', (round) => `remind me to call Ann about thing ${round}`, 2),
  large('work', 'board'),
  large('completion', 'words', 'issues'),
  inbox('--plain'),
  inbox('--json'),
];

/** 500 rows from stored state: half of them sessions, half issues. */
function inbox(flag: string): Figure {
  return {
    name: `steward inbox ${flag}, ${2 * ROWS} rows`,
    limit: { ms: 150 },
    rounds: 40,
    prepare: () => {
      const { path, env, remove } = homeWithIssues(ROWS, ['Type:feature', 'Status:needs-human']);
      const state = join(path, '.steward', 'state');
      mkdirSync(state, { recursive: true, mode: 0o700 });
      const sessions = manySessions(ROWS, new Date().toISOString()).replaceAll('"ended"', '"waiting"');
      writeFileSync(join(state, 'sessions.json'), sessions.replaceAll(/"terminal":\{[^}]*\},/g, ''), {
        mode: 0o600,
      });
      return {
        program: { args: [BIN, 'inbox', flag], env },
        yardstick: { args: ['-e', '0'], env },
        against: 'node -e 0',
        remove,
      };
    },
  };
}

function large(...words: string[]): Figure {
  return {
    name: `steward ${words.join(' ')}, 3,000 issues`,
    limit: { ratio: 3 },
    rounds: 40,
    prepare: () => {
      const { env, remove } = homeWithIssues(ISSUES);
      return {
        program: { args: [BIN, ...words], env },
        yardstick: { args: ['-e', '0'], env },
        against: 'node -e 0',
        remove,
      };
    },
  };
}

function prompt(name: string, text: (round: number) => string, ratio: number): Figure {
  return {
    name,
    limit: { ratio },
    rounds: 40,
    prepare() {
      const { path, env, remove } = homeWithIssues(10);
      steward(env, ['hook', 'session-start'], hookJson('session-start', { cwd: path }));
      let round = 0;
      const input = (): string => hookJson('prompt', { cwd: path, prompt: text((round += 1)) });
      return {
        program: {
          args: [BIN, 'hook', 'prompt', '--no-tab'],
          env,
          // The words differ each time, since repeated ones are not captured.
          get input() {
            return input();
          },
        },
        yardstick: { args: ['-e', '0'], env, input: input() },
        against: 'node -e 0',
        remove,
      };
    },
  };
}

/** Creates a home with a freshly fetched repository, so that nothing is requested from the service. */
export function homeWithIssues(
  count: number,
  labels?: readonly string[],
): {
  path: string;
  env: Record<string, string>;
  remove: () => void;
} {
  const { path, remove } = emptyHome();
  // Nothing listens there, so that a capture's delivery ends quickly.
  const env = { ...definedOnly(cleanEnv(path)), GITHUB_API_URL: 'http://127.0.0.1:9', GH_TOKEN: 'ghp_bench' };
  const work = join(path, '.steward', 'work');
  mkdirSync(work, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(manyIssues(count, Date.now(), labels)))
    writeFileSync(join(work, name), text, { mode: 0o600 });
  return { path, env, remove };
}

function steward(env: Record<string, string>, args: readonly string[], input: string): void {
  const ended = spawnSync(process.execPath, [BIN, ...args], { env, input });
  if (ended.status !== 0) throw new Error(String(ended.stderr));
}
