import { expect } from 'chai';
import type { Page } from 'playwright-core';

import type { Inbox } from '../../src/lib/inbox/row';
import { waitOf } from '../../src/lib/inbox/waits';
import type { Answers, Served } from '../helpers/browser';
import {
  NO_BOARD,
  nextRound,
  type OpenOptions,
  senseAnswers,
  sessionRow,
  textOf,
  until,
  waitForText,
} from '../helpers/dashboard';
import { pagesInChromium, violations } from '../helpers/pages';

const AT = '2026-11-20T17:00:00Z';
const ASK = {
  id: 'q-1',
  kind: 'ask' as const,
  tool: 'ask_me',
  questions: [{ text: 'Which port?', options: ['80', '443'] }],
  canAllow: true,
  canAllowSession: false,
  until: '2026-11-20T19:00:00Z',
  input: null,
};

describe('acting on the page of the day in Chromium', function () {
  this.timeout(120_000);
  const pages = pagesInChromium();
  let answers: Answers;
  let served: Served;
  let rows: Inbox['rows'];
  beforeEach(async () => {
    const question = waitOf({
      ...{ id: 'q-1', name: 'q-1', kind: 'question', title: 'Which port?', why: 'asks you a question' },
      ...{ since: AT, blocks: true, ask: ASK },
    });
    const session = waitOf({
      ...{ id: 'shop', slug: 'shop', name: 'shop·login', kind: 'turn', title: null, why: 'turn finished' },
      ...{ since: AT, repo: 'shop', branch: 'login', go: "steward go 'shop·login'", canEnd: true },
    });
    const issue = waitOf({
      ...{ id: '#39', name: '#39', kind: 'issue', title: 'Choose a font', why: 'needs you', since: AT },
      ...{ go: 'steward work open 39', url: 'https://github.com/a/b/issues/39' },
    });
    rows = [question, session, issue].map((wait) => ({ ...wait, rule: '' }));
    answers = {
      ...senseAnswers(pages.full),
      '/api/inbox': () => ({ body: { rows, count: rows.length, asOf: {} } }),
    };
    served = await pages.serve(answers);
  });

  async function open(path = '/', options: OpenOptions = {}): Promise<Page> {
    const { page } = await pages.open(`${served.url}/status`, options);
    await page.evaluate("localStorage.setItem('steward-secret', 'x')");
    await page.goto(`${served.url}${path}`);
    return page;
  }

  /** Presses something, and returns what is sent. */
  async function sentBy(page: Page, press: () => Promise<void>): Promise<unknown> {
    const asked = page.waitForRequest((request) => request.method() === 'POST');
    await press();
    const request = await asked;
    return [new URL(request.url()).pathname, request.postDataJSON()];
  }

  it('gives each row its buttons, and says what became of them', async () => {
    answers['/api/go'] = () => ({
      body: { slug: 'shop', name: 'shop', via: 'tmux', tty: 'pts/1', target: 'work:2' },
    });
    answers['/api/inbox/answer'] = () => ({ body: { id: 'q-1' } });
    answers['/api/work/close'] = () => ({ body: { number: 39 } });
    const page = await open();
    const row = (key: string) => page.locator(`#waiting [data-key="${key}"]`);
    await row('shop').waitFor();
    const buttons = '.buttons > :is(button, a)';
    const words = await Promise.all(
      ['q-1', 'shop', '#39'].map((key) => row(key).locator(buttons).allTextContents()),
    );
    expect(words).to.deep.equal([
      ['Answer', 'Snooze 1 h'],
      ['Go', 'Done', 'Snooze 1 h', '…'],
      ['Go', 'Done', 'Snooze 1 h', '…'],
    ]);
    expect(await textOf(page, '#waiting [data-key=shop] code')).to.equal("steward go 'shop·login'");
    expect(await sentBy(page, () => row('shop').getByText('Go', { exact: true }).click())).to.deep.equal([
      '/api/go',
      { slug: 'shop' },
    ]);
    await waitForText(page, '#did', / · shown in tmux, work:2$/);
    await row('#39').getByRole('button', { name: 'Done' }).click();
    await row('#39').locator('textarea').fill('Noto, as agreed');
    const closed = await sentBy(page, () => row('#39').getByText('Close #39').click());
    expect(closed).to.deep.equal(['/api/work/close', { number: 39, evidence: 'Noto, as agreed' }]);
    await waitForText(page, '#did', /^Choose a font · closed$/);
    await row('q-1').getByRole('button', { name: 'Answer' }).click();
    await row('q-1').locator('input').fill('8080');
    const answered = await sentBy(page, () => page.keyboard.press('Enter'));
    expect(answered).to.deep.equal(['/api/inbox/answer', { id: 'q-1', answer: '8080' }]);
    await waitForText(page, '#did', /^Which port\? · answered$/);
    expect(await violations(page)).to.deep.equal([]);
  });

  it('keeps a form with text when its row is closed elsewhere, and takes no typed key as a command', async () => {
    const page = await open('/', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('[data-shows="done #39"]').click();
    const field = page.locator('[data-key="#39"] textarea');
    await field.pressSequentially('g w jk? half');
    rows = rows.filter(({ id }) => id !== '#39');
    await nextRound(page);
    await waitForText(
      page,
      '[data-key="#39"] .held',
      /^This row was closed, answered or snoozed at 17:4\d\. Copy your text ?Dismiss$/,
    );
    expect(await page.evaluate('location.pathname')).to.equal('/');
    await page.keyboard.type(' g s ?');
    expect(await field.inputValue()).to.equal('g w jk? half g s ?');
    expect(await page.locator('dialog').count()).to.equal(0);
    // Enter in a kept form sends nothing.
    const posted: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()));
    await field.evaluate((one) => (one as never as { form: { requestSubmit(): void } }).form.requestSubmit());
    expect(posted).to.deep.equal([]);
    // Further rounds change nothing, and the row has no button that would act on what is gone.
    await nextRound(page);
    expect(await field.inputValue()).to.equal('g w jk? half g s ?');
    expect(await page.locator('[data-key="#39"] button:visible').allTextContents()).to.deep.equal([
      'Copy your text',
      'Dismiss',
    ]);
    expect(await violations(page)).to.deep.equal([]);
    await page.click('[data-held-act=copy]');
    await waitForText(page, '[data-held-act=copy]', /^Copied$/);
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal('g w jk? half g s ?');
    await page.click('[data-held-act=dismiss]');
    expect(await page.locator('[data-key="#39"]').count()).to.equal(0);
  });

  it('opens a form and drops a row without moving what the pointer is on', async () => {
    answers['/api/inbox/mark'] = () => ({ body: { id: 'shop', until: null } });
    const page = await open();
    const button = (name: string, key: string) =>
      page.locator(`#waiting [data-key="${key}"]`).getByRole('button', { name, exact: true });
    await button('Answer', 'q-1').waitFor();
    const placeOf = async (name: string, key: string) => {
      const box = await button(name, key).boundingBox();
      return [Math.round(box!.x), Math.round(box!.y)];
    };
    const answer = await placeOf('Answer', 'q-1');
    await button('Answer', 'q-1').click();
    expect(await placeOf('Answer', 'q-1')).to.deep.equal(answer);
    await until(page, "document.activeElement.matches('[data-ask] input')");
    await button('Answer', 'q-1').click();
    const done = await placeOf('Done', '#39');
    rows = rows.filter(({ id }) => id !== 'shop');
    await button('Done', 'shop').click();
    await waitForText(page, '#waiting [data-key=shop]', /done/);
    await page.locator('#waiting .gone').waitFor();
    expect(await placeOf('Done', '#39')).to.deep.equal(done);
    await page.clock.runFor(5000);
    await page.locator('#waiting [data-key=shop]').waitFor({ state: 'detached' });
  });

  it('asks for each document once, signed in from the first request on', async () => {
    const page = await open('/status');
    const asked: (string | undefined)[][] = [];
    page.on('request', (request) => {
      const path = /\/api\/(day|sessions|status|work|inbox)$/.exec(request.url())?.[1];
      if (path !== undefined) asked.push([path, request.headers()['authorization']]);
    });
    await page.goto(`${served.url}/`);
    await page.locator('#waiting [data-key=shop]').waitFor();
    const paths = ['day', 'inbox', 'sessions', 'status', 'work'];
    expect(asked.sort()).to.deep.equal(paths.map((path) => [path, 'Bearer x']));
  });

  it('says at once that a change is being sent, and nothing of it where it fails', async () => {
    let reply = (): void => {};
    const held = new Promise<void>((done) => (reply = done));
    const error = { kind: 'unavailable', message: 'The inbox is locked.' };
    answers['/api/inbox/mark'] = () => ({ status: 503, body: { error }, wait: held });
    const page = await open();
    await page.locator('#waiting [data-key=shop]').getByText('Snooze 1 h').click();
    await waitForText(page, '#did', / · sending …$/);
    expect(await page.locator('#waiting [aria-busy]').count()).to.equal(1);
    reply();
    await waitForText(page, '#waiting .problem', /^The inbox is locked\.$/);
    expect(await textOf(page, '#did')).to.equal('');
    expect(await page.locator('#waiting [aria-busy]').count()).to.equal(0);
  });

  it('passes the focus to the next row when a row goes', async () => {
    const page = await open();
    await page.locator('#waiting [data-key=shop]').waitFor();
    await page.locator('#waiting [data-key=shop] a').focus();
    rows = rows.filter(({ id }) => id !== 'shop');
    await nextRound(page);
    await page.locator('#waiting [data-key=shop]').waitFor({ state: 'detached' });
    expect(await page.evaluate("document.activeElement.closest('li').dataset.key")).to.equal('#39');
  });

  it('keeps the focus in the list when a row goes under the pointer, and on the page when it was the last', async () => {
    answers['/api/inbox/answer'] = () => ({ body: { id: 'q-1' } });
    answers['/api/inbox/mark'] = () => ({ body: { id: 'shop', until: null } });
    const page = await open();
    const focused = "document.activeElement.closest('li')?.dataset.key ?? document.activeElement.tagName";
    await page.locator('[data-shows="answer q-1"]').click();
    await page.locator('[data-key=q-1] input').fill('443');
    rows = rows.filter(({ id }) => id === 'shop');
    await page.keyboard.press('Enter');
    await page.locator('#waiting .gone').first().waitFor();
    await until(page, `(${focused}) === 'shop'`);
    await page.clock.runFor(5000);
    await page.locator('#waiting [data-key=q-1]').waitFor({ state: 'detached' });
    await page.locator('#waiting [data-key=shop]').getByRole('button', { name: 'Done' }).focus();
    rows = [];
    await page.keyboard.press('Enter');
    await waitForText(page, '#did', /done$/);
    await until(page, `(${focused}) === 'MAIN'`);
  });

  it('says that a delivery that was sent again has failed again', async () => {
    answers['/api/notify/retry'] = () => {
      rows = [];
      return { body: { id: 'd1', channels: ['push'] } };
    };
    const delivery = waitOf({
      ...{ id: 'd1', name: 'notice-d1', kind: 'delivery', title: 'Deployed', why: 'not delivered' },
      ...{ since: AT, go: 'steward notify history', canEnd: true },
    });
    const failed = [{ ...delivery, rule: '' }];
    rows = failed;
    const page = await open();
    await page.getByRole('button', { name: 'Retry' }).press('Enter');
    await waitForText(page, '#did', /^Deployed · sending again: push$/);
    await page.locator('#waiting li').waitFor({ state: 'detached' });
    rows = failed;
    await nextRound(page);
    await waitForText(page, '#did', /^Deployed · failed again$/);
    answers['/api/notify/retry'] = () => ({ body: { id: 'd1', channels: ['push'] } });
    await page.getByRole('button', { name: 'Retry' }).press('Enter');
    await waitForText(page, '#did', /^Deployed · failed again$/);
    await page.locator('#waiting li').waitFor();
  });

  it('keeps typed text over a reload, until it is sent or dismissed', async () => {
    answers['/api/work/close'] = () => ({ body: { number: 39 } });
    const page = await open();
    await page.locator('[data-shows="done #39"]').click();
    const field = page.locator('[data-key="#39"] textarea');
    await field.pressSequentially('half');
    for (const path of ['/', '/sessions', '/']) await page.goto(`${served.url}${path}`);
    await field.waitFor();
    expect(await field.inputValue()).to.equal('half');
    await page.getByText('Close #39').click();
    await waitForText(page, '#did', /closed/);
    await page.reload();
    await page.locator('[data-shows="done #39"]').waitFor();
    expect(await field.inputValue()).to.equal('');
    expect(await field.isVisible()).to.equal(false);
  });

  it('gives the waiting rows of the page of sessions the same buttons', async () => {
    rows[1]!.ask = ASK;
    answers['/api/inbox/answer'] = () => ({ body: { id: 'q-1' } });
    const page = await open('/sessions');
    const row = page.locator('#groups [data-key=shop]');
    await row.getByRole('button', { name: 'Answer' }).click();
    expect(await row.locator('.buttons > button').allTextContents()).to.deep.equal([
      'Go',
      'Answer',
      'Done',
      'Snooze 1 h',
      '…',
    ]);
    await row.locator('.ask input').fill('443');
    expect(await sentBy(page, () => page.keyboard.press('Enter'))).to.deep.equal([
      '/api/inbox/answer',
      { id: 'q-1', answer: '443' },
    ]);
    await waitForText(page, '#did', / · answered$/);
    expect(await violations(page)).to.deep.equal([]);
  });

  it('sends no text to another question, and keeps it where the row moves or is folded', async () => {
    const page = await open();
    await page.locator('[data-shows="answer q-1"]').click();
    await page.locator('[data-key=q-1] input').fill('443');
    const more = Array.from({ length: 9 }, (_, i) => ({ ...rows[1]!, id: `s${i}`, slug: `s${i}` }));
    rows = [...more, ...rows];
    await nextRound(page);
    await until(page, "document.querySelector('[data-key=s4]')");
    expect(await page.locator('[data-key=q-1] input').inputValue()).to.equal('443');
    await waitForText(page, '#waiting-list > button', /^6 more$/);
    const [question] = rows.filter(({ id }) => id === 'q-1');
    question!.ask = { ...ASK, id: 'q-2', questions: [{ text: 'Which host?', options: [] }] };
    await nextRound(page);
    await page.locator('[data-ask=q-2]').waitFor({ state: 'attached' });
    expect(await page.locator('[data-ask=q-1] input').inputValue()).to.equal('443');
    expect(await page.locator('[data-ask=q-2] input').inputValue()).to.equal('');
  });

  it('keeps the text of an issue that is closed elsewhere, in the list and on the board', async () => {
    const item = { state: 'open', lane: 'Queued', status: 'ready', priority: 'P1', type: 'bug', url: '' };
    const about = { number: 7, title: 'Fix it', updatedAt: AT, createdAt: AT, closedAt: null, due: null };
    const more = { agents: ['ann'], source: 'manual', property: null, slug: null, stale: false };
    let board = {
      ...NO_BOARD,
      config: { ...NO_BOARD.config, repo: 'a/b' },
      setupRequired: false,
      columns: { Queued: [7], Blocked: [], 'In-Progress': [], 'In-Review': [], Complete: [] as number[] },
      items: [{ ...item, ...about, ...more }],
    };
    answers['/api/work'] = () => ({ body: board });
    answers['/api/work/status'] = () => ({ body: { waiting: [] } });
    const open7 = board;
    for (const view of ['', '?view=board']) {
      board = open7;
      const page = await open(`/work${view}`, { viewport: { width: 1280, height: 800 } });
      await page.locator('[data-open="7"]').click();
      await page.locator('[data-key="7"] textarea').fill('half');
      board = {
        ...open7,
        columns: { ...open7.columns, Queued: [], Complete: [7] },
        items: [{ ...open7.items[0]!, state: 'closed', lane: 'Complete', closedAt: AT as never }],
      };
      await nextRound(page, 61_000);
      await waitForText(page, '.held', /^This row was closed, answered or snoozed at /);
      expect(await page.locator('[data-held] textarea, [data-held] ~ textarea').inputValue()).to.equal(
        'half',
      );
    }
  });

  it('moves a card by drag and by keys, and says why a move was refused', async () => {
    const item = { state: 'open', status: 'ready', priority: 'P1', type: 'bug', url: '', due: null };
    const about = { title: 'Fix it', updatedAt: AT, createdAt: AT, closedAt: null };
    const more = { agents: ['ann'], source: 'manual', property: null, slug: null, stale: false };
    const board = {
      ...NO_BOARD,
      config: { ...NO_BOARD.config, repo: 'a/b' },
      setupRequired: false,
      columns: { Queued: [7], Blocked: [], 'In-Progress': [8], 'In-Review': [], Complete: [] },
      items: [7, 8].map((number) => ({
        ...{ ...item, ...about, ...more, number, lane: 'Queued' },
        priority: number === 7 ? 'P1' : null,
      })),
    };
    answers['/api/work'] = () => ({ body: board });
    answers['/api/work/status'] = () => ({ body: { waiting: [] } });
    answers['/api/work/move'] = () => ({ body: { number: 7, status: 'in-progress', agent: null } });
    const page = await open('/work?view=board', { viewport: { width: 1280, height: 800 } });
    const card = page.locator('[data-key="7"]');
    await card.waitFor();
    expect(await textOf(page, '[data-key="7"]')).to.match(/^▸ ?P1 ?Fix it ?#7 · bug · @ann ?41 min ago$/);
    const place = await card.boundingBox();
    // Without a priority, there is no gap in its place.
    const [first, age] = await Promise.all(
      ['[data-key="7"] > span', '[data-key="8"] > time'].map((one) =>
        page.locator(one).first().boundingBox(),
      ),
    );
    const lanes = ['Queued', 'In-Progress'].map((key) => page.locator(`[data-key=${key}]`).boundingBox());
    const [queued, progress] = await Promise.all(lanes);
    expect(age!.x - progress!.x).to.equal(first!.x - queued!.x);
    const dragged = await sentBy(page, () => card.dragTo(page.locator('[data-key=In-Progress]')));
    expect(dragged).to.deep.equal(['/api/work/move', { number: 7, status: 'in-progress', from: 'ready' }]);
    await waitForText(page, '#done', /^#7 is in-progress\. Undo$/);
    expect(await card.boundingBox()).to.deep.equal(place);
    // The page scrolls between the press and the drag, so another card is under the pointer.
    const canDrag = await page.evaluate(`(() => {
      const [one, other] = [7, 8].map((key) => document.querySelector('[data-key="' + key + '"]'));
      one.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
      return other.dispatchEvent(new DragEvent('dragstart', { bubbles: true, cancelable: true }));
    })()`);
    expect(canDrag).to.equal(false);
    const error = { kind: 'conflict', message: '#7 is claimed by ann.' };
    answers['/api/work/move'] = () => ({ status: 409, body: { error } });
    await page.locator('[data-stop="8"]').focus();
    const keyed = await sentBy(page, () => page.keyboard.press('Shift+ArrowRight'));
    expect(keyed).to.deep.equal(['/api/work/move', { number: 8, status: 'in-review', from: 'ready' }]);
    await waitForText(page, '#done', /^#8 was not moved: #7 is claimed by ann\.$/);
    expect(await textOf(page, '[data-key="8"] .refusal')).to.equal('#7 is claimed by ann.');
    expect(await card.boundingBox()).to.deep.equal(place);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.click('[data-key=Type] summary');
    const buttons = await page.locator('#filters summary').evaluateAll((all) => all.map((one) => one.getBoundingClientRect())); // prettier-ignore
    const menu = await page.locator('.menu[open] > div').boundingBox();
    expect(Math.min(...buttons.map(({ height }) => height))).to.be.at.least(40);
    expect(menu?.y).to.be.at.least(Math.max(...buttons.map(({ bottom }) => bottom)));
    await page.setViewportSize({ width: 1280, height: 800 });
    // What needs a reason asks for it.
    await page.locator('[data-stop="7"]').focus();
    await page.keyboard.press('Shift+ArrowRight');
    await until(page, "document.activeElement.name === 'reason'");
    expect(await page.locator('select[name=status]').inputValue()).to.equal('blocked');
    // Its labels are on the card.
    expect(await page.locator('[data-key="7"]').innerText()).not.to.match(/@ann[^]*@ann/);
    expect(await violations(page)).to.deep.equal([]);
  });

  it('takes the new kind of an application back', async () => {
    answers['/api/sense/classify'] = () => ({ body: { rolled: [], kept: [] } });
    const page = await open();
    const list = page.locator('#apps select').first();
    const app = (await list.getAttribute('data-app')) ?? '';
    const kind = (await list.getAttribute('data-kind')) ?? '';
    await list.selectOption('neutral');
    await waitForText(page, '#classified', / is now neutral\. ?Undo$/);
    await page.focus('#classified button');
    const undone = await sentBy(page, () => page.keyboard.press('Enter'));
    expect(undone).to.deep.equal(['/api/sense/classify', { app, kind }]);
    await waitForText(page, '#classified', /^Undone: .* again\.$/);
    expect(await page.evaluate('document.activeElement.dataset.app')).to.equal(app);
  });

  it('zooms into an hour by a click or a key, and back by Escape', async () => {
    const page = await open();
    const axis = () => page.locator('#timeline .axis span').allTextContents();
    await page.locator('[data-hour]').nth(1).waitFor();
    const whole = await axis();
    await page.locator('[data-hour="36000"]').click();
    expect(await axis()).to.deep.equal(['10:00', '10:10', '10:20', '10:30', '10:40', '10:50', '11:00']);
    await page.keyboard.press('Escape');
    expect(await axis()).to.deep.equal(whole);
    await page.locator('[role=slider]').first().focus();
    for (const key of ['Home', 'z']) await page.keyboard.press(key);
    expect((await axis())[0]).to.equal('09:00');
    await page.keyboard.press('Escape');
    expect(await axis()).to.deep.equal(whole);
  });

  it('says of a day that it was recorded but is unreadable, and how to rebuild it where that helps', async () => {
    const error = { kind: 'config', message: '/x.json is not a valid daily record.', hint: 'Move it.' };
    const good = answers['/api/day']!;
    answers['/api/day'] = (url) =>
      url?.searchParams.has('day') ? { status: 500, body: { error } } : good(url);
    const sense = answers['/api/sense/status']!();
    answers['/api/sense/status'] = () => ({
      body: {
        ...(sense.body as object),
        ...{ damagedDays: ['2026-11-16', '2026-11-15', '2026-11-02'], lostDays: ['2026-11-15'] },
      },
    });
    const recent = answers['/api/sense/recent']!;
    answers['/api/sense/recent'] = (url) => ({
      body: (recent(url).body as { date: string }[]).filter(
        ({ date }) => !['2026-11-15', '2026-11-16'].includes(date),
      ),
    });
    const page = await open('/sense?day=2026-11-15');
    await waitForText(page, '#day-title', /^Sun 15 Nov 2026: recorded, unreadable$/);
    await waitForText(
      page,
      '#facts',
      /^Its record can't be read, and no readable event log is left to rebuild it from\. \/x/,
    );
    expect(await page.locator('main [data-copy]:visible').count()).to.equal(0);
    await page.goto(`${served.url}/sense`);
    await waitForText(page, '#days-table [data-key="2026-11-16"]', /recorded, unreadable · rebuild: steward/);
    await waitForText(page, '#days-table [data-key="2026-11-15"]', /recorded, unreadable$/);
    await waitForText(page, '#days [data-key="2026-11-02"]', /^Mon 2 Nov ?recorded, unreadable$/);
    expect(await violations(page)).to.deep.equal([]);
    await page.goto(`${served.url}/status`);
    await waitForText(page, '#parts', /Mon 16 Nov 2026▲ failedRecorded, unreadable\. Rebuild it:/);
    await waitForText(
      page,
      '#parts',
      /Sun 15 Nov 2026▲ failedRecorded, unreadable\. No readable event log is left/,
    );
  });

  it('tells sessions that look the same apart, and names one by its issue', async () => {
    const twin = { task: null, title: null, repo: 'shop', branch: 'main', github_issue: null };
    const sessions = [
      sessionRow({ slug: 'one-aaaa', name: 'shop·main', ...twin }),
      sessionRow({ slug: 'two-bbbb', name: 'shop·main', ...twin }),
      sessionRow({ slug: 'three', github_issue: 12, task: 'A task' }),
      sessionRow({ slug: 'four', github_issue: 12, givenName: 'Mine' }),
    ];
    answers['/api/sessions'] = () => ({ body: { sessions, working: 4, waiting: 0, crashed: 0 } });
    const items = [
      { number: 12, title: '[Core] Let people in [slug:x-1]', state: 'open', lane: 'Queued', due: null },
    ];
    answers['/api/work'] = () => ({ body: { ...NO_BOARD, setupRequired: false, items } });
    const page = await open();
    await page.locator('#running li').nth(3).waitFor();
    expect(await page.locator('#running .name').allTextContents()).to.have.members([
      'shop·main (aaaa)',
      'shop·main (bbbb)',
      'Let people in',
      'Mine',
    ]);
  });
});
