import { assistants } from '../helpers/assistant';
import { campaign, killsOr } from '../helpers/random';
import { emptyHome } from '../helpers/cli';

const KILLS = killsOr(60);
const SESSIONS = 20;

describe('crash: hooks that 20 assistants call at once', function () {
  this.timeout(120_000 + KILLS * 2000);
  const run = async (each: number, kills: number, random = campaign('hooks')): Promise<void> => {
    const home = emptyHome();
    try {
      await assistants(home.path, { sessions: SESSIONS, each, kills }, random);
    } finally {
      home.remove();
    }
  };

  it('loses no event and writes none twice', () => run(10, 0));
  it(`goes on when ${KILLS} of them are killed`, () => run(Math.ceil((3 * KILLS) / SESSIONS), KILLS));
});
