import { assistants } from '../helpers/assistants';
import { emptyHome } from '../helpers/cli';

const TIMES = Number(process.env['STEWARD_SOAK'] ?? '1');

describe('5,000 hooks of 20 assistants', () => {
  const run = async (kills: number): Promise<void> => {
    const home = emptyHome();
    try {
      await assistants(home.path, 20, 250 * TIMES, kills);
    } finally {
      home.remove();
    }
  };

  it('lose no event and write none twice', () => run(0));
  it('some of them killed at random, go on', () => run(500 * TIMES));
});
