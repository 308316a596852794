import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

import { askIn } from '../helpers/asks';
import { launchBrowser } from '../helpers/browser';
import { emptyHome, steward } from '../helpers/cli';
import { startDaemon, until, type RunningDaemon } from '../helpers/daemon';
import { openPage, textOf } from '../helpers/dashboard';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';
import { captureNow } from '../helpers/sense';

describe('two tabs and a terminal that act at the same time (built)', function () {
  this.timeout(240_000);
  let browser: Browser;
  let home: ReturnType<typeof emptyHome>;
  let daemon: RunningDaemon;
  let tabs: Page[];
  let question: string;
  let day: string;

  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    home = emptyHome();
    question = await askIn(home.path, 'Which?', ['A', 'B']);
    day = captureNow(home.path, 'Sketchpad');
    for (const id of ['one', 'two'])
      for (const event of ['session-start', 'prompt', 'stop'] as const)
        await run(['hook', event, '--no-tab'], hookJson(event, { cwd: home.path, session_id: id }));
    daemon = await startDaemon({ home: home.path });
    browser = await launchBrowser();
    tabs = [];
    while (tabs.length < 2) {
      const { stdout } = await run(['open', '--print']);
      tabs.push((await openPage(browser, stdout.trim(), { now: null })).page);
    }
  });
  after(async () => {
    await browser?.close();
    await daemon?.stop();
    home?.remove();
  });

  const run = (args: readonly string[], input = '') => steward(args, { home: home.path, input });

  /** Presses the same thing in both tabs while a command runs, unless that was quicker and nothing is left to press. */
  async function race(selector: string, command: readonly string[]): Promise<number | null> {
    for (const tab of tabs) await tab.locator(selector).first().waitFor({ state: 'attached' });
    const click = `document.querySelector(${JSON.stringify(selector)})?.dispatchEvent(new MouseEvent('click', { bubbles: true }))`;
    const press = (tab: Page) => tab.evaluate(click);
    const [, , { code }] = await Promise.all([press(tabs[0]!), press(tabs[1]!), run(command)]);
    return code;
  }

  /** Waits until both tabs show the same text, for which a condition holds. */
  async function agree(selector: string, holds: (text: string) => boolean): Promise<string> {
    let texts: string[] = [];
    await until(`both tabs agree on ${selector}`, async () => {
      texts = await Promise.all(tabs.map((tab) => textOf(tab, selector)));
      return texts[0] === texts[1] && holds(texts[0]!);
    });
    return texts[0]!;
  }

  const rowsOf = async (): Promise<{ id: string }[]> =>
    (JSON.parse((await run(['inbox', '--json'])).stdout) as { rows: { id: string }[] }).rows;

  it('finish a row once, and snooze one once', async () => {
    const ids = (await rowsOf()).map(({ id }) => id).filter((id) => id !== question && id !== 'hooks');
    expect(ids.length).to.be.at.least(2);
    const [done, later] = ids as [string, string];
    const send = (id: string, label: string) => `[data-key="${id}"] .buttons > [data-key="${label}"]`;
    await race(send(done, 'Done'), ['inbox', 'done', done]);
    await race(send(later, 'Snooze 1 h'), ['inbox', 'snooze', later, '1h']);
    const gone = (text: string) => !text.includes('turn finished');
    await agree('#waiting-list', gone);
    const left = (await rowsOf()).map(({ id }) => id);
    expect(left).not.to.include.members([done, later]);
    const { marks } = JSON.parse(
      readFileSync(join(home.path, '.steward', 'state', 'inbox.json'), 'utf8'),
    ) as { marks: Record<string, string | null> };
    expect(Object.keys(marks)).to.have.length(2);
  });

  it('answer a question once, and say so to the others', async () => {
    const code = await race(`[data-ask=${question}] [data-send]`, ['answer', question, '2']);
    await agree('#waiting-list', (text) => !text.includes('Which?'));
    const log = readFileSync(join(home.path, '.steward', 'observability', 'answers.jsonl'), 'utf8');
    expect(log.trim().split('\n')).to.have.length(1);
    const from = (JSON.parse(log) as { from: string }).from;
    expect(code === 0, `answered from ${from}`).to.equal(from !== 'the page');
  });

  it('classify an application, mute and unmute: the last one wins, everywhere', async () => {
    for (const tab of tabs) await tab.goto(`${daemon.url}/sense?day=${day}`);
    const pick = (tab: Page, kind: string) => tab.locator('select[data-app=Sketchpad]').selectOption(kind);
    await Promise.all([
      pick(tabs[0]!, 'creation'),
      pick(tabs[1]!, 'neutral'),
      run(['sense', 'classify', 'set', 'Sketchpad', 'consumption']),
    ]);
    await until('the record and both tabs agree', async () => {
      const { stdout } = await run(['sense', 'today', '--of', day, '--json']);
      const record = JSON.parse(stdout) as Record<string, number>;
      const kind = ['creation', 'neutral', 'consumption'].find((one) => record[`${one}Minutes`] === 2);
      const facts = await Promise.all(tabs.map((tab) => textOf(tab, '#facts')));
      return facts.every((text) => text.includes(`2 m ${kind}`));
    });

    for (const tab of tabs) await tab.goto(`${daemon.url}/status`);
    await race('[data-act=mute]', ['notify', 'mute', '2h']);
    await agree('#mute', (text) => /muted until .*\d\d:\d\d|muted until you/.test(text));
    await race('[data-act=unmute]', ['notify', 'unmute']);
    await agree('#mute', (text) => text.startsWith('The voice is on'));
  });
});
