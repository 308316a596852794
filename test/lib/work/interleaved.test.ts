import { bundleChild, type Bundle } from '../../helpers/bundle';
import { startGitHub, type GitHub } from '../../helpers/github';
import { readyWorld, type WorkWorld } from '../../helpers/work';
import { interleave } from '../../helpers/work-interleave';

describe('hooks, sweeps, claims and edits by hand, interleaved with faults and kills', function () {
  this.timeout(300_000);
  let child: Bundle;
  let github: GitHub;
  let world: WorkWorld;
  before(() => {
    child = bundleChild('work-step');
  });
  after(() => child.remove());
  beforeEach(async () => {
    github = await startGitHub();
    world = await readyWorld(github);
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  for (const seed of [1, 2]) {
    it(`one issue a slug, no capture and no label lost: seed ${seed}`, () =>
      interleave({ github, world, bundle: child.path }, { seed, steps: 24 }));
  }
});
