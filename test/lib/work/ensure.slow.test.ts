import { expect } from 'chai';
import { readFileSync } from 'node:fs';

import { readCache } from '../../../src/lib/work/cache';
import { identityKey } from '../../../src/lib/work/issue';
import { ensureIssue, ensureIssues, type Wanted } from '../../../src/lib/work/ensure';
import { failureOf } from '../../../src/lib/work/host/failure';
import { openForWriting } from '../../../src/lib/work/privacy';
import { startGitHub, type GitHub } from '../../helpers/github';
import { rejection } from '../../helpers/errors';
import { opened, readyWorld, type WorkWorld } from '../../helpers/work';
import { issuesOf } from '../../helpers/work-kill';

const REPO = 'ann/work';

describe('work: one issue for one identity', function () {
  this.timeout(120_000);
  let github: GitHub;
  let world: WorkWorld;
  beforeEach(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }] });
    world = await readyWorld(github);
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  const wanted = (slug: string, more: Partial<Wanted> = {}): Wanted => ({
    identity: { kind: 'slug', value: slug },
    kind: 'core',
    text: `Task ${slug}`,
    body: 'What it is about.',
    labels: ['core-sync', 'Type:feature', 'Status:in-progress', 'Agent:nova'],
    ...more,
  });
  const ensure = async (one: Wanted) => ensureIssue(await opened(world), one);
  const all = () => issuesOf(github, REPO);
  const writes = () => github.seen.filter(({ method }) => method !== 'GET');

  it('creates an issue and finds it later, even without ledger and cache', async () => {
    const made = await ensure(wanted('a'));
    expect(made).to.deep.include({ action: 'created', missingLabels: [] });
    expect(made.issue.title).to.equal('[Core] Task a [slug:a]');
    expect((await ensure(wanted('a', { text: 'Another title' }))).action).to.equal('found');
    for (const lost of [['ledger'], ['cache'], ['ledger', 'cache', 'poll']] as const) {
      for (const name of lost) world.at.write(`work/${name}.json`, '{ broken');
      const found = await ensure(wanted('a'));
      expect([found.action, found.issue.number]).to.deep.equal(['found', made.issue.number]);
    }
    expect(await all()).to.have.length(1);
    expect(github.seen.filter(({ path }) => path.includes('/search/'))).to.deep.equal([]);
  });

  it('has the created issues of a batch in the cache, even after a failure', async () => {
    const { cache } = world.at.area.work;
    const kept = (): number[] => readCache(cache, REPO).issues.map(({ number }) => number);
    const host = await world.deps.host();
    const seen: number[][] = [];
    await ensureIssues({ deps: world.deps, host, repo: REPO }, ['a', 'b', 'c'].map((slug) => wanted(slug)), () => {
      seen.push(kept());
    }); // prettier-ignore
    expect(seen).to.deep.equal([[1], [1, 2], [1, 2, 3]]);
    let creations = 0;
    github.fault = ({ method }) => (method === 'POST' && ++creations === 3 ? { status: 422 } : undefined);
    await rejection(ensureIssues({ deps: world.deps, host, repo: REPO }, ['d', 'e', 'f'].map((slug) => wanted(slug)))); // prettier-ignore
    expect(kept()).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('keeps the issues of a batch while the list lags', async () => {
    const host = await world.deps.host();
    await ensure(wanted('earlier'));
    let creations = 0;
    github.fault = ({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/issues') || ++creations !== 2) return undefined;
      // Its answer is lost, and the list shows neither of the two until the next look.
      github.hidden.add(2).add(3);
      return 'drop';
    };
    const batch = ['a', 'b'].map((slug) => wanted(slug));
    await rejection(ensureIssues({ deps: world.deps, host, repo: REPO }, batch));
    const kept = readCache(world.at.area.work.cache, REPO).issues.map(({ number }) => number);
    expect(kept).to.deep.equal([1, 2]);
    github.fault = () => undefined;
    github.hidden.clear();
    const found = await ensureIssues({ deps: world.deps, host, repo: REPO }, batch);
    expect(found.map(({ action, issue }) => [action, issue.number])).to.deep.equal([
      ['found', 2],
      ['found', 3],
    ]);
  });

  it('recognizes an issue by number, marker or title', async () => {
    await github.api('POST', `/repos/${REPO}/issues`, { title: 'made by hand' });
    await github.api('POST', `/repos/${REPO}/issues`, { title: '[Core] x [slug:by-title]' });
    await github.api('POST', `/repos/${REPO}/issues`, {
      title: 'renamed',
      body: 'b\n\n<!-- steward slug=by-marker -->',
    });
    expect((await ensure(wanted('by-number', { known: 1 }))).issue.number).to.equal(1);
    expect((await ensure(wanted('by-title'))).issue.number).to.equal(2);
    expect((await ensure(wanted('by-marker'))).issue.number).to.equal(3);
    // A copied artifact names the issue of another one.
    expect((await ensure(wanted('copied', { known: 3 }))).action).to.equal('created');
  });

  it('omits and reports missing labels', async () => {
    const made = await ensure(wanted('a', { labels: ['core-sync', 'Property:nowhere', 'type:FEATURE'] }));
    expect(made.missingLabels).to.deep.equal(['Property:nowhere']);
    expect(made.issue.labels).to.have.members(['core-sync', 'Type:feature']);
  });

  it('creates nothing in a repository without labels', async () => {
    await github.api('POST', '/user/repos', { name: 'bare', private: true });
    const host = await world.deps.host();
    const error = await rejection(ensureIssue({ deps: world.deps, host, repo: 'ann/bare' }, wanted('a')));
    expect([error.kind, error.hint]).to.deep.equal(['config', 'Run `steward work labels seed`.']);
    expect(await issuesOf(github, 'ann/bare')).to.deep.equal([]);
  });

  it('creates one issue if the response is lost', async () => {
    github.fault = ({ method, path }) => (method === 'POST' && path.endsWith('/issues') ? 'drop' : undefined);
    expect((await ensure(wanted('a'))).action).to.equal('created');
    expect(await all()).to.have.length(1);
    github.fault = () => undefined;
    expect((await ensure(wanted('a'))).action).to.equal('found');
  });

  it('creates one issue if the response is lost and the list lags', async () => {
    let left = 3;
    github.fault = ({ method, path }) => {
      if (method === 'POST' && path.endsWith('/issues')) {
        github.hidden.add(1);
        return 'drop';
      }
      // The list shows it after some questions.
      if (path.includes('/issues?') && (left -= 1) === 0) github.hidden.clear();
      return undefined;
    };
    world.remove();
    world = await readyWorld(github, REPO, { settleMs: 10_000 });
    left = 3;
    expect((await ensure(wanted('a'))).issue.number).to.equal(1);
    expect(
      world.slept.some((ms) => ms > 5000),
      'it waited for the list',
    ).to.equal(true);
    expect(await all()).to.have.length(1);
  });

  it('keeps the intention during an outage, and searches before it creates', async () => {
    github.fault = ({ method, path }) => (method === 'POST' && path.endsWith('/issues') ? 'drop' : path.includes('/issues?') && github.seen.some((seen) => seen.method === 'POST') ? 'reset' : undefined); // prettier-ignore
    const error = await rejection(ensure(wanted('a')));
    expect(failureOf(error)).to.include({ reason: 'reset' });
    expect(readFileSync(world.at.area.work.ledger, 'utf8')).to.include('"slug=a":{"number":null');
    github.fault = () => undefined;
    expect((await ensure(wanted('a'))).action).to.equal('found');
    expect(await all()).to.have.length(1);
  });

  it('removes the intention after a rejection', async () => {
    github.fault = ({ method }) => (method === 'POST' ? { status: 422, body: { message: 'no' } } : undefined);
    expect(failureOf(await rejection(ensure(wanted('a'))))).to.include({ reason: 'rejected' });
    expect(readFileSync(world.at.area.work.ledger, 'utf8')).not.to.include('slug=a');
  });

  it('creates a deleted issue again', async () => {
    const { issue } = await ensure(wanted('a'));
    world.at.write('work/cache.json', '');
    github.hidden.add(issue.number);
    github.fault = ({ path }) => (path.endsWith(`/issues/${issue.number}`) ? { status: 410 } : undefined);
    expect((await ensure(wanted('a', { known: issue.number }))).action).to.equal('created');
  });

  it('creates fifty issues in fifty writes and five reads, and finds them in two reads', async () => {
    const many = Array.from({ length: 50 }, (_, n) => wanted(`s${n}`));
    await openForWriting(world.deps);
    await ensureIssues(await opened(world), many);
    expect(writes()).to.have.length(50);
    expect(github.seen.length - 50).to.be.at.most(5);
    github.seen.length = 0;
    const again = await ensureIssues(await opened(world), many);
    expect(new Set(again.map(({ action }) => action))).to.deep.equal(new Set(['found']));
    expect(github.seen.length).to.be.at.most(2);
  });

  it('creates one issue for simultaneous requests', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => ensure(wanted('same'))));
    expect(made.filter(({ action }) => action === 'created')).to.have.length(1);
    expect(await all()).to.have.length(1);
  });

  it('separates the identities of repositories', async () => {
    await ensure(wanted('a'));
    const other = await readyWorld(github, 'ann/other');
    try {
      other.at.write('work/ledger.json', readFileSync(world.at.area.work.ledger, 'utf8'));
      const made = await ensureIssue(await opened(other, 'ann/other'), wanted('a'));
      expect(made.action).to.equal('created');
      const text = readFileSync(other.at.area.work.ledger, 'utf8');
      expect(text).to.include('"ann/work"').and.to.include('"ann/other"').and.to.include(identityKey({ kind: 'slug', value: 'a' })); // prettier-ignore
    } finally {
      other.remove();
    }
  });

  it('writes nothing over a newer ledger', async () => {
    world.at.write('work/ledger.json', '{"version":2,"repos":{}}');
    expect((await rejection(ensure(wanted('a')))).kind).to.equal('config');
    expect(await all()).to.deep.equal([]);
  });
});
