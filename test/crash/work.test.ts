import { bundleChild, type Bundle } from '../helpers/bundle';
import { campaign, IS_LONG, killsOr, SEED } from '../helpers/random';
import { startGitHub } from '../helpers/github';
import { readyWorld } from '../helpers/work';
import { interleave } from '../helpers/work-interleave';
import { killCreating } from '../helpers/work-kill';

const KILLS = killsOr(14);
/** A token of the emulator is good for 5,000 requests. */
const KILLS_A_TOKEN = 250;
/** Histories of 24 steps, each step a process that may be killed or meet a fault. */
const HISTORIES = Math.ceil(KILLS / 12);

describe('crash: work', function () {
  this.timeout(300_000 + KILLS * 5000);
  const bundles: Bundle[] = [];
  const bundle = (name: string): string => {
    const made = bundleChild(name);
    bundles.push(made);
    return made.path;
  };
  after(() => {
    for (const made of bundles) made.remove();
  });
  type Place = {
    github: Awaited<ReturnType<typeof startGitHub>>;
    world: Awaited<ReturnType<typeof readyWorld>>;
  };
  const inWorld = async (work: (place: Place) => Promise<void>): Promise<void> => {
    const github = await startGitHub({ repos: [{ name: 'work' }] });
    const world = await readyWorld(github);
    try {
      await work({ github, world });
    } finally {
      world.remove();
      await github.close();
    }
  };

  it(`creates exactly one issue each, killed ${KILLS} times around its requests`, async () => {
    const child = bundle('work-create');
    const random = campaign('creations');
    for (let left = KILLS; left > 0; left -= KILLS_A_TOKEN)
      await inWorld(({ github, world }) =>
        killCreating(child, github, world.at, Math.min(left, KILLS_A_TOKEN), random),
      );
  });

  it(`has one issue per slug and loses no capture or label, over ${HISTORIES} histories of hooks, sweeps, claims, edits, faults and kills`, async () => {
    const child = bundle('work-step');
    const first = IS_LONG ? SEED : 1;
    for (let seed = first; seed < first + HISTORIES; seed += 1) {
      console.log(`      seed ${seed}`);
      await inWorld((place) => interleave({ ...place, bundle: child }, { seed, steps: 24 }));
    }
  });
});
