import { expect } from 'chai';
import type { Page } from 'playwright-core';

import type { DayDocument } from '../../src/lib/daemon/day-route';
import { issueWaits } from '../../src/lib/inbox/waits';
import { addDays } from '../../src/lib/platform/time/time';
import type { Answers, Served } from '../helpers/browser';
import {
  cellsOf,
  dayDocument,
  INSIGHT,
  NO_BOARD,
  NOW,
  type OpenOptions,
  senseAnswers,
  sessionRow,
  STATUS,
  textOf,
  waitForText,
} from '../helpers/dashboard';
import { pagesInChromium, violations } from '../helpers/pages';

const NOT_READ = { error: { kind: 'unavailable', message: 'GitHub did not answer.' } };

/** What users read or hear of a page. */
const WORDS = `document.body.innerText + [...document.querySelectorAll('[title], [aria-label], [aria-valuetext]')].flatMap(
  (one) => [one.title, one.ariaLabel, one.ariaValueText],
).join()`;

describe('the panels of the pages in Chromium', function () {
  this.timeout(120_000);
  const pages = pagesInChromium();
  let answers: Answers;
  let served: Served;
  beforeEach(async () => {
    answers = senseAnswers(pages.full);
    served = await pages.serve(answers);
  });

  const open = async (path: string, options?: OpenOptions): Promise<Page> =>
    (await pages.open(`${served.url}${path}`, options)).page;

  /** The full day, on three machines of which two were in use at the same time. */
  function merged(): DayDocument {
    const own = dayDocument(pages.full);
    const none = { apps: own.apps, repos: own.repos, away: [], sessions: [], commits: [], spans: [] };
    const commit = { at: 40_000, repo: 'notes', branch: null, sha: '', subject: 'Outline the talk' };
    const shared = own.commits[0]!;
    const [at] = own.spans[0]!;
    return {
      ...own,
      timezone: 'Europe/Paris',
      machines: [
        { id: 'a', name: 'desk', state: 'recorded', minutes: 300 },
        { id: 'b', name: 'laptop', state: 'recorded', minutes: 100 },
        { id: 'c', name: 'studio', state: 'recorded', minutes: 20 },
      ],
      others: [
        {
          ...none,
          id: 'b',
          name: 'laptop',
          spans: [[at, 600, 0]],
          commits: [commit, { ...shared, sha: '' }],
        },
        {
          ...none,
          id: 'c',
          name: 'studio',
          spans: [
            [at - 3600, 60, 0],
            [at + 80_000, 60, 0],
          ],
        },
      ],
    };
  }

  it('shows a block for each machine, marks overlaps, and lists the commits of all', async () => {
    const day = merged();
    answers['/api/day'] = () => ({ body: day });
    const page = await open('/');
    await page.locator('#timeline [data-key=machine]').nth(2).waitFor();
    expect(await page.locator('#timeline [data-key=machine]').allTextContents()).to.deep.equal([
      'desk',
      'laptop',
      'studio',
    ]);
    // The studio was used alone.
    expect(await textOf(page, '#readout')).to.match(/^09:41 to now/);
    const overlaps = '#timeline [data-row$=overlap]';
    expect(await page.locator(overlaps).count()).to.equal(2);
    const slider = page.locator('#timeline [data-key=b-apps]');
    await slider.focus();
    await page.keyboard.press('End');
    expect(await slider.getAttribute('aria-label')).to.match(/^Applications on laptop;/);
    expect(await slider.getAttribute('aria-valuetext')).to.match(/also in use: desk · 10 m$/);
    expect(await textOf(page, '#facts')).to.match(/tracked so far on 3 machines/);
    expect(await textOf(page, '#day-links')).to.match(/Central European Standard Time$/);
    const done = await page.locator('#done .name').allTextContents();
    expect(done).to.have.length(day.commits.length + day.closed.length + 1);
    expect(done).to.include('Outline the talk');
    expect(await violations(page)).to.deep.equal([]);
  });

  it('explains each state of a session once, below the rows and left of the times', async () => {
    for (const width of [1440, 390]) {
      const page = await open('/', { viewport: { width, height: 900 } });
      await page.locator('#timeline [data-key=legend]').first().waitFor();
      const words = await page.locator('#timeline [data-key=legend] span').allTextContents();
      expect(words.sort()).to.deep.equal(['waited', 'working', 'your turn']);
      const legend = (await page.locator('#timeline [data-key=legend]').boundingBox())!;
      const lanes = (await page.locator('#timeline [data-key=sessions] .row').last().boundingBox())!;
      expect(legend.x, `at ${width}`).to.equal(lanes.x);
      expect(legend.y, `at ${width}`).to.be.at.least(lanes.y + lanes.height);
    }
  });

  it('shows the cost, the limits with their forecasts, and the budgets', async () => {
    const row = { key: '2026-11-20', input: 10, output: 20, cacheRead: 0, cacheWrite: 0, cost: 7.984 };
    const texts = ['Codex: 5 h 63% until 18:00', 'day budget 79% used: $7.98 of $10.00'];
    answers['/api/usage'] = () => ({
      body: {
        rows: [row],
        total: { ...row, cost: 42.5, unpriced: 3 },
        limits: texts.map((text) => ({ text })),
      },
    });
    const page = await open('/');
    await page.locator('#usage p').nth(2).waitFor();
    expect(await page.locator('#usage p').allTextContents()).to.deep.equal([
      '$7.98 today · at least $42.50 in the last 7 days',
      ...texts,
    ]);
  });

  it('says which panels could not be read', async () => {
    for (const path of ['/api/sessions', '/api/work', '/api/usage', '/api/sense/insight'])
      answers[path] = () => ({ status: 503, body: NOT_READ });
    answers['/api/inbox'] = () => ({ body: { rows: [], count: 0, asOf: {} } });
    const page = await open('/');
    for (const id of ['#running', '#next', '#usage', '#flow']) await waitForText(page, id, /^Unknown\.$/);
    await waitForText(page, '#notes', /GitHub did not answer\./);
    expect(await violations(page)).to.deep.equal([]);
  });

  it('checks off the steps of the set-up, and shows no more of them once dismissed', async () => {
    const page = await open('/');
    await waitForText(
      page,
      '#empty',
      /^Set up Dismiss ?Start capturing ✓ ?Show your assistant's sessions ✓ ?Track your tasks: steward work setup/,
    );
    await page.click('#dismiss-setup');
    await waitForText(page, '#empty', /^$/);
    await page.reload();
    await page.locator('#timeline [role=slider]').first().waitFor();
    expect(await textOf(page, '#empty')).to.equal('');
    await page.evaluate('localStorage.clear()');
    answers['/api/work'] = () => ({ body: { ...NO_BOARD, setupRequired: false } });
    await page.reload();
    await page.locator('#timeline [role=slider]').first().waitFor();
    expect(await textOf(page, '#empty')).to.equal('');
  });

  it('offers titles once, and not where sessions have them', async () => {
    const sessions = [sessionRow({ title: null })];
    answers['/api/sessions'] = () => ({ body: { sessions, working: 1, waiting: 0, crashed: 0 } });
    answers['/api/sense/sessions'] = () => ({ body: [] });
    const page = await open('/sessions');
    await waitForText(page, '[data-key=offer]', /steward config set sessions\.titles true/);
    await page.click('#dismiss-offer');
    await page.locator('[data-key=offer]').waitFor({ state: 'detached' });
    await page.reload();
    await page.locator('.sessions li').first().waitFor();
    expect(await page.locator('[data-key=offer]').count()).to.equal(0);
    await page.evaluate('localStorage.clear()');
    sessions.push(sessionRow({ slug: 'named', title: 'A title' }));
    await page.reload();
    await page.locator('.sessions li').nth(1).waitFor();
    expect(await page.locator('[data-key=offer]').count()).to.equal(0);
  });

  it('compares this week with the mean of the four before, without weeks that have no record', async () => {
    const today = dayDocument(pages.full).record;
    const totalsOf = (ago: number, minutes: number | null, commits: number) => ({
      ...{ date: addDays(today.date, -ago), totalMinutes: minutes, creationMinutes: minutes },
      ...{ consumptionMinutes: 0, neutralMinutes: 0, workingMinutes: 10, waitingMinutes: 0, commits },
    });
    const [four, two] = [
      [totalsOf(1, 60, 1), totalsOf(7, 100, 2), totalsOf(13, 20, 2), totalsOf(14, 40, 0), totalsOf(21, 60, 4), totalsOf(34, 180, 1)],
      [totalsOf(1, null, 1), totalsOf(7, 100, 2), totalsOf(20, null, 3)],
    ] as const; // prettier-ignore
    const own = today.totalMinutes ?? 0;
    const words = (minutes: number) =>
      `${Math.floor(minutes / 60)} h ${String(Math.round(minutes) % 60).padStart(2, '0')} m`;
    for (const [list, head, tracked, commits] of [
      [four, 'mean of the 4 weeks before', [own + 60, 100], [today.commits.count + 1, 2]],
      [two, 'mean of the 4 weeks before, 2 recorded', [own, 50], [today.commits.count + 1, 3]],
    ] as const) {
      const plain = answers['/api/sense/recent']!;
      answers['/api/sense/recent'] = (url) =>
        url?.searchParams.get('fields') === 'totals' ? { body: list } : plain(url);
      const page = await open('/sense');
      await page.locator('#weeks tbody tr').first().waitFor();
      answers['/api/sense/recent'] = plain;
      const rows = await cellsOf(page, '#weeks');
      expect((await page.locator('#weeks th[scope=col]').allTextContents())[2]).to.equal(head);
      const short = (minutes: number) => (minutes < 60 ? `${Math.round(minutes)} m` : words(minutes));
      expect(rows[0]).to.deep.equal(['tracked', ...tracked.map(short)]);
      expect(rows.at(-1)).to.deep.equal(['commits', ...commits.map((count) => String(Math.round(count)))]);
    }
  });

  it('compares with no week in which recording began, and says what is missing', async () => {
    const today = dayDocument(pages.full).record;
    const plain = answers['/api/sense/recent']!;
    const totals = { totalMinutes: 60, creationMinutes: 60, consumptionMinutes: 0, neutralMinutes: 0 };
    const first = {
      date: addDays(today.date, -8),
      ...totals,
      workingMinutes: 0,
      waitingMinutes: 0,
      commits: 1,
    };
    answers['/api/sense/recent'] = (url) =>
      url?.searchParams.get('fields') === 'totals' ? { body: [first] } : plain(url);
    const page = await open('/sense');
    await waitForText(page, '#weeks', /^Recorded since Thu 12 Nov\. A comparison needs 7 recorded days before these 7 days\.$/); // prettier-ignore
  });

  it('shows two lines of a long reason and long names without a sideways scroll, and turns no text around', async () => {
    const long = `gnp\u202eexe.${'Donaudampfschifffahrtsgesellschaft'.repeat(8)}`;
    const plain = long.replace('\u202e', '');
    const waitingSince = '2026-11-20T16:11:00Z';
    const wait = { status: 'waiting' as const, waitingFor: `asks to run ${long}`, waitingSince };
    const sessions = [sessionRow({ slug: 'one', task: long, repo: long, branch: long, ...wait })];
    answers['/api/sessions'] = () => ({ body: { sessions, working: 0, waiting: 1, crashed: 0 } });
    answers['/api/sense/sessions'] = () => ({ body: [] });
    const day = dayDocument(pages.full);
    const { ledger } = day.record;
    const attention = ledger!.attention.map((time) => ({ ...time, repo: long }));
    const apps = day.apps.map(([, kind]) => [long, kind] as const);
    const body = { ...day, apps, record: { ...day.record, ledger: { ...ledger!, attention } } };
    answers['/api/day'] = () => ({ body });
    const contentTypes = [{ label: long, share: 1, evidence: long }];
    answers['/api/sense/insight'] = () => ({ body: { ...INSIGHT, narrative: long, contentTypes } });
    for (const width of [1440, 390]) {
      for (const path of ['/', '/sessions']) {
        const page = await open(path, { viewport: { width, height: 900 } });
        const reason = page.locator('.attention > .brief').first();
        await reason.waitFor();
        expect((await reason.boundingBox())!.height, `${path} at ${width}`).to.be.at.most(48);
        expect(await reason.getAttribute('title')).to.equal(`asks to run ${plain}`);
        if (path === '/') await page.locator('#flow .weights').waitFor();
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.equal(0);
        expect(await page.evaluate(WORDS)).not.to.match(/\u202e/);
        if (path === '/sessions') continue;
        await page.locator('#timeline [role=slider]').first().focus();
        expect(await textOf(page, '#readout')).to.include(plain);
        const [table, room] = (await page.evaluate(
          "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('#ledger'))",
        )) as number[];
        expect(table, `time by repository at ${width}`).to.be.at.most(room!);
      }
    }
  });

  it('names what has no visible name, and keeps a place on one line', async () => {
    const item = {
      state: 'open',
      status: 'needs-human',
      lane: 'Blocked',
      priority: null,
      type: null,
      url: '',
    };
    const about = { updatedAt: NOW, createdAt: NOW, closedAt: null, due: null, agents: [], property: null };
    const hidden = {
      ...item,
      ...about,
      source: 'manual',
      slug: null,
      stale: false,
      number: 7,
      title: '\u200b ',
    };
    const config = { ...NO_BOARD.config, repo: 'a/b' };
    answers['/api/work'] = () => ({ body: { ...NO_BOARD, config, setupRequired: false, items: [hidden] } });
    const rows = issueWaits([hidden] as never, Date.parse(NOW));
    answers['/api/inbox'] = () => ({ body: { rows, count: 1, asOf: {} } });
    const session = sessionRow({ slug: 'one', task: '🎉'.repeat(60), repo: '\n\nsite\n', branch: 'a\tb' });
    answers['/api/sessions'] = () => ({ body: { sessions: [session], working: 1, waiting: 0, crashed: 0 } });
    const page = await open('/', { viewport: { width: 390, height: 900 } });
    await waitForText(page, '#waiting-list .name', /^#7$/);
    await waitForText(page, '#running .name', /^🎉+…$/u);
    expect((await page.locator('#running .where').boundingBox())!.height).to.be.at.most(24);
  });

  it('says which of the last seven days is unreadable, also on a phone', async () => {
    const damaged = '2026-11-18';
    const plain = answers['/api/sense/recent']!;
    const readable = (one: unknown) => (one as { date: string }).date !== damaged;
    answers['/api/sense/recent'] = (url) => ({ body: (plain(url).body as unknown[]).filter(readable) });
    answers['/api/day'] = () => ({ body: { ...dayDocument(pages.full), damaged: [damaged] } });
    const status = answers['/api/sense/status']!().body as object;
    answers['/api/sense/status'] = () => ({ body: { ...status, damagedDays: [damaged] } });
    const page = await open('/', { viewport: { width: 390, height: 900 } });
    await waitForText(page, `#week [data-key="${damaged}"]`, /^Wed 18 Nov ?recorded, unreadable$/);
    await page.goto(`${served.url}/sense`);
    await waitForText(page, `#days-table [data-key="${damaged}"]`, /rebuild: steward sense rollup/);
    const [row, cell] = await Promise.all(
      ['', ' td'].map((one) => page.locator(`#days-table [data-key="${damaged}"]${one}`).boundingBox()),
    );
    expect(cell!.width).to.equal(row!.width);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.equal(0);
  });

  it('tells sessions of one issue apart in the timeline, and lists as next nothing that waits already', async () => {
    const item = { state: 'open', lane: 'Queued', status: 'ready', priority: 'P1', type: null, url: '' };
    const about = { updatedAt: NOW, createdAt: NOW, closedAt: null, due: null, agents: [], property: null };
    const more = { source: 'manual', slug: null, stale: false };
    const items = [7, 8].map((number) => ({ ...item, ...about, ...more, number, title: `Issue ${number}` }));
    const config = { ...NO_BOARD.config, repo: 'a/b' };
    answers['/api/work'] = () => ({ body: { ...NO_BOARD, config, setupRequired: false, items } });
    const [row] = issueWaits([{ ...items[0]!, status: 'needs-human' }] as never, Date.parse(NOW));
    answers['/api/inbox'] = () => ({ body: { rows: [row], count: 1, asOf: {} } });
    const day = dayDocument(pages.full);
    const sessions = day.sessions.map((one) => ({ ...one, slug: `${one.slug}-past`, issue: 7 }));
    answers['/api/day'] = () => ({ body: { ...day, sessions } });
    const page = await open('/');
    await page.locator('#timeline [role=slider]').first().waitFor();
    expect(await page.locator('#timeline [data-key=sessions] .label').allTextContents()).to.deep.equal([
      'autumn · website · Issue 7',
      'main · steward · Issue 7',
    ]);
    expect(await page.locator('#waiting-list .name').allTextContents()).to.deep.equal(['Issue 7']);
    expect(await page.locator('#next a').allTextContents()).to.deep.equal(['Issue 8']);
  });

  it('says on the status page how old the news of each machine is', async () => {
    const found = 'laptop: news 3 m old · studio: news 2 d old';
    const machines = { id: 'machines', label: 'Other machines', state: 'ok' as const, found };
    answers['/api/status'] = () => ({ body: { ...STATUS, modules: [...STATUS.modules, machines] } });
    answers['/api/work/status'] = () => ({ body: undefined, status: 503, text: JSON.stringify(NOT_READ) });
    answers['/api/notify'] = () => ({
      body: { voice: 'on', muted: { muted: false, until: null }, history: [] },
    });
    const page = await open('/status');
    await waitForText(page, '#parts [data-key=machines]', /^Other machines● oklaptop: news 3 m old · studio/);
  });
});
