import { join } from 'node:path';

import { assistants } from '../helpers/assistant';
import { campaign, killsOr } from '../helpers/random';
import { emptyHome, steward } from '../helpers/cli';

const KILLS = killsOr(24);
const SESSIONS = 20;

describe('crash: simultaneous hooks of 20 assistants', function () {
  this.timeout(120_000 + KILLS * 2000);
  const run = async (
    each: number,
    kills: number,
    random = campaign('hooks'),
    isShim = false,
  ): Promise<void> => {
    const home = emptyHome();
    try {
      const shim = isShim ? { shim: join(home.path, '.steward', 'bin', 'steward-hook') } : {};
      if (isShim)
        await steward(['hooks', 'install', '--assistant', 'claude-code', '--no-skill'], { home: home.path });
      await assistants(home.path, { sessions: SESSIONS, each, kills, ...shim }, random);
    } finally {
      home.remove();
    }
  };

  it('loses no event and writes none twice', () => run(10, 0));
  it(`goes on when ${KILLS} of them are killed`, () => run(Math.ceil((3 * KILLS) / SESSIONS), KILLS));
  it(`goes on when ${KILLS} of them are killed in the shim`, function () {
    if (process.platform === 'win32') this.skip();
    return run(Math.ceil((3 * KILLS) / SESSIONS), KILLS, campaign('shim'), true);
  });
});
