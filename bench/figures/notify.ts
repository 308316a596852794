import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, definedOnly, emptyHome } from '../../test/helpers/cli';
import type { Figure } from '../figure';

/** An assistant waits for this command; the daemon is running. */
export const FIGURES: readonly Figure[] = [
  {
    name: 'steward notify send, daemon up',
    limit: { ratio: 1.35 },
    rounds: 40,
    prepare() {
      const home = emptyHome();
      const env = definedOnly(cleanEnv(home.path));
      mkdirSync(join(home.path, '.steward'), { mode: 0o700 });
      writeFileSync(join(home.path, '.steward', 'config.yaml'), 'notify:\n  voice:\n    engine: none\n');
      const daemon = spawn(process.execPath, [BIN, 'daemon', 'serve', '--port', '0'], {
        env,
        stdio: 'ignore',
      });
      const send = [BIN, 'notify', 'send', 'The build is done', '--no-voice', '--title', 'Build'];
      const isUp = (): boolean =>
        spawnSync(process.execPath, [BIN, 'daemon', 'status'], { env, stdio: 'ignore' }).status === 0;
      for (let look = 0; look < 100 && !isUp(); look += 1);
      return {
        program: { args: send, env },
        yardstick: { args: ['-e', '0'], env },
        against: 'node -e 0',
        remove() {
          spawnSync(process.execPath, [BIN, 'daemon', 'stop'], { env, stdio: 'ignore' });
          daemon.kill('SIGKILL');
          home.remove();
        },
      };
    },
  },
];
