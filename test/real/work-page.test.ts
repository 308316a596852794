import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

import { boardView, SETUP_STEPS, type BoardView } from '../../src/lib/work/board';
import type { WorkDeps } from '../../src/lib/work/deps';
import type { Issue } from '../../src/lib/work/issue';
import { launchBrowser, servePages, type Served } from '../helpers/browser';
import { emptyHome } from '../helpers/cli';
import { startDaemon } from '../helpers/daemon';
import {
  expectQuiet,
  openPage,
  textOf,
  waitForText,
  type OpenOptions,
  type OpenPage,
} from '../helpers/dashboard';
import { requirePrograms } from '../helpers/real-part';

const AXE = readFileSync(join(__dirname, '..', '..', 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');

describe('the page /work in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser;
  let served: Served;
  let board: BoardView;
  let opened: OpenPage[] = [];
  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
  });
  beforeEach(async () => {
    board = boardOf([
      issue(1, '[Core] Fix the login [slug:fix-login]', ['core-sync', 'Status:in-progress', 'Priority:P1', 'Type:feature', 'Agent:nova', 'stale']),
      issue(2, '[Reminder] call <b>Ann</b>', ['Type:reminder', 'Status:queued']),
      issue(3, 'By hand', ['Status:blocked', 'Priority:P0', 'Property:website']),
      { ...issue(4, 'Over', ['Status:done']), state: 'closed', closedAt: '2026-11-19T12:00:00Z' },
    ]); // prettier-ignore
    served = await servePages({
      '/api/work': () => ({ body: board }),
      '/api/sessions': () => ({ body: { waiting: 0 } }),
    });
  });
  afterEach(async () => {
    for (const { close } of opened) await close();
    opened = [];
    await served?.close();
  });

  const open = async (path = '/work', options: OpenOptions = {}): Promise<OpenPage> => {
    const one = await openPage(browser, `${served.url}${path}`, options);
    opened.push(one);
    return one;
  };
  const cards = (page: Page): Promise<string[]> => page.locator('.card > a').allTextContents();
  const axe = async (page: Page): Promise<string[]> => {
    await page.evaluate(AXE);
    const found = (await page.evaluate('axe.run()')) as { violations: { id: string; help: string }[] };
    return found.violations.map(({ id, help }) => `${id}: ${help}`);
  };

  it('shows five lanes with their counts, cards without markers, and text as text', async () => {
    const one = await open();
    const { page } = one;
    expect(await textOf(page, '#facts')).to.equal('ann/work: 3 open issues, 1 closed.');
    expect(await page.locator('.lane h2').allTextContents()).to.deep.equal([
      'Queued 1', 'Blocked 1', 'In-Progress 1', 'In-Review 0', 'Complete 1',
    ]); // prettier-ignore
    expect(await cards(page)).to.deep.equal(['call <b>Ann</b>', 'By hand', 'Fix the login', 'Over']);
    expect(await page.locator('[data-key="1"] .badge').allTextContents()).to.deep.equal([
      'core-sync', 'feature', 'P1', '@ nova', 'stale',
    ]); // prettier-ignore
    // Its source and its type are one word.
    expect(await page.locator('[data-key="2"] .badge').allTextContents()).to.deep.equal(['reminder']);
    const link = page.locator('[data-key="1"] a');
    expect(await link.getAttribute('href')).to.equal('https://github.com/ann/work/issues/1');
    expect([await link.getAttribute('target'), await link.getAttribute('rel')]).to.deep.equal([
      '_blank', 'noopener noreferrer',
    ]); // prettier-ignore
    expectQuiet(one, served.url);
  });

  it('filters by toggles and by words, which stand in the address; / goes to the search', async () => {
    const { page } = await open();
    await page.click('button[data-value="P1"]');
    await waitForText(page, '#facts', /1 open issue, 0 closed of 4/);
    expect(page.url()).to.match(/\/work\?priority=P1$/);
    await page.click('button[data-value="P0"]');
    await waitForText(page, '#facts', /2 open issues/);
    await page.click('button[data-value="P0"]');
    await page.click('button[data-value="P1"]');
    await waitForText(page, '#facts', /3 open issues, 1 closed\.$/);
    await page.keyboard.press('/');
    await page.keyboard.type('login fix');
    await waitForText(page, '#facts', /1 open issue, 0 closed of 4/);
    const again = await open(new URL(page.url()).pathname + new URL(page.url()).search);
    expect(await cards(again.page)).to.deep.equal(['Fix the login']);
    expect(await again.page.inputValue('#search')).to.equal('login fix');
  });

  it('says since when it is stale, and why; and before setup the steps', async () => {
    Object.assign(board, {
      stale: true,
      staleReason: 'GitHub cannot be reached.',
      lastFetch: '2026-11-20T16:00:00Z',
    });
    expect(await textOf((await open()).page, '#stale')).to.equal('As of 16:00. GitHub cannot be reached.');
    board = {
      ...boardOf([]),
      setupRequired: true,
      steps: [...SETUP_STEPS],
      config: { ...board.config, repo: null },
    };
    const { page } = await open();
    expect(await textOf(page, '#facts')).to.match(/^Work tracking is not set up\. It stores work as issues/);
    expect(await page.locator('.steps code').allTextContents()).to.deep.equal([...SETUP_STEPS]);
    expect(await page.locator('#filters').isVisible()).to.equal(false);
    expect(await axe(page)).to.deep.equal([]);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`axe finds nothing, and a phone needs no sideways scroll: ${colorScheme}`, async () => {
      Object.assign(board, { stale: true, staleReason: 'GitHub cannot be reached.' });
      const { page } = await open('/work?priority=P1', {
        colorScheme,
        viewport: { width: 360, height: 740 },
      });
      await page.waitForSelector('.card');
      expect(await axe(page)).to.deep.equal([]);
      const [wide, room] = (await page.evaluate(
        '[document.documentElement.scrollWidth, innerWidth]',
      )) as number[];
      expect(wide).to.be.at.most(room!);
    });
  }

  it('2,000 issues: a lane shows 200 cards at a time, says which, and goes on from the last one', async () => {
    board = boardOf(Array.from({ length: 2000 }, (_, i) => issue(i + 1, `Issue ${i + 1}`, ['Status:ready'])));
    const { page } = await open();
    const range = (): Promise<string[]> => page.locator('.lane p.small[data-key="range"]').allTextContents();
    await waitForText(page, '.more', /^1800 more$/);
    expect([await page.locator('.card').count(), await range()]).to.deep.equal([200, ['1 to 200 of 2000']]);
    expect(await page.locator('.earlier').count()).to.equal(0);
    await page.focus('.more');
    await page.keyboard.press('Enter');
    await waitForText(page, '.more', /^1600 more$/);
    expect([await page.locator('.card').count(), await range()]).to.deep.equal([200, ['201 to 400 of 2000']]);
    expect((await cards(page)).at(0)).to.equal('Issue 201');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Issue 201');
    expect(await page.evaluate('document.activeElement.getBoundingClientRect().top > 0')).to.equal(true);
    for (let left = 1400; left > 0; left -= 200) {
      await page.click('.more');
      await waitForText(page, '.more', new RegExp(`^${left} more$`));
    }
    await page.click('.more');
    await waitForText(page, '.earlier', /^1800 earlier$/);
    expect([(await cards(page)).at(-1), await page.locator('.more').count()]).to.deep.equal([
      'Issue 2000',
      0,
    ]);
    expect(await axe(page)).to.deep.equal([]);
    // Of fewer issues than that the last ones are shown.
    board = boardOf(board.items.slice(0, 1000).map((item) => issue(item.number, item.title, item.labels)));
    await page.evaluate("dispatchEvent(new Event('online'))");
    await waitForText(page, '.earlier', /^800 earlier$/);
    await page.click('.earlier');
    await waitForText(page, '.earlier', /^600 earlier$/);
    await page.fill('#search', 'Issue 999');
    await waitForText(page, '#facts', /1 open issue/);
    expect(await cards(page)).to.deep.equal(['Issue 999']);
  });

  it('3,000 issues: no task of a scroll from the top to the bottom takes over 100 ms', async () => {
    board = boardOf(Array.from({ length: 3000 }, (_, i) => issue(i + 1, `Issue ${i + 1}`, [STATUSES[i % 4]!, 'Priority:P1', 'Type:feature']))); // prettier-ignore
    const { page } = await open();
    await page.waitForSelector('.card');
    // As far on as one gets: it is no longer than at the beginning.
    await page.click('.more');
    await waitForText(page, '.more', /^350 more$/);
    expect(await page.locator('.card').count()).to.equal(800);
    // Other processes of a loaded machine lengthen a task: the best of some is the page's own.
    let longest = Infinity;
    for (let attempt = 0; attempt < 10 && longest > 100; attempt += 1) {
      const { tasks, bottom } = (await page.evaluate(SCROLL)) as { tasks: number[]; bottom: number };
      expect(bottom).to.be.greaterThan(10_000);
      longest = Math.max(0, ...tasks);
    }
    expect(longest).to.be.at.most(100);
  });

  it('tells a pressed filter from the others in forced colours', async () => {
    const { page } = await open('/work', { forcedColors: 'active' });
    await page.locator('.toggles button').first().click();
    await page.waitForSelector('.toggles [aria-pressed=true]');
    const marks = await page.evaluate(
      `['true', 'false'].map((is) => getComputedStyle(document.querySelector('.toggles [aria-pressed=' + is + ']'), '::before').content)`,
    );
    expect(marks).to.deep.equal(['"✓ "', 'none']);
  });

  it('is served by the built daemon, also as /api/work/ui; before setup the module is off', async () => {
    const home = emptyHome();
    const daemon = await startDaemon({ home: home.path });
    try {
      for (const path of ['/work', '/api/work/ui']) {
        const one = await openPage(browser, `${daemon.url}${path}`, { now: null });
        opened.push(one);
        await waitForText(one.page, '#facts', /^Work tracking is not set up\./);
        expectQuiet(one, daemon.url);
      }
    } finally {
      await daemon.stop();
      home.remove();
    }
  });
});

