import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { sessionAt } from '../../src/lib/work/capture/session';
import { refresh } from '../../src/lib/work/poll';
import { sweep, type SweepDeps } from '../../src/lib/work/sweep';
import type { SweepResult } from '../../src/lib/work/sweep-log';
import { startGitHub, type GitHub } from '../helpers/github';
import { captureOf, readyWorld, type WorkWorld } from '../helpers/work';

const ISSUES = 3000;
const SESSIONS = 1000;

describe('the number of requests of work tracking', function () {
  this.timeout(300_000);
  let github: GitHub;
  let world: WorkWorld;
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  const run = async (): Promise<SweepResult> => {
    const { sessions } = world.at.area;
    const deps: SweepDeps = {
      ...captureOf(world),
      sessionsSince: () => slugs.flatMap((slug) => sessionAt(sessions, slug) ?? []),
      goals: () => [],
      projects: () => Promise.resolve([]),
      regenerate: () => Promise.resolve(null),
      remind: () => Promise.resolve(0),
      captures: () => Promise.resolve([]),
    };
    const { result } = await sweep(deps, { sinceMs: 86_400_000, maxCreate: 50, dryRun: false });
    expect(result.errors).to.deep.equal([]);
    return result;
  };
  let slugs: string[] = [];
  const session = (slug: string, more = ''): void => {
    const folder = join(world.at.area.sessions, slug);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'ISA.md'), `---\ntask: Do ${slug}\nphase: execute\n${more}---\n`);
    slugs.push(slug);
  };
  const asked = (): { reads: number; writes: number; searches: number } => ({
    reads: github.seen.filter(({ method }) => method === 'GET').length,
    writes: github.seen.filter(({ method }) => method !== 'GET').length,
    searches: github.seen.filter(({ path }) => path.startsWith('/search')).length,
  });

  it(`a sweep over ${SESSIONS} sessions and ${ISSUES} issues: at most 35 requests, then 3; an idle poll: one 304`, async () => {
    github = await startGitHub();
    for (let at = 0; at < ISSUES; at += 20) {
      const some = Array.from({ length: 20 }, (_, n) => at + n);
      await Promise.all(
        some.map((n) =>
          github.api('POST', '/repos/ann/work/issues', {
            title: `[Core] Task ${n} [slug:s${n}]`,
            labels: ['core-sync', 'Status:in-progress'],
          }),
        ),
      );
    }
    // More issues than a page bear one and the same second: a later one keeps the question for what changed short.
    await new Promise((next) => setTimeout(next, 1100));
    await github.api('PATCH', '/repos/ann/work/issues/1', { body: 'touched' });
    world = await readyWorld(github);
    slugs = [];
    for (let n = 0; n < SESSIONS; n += 1) session(`s${n}`, `github_issue: ${n + 1}\ngithub_issue_url: x\n`);
    // As on a machine that has read nothing yet.
    writeFileSync(world.at.area.work.cache, '');
    github.seen.length = 0;
    const first = await run();
    expect(first.sessionsScanned).to.equal(SESSIONS);
    expect(github.seen.length).to.be.at.most(35);
    await run();
    github.seen.length = 0;
    const idle = await run();
    expect(asked()).to.include({ writes: 0, searches: 0 });
    expect(github.seen.length).to.be.at.most(3);
    expect(idle.requests).to.equal(github.seen.length);
    github.seen.length = 0;
    await refresh(world.deps);
    expect(github.seen.map(({ status }) => status)).to.deep.equal([304]);
  });

  it('50 creations: 50 writes, at most 5 reads, and no search', async () => {
    github = await startGitHub();
    world = await readyWorld(github);
    slugs = [];
    for (let n = 0; n < 50; n += 1) session(`s${n}`);
    expect(await run()).to.include({ created: 50 });
    expect(asked()).to.include({ writes: 50, searches: 0 });
    expect(asked().reads).to.be.at.most(5);
  });
});
