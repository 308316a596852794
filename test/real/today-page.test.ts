import { expect } from 'chai';

import { minutes } from '../../src/lib/platform/terminal/format';
import { recent, today } from '../../src/lib/sense/read';
import type { Answers, Served } from '../helpers/browser';
import {
  dayDocument,
  expectQuiet,
  NO_BOARD,
  NOW,
  type OpenOptions,
  type OpenPage,
  realSources,
  senseAnswers,
  sessionRow,
  STATUS,
  textOf,
  until,
  waitForText,
} from '../helpers/dashboard';
import { listedKeys, pagesInChromium, SHIFT, violations } from '../helpers/pages';
import { senseBox } from '../helpers/sense';

describe('the page of the day in Chromium', function () {
  this.timeout(120_000);
  const pages = pagesInChromium();
  let answers: Answers;
  let served: Served;
  beforeEach(async () => {
    answers = senseAnswers(pages.full);
    served = await pages.serve(answers);
  });

  function open(path = '/', options: OpenOptions = {}): Promise<OpenPage> {
    return pages.open(`${served.url}${path}`, options);
  }

  it('says who waits first, a question before a turn, and in the title', async () => {
    const one = await open();
    const { page } = one;
    await page.locator('#waiting li').nth(2).waitFor();
    await page.locator('#running li').first().waitFor();
    const rows = await page.locator('#waiting li').allTextContents();
    expect(rows[0]).to.match(
      /^A landing page for the autumn campaign.*asks to run Bash · 6 m.*steward go autumn/,
    );
    expect(rows[1]).to.match(/^shop.*turn finished · 1 h 30 m.*steward go shop/);
    expect(rows[2]).to.match(/^Deployed.*not delivered · 0 m.*steward notify history/);
    expect(await page.title()).to.equal('(3) Today · steward');
    expect(await textOf(page, '#running')).to.match(/^Fix the login when the session has expired/);
    expectQuiet(one, served.url);
  });

  it('shows what blocks an agent first, then what has been due longest, and opens one by Enter', async () => {
    const issue = { state: 'open', lane: 'Queued', priority: null, url: 'https://github.com/a/b/issues/1' };
    const items = [
      { ...issue, number: 4, title: 'Call Ann', due: '2026-11-20T16:00:00Z' },
      { ...issue, number: 5, title: 'Send the invoice', due: '2026-11-19T09:00:00Z' },
      { ...issue, number: 6, title: 'Buy milk', due: '2026-11-20T19:00:00Z' },
    ];
    answers['/api/work'] = () => ({ body: { ...NO_BOARD, setupRequired: false, items } });
    const { page } = await open();
    await page.locator('#waiting li').nth(4).waitFor();
    const names = await page.locator('#waiting .name').allTextContents();
    expect(names.slice(0, 3)).to.deep.equal([
      'A landing page for the autumn campaign',
      'Send the invoice',
      'Call Ann',
    ]);
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
    await page.waitForURL('**/work?q=%235');
  });

  it('lets a signed-in page finish, snooze and retry a row, and says what was refused', async () => {
    const { page } = await open();
    await page.locator('#waiting li').nth(2).waitFor();
    expect(await page.locator('#waiting [data-send]').count()).to.equal(0);
    await page.evaluate(`localStorage.setItem('steward-secret', 'x'.repeat(43))`);
    await page.reload();
    await page.locator('#waiting [data-send]').first().waitFor();
    const press = async (row: number, label: string): Promise<unknown> => {
      const asked = page.waitForRequest((request) => request.method() === 'POST');
      await page.locator('#waiting li').nth(row).getByRole('button', { name: label }).click();
      const request = await asked;
      return [new URL(request.url()).pathname, request.postDataJSON()];
    };
    answers['/api/inbox/mark'] = () => ({ body: { id: 'autumn', until: '2026-11-20T18:41:00Z' } });
    expect(await press(0, 'Snooze 1 h')).to.deep.equal(['/api/inbox/mark', { id: 'autumn', when: '1h' }]);
    expect(await press(1, 'Done')).to.deep.equal(['/api/inbox/mark', { id: 'shop' }]);
    answers['/api/notify/retry'] = () => ({
      status: 409,
      body: { error: { kind: 'conflict', message: 'It was delivered.' } },
    });
    await press(2, 'Retry');
    await waitForText(page, '#waiting li:nth-child(3) .problem', /It was delivered\./);
  });

  it('draws what waits and what works once, with both answers, and says where one failed', async () => {
    let answered = (): void => undefined;
    const wait = new Promise<void>((done) => (answered = done));
    const inbox = answers['/api/inbox']!;
    answers['/api/inbox'] = (url) => ({ ...inbox(url), wait });
    const { page } = await open();
    await page.clock.runFor(2000);
    await page.locator('#facts .large').waitFor();
    for (const id of ['#waiting', '#running-section'])
      expect(await page.locator(id).isVisible(), id).to.equal(false);
    answered();
    await page.locator('#waiting li').nth(2).waitFor();
    expect(await page.locator('#running-section').isVisible()).to.equal(true);
    answers['/api/inbox'] = () => ({ status: 500, body: { error: { message: 'inbox.json is invalid.' } } });
    await page.reload();
    await waitForText(page, '#waiting', /Waiting for you Unknown\.$/);
  });

  it("shows times in steward's time zone where the browser has another", async () => {
    const issue = { state: 'open', lane: 'Queued', priority: null, url: 'https://github.com/a/b/issues/1' };
    const items = [
      { ...issue, number: 4, title: 'Call Ann', due: '2026-11-20T16:00:00Z' },
      { ...issue, number: 5, title: 'Buy milk', due: '2026-11-20T19:00:00Z' },
    ];
    answers['/api/work'] = () => ({ body: { ...NO_BOARD, setupRequired: false, items } });
    const { page } = await open('/', { timezoneId: 'Asia/Tokyo' });
    await waitForText(page, '#waiting', /due 16:00/);
    await waitForText(page, '#next li', /due 19:00/);
    await waitForText(page, '#readout', /^09:41 to now/);
    await page.context().setOffline(true);
    await page.clock.runFor(31_000);
    await waitForText(page, '#waiting-title', /^Waiting at 17:41$/);
    await page.context().setOffline(false);
    const more = { agents: [], type: 'bug', source: 'manual', updatedAt: NOW, closedAt: null };
    const work = { ...NO_BOARD, setupRequired: false, columns: { Queued: [5] } };
    answers['/api/work'] = () => ({ body: { ...work, items: items.map((item) => ({ ...item, ...more })) } });
    answers['/api/work/status'] = () => ({ body: { waiting: [] } });
    for (const [path, place, text] of [
      ['/work', '.item time', /^due 19:00$/],
      ['/status', '#engine', /since 15:31/],
      ['/sessions#fix-login', '[data-slug=fix-login] .story', /active17:00 to 17:40/],
    ] as const) {
      await page.goto(`${served.url}${path}`);
      await waitForText(page, place, text);
    }
  });

  it('folds the sessions that work after three', async () => {
    const sessions = Array.from({ length: 13 }, (_, i) => sessionRow({ slug: `s${i}` }));
    answers['/api/sessions'] = () => ({ body: { sessions, working: 13, waiting: 0, crashed: 0 } });
    const { page } = await open();
    await waitForText(page, '#running > details > summary', /^10 more$/);
    expect(await page.locator('#running li:visible').count()).to.equal(3);
  });

  for (const path of ['/', '/sense'])
    it(`becomes read-only once its secret is found stale: ${path}`, async () => {
      let found = (): void => undefined;
      const wait = new Promise<void>((done) => (found = done));
      const { page } = await open(path);
      answers['/api/stream'] = () => ({ wait, text: '{"run":"a","version":"1","signedIn":false}\n' });
      await page.evaluate("localStorage.setItem('steward-secret', 'x')");
      await page.reload();
      await page.locator('#apps select').first().waitFor();
      found();
      await page.locator('#apps select').first().waitFor({ state: 'detached' });
      expect(await textOf(page, '#apps')).to.include('steward open');
    });

  it('shows why a sign-in link is refused', async () => {
    const error = { kind: 'auth', message: 'This link was used.', hint: 'Run "steward open".' };
    answers['/api/sign-in'] = () => ({ status: 401, body: { error } });
    const { page } = await open('/#code=abc');
    await waitForText(page, '#notes', /^This link was used\. Run "steward open"\.$/);
    // A filter does not bring the code back into the address.
    await page.click('#ledger [data-repo=payments]');
    await waitForText(page, '#picked', /^Only payments ×$/);
    expect(new URL(page.url()).hash).to.equal('');
  });

  it('aligns its figures on one baseline', async () => {
    for (const path of ['/', '/sense']) {
      const { page } = await open(path);
      await page.locator('#facts .large').waitFor();
      const bottoms = (await page.evaluate(
        `[...document.querySelectorAll('#facts > span')].map(({ lastChild }) => {
          const range = document.createRange();
          range.selectNode(lastChild);
          return Math.round(range.getBoundingClientRect().bottom);
        })`,
      )) as number[];
      expect(bottoms.length, path).to.be.greaterThan(1);
      expect(new Set(bottoms).size, path).to.equal(1);
    }
  });

  it('shows the figures of the record, what was done, and seven days', async () => {
    const { page } = await open();
    await page.locator('#week .figure').nth(6).waitFor();
    await page.locator('#done li').first().waitFor();
    const { record } = today(pages.full.deps);
    expect(await page.locator('#facts b').allTextContents()).to.deep.equal([
      ...[record.totalMinutes, record.creationMinutes, record.consumptionMinutes, record.neutralMinutes].map(
        minutes,
      ),
      '5',
      '1',
    ]);
    const done = await page.locator('#done li').allTextContents();
    expect(
      done.filter((line) => /^15:40.*closed: Write the newsletter of December$/.test(line)),
    ).to.have.length(1);
    expect(await page.locator('#week .figure').allTextContents()).to.deep.equal(
      [record, ...recent(pages.full.deps, 6)].map(({ totalMinutes }) => minutes(totalMinutes)),
    );
  });

  it('reads an item of the timeline to the keys and to the pointer, and lists all in a table', async () => {
    const { page } = await open();
    expect(await textOf(page, '#readout')).to.match(/^09:41 to now/);
    const slider = page.locator('[role=slider]');
    expect(await slider.count()).to.equal(3);
    for (let i = 0; i < 3; i += 1) {
      await slider.nth(i).focus();
      await page.keyboard.press('Home');
      const first = await slider.nth(i).getAttribute('aria-valuetext');
      await page.keyboard.press('ArrowRight');
      expect(await slider.nth(i).getAttribute('aria-valuetext')).not.to.equal(first);
      expect(await textOf(page, '#readout')).to.equal(await slider.nth(i).getAttribute('aria-valuetext'));
    }
    await page.keyboard.press('Escape');
    expect(await textOf(page, '#readout')).to.match(/to now/);
    await page.hover('[data-row=consumption] svg', { position: { x: 470, y: 12 } });
    expect(await textOf(page, '#readout')).to.match(/^\d\d:\d\d to \d\d:\d\d · .* · consumption · /);
    await page.click('#table-details summary');
    // The table is made by an event after the click.
    await page.locator('#timeline-table tbody tr').nth(20).waitFor();
  });

  it('tells a question that was answered from a turn that waits in the timeline', async () => {
    const { page } = await open();
    const last = (slug: string) => page.locator(`[data-row=${slug}] path.box`).last().getAttribute('class');
    expect([await last('autumn'), await last('fix-login')]).to.deep.equal(['box r', 'box pastY']);
    await page.locator('[role=slider]').last().focus();
    for (const key of ['End', 'ArrowLeft']) await page.keyboard.press(key);
    await waitForText(page, '#readout', /autumn campaign · your turn · 35 m$/);
  });

  it('shows the page for one repository, by its button, and keeps it in the address', async () => {
    const { page } = await open();
    await page.click('#ledger [data-repo=payments]');
    await waitForText(page, '#picked', /^Only payments ×$/);
    const { record } = today(pages.full.deps);
    const { commits = 0 } = record.commits.repos.find(({ repo }) => repo === 'payments') ?? {};
    const own = await textOf(page, '#ledger [data-key=payments] td');
    expect(await textOf(page, '#facts')).to.equal(
      `${own} in payments${commits} commit${commits === 1 ? '' : 's'}of ${minutes(record.totalMinutes)} tracked so far`,
    );
    expect(new URL(page.url()).searchParams.get('repo')).to.equal('payments');
    const done = await page.locator('#done .repo').allTextContents();
    expect(new Set(done)).to.deep.equal(new Set(['payments']));
    await page.reload();
    await waitForText(page, '#picked', /^Only payments ×$/);
    const day = dayDocument(pages.full);
    const record0 = { ...day.record, commits: { count: 3, repos: [{ repo: 'notes', commits: 3 }] } };
    answers['/api/day'] = () => ({ body: { ...day, commits: [], record: record0 } });
    await page.reload();
    await waitForText(page, '#done', /^No commits match payments\.$/);
    await page.focus('#picked button');
    await page.keyboard.press('Enter');
    await waitForText(page, '#picked', /^$/);
    await waitForText(page, '#done', /^15:40/);
    expect(await page.evaluate('document.activeElement.role')).to.equal('slider');
    expect(new URL(page.url()).search).to.equal('');
  });

  it('counts the time that machines share in a repository once in its applications', async () => {
    const day = dayDocument(pages.full);
    const spans = (at: number): typeof day.spans => [[at, 3600, 0, 0]];
    const own = {
      ...{ app: 'Ghostty', repo: 'payments', minutes: 93 },
      branch: null,
      session: null,
      assistant: null,
    };
    const ledger = { ...day.record.ledger, attention: [own] };
    const laptop = {
      ...day,
      id: 'b',
      name: 'laptop',
      sessions: [],
      spans: spans(38_000),
      repos: ['payments'],
    };
    const body = { ...day, spans: spans(36_000), repos: ['payments'], others: [laptop] };
    answers['/api/day'] = () => ({ body: { ...body, record: { ...day.record, ledger } } });
    const { page } = await open('/?repo=payments');
    await waitForText(page, '#facts b', /^1 h 33 m$/);
    await waitForText(page, '#apps td:nth-of-type(2)', /^1 h 33 m$/);
  });

  it('shows the lists for one application, chosen in the timeline', async () => {
    const { page } = await open();
    await page.locator('#apps tbody tr').nth(3).waitFor();
    const [rows] = [await page.locator('#apps tbody tr').count()];
    await page.locator('[role=slider]').first().focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await waitForText(page, '#picked', /^Only Ghostty · payments ×$/);
    expect(await page.locator('#apps tbody tr').count()).to.equal(1);
    await page.keyboard.press('Escape');
    await page
      .locator('#apps tbody tr')
      .nth(rows - 1)
      .waitFor();
    expect(await textOf(page, '#picked')).to.equal('');
  });

  it('lists the shortcuts, and switches single keys off', async () => {
    const { page } = await open();
    await page.keyboard.press('?');
    await page.locator('dialog dt').nth(8).waitFor();
    expect(await textOf(page, 'dialog')).to.match(/^Keyboard shortcuts Single-key shortcuts.*g tGo to Today/);
    expect(await violations(page)).to.deep.equal([]);
    await page.uncheck('dialog input');
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    expect(await page.locator('dialog').count()).to.equal(0);
    await page.reload();
    await page.locator('#facts b').first().waitFor();
    await page.keyboard.press('?');
    expect(await page.locator('dialog').count()).to.equal(0);
    await page.click('#keys');
    await page.check('dialog input');
    await page.keyboard.press('Escape');
    for (const key of ['g', 'w']) await page.keyboard.press(key);
    await page.waitForURL(`${served.url}/work`);
  });

  it('lists only shortcuts that do something there', async () => {
    const { page } = await open();
    await page.locator('#waiting li').nth(2).waitFor();
    await page.locator('#timeline [role=slider]').first().waitFor();
    const pages = ['g t', 'g d', 'g s', 'g w', 'g h', '?'];
    const timeline = ['← →', 'Shift+← →', 'Home, End', 'z', 'Enter, Escape'];
    const keys = await listedKeys(page);
    expect(keys.sort()).to.deep.equal(
      [...pages, ...timeline, 'j', 'k', 'c', 'o', 'p', 't', '1', '2', '3'].sort(),
    );
    await page.goto(`${served.url}/status`);
    await page.locator('#facts b').waitFor();
    expect(await listedKeys(page)).to.deep.equal(pages);
  });

  it('shows the sessions waiting for you first in the timeline', async () => {
    const sessions = [sessionRow({ status: 'waiting', waitingSince: '2026-11-20T17:35:00Z' })];
    answers['/api/sessions'] = () => ({ body: { sessions, working: 0, waiting: 1, crashed: 0 } });
    const { page } = await open();
    await until(page, "document.querySelector('[data-row=fix-login] + [data-row=autumn]')");
  });

  it('has a skip link first, and an icon that says whether someone waits', async () => {
    const { page } = await open();
    await page.keyboard.press('Tab');
    const top = 'document.elementFromPoint(30, 15)';
    expect(await page.evaluate(`${top} === document.activeElement && ${top}.textContent`)).to.equal(
      'Skip to content',
    );
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.tagName')).to.equal('MAIN');
    expect(await page.getAttribute('link[rel=icon]', 'href')).to.match(/fill="%239d1aa5"/);
  });

  it('shows another day with the days beside it, and nothing that concerns only now', async () => {
    const day = '2026-11-18';
    const { page } = await open(`/sense?day=${day}`);
    await waitForText(page, '#day-title', /^Wed 18 Nov 2026$/);
    expect(await textOf(page, '#day-links')).to.equal('‹ Tue 17 NovThu 19 Nov ›TodayWeek');
    expect(await page.title()).to.equal('(3) Wed 18 Nov · steward');
    for (const id of ['#running', '#next', '#flow', '#week', '#waiting-list'])
      expect(await page.locator(id).isVisible(), id).to.equal(false);
    expect(await textOf(page, 'nav [aria-current]')).to.equal('Days');
    await page.keyboard.press('p');
    await page.waitForURL('**/sense?day=2026-11-17');
    await waitForText(page, '#day-title', /^Tue 17 Nov 2026$/);
    await page.keyboard.press('t');
    await waitForText(page, '#day-title', /^Fri 20 Nov 2026$/);
  });

  it('shows a day without a record with the days beside it', async () => {
    const answer = (kind: string) => () => ({
      status: 404,
      body: { error: { kind, message: 'Not there.' } },
    });
    const days: [day: string, kind: string, title: string, links: string][] = [
      ['2001-01-01', 'not_found', 'No record for Mon 1 Jan 2001', '‹ Sun 31 DecTue 2 Jan ›TodayWeek'],
      ['2026-11-22', 'usage', 'No record for Sun 22 Nov 2026', '‹ Sat 21 NovTodayWeek'],
      ['2026-02-31', 'usage', '"2026-02-31" isn\'t a date. Use 2026-11-20.', 'Today'],
      ['foo', 'usage', '"foo" isn\'t a date. Use 2026-11-20.', 'Today'],
    ];
    for (const [day, kind, title, links] of days) {
      answers['/api/day'] = answer(kind);
      const { page } = await open(`/sense?day=${day}`);
      await until(page, `document.querySelector('#day-title').textContent === ${JSON.stringify(title)}`);
      expect(await textOf(page, '#day-links')).to.equal(links);
      await until(page, `document.title === ${JSON.stringify(`(3) ${title} · steward`)}`);
      expect(await page.locator('.attention:visible').count()).to.equal(0);
      expect(await textOf(page, '#facts')).to.equal('');
    }
  });

  it('says what is missing from a day without application time', async () => {
    const document = dayDocument(pages.full, '2026-11-18');
    const record = { ...document.record, totalMinutes: 0 };
    const none = { ...record, commits: { ...record.commits, count: 0 }, sessions: { count: 0 } };
    for (const [shown, text] of [
      [none, 'Nothing was recorded on this day.'],
      [record, 'No application time was captured.'],
      [document.record, 'The event log of this day was deleted; the totals remain.'],
    ] as const) {
      answers['/api/day'] = () => ({ body: { ...document, spans: [], raw: false, record: shown } });
      const { page } = await open('/sense?day=2026-11-18');
      await until(page, `document.querySelector('#readout').textContent === ${JSON.stringify(text)}`);
    }
  });

  it('opens a waiting session by its title, and by Enter in its row', async () => {
    const { page } = await open();
    await page.locator('#waiting li').nth(2).waitFor();
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
    await page.waitForURL('**/sessions#shop');
    await page.locator('[data-slug=shop][open]').waitFor();
  });

  it('lists what you can do now: due today, in progress, queued, then tomorrow; nothing that others hold', async () => {
    const issue = { state: 'open', lane: 'Queued', priority: null, url: 'https://github.com/a/b/issues/1' };
    const items = [
      { ...issue, number: 4, title: 'Call Ann', due: '2026-11-21T09:00:00Z' },
      { ...issue, number: 5, title: 'Fix the till', due: null, lane: 'In-Progress', priority: 'P0' },
      { ...issue, number: 7, title: 'Buy milk', due: '2026-11-20T19:00:00Z' },
      { ...issue, number: 8, title: 'Bake', due: null, lane: 'In-Progress', agents: ['Ben'] },
      { ...issue, number: 9, title: 'Paint', due: null, priority: 'P1', agents: ['ann-lee'] },
      { ...issue, number: 10, title: 'Mow', due: null, priority: 'P2', agents: [] },
    ];
    const config = { ...NO_BOARD.config, repo: 'team/work', you: 'ann-lee' };
    answers['/api/work'] = () => ({ body: { ...NO_BOARD, config, setupRequired: false, items } });
    const { page } = await open();
    await page.locator('#next li').nth(4).waitFor();
    expect(await page.locator('#next li a').allTextContents()).to.deep.equal([
      'Buy milk',
      'Fix the till',
      'Paint',
      'Mow',
      'Call Ann',
      '1 claimed by others',
    ]);
  });

  it('goes to a waiting session by its number, and copies its command', async () => {
    const { page } = await open('/', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('#waiting li').nth(2).waitFor();
    await page.keyboard.press('2');
    expect(await page.evaluate('document.activeElement.dataset.key')).to.equal('shop');
    await page.keyboard.press('c');
    await waitForText(page, 'body > p[role=status]', /^(?:copied|selected): steward go shop$/);
  });

  it('says how to begin where nothing exists yet, and what a source reports', async () => {
    const box = senseBox('2026-11-20T17:41:00Z');
    box.deps.sources = realSources([]);
    const report = { sessions: [], working: 0, waiting: 0, crashed: 0 };
    const reason = 'No window system answers.';
    const modules = STATUS.modules.map((one) => ({ ...one, state: 'warning' as const, found: reason }));
    modules[0]!.fix = 'steward sense status';
    Object.assign(answers, senseAnswers(box), {
      '/api/day': () => ({ body: { ...dayDocument(box), sessions: [], closed: [] } }),
      '/api/sessions': () => ({ body: report }),
      '/api/inbox': () => ({ body: { rows: [], count: 0, asOf: {} } }),
      '/api/status': () => ({ body: { ...STATUS, modules, outbox: { waiting: 0, failed: 0 } } }),
    });
    const { page } = await open();
    await page.locator('#empty li code').nth(1).waitFor();
    // It captures, although a source sees nothing.
    expect(await page.locator('#empty li').allTextContents()).to.deep.equal([
      'Start capturing ✓ ',
      "Show your assistant's sessions: steward install hookscopy",
      'Track your tasks: steward work setup OWNER/REPO --createcopy',
    ]);
    // No zeros beside it.
    expect(await page.locator('#facts').isVisible()).to.equal(false);
    expect(await textOf(page, '#empty .attention')).to.equal(`${reason} steward sense statuscopy`);
    expect(await page.locator('#waiting').isVisible()).to.equal(false);
    expect(await violations(page)).to.deep.equal([]);
    modules[0] = { ...modules[0]!, state: 'off' as never, fix: 'steward up' };
    await page.reload();
    await waitForText(page, '#empty li', /^Start capturing: steward up/);
    box.remove();
  });

  it('advises nothing that is done already on a first day', async () => {
    const box = senseBox('2026-11-20T17:41:00Z');
    box.deps.sources = realSources([]);
    const modules = STATUS.modules.map((one) => ({ ...one, state: 'ok' as const }));
    Object.assign(answers, senseAnswers(box), {
      '/api/day': () => ({ body: { ...dayDocument(box), sessions: [], closed: [], watched: 2 } }),
      '/api/sessions': () => ({ body: { sessions: [], working: 0, waiting: 0, crashed: 0 } }),
      '/api/status': () => ({ body: { ...STATUS, modules, outbox: { waiting: 0, failed: 0 } } }),
    });
    const { page } = await open();
    await waitForText(page, '#readout', /^No captures yet today\. The next capture is at 17:42\.$/);
    expect(await textOf(page, '#apps')).to.match(/^No applications were recorded yet\. The next capture/);
    expect(await textOf(page, '#running')).to.match(/The next one appears here when it starts\.$/);
    expect(await textOf(page, '#done')).to.equal('No commits in the 2 watched repositories.');
    expect(await textOf(page, '#ledger')).to.equal('No time in repositories yet.');
    const codes = await page.locator('main code:visible').allTextContents();
    expect(codes).not.to.include.members(['steward up']);
    expect(codes.filter((one) => /steward (?:up|install hooks|config add)/.test(one))).to.deep.equal([]);
    box.remove();
  });

  const looks: [string, OpenOptions][] = [
    ['light', { viewport: { width: 1280, height: 900 } }],
    ['dark', { viewport: { width: 1920, height: 900 }, colorScheme: 'dark' }],
    ['a phone', { viewport: { width: 390, height: 844 } }],
    ['a small phone in forced colours', { viewport: { width: 360, height: 740 }, forcedColors: 'active' }],
  ];
  for (const [name, options] of looks) {
    it(`axe finds nothing, nothing moves, and nothing is too wide: ${name}`, async () => {
      let { page } = await open('/', options);
      // On a loaded machine answers can come too late to be drawn together: the best of some is the page's own.
      for (let attempt = 0; attempt < 5 && Number(await page.evaluate(SHIFT)) >= 0.05; attempt += 1)
        ({ page } = await open('/', options));
      expect(await page.evaluate(SHIFT)).to.be.lessThan(0.05);
      await page
        .locator('details')
        .evaluateAll((all) => all.forEach((one) => ((one as never as { open: boolean }).open = true)));
      expect(await violations(page)).to.deep.equal([]);
      const [wide, room] = (await page.evaluate(
        '[document.documentElement.scrollWidth, innerWidth]',
      )) as number[];
      expect(wide).to.be.at.most(room!);
    });
  }

  it('keeps the bars of applications at 40 px or more from 320 to 1,920 px', async () => {
    for (const path of ['/', '/sense']) {
      const { page } = await open(path);
      await page.waitForSelector('#apps tbody tr');
      for (let width = 320; width <= 1920; width += 80) {
        await page.setViewportSize({ width, height: 800 });
        const bar = await page.locator('#apps tbody svg').first().boundingBox();
        expect(bar?.width, `${path} at ${width}`).to.be.at.least(40);
      }
    }
  });
});
