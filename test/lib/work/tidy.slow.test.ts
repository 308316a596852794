import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';

import { claimsOf } from '../../../src/lib/sessions/artifact';
import { refresh } from '../../../src/lib/work/poll';
import { tidy, type Tidied, type Evidence } from '../../../src/lib/work/tidy';
import { startGitHub, type GitHub } from '../../helpers/github';
import { rejection } from '../../helpers/errors';
import { scratch } from '../../helpers/scratch';
import { readyWorld, type WorkWorld } from '../../helpers/work';

describe('work tidy', function () {
  this.timeout(60_000);
  const folder = scratch();
  let github: GitHub;
  let world: WorkWorld;
  let asked: [string, number, number][];
  let known: Evidence;
  beforeEach(async () => {
    github = await startGitHub();
    world = await readyWorld(github);
    asked = [];
    known = {
      sessionsOf: (slug) =>
        slug === 'one'
          ? [{ repo: 'shop', startedAt: '2026-11-20T09:00:00Z', updatedAt: '2026-11-20T10:00:00Z' }]
          : [],
      claimsOf: (slug) =>
        slug === 'open'
          ? [
              { closed: [], open: 2 },
              { closed: ['a'], open: 0 },
            ]
          : slug === 'two'
            ? [{ closed: ['It works'], open: 0 }]
            : [],
      commitsIn: (repo, from, to) => {
        asked.push([repo, from, to]);
        return Promise.resolve(['3f2a91c Fix `login` for @ann, token=abc123def', '99aa000 Test it']);
      },
    };
    const done = ['core-sync', 'Status:done'];
    for (const [title, labels] of [
      ['[Core] One [slug:one]', done],
      ['[Core] Two [slug:two]', done],
      ['[Core] Open [slug:open]', done],
      ['[Core] None [slug:none]', done],
      ['By hand', done],
      ['[Core] Busy [slug:busy]', ['Status:in-progress']],
    ])
      await github.api('POST', '/repos/ann/work/issues', { title, labels });
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  const run = (apply = false): Promise<Tidied> => tidy(world.deps, known, { dryRun: !apply });
  const numbers = (list: readonly { number: number }[]): number[] => list.map(({ number }) => number);
  const issue = async (number: number): Promise<Record<string, unknown>> =>
    (await github.api('GET', `/repos/ann/work/issues/${number}`)) as Record<string, unknown>;
  const writes = (): number => github.seen.filter(({ method }) => method !== 'GET').length;

  it('proposes issues with their evidence, and sends nothing', async () => {
    const result = await run();
    expect([numbers(result.proposed), numbers(result.left), writes()]).to.deep.equal([[1, 2], [3, 4, 5], 0]);
    expect(result.proposed[0]?.commits).to.deep.equal([
      '3f2a91c Fix `login` for @ann, token=[redacted]',
      '99aa000 Test it',
    ]);
    expect(asked).to.deep.equal([
      ['shop', Date.parse('2026-11-20T09:00:00Z'), Date.parse('2026-11-20T11:00:00Z')],
    ]);
    expect(result.left[0]?.reason).to.equal('2 of 3 items in the session file are unchecked');
  });

  it('closes once, with the evidence as a comment', async () => {
    expect((await run(true)).closed).to.deep.equal([1, 2]);
    expect(await issue(1)).to.include({ state: 'closed', state_reason: 'completed' });
    expect(await issue(3)).to.include({ state: 'open' });
    const [said] = (await github.api('GET', '/repos/ann/work/issues/1/comments')) as { body: string }[];
    expect(said?.body).to.equal(
      "Done. Evidence from the session:\n\nCommits (2):\n- `3f2a91c Fix 'login' for @ann, token=[redacted]`\n- `99aa000 Test it`",
    );
    expect(await run(true)).to.deep.include({ closed: [], proposed: [] });
  });

  it('continues after a failure, and leaves issues that are no longer done', async () => {
    await refresh(world.deps);
    known.commitsIn = async () => {
      await github.api('DELETE', '/repos/ann/work/issues/1/labels/Status:done');
      return ['3f2a91c Fix'];
    };
    expect((await run(true)).closed).to.deep.equal([2]);
    await github.api('PATCH', '/repos/ann/work/issues/2', { state: 'open' });
    await github.api('POST', '/repos/ann/work/issues/1/labels', { labels: ['Status:done'] });
    known.commitsIn = () => Promise.resolve(['3f2a91c Fix']);
    github.fault = ({ method, path }) =>
      method === 'PATCH' && path.endsWith('/issues/1') ? { status: 422 } : undefined;
    const result = await run(true);
    expect([result.closed, numbers(result.failed)]).to.deep.equal([[2], [1]]);
  });

  it('proposes from the cache when offline; closing fails', async () => {
    await refresh(world.deps);
    github.fault = () => 'reset';
    const result = await run();
    expect(result.proposed).to.have.length(2);
    expect(result.staleReason).to.be.a('string');
    expect((await rejection(run(true))).kind).to.equal('unavailable');
  });

  it('reads claims from the boxes of a session file, outside code', () => {
    mkdirSync(folder.path('s'));
    writeFileSync(
      folder.path('s', 'ISA.md'),
      '---\ntask: x\n---\n- [x] One\n  * [X] Two\n- [ ] Three\n```\n- [ ] code\n```\n- [y] no\n',
    );
    expect(claimsOf(folder.path(), 's')).to.deep.equal({ closed: ['One', 'Two'], open: 1 });
    expect(claimsOf(folder.path(), 'none')).to.equal(undefined);
  });
});
