import { assistants } from '../helpers/assistants';
import { emptyHome } from '../helpers/cli';

describe('steward hook, called by 20 assistants at once', () => {
  const run = async (each: number, kills: number): Promise<void> => {
    const home = emptyHome();
    try {
      await assistants(home.path, 20, each, kills);
    } finally {
      home.remove();
    }
  };

  it('loses no event and writes none twice', () => run(10, 0)).timeout(120_000);
  it('is killed at random, and goes on', () => run(10, 60)).timeout(120_000);
});
