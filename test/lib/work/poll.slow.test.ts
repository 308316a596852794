import { expect } from 'chai';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

import { boardView, columnsView, filterItems, readyItems } from '../../../src/lib/work/board';
import { readCache } from '../../../src/lib/work/cache';
import { refresh } from '../../../src/lib/work/poll';
import { workStatus } from '../../../src/lib/work/status';
import { statusText } from '../../../src/lib/work/view-results';
import { startGitHub, type GitHub } from '../../helpers/github';
import { readyWorld, workWorld, type WorkWorld } from '../../helpers/work';

const REPO = 'ann/work';

describe('work: poll and board', function () {
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
  const issue = async (title: string, ...labels: string[]): Promise<number> => {
    const made = (await github.api('POST', `/repos/${REPO}/issues`, { title, labels })) as { number: number };
    return made.number;
  };
  const poll = async (): Promise<number[]> => {
    github.seen.length = 0;
    expect(await refresh(world.deps)).to.include({ ok: true, stale: false });
    return github.seen.map(({ status }) => status);
  };
  const numbers = (): number[] => boardView(world.deps).items.map(({ number }) => number);

  it('fetches new and changed issues; an unchanged repository costs one 304', async () => {
    const first = await issue('a', 'Status:ready');
    await poll();
    await poll();
    expect(await poll()).to.deep.equal([304]);
    expect(await poll()).to.deep.equal([304]);
    const second = await issue('b');
    await github.api('PATCH', `/repos/${REPO}/issues/${first}`, { state: 'closed' });
    await poll();
    expect(numbers()).to.deep.equal([first, second]);
    expect(columnsView(world.deps)['Complete']?.map(({ number }) => number)).to.deep.equal([first]);
    await poll();
    expect(await poll()).to.deep.equal([304]);
  });

  it('changes nothing in the repository', async () => {
    await issue('a', 'wip', 'Status:ready', 'P1');
    await issue('[Core] b [slug:b]');
    await poll();
    const methods = github.seen.map(({ method }) => method);
    world.ahead(30 * 24 * 3_600_000);
    await poll();
    boardView(world.deps);
    columnsView(world.deps);
    methods.push(...github.seen.map(({ method }) => method));
    expect(new Set(methods)).to.deep.equal(new Set(['GET']));
  });

  it('does not mistake a missing or broken cache for an empty repository', async () => {
    const number = await issue('a', 'Status:ready');
    await poll();
    const { cache } = world.at.area.work;
    const good = readFileSync(cache, 'utf8');
    const stored = JSON.parse(good) as { issues: object[] };
    const broken = [
      {},
      null,
      { ...stored.issues[0], labels: [7] },
      { ...stored.issues[0], title: undefined },
    ];
    const texts = [
      ...broken.map((one) => JSON.stringify({ ...stored, issues: [one] })),
      JSON.stringify({ ...stored, version: 2 }),
      JSON.stringify({ ...stored, issues: 7 }),
      good.slice(0, 50),
      null,
    ];
    for (const text of texts) {
      rmSync(cache);
      if (text !== null) writeFileSync(cache, text);
      // Within the poll interval, as well as offline.
      expect(boardView(world.deps), text ?? 'none').to.deep.include({
        items: [],
        lastFetch: null,
        stale: true,
        staleReason: 'The issues have not been fetched yet.',
      });
      expect(workStatus(world.deps)).to.include({ lastFetch: null, stale: true });
      github.fault = () => 'reset';
      expect(await refresh(world.deps)).to.include({ ok: false, lastFetch: null });
      github.fault = () => undefined;
      expect(await refresh(world.deps)).to.include({ ok: true });
      expect(numbers()).to.deep.equal([number]);
      expect(boardView(world.deps)).to.include({ stale: false });
    }
  });

  it('skips and counts malformed issues', async () => {
    const number = await issue('[Core] Fix it [slug:fix-it]');
    const list = (await github.api('GET', `/repos/${REPO}/issues?state=all`)) as object[];
    const wrong = [1e308, -5].map((one) => ({ ...list[0], number: one }));
    github.fault = ({ path }) =>
      path.includes('/issues?') ? { status: 200, body: [...wrong, ...list] } : undefined;
    await poll();
    expect(numbers()).to.deep.equal([number]);
    expect(workStatus(world.deps)).to.deep.include({ malformed: 2, issues: { open: 1, closed: 0 } });
    const text = statusText(workStatus(world.deps), {
      columns: 80,
      color: false,
      nowMs: Date.now(),
      timezone: 'UTC',
    });
    expect(text).to.match(/^malformed +2 malformed issues skipped/m);

    const { cache } = world.at.area.work;
    const stored = JSON.parse(readFileSync(cache, 'utf8')) as { issues: object[] };
    const bad = [
      { number: -5 },
      { title: 'a\u001b[31m' },
      { url: 'javascript:alert(1)' },
      { due: '\u001b[31m' },
      { state: 'gone' },
      { stateReason: undefined },
      { labels: ['Type:bug', 7] },
      { updatedAt: '2026-02-30T00:00:00Z' },
      { closedAt: 7 },
      { identity: 'slug=\u0007' },
    ];
    const issues = [...stored.issues, ...bad.map((one) => ({ ...stored.issues[0], ...one }))];
    writeFileSync(cache, JSON.stringify({ ...stored, issues }));
    expect(numbers(), 'also of what was kept').to.deep.equal([number]);
    expect(workStatus(world.deps)).to.include({ malformed: 2 + bad.length });

    github.fault = () => undefined;
    await poll();
    expect(workStatus(world.deps)).to.include({ malformed: 0 });
  });

  it('has the shape of GET /api/work', async () => {
    const number = await issue('[Core] Fix it [slug:fix-it]', 'Status:in-progress', 'Agent:kai', 'P1', 'Type:problem', 'website', 'core-sync', 'stale'); // prettier-ignore
    await poll();
    const board = boardView(world.deps);
    const { items, lastFetch, ...rest } = board;
    expect(rest).to.deep.equal({
      config: {
        repo: REPO,
        columns: ['Queued', 'Blocked', 'In-Progress', 'In-Review', 'Complete'],
        pollIntervalSeconds: 60,
        you: undefined,
      },
      columns: { Queued: [], Blocked: [], 'In-Progress': [number], 'In-Review': [], Complete: [] },
      stale: false,
      staleReason: null,
      setupRequired: false,
      steps: [],
    });
    expect(lastFetch).to.match(/^\d{4}-.*Z$/);
    const [item] = items;
    expect(item).to.have.all.keys(
      ...[
        'number',
        'title',
        'url',
        'state',
        'lane',
        'status',
        'type',
        'priority',
        'property',
        'agents',
        'source',
      ],
      ...['slug', 'labels', 'createdAt', 'updatedAt', 'closedAt', 'stateReason', 'due', 'stale'],
    );
    expect(item).to.deep.include({
      number, lane: 'In-Progress', status: 'in-progress', type: 'problem', priority: 'P1', property: 'website',
      agents: ['kai'], source: 'core-sync', slug: 'fix-it', stale: true, state: 'open', closedAt: null,
    }); // prettier-ignore
  });

  it('shows the setup steps before setup, without a request', async () => {
    const fresh = await workWorld(github);
    try {
      github.seen.length = 0;
      const board = boardView(fresh.deps);
      expect(board).to.deep.include({ setupRequired: true, items: [], stale: false });
      expect(board.steps).to.include('steward work setup OWNER/REPO --create');
      expect(columnsView(fresh.deps)).to.have.property('Queued').that.deep.equals([]);
      const refreshed = await refresh(fresh.deps);
      expect(refreshed.ok).to.equal(false);
      expect(refreshed.reason).to.match(/^Work tracking is not set up; /);
      expect(workStatus(fresh.deps)).to.deep.include({ setupRequired: true, repo: null });
      expect(github.seen).to.deep.equal([]);
    } finally {
      fresh.remove();
    }
  });

  it('serves the cached board as stale during an outage, with reason and age', async () => {
    const number = await issue('a');
    await poll();
    const { lastFetch } = boardView(world.deps);
    for (const [fault, words] of [
      ['reset', /The connection .* was lost/],
      [{ status: 401 }, /rejected the credential from GH_TOKEN.* Run `gh auth login`/],
      [{ status: 200, body: [] }, undefined],
    ] as const) {
      github.fault = () => fault as never;
      const result = await refresh(world.deps);
      const board = boardView(world.deps);
      if (words === undefined) continue;
      expect(result).to.include({ ok: false, stale: true, lastFetch });
      expect(board).to.include({ stale: true, lastFetch });
      expect(board.staleReason).to.match(words);
      expect(board.items.map((item) => item.number)).to.deep.equal([number]);
    }
    github.fault = () => undefined;
    await poll();
    expect(boardView(world.deps)).to.include({ stale: false });
    world.ahead(600_000);
    expect(boardView(world.deps)).to.include({ stale: true });
  });

  it('fetches three thousand issues in about thirty requests, then only changes', async () => {
    const labels = ['Status:queued', 'Status:ready', 'Status:in-progress', 'Status:done'];
    const batch = 50;
    for (let n = 0; n < 3000; n += batch)
      await Promise.all(
        Array.from({ length: batch }, (_, i) => issue(`n ${n + i}`, labels[(n + i) % 4] ?? '')),
      );
    // The service's times have whole seconds: what is asked for next is to begin in one that holds less than a page.
    const second = (): number => Math.floor(Date.now() / 1000);
    for (const begun = second(); second() === begun;) await new Promise((resolve) => setImmediate(resolve));
    await issue('the newest', labels[0] ?? '');
    world.at.write('work/cache.json', '');
    expect((await poll()).length).to.be.at.most(36);
    expect(numbers()).to.have.length(3001);
    await poll();
    expect((await poll()).length).to.equal(1);
    expect(boardView(world.deps).columns['Complete']).to.have.length(750);
    await issue('one more');
    expect((await poll()).length).to.be.at.most(2);
    expect(numbers()).to.have.length(3002);
  });

  it('notices deleted issues once a day, and ignores the ETag of another token', async () => {
    const number = await issue('a');
    await poll();
    github.hidden.add(number);
    world.ahead(25 * 3_600_000);
    await poll();
    expect(numbers()).to.deep.equal([]);
    const cache = JSON.parse(readFileSync(world.at.area.work.cache, 'utf8')) as { etag: unknown };
    world.at.write('work/cache.json', JSON.stringify({ ...cache, etag: { value: 'x', tokenHash: 'other' } }));
    expect(await poll()).to.deep.equal([200]);
  });

  it('does not mistake an error for an empty list', async () => {
    await issue('a');
    await poll();
    world.at.write('work/cache.json', '{"version":1,"repo":"ann/work","issues":[{');
    github.fault = () => 'cut';
    expect((await refresh(world.deps)).ok).to.equal(false);
    expect(readCache(world.at.area.work.cache, REPO).fullAt).to.equal(null);
    github.fault = () => undefined;
    await poll();
    expect(numbers()).to.have.length(1);
  });

  it('filters issues, and orders the ready ones', async () => {
    const a = await issue('Alpha search', 'Status:ready', 'Priority:P2');
    const b = await issue('Beta', 'Status:queued', 'Priority:P0', 'Agent:kai');
    const c = await issue('Gamma', 'Status:queued', 'nova-can-take');
    const d = await issue('Delta', 'Status:blocked', 'Priority:P0');
    const e = await issue('Epsilon', 'Status:ready', 'Status:blocked');
    await github.api('PATCH', `/repos/${REPO}/issues/${d}`, { state: 'closed' });
    await poll();
    await issue('[Reminder] buy milk', 'Status:queued', 'Type:reminder');
    await poll();
    const items = boardView(world.deps).items.filter(({ type }) => type !== 'reminder');
    expect(
      readyItems(boardView(world.deps).items, 'nova-can-take').map(({ number }) => number),
    ).to.deep.equal([c, b, a]);
    const found = (filter: Parameters<typeof filterItems>[1]): number[] => filterItems(items, filter).map(({ number }) => number); // prettier-ignore
    expect(found({})).to.deep.equal([b, a, c, e]);
    expect(found({ state: 'closed' })).to.deep.equal([d]);
    expect(found({ search: 'SEARCH alpha' })).to.deep.equal([a]);
    expect(found({ priority: 'P0', state: 'all' })).to.deep.equal([b, d]);
    expect(found({ agent: 'kai' })).to.deep.equal([b]);
    expect(found({ lane: 'blocked', state: 'all' })).to.deep.equal([e]);
    expect(found({ agent: 'nobody' })).to.deep.equal([]);
  });

  describe('each key of the configuration changes what happens', () => {
    it('KANBAN_COLUMNS orders the lanes, and shows an omitted one in Queued', async () => {
      const number = await issue('a', 'Status:blocked');
      await poll();
      await world.set('WORK.KANBAN_COLUMNS', ['Complete', 'Queued', 'In-Progress']);
      const board = boardView(world.deps);
      expect(Object.keys(board.columns)).to.deep.equal(['Complete', 'Queued', 'In-Progress']);
      expect(board.columns['Queued']).to.deep.equal([number]);
    });

    it('POLL_INTERVAL_SECONDS is reported, and decides when the state is old', async () => {
      await poll();
      world.ahead(400_000);
      expect(boardView(world.deps).stale).to.equal(true);
      await world.set('WORK.POLL_INTERVAL_SECONDS', 300);
      expect(boardView(world.deps)).to.include({ stale: false });
      expect(boardView(world.deps).config.pollIntervalSeconds).to.equal(300);
    });

    it('REPO is the repository that is read: another one has its own state', async () => {
      await issue('a');
      await poll();
      await world.set('WORK.repo', 'ann/elsewhere');
      expect(boardView(world.deps)).to.deep.include({ items: [], lastFetch: null });
    });

    it('CAPTURE_NATIVE, CAPTURE_SWEEP and CAPTURE_PROMPT are told to those who capture', async () => {
      await world.set('WORK.CAPTURE_NATIVE', false);
      await world.set('WORK.CAPTURE_SWEEP', false);
      await world.set('WORK.CAPTURE_PROMPT', 'whole');
      expect(workStatus(world.deps)).to.include({
        captureNative: false,
        captureSweep: false,
        capturePrompt: 'whole',
      });
    });
  });
});
