import { expect } from 'chai';
import { statSync, writeFileSync } from 'node:fs';

import { boardView } from '../../../src/lib/work/board';
import { boardSummary, counted } from '../../../src/lib/work/board-summary';
import { cacheReader, readCache, writeCache } from '../../../src/lib/work/cache';
import { startGitHub, type GitHub } from '../../helpers/github';
import { manyCached } from '../../helpers/many-issues';
import { readyWorld, type WorkWorld } from '../../helpers/work';

describe('the board for a terminal', function () {
  this.timeout(60_000);
  let github: GitHub;
  let world: WorkWorld;
  beforeEach(async () => {
    github = await startGitHub();
    world = await readyWorld(github);
    writeCache(world.at.area.work.cache, manyCached(300, world.deps.clock.now()));
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  const whole = (): object => counted(boardView(world.deps).items, world.deps.config.KANBAN_COLUMNS);
  const deps = (reads: { count: number }): typeof world.deps =>
    Object.create(world.deps, {
      cache: {
        value: (repo: string) => {
          reads.count += 1;
          return cacheReader(world.at.area.work.cache)(repo);
        },
      },
    }) as typeof world.deps;

  it('shows what the whole board holds, and reads the cache again only when it or the lanes changed', async () => {
    const { cache, board } = world.at.area.work;
    const reads = { count: 0 };
    expect(boardSummary(deps(reads))).to.deep.include(whole());
    expect(boardSummary(deps(reads))).to.deep.include(whole());
    expect(reads.count).to.equal(1);
    expect(statSync(board).size).to.be.below(40_000);
    const { issues, ...rest } = readCache(cache, 'ann/work');
    writeCache(cache, { ...rest, issues: issues.slice(1) });
    expect(boardSummary(deps(reads)))
      .to.deep.include({ total: 299 })
      .and.deep.include(whole());
    await world.set('WORK.KANBAN_COLUMNS', ['Queued', 'Complete']);
    expect(boardSummary(deps(reads))).to.deep.include(whole());
    expect(reads.count).to.equal(3);
    writeFileSync(board, 'torn');
    expect(boardSummary(deps(reads))).to.deep.include(whole());
  });
});
