import { bundleChild, type Bundle } from '../helpers/bundle';
import { startGitHub, type GitHub } from '../helpers/github';
import { readyWorld, type WorkWorld } from '../helpers/work';
import { interleave } from '../helpers/work-interleave';
import { killCreating } from '../helpers/work-kill';

const TIMES = Number(process.env['STEWARD_SOAK'] ?? '1');

describe('soak: work, killed', () => {
  let github: GitHub;
  let world: WorkWorld;
  let child: Bundle;
  before(async () => {
    child = bundleChild('work-create');
    github = await startGitHub({ repos: [{ name: 'work' }] });
    world = await readyWorld(github);
  });
  after(async () => {
    child.remove();
    world.remove();
    await github.close();
  });

  it('at random points of creations: exactly one issue each', async () => {
    // A token of the emulator is good for 5,000 requests.
    await killCreating(child.path, github, world.at, 300 * TIMES);
  });
});

describe('soak: work, interleaved', () => {
  let child: Bundle;
  before(() => {
    child = bundleChild('work-step');
  });
  after(() => child.remove());

  it('hooks, sweeps, claims, edits by hand, faults and kills: one issue a slug, nothing lost', async () => {
    for (let seed = 1000; seed < 1000 + 500 * TIMES; seed += 1) {
      const github = await startGitHub();
      const world = await readyWorld(github);
      try {
        await interleave({ github, world, bundle: child.path }, { seed, steps: 8 });
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      } finally {
        world.remove();
        await github.close();
      }
    }
  });
});
