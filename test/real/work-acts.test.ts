import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';

import { launchBrowser } from '../helpers/browser';
import { emptyHome, jsonOf, steward } from '../helpers/cli';
import { startDaemon, type RunningDaemon } from '../helpers/daemon';
import { openPage, textOf, until, waitForText, type OpenPage } from '../helpers/dashboard';
import { hookJson } from '../helpers/hooks';
import { startGitHub, type GitHub } from '../helpers/github';
import { requirePrograms } from '../helpers/real-part';

/** A repository as GitHub shows it. */
interface Hosted {
  title: string;
  state: string;
  labels: { name: string }[];
}

describe('changing issues on the page /work in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser;
  let home: ReturnType<typeof emptyHome>;
  let github: GitHub;
  let daemon: RunningDaemon;
  let one: OpenPage;
  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
  });
  beforeEach(async () => {
    home = emptyHome();
    github = await startGitHub({ labels: true });
    const env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    await steward(['work', 'setup', 'ann/work'], { home: home.path, env });
    await steward(['work', 'add', 'Fix the login'], { home: home.path, env });
    await steward(['work', 'remind', 'call Ann', '--at', 'tomorrow 9am'], { home: home.path, env });
    daemon = await startDaemon({ home: home.path, env });
    const { url } = jsonOf(await steward(['open', 'work', '--print', '--json'], { home: home.path })) as {
      url: string;
    };
    one = await openPage(browser, url, { now: null });
    await one.page.waitForSelector('.item');
  });
  afterEach(async () => {
    await one?.close();
    await daemon?.stop();
    await github?.close();
    home?.remove();
  });

  const hosted = async (number: number): Promise<Hosted> =>
    (await github.api('GET', `/repos/ann/work/issues/${number}`)) as Hosted;
  const namesOf = async (number: number): Promise<string[]> =>
    (await hosted(number)).labels.map(({ name }) => name);
  /** Opens the details of a row by keyboard, which leaves the focus on its title. */
  const unfold = async (page: Page, number: number): Promise<void> => {
    await page.focus(`[data-key="${number}"] > a`);
    await page.keyboard.press('Space');
    await page.waitForSelector(`[data-key="${number}"] .details`);
  };
  const press = async (page: Page, ...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };

  it('claims, moves, undoes and closes by keyboard alone', async () => {
    const { page } = one;
    await unfold(page, 1);
    await press(page, 'Tab', 'Enter');
    await waitForText(page, '#done', /^#1 is claimed by /);
    await page.waitForSelector('[data-key=In-Progress] [data-key="1"]');
    expect(await namesOf(1)).to.include('Status:in-progress');

    await page.focus('[data-key="1"] [name=status]');
    await press(page, 'b', 'Tab');
    await page.keyboard.type('no key');
    await press(page, 'Enter');
    await waitForText(page, '#done', /^#1 is blocked\. Undo$/);
    await page.waitForSelector('[data-key=Blocked] [data-key="1"]');
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('Fix the login');
    const comments = (await github.api('GET', '/repos/ann/work/issues/1/comments')) as { body: string }[];
    expect(comments.map(({ body }) => body)).to.deep.equal(['Blocked: no key']);
    await page.focus('#done button');
    await press(page, 'Enter');
    await waitForText(page, '#done', /^Undone\.$/);
    expect(await namesOf(1))
      .to.include('Status:in-progress')
      .and.not.include('Status:blocked');

    await page.focus('[data-key="1"] [name=evidence]');
    await page.keyboard.type('Done in 3f2a91c');
    await press(page, 'Tab', 'Enter');
    await waitForText(page, '#done', /^#1 is closed\.$/);
    await waitForText(page, '#facts', /1 open issue, 1 closed\.$/);
    expect((await hosted(1)).state).to.equal('closed');
  });

  it('does not undo a move of an issue that an agent has claimed since', async () => {
    const { page } = one;
    await unfold(page, 1);
    await page.selectOption('[data-key="1"] [name=status]', 'ready');
    await page.click('[data-key=move-1] button');
    await waitForText(page, '#done', /^#1 is ready\. Undo$/);
    const env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    await steward(['work', 'claim', '1', '--agent', 'kai'], { home: home.path, env });
    await page.click('#done button');
    await waitForText(page, '#done', /^#1 is in-progress now, not ready\. .*`steward work show 1`\.$/);
    expect(await namesOf(1)).to.include.members(['Status:in-progress', 'Agent:kai']);
  });

  it('keeps the focus and the typed text when the row moves to an empty group', async () => {
    const { page } = one;
    await unfold(page, 1);
    await page.focus('[data-key="1"] [name=evidence]');
    await page.keyboard.type('Done in');
    const env = { GITHUB_API_URL: github.url, GH_TOKEN: github.token };
    await steward(['work', 'claim', '1'], { home: home.path, env });
    await page.waitForSelector('[data-key=In-Progress] [data-key="1"]');
    await page.keyboard.type(' 3f2a');
    expect(await page.inputValue('[data-key="1"] [name=evidence]')).to.equal('Done in 3f2a');
  });

  it('snoozes and undoes it; adds and reminds', async () => {
    const { page } = one;
    await unfold(page, 2);
    const time = '[data-key="2"] > time';
    const before = await textOf(page, time);
    expect(before).to.match(/^due /);
    await page.fill('[data-key="2"] [name=when]', 'someday');
    await press(page, 'Enter');
    await waitForText(page, '[data-key="2"] [role=alert]', /someday/);
    expect(await page.inputValue('[data-key="2"] [name=when]')).to.equal('someday');
    await page.fill('[data-key="2"] [name=when]', 'in 3 days');
    await press(page, 'Enter');
    await waitForText(page, '#done', /^#2 snoozed\. Due .*\. Undo$/);
    await until(
      page,
      `document.querySelector(${JSON.stringify(time)}).textContent !== ${JSON.stringify(before)}`,
    );
    await page.click('#done button');
    await waitForText(page, '#done', /^Undone\.$/);
    await waitForText(page, time, new RegExp(`^${before}$`));

    await page.click('[data-key=Add] summary');
    await page.fill('[name=title]', 'Write <b>docs</b>');
    await page.selectOption('[name=priority]', 'P0');
    await press(page, 'Enter');
    await waitForText(page, '#done', /^Added #3\./);
    await waitForText(page, '[data-key=Queued] .item > a', /^Write <b>docs<\/b>$/);
    expect(await page.inputValue('[name=title]')).to.equal('');
    await page.fill('[name=title]', '   ');
    await press(page, 'Enter');
    await waitForText(page, '[data-key=Add] [role=alert]', /^The title is empty\./);
    expect(await textOf(page, '#done')).to.equal('');
    await page.click('[data-key=Remind] summary');
    await page.fill('[name=text]', 'renew the certificate');
    await press(page, 'Enter');
    await waitForText(page, '#done', /^Added #4\. No time found, so you will not be notified\.$/);
  });

  it('shows errors at the row and keeps what was typed; says what is queued offline', async () => {
    const { page } = one;
    await unfold(page, 1);
    await page.fill('[data-key="1"] [name=evidence]', 'All tests pass');
    await github.close();
    await page.click('[data-key=close-1] button');
    await waitForText(page, '[data-key="1"] [role=alert]', /refused the connection/);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.details', { state: 'detached' });
    await unfold(page, 1);
    expect(await page.inputValue('[data-key="1"] [name=evidence]')).to.equal('All tests pass');
    await page.click('[data-key=Add] summary');
    await page.fill('[name=title]', 'Added offline');
    await page.keyboard.press('Enter');
    await waitForText(page, '#done', /^Queued until GitHub is reachable: Added offline\./);
    await waitForText(page, '#stale', /1 queued: /);
  });

  it('undoes the captures of the last prompt, after it has shown them', async () => {
    const { page } = one;
    await page.click('[data-key="Undo captures"] summary');
    await waitForText(page, '[data-key="Undo captures"]', /No captures to undo\.$/);
    await page.keyboard.press('Escape');
    const hook = await steward(['hook', 'prompt', '--no-tab'], {
      home: home.path,
      input: hookJson('prompt', { cwd: home.path, prompt: 'queue write the changelog for later' }),
    });
    expect(hook.code).to.equal(0);
    await page.click('[data-key="Undo captures"] summary');
    await waitForText(page, '[data-key="Undo captures"] li', /write the changelog/);
    await page.focus('[data-act=undo] button');
    await page.keyboard.press('Enter');
    await waitForText(page, '#done', /^1 capture undone\.$/);
    await waitForText(page, '[data-key="Undo captures"]', /No captures to undo\.$/);
  });

  it('becomes read-only when the daemon has a new secret, and keeps what was typed', async () => {
    const { page } = one;
    await unfold(page, 1);
    await page.fill('[data-key="1"] [name=evidence]', 'All tests pass');
    await page.evaluate("localStorage.setItem('steward-secret', 'x'.repeat(43))");
    await page.click('[data-key=close-1] button');
    await waitForText(page, '#tools', /^This page is read-only\./);
    expect((await hosted(1)).state).to.equal('open');
    const link = jsonOf(await steward(['open', 'work', '--print', '--json'], { home: home.path })) as {
      url: string;
    };
    await page.evaluate(`location.hash = ${JSON.stringify(new URL(link.url).hash)}`);
    await page.waitForSelector('[data-key=close-1] textarea');
    expect(await page.inputValue('[data-key="1"] [name=evidence]')).to.equal('All tests pass');
  });
});
