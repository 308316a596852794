import { mkdirSync } from 'node:fs';

import { bundleChild, type Bundle } from '../../helpers/bundle';
import { killAppending, killLocking, killReplacing } from '../../helpers/kill';
import { scratch } from '../../helpers/scratch';

/** Enough to notice a break; test/soak has the long form. */
const KILLS = 25;

describe('platform: killed at random points', () => {
  const box = scratch();
  const bundles: Bundle[] = [];
  const bundle = (name: string): string => {
    const made = bundleChild(name);
    bundles.push(made);
    return made.path;
  };
  after(() => {
    for (const made of bundles) made.remove();
  });

  it('leaves a whole file while it is replaced', async () => {
    mkdirSync(box.path('f'));
    await killReplacing(bundle('write-loop'), box.path('f'), KILLS);
  }).timeout(60_000);

  it('brings every planned line into its log exactly once', async () => {
    mkdirSync(box.path('f'));
    await killAppending(bundle('write-loop'), box.path('f'), KILLS);
  }).timeout(60_000);

  it('never has two in a lock, and never leaves it stuck', async () => {
    mkdirSync(box.path('f'));
    await killLocking(bundle('lock-loop'), box.path('f'), KILLS);
  }).timeout(60_000);
});
