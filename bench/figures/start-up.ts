import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { BIN, cleanEnv, definedOnly, emptyHome } from '../../test/helpers/cli';
import type { Figure } from '../figure';

/** Compares whole-process start-up with bare node, with a warm code cache. */
export const FIGURES: readonly Figure[] = [
  startUp('steward --version', ['--version'], 1.35),
  startUp('steward config path (a command)', ['config', 'path'], 3),
  startUp('steward --help', ['--help'], 3),
  startUp('steward config path --help', ['config', 'path', '--help'], 3),
  startUp('steward status', ['status'], 4.5),
  startUp("steward status, the demo's data", ['status'], 4.5, demoIn),
  startUp("bare steward, the demo's data", ['home'], 4.5, demoIn),
  startUp('steward standup', ['standup'], 4.5),
  startUp('steward week', ['week'], 4.5),
  startUp('steward usage', ['usage'], 3),
];

function startUp(
  name: string,
  args: readonly string[],
  ratio: number,
  fill: (home: string) => NodeJS.ProcessEnv = cleanEnv,
): Figure {
  return {
    name,
    limit: { ratio },
    rounds: 30,
    prepare() {
      const home = emptyHome();
      const env = definedOnly(fill(home.path));
      return {
        program: { args: [BIN, ...args], env },
        yardstick: { args: ['-e', '0'], env },
        against: 'node -e 0',
        remove: home.remove,
      };
    },
  };
}

/** Stores the demo's fortnight, with 85 sessions and a second machine. Returns the environment to read it in. */
function demoIn(home: string): NodeJS.ProcessEnv {
  const folder = join(home, 'demo');
  const { status } = spawnSync(process.execPath, [BIN, 'demo', '--keep', folder, '--', 'status'], {
    env: cleanEnv(home),
  });
  if (status !== 0) throw new Error(`The demo exited with ${String(status)}.`);
  return cleanEnv(folder);
}
