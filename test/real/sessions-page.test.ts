import { expect } from 'chai';

import type { DayDocument } from '../../src/lib/daemon/day-route';
import type { SessionsReport } from '../../src/lib/sessions/rows';
import type { Answers, Served } from '../helpers/browser';
import { until } from '../helpers/daemon';
import {
  dayDocument,
  expectQuiet,
  senseAnswers,
  sessionRow,
  textOf,
  waitForText,
  type OpenOptions,
  type OpenPage,
} from '../helpers/dashboard';
import { pagesInChromium, violations } from '../helpers/pages';

describe('the page of sessions in Chromium', function () {
  this.timeout(120_000);
  const pages = pagesInChromium();
  let answers: Answers;
  let served: Served;
  beforeEach(async () => {
    answers = senseAnswers(pages.full);
    const report = answers['/api/sessions']!().body as SessionsReport;
    const ended = Array.from({ length: 120 }, (_, i) =>
      sessionRow({ slug: `old-${i}`, task: `Task ${i}`, repo: i % 2 === 0 ? 'notes' : 'site', status: 'ended', assistant: 'codex', github_issue: i, updatedAt: '2026-11-19T17:40:00Z', go: null }),
    ); // prettier-ignore
    const body = { ...report, sessions: [...report.sessions, ...ended] };
    answers['/api/sessions'] = () => ({ body });
    answers['/api/sense/sessions'] = () => ({
      body: [
        { slug: 'fix-login', workingMinutes: 72, waitingMinutes: 24, readyMinutes: 90, tokens: 340_123 },
      ],
    });
    served = await pages.serve(answers);
  });

  async function open(path = '/sessions', options: OpenOptions = {}): Promise<OpenPage> {
    const one = await pages.open(`${served.url}${path}`, options);
    await one.page.locator('#groups li').first().waitFor();
    return one;
  }

  it('lists who waits first, then who works, then the past, with time and tokens', async () => {
    const one = await open();
    const { page } = one;
    expect(await textOf(page, '#facts')).to.equal('2 waiting · 1 working · 0 ended today');
    expect(await page.locator('h2').allTextContents()).to.deep.equal([
      '◇ Waiting 2',
      '● Working 1',
      '– Ended 120',
    ]);
    const rows = await page.locator('#groups summary').allTextContents();
    expect(rows[0]).to.match(
      /^A landing page for the autumn campaign.*website · autumn.*asks to run Bash · 6 m/,
    );
    expect(rows[1]).to.match(/^shop.*your turn · 1 h 30 m/);
    expect(rows[2]).to.match(/^Fix the login.*editing.*worked 1 h 12 m · 340 k tokens$/);
    expect(rows).to.have.length(53);
    await page.click('#more');
    await page.locator('#groups summary').nth(100).waitFor();
    expect(await page.title()).to.equal('(3) Sessions · steward');
    expectQuiet(one, served.url);
  });

  it('filters by repository, assistant and words, and keeps the filters in the address', async () => {
    const { page } = await open();
    await page.selectOption('select[name=repo]', 'notes');
    await waitForText(page, '#groups h2', /Ended 60/);
    await page.keyboard.press('/');
    await page.keyboard.type('task 11');
    await waitForText(page, '#groups h2', /Ended 5/);
    expect(new URL(page.url()).search).to.equal('?q=task+11&repo=notes');
    await page.keyboard.press('Escape');
    await waitForText(page, '#groups h2', /Ended 60/);
    await page.goBack();
    await waitForText(page, '#groups h2', /Waiting 2/);
    await page.goto(`${served.url}/sessions?assistant=codex`);
    await waitForText(page, '#groups h2', /Ended 120/);
  });

  it('opens one by its address: its issue, its commits and when it worked', async () => {
    const commits = [{ at: 62_000, repo: 'steward', branch: 'main', sha: '3f2a91c', subject: 'Fix it' }];
    answers['/api/day'] = () => ({ body: { ...dayDocument(pages.full), commits } });
    const { page } = await open('/sessions#fix-login');
    await page.locator('[data-slug=fix-login][open] [role=slider]').first().waitFor();
    const story = await textOf(page, '[data-slug=fix-login] .story');
    expect(story).to.match(/workingtime|timeworking 1 h 12 m, waiting 24 m, your turn 1 h 30 m/);
    expect(story).to.match(/issue#12/);
    expect(story).to.include('slugfix-login');
    // Only the row opens; its commits have no triangle.
    const marks = await page.evaluate(
      "['summary', '.story .done'].map((part) => getComputedStyle(document.querySelector(`[data-slug=fix-login] ${part} .name`), '::before').content)",
    );
    expect(marks).to.deep.equal(['"▾ " / ""', 'none']);
    const report = answers['/api/sessions']!().body as SessionsReport;
    const sessions = report.sessions.map((row) => ({ ...row, updatedAt: '2026-11-20T17:41:00Z' }));
    answers['/api/sessions'] = () => ({ body: { ...report, sessions } });
    const again = page.waitForResponse('**/api/day?*');
    await page.clock.runFor(31_000);
    await again;
    await page.click('[data-slug=fix-login] summary');
    await until('the address', () => new URL(page.url()).hash === '');
    await page.goto(`${served.url}/sessions#old-119`);
    await page.locator('[data-slug=old-119][open]').waitFor();
  });

  it('draws the line of the session alone, and no other machine', async () => {
    const day = dayDocument(pages.full);
    const other = { ...day, id: 'b', name: 'laptop', spans: [[36_000, 600, 0]] as DayDocument['spans'] };
    answers['/api/day'] = () => ({ body: { ...day, commits: [], others: [other] } });
    const { page } = await open('/sessions#fix-login');
    await page.locator('[data-slug=fix-login] [role=slider]').first().waitFor();
    const drawn = page.locator('[data-slug=fix-login] .timeline');
    expect(await drawn.locator('[role=slider]').count()).to.equal(1);
    expect(await drawn.locator('[data-row]').count()).to.equal(1);
    expect(await textOf(page, '[data-slug=fix-login] .story')).to.include('No commits during this session.');
  });

  it('names a session, only with the secret of the page', async () => {
    const { page } = await open('/sessions#fix-login');
    expect(await textOf(page, '[data-slug=fix-login] .story')).to.match(
      /This page is read-only\..*steward open sessions/,
    );
    expect(await page.locator('[data-name]').count()).to.equal(0);
    answers['/api/sign-in'] = () => ({ body: { secret: 's3cret' } });
    await page.goto('about:blank');
    await page.goto(`${served.url}/sessions#code=abc`);
    await page.click('[data-slug=fix-login] summary');
    const request = page.waitForRequest('**/api/sessions/name');
    const { body } = answers['/api/sessions']!() as { body: SessionsReport };
    const rename = (givenName: string): void => {
      const rows = body.sessions.map((row) => (row.slug === 'fix-login' ? { ...row, givenName } : row));
      answers['/api/sessions'] = () => ({ body: { ...body, sessions: rows } });
    };
    answers['/api/sessions/name'] = () => {
      rename('Login');
      return { body: { slug: 'fix-login', name: 'Login', before: 'x' } };
    };
    await page.fill('[data-name=fix-login] input', 'Login');
    await page.keyboard.press('Enter');
    const sent = await request;
    expect(sent.headers()['authorization']).to.equal('Bearer s3cret');
    expect(sent.postDataJSON()).to.deep.equal({ session: 'fix-login', name: 'Login' });
    await waitForText(page, '[data-name=fix-login] [role=status]', /^Saved\.$/);
    rename('Another');
    await page.clock.runFor(31_000);
    await waitForText(page, '[data-slug=fix-login] b', /^Another$/);
    expect(await textOf(page, '[data-name=fix-login] [role=status]')).to.equal('');
    answers['/api/sessions/name'] = () => ({
      status: 404,
      body: { error: { message: 'Session "x" not found.', hint: 'List them.' } },
    });
    await page.click('[data-name=fix-login] button');
    await waitForText(page, '[data-name=fix-login] [role=status]', /^Session "x" not found\. List them\.$/);
  });

  it('moves among the rows by keys, and copies the command of one', async () => {
    const { page } = await open('/sessions', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.keyboard.press('2');
    // A redraw keeps the focus, and the browser looks at it when it renders.
    await page.evaluate(
      'dispatchEvent(new PopStateEvent("popstate")), new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))',
    );
    expect(await page.evaluate('document.activeElement.dataset.key')).to.equal('shop');
    for (const key of ['j', 'k', 'c']) await page.keyboard.press(key);
    await waitForText(page, 'body > p[role=status]', /^copied: steward go shop$/);
    await page.keyboard.press('o');
    await page.locator('[data-slug=shop][open]').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('[data-slug=shop]:not([open])').waitFor({ state: 'attached' });
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.waitForURL(`${served.url}/`);
  });

  it('lists the details of a session with each value beside its name', async () => {
    const { page } = await open('/sessions#fix-login');
    const name = await page.locator('[data-slug=fix-login] dt').first().boundingBox();
    const value = await page.locator('[data-slug=fix-login] dd').first().boundingBox();
    expect(value!.y).to.equal(name!.y);
    expect(value!.x).to.be.greaterThan(name!.x + name!.width);
  });

  it('leaves room for names at every width', async () => {
    const { page } = await open();
    for (const width of [901, 1024, 1280, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      const name = await page.locator('#groups .name').first().boundingBox();
      expect(name!.width, `at ${width}`).to.be.at.least(200);
    }
  });

  it('wraps a long name of a repository on a phone', async () => {
    const report = answers['/api/sessions']!().body as SessionsReport;
    const repo = 'a'.repeat(120);
    const sessions = [
      sessionRow({ slug: 'long', repo, status: 'waiting', waitingSince: '2026-11-20T16:11:00Z' }),
      sessionRow({ slug: 'busy', repo }),
      ...report.sessions,
    ];
    answers['/api/sessions'] = () => ({ body: { ...report, sessions } });
    for (const width of [320, 390])
      for (const path of ['/sessions#long', '/']) {
        const one = await pages.open(`${served.url}${path}`, { viewport: { width, height: 740 } });
        await one.page.locator('[data-key=long]').waitFor();
        const wide = await one.page.evaluate('document.documentElement.scrollWidth');
        expect(wide, `${path} at ${width}`).to.equal(width);
      }
  });

  it('says for how long a session has given no signal, and separates thousands', async () => {
    const report = answers['/api/sessions']!().body as SessionsReport;
    const quiet = sessionRow({ slug: 'quiet', status: 'no-signal', updatedAt: '2026-11-20T13:41:00Z' });
    const body = { ...report, sessions: [quiet], working: 2400 };
    answers['/api/sessions'] = () => ({ body });
    const { page } = await open();
    expect(await textOf(page, '[data-slug=quiet]')).to.match(/no signal for 4 h/);
    expect(await textOf(page, '#facts')).to.match(/2,400 working/);
  });

  it('shows its rows for a damaged address', async () => {
    const one = await open('/sessions#%');
    expect(await one.page.locator('h2').count()).to.equal(3);
    expectQuiet(one, served.url);
  });

  const looks: [string, OpenOptions][] = [
    ['light', { viewport: { width: 1280, height: 900 } }],
    ['dark', { viewport: { width: 1920, height: 900 }, colorScheme: 'dark' }],
    ['a phone', { viewport: { width: 390, height: 844 } }],
    ['a small phone in forced colours', { viewport: { width: 360, height: 740 }, forcedColors: 'active' }],
  ];
  for (const [name, options] of looks) {
    it(`axe finds nothing, and nothing is too wide: ${name}`, async () => {
      const { page } = await open('/sessions#fix-login', options);
      await page.locator('[role=slider]').first().waitFor();
      expect(await violations(page)).to.deep.equal([]);
      const [wide, room] = (await page.evaluate(
        '[document.documentElement.scrollWidth, innerWidth]',
      )) as number[];
      expect(wide).to.be.at.most(room!);
    });
  }
});