const STATUSES = ['Status:ready', 'Status:in-progress', 'Status:blocked', 'Status:in-review'];

/** From the top to the bottom in steps of a frame each; how far that was, and the long tasks of it, ms. */
const SCROLL = `new Promise((done) => {
  const tasks = [];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration)));
  observer.observe({ type: 'longtask' });
  scrollTo(0, 0);
  let before = -1;
  const step = () => {
    if (scrollY === before) {
      observer.takeRecords().forEach((one) => tasks.push(one.duration));
      observer.disconnect();
      return done({ tasks, bottom: scrollY });
    }
    before = scrollY;
    scrollBy(0, 400);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(() => { scrollBy(0, 1); requestAnimationFrame(step); });
})`;

function issue(number: number, title: string, labels: string[]): Issue {
  return {
    number,
    title,
    url: `https://github.com/ann/work/issues/${number}`,
    state: 'open',
    stateReason: null,
    labels,
    createdAt: '2026-11-01T12:00:00Z',
    updatedAt: '2026-11-20T12:00:00Z',
    closedAt: null,
    identity: null,
    due: null,
  };
}

/** As the daemon makes it of a cache with these issues. */
function boardOf(issues: Issue[]): BoardView {
  const view = boardView({
    clock: { now: () => 0, monotonic: () => 0 },
    paths: { cache: '/nowhere/cache.json', poll: '/nowhere/poll.json' } as WorkDeps['paths'],
    config: {
      KANBAN_COLUMNS: ['Queued', 'Blocked', 'In-Progress', 'In-Review', 'Complete'],
      POLL_INTERVAL_SECONDS: 60,
      CAPTURE_NATIVE: true,
      CAPTURE_SWEEP: true,
      CAPTURE_PROMPT: 'line',
      PROJECT_PROPERTY: {},
    },
    workRepo: () => ({
      repo: 'ann/work',
      enabled: true,
      privacy: { verifiedPrivate: true, visibility: 'private', verifiedAt: '1970-01-01T00:00:00Z', ttlHours: 24, repo: 'ann/work', repoId: 1 },
    }), // prettier-ignore
    cache: () => ({
      repo: 'ann/work',
      issues,
      malformed: 0,
      since: null,
      fullAt: null,
      etag: null,
      labels: null,
    }),
  });
  return { ...view, stale: false, staleReason: null };
}
