import { expect } from 'chai';
import type { Page } from 'playwright-core';

import type { NotifyReport } from '../../src/lib/daemon/notify-routes';
import type { HistoryEntry } from '../../src/lib/notify/history';
import type { Answers, Served } from '../helpers/browser';
import {
  expectQuiet,
  senseAnswers,
  STATUS,
  textOf,
  until,
  waitForText,
  type OpenOptions,
  type OpenPage,
} from '../helpers/dashboard';
import { pagesInChromium, violations } from '../helpers/pages';

describe('the page /status in Chromium', function () {
  this.timeout(120_000);
  const pages = pagesInChromium();
  let answers: Answers;
  let served: Served;
  let report: NotifyReport;
  beforeEach(async () => {
    report = {
      voice: 'on',
      muted: { muted: false, until: null },
      history: [
        entry(7, 'Login <b>fixed</b>', { voice: 'delivered' }),
        entry(6, 'Tests failed', { voice: 'delivered', push: 'expired' }),
        ...[5, 4, 3, 2, 1, 0].map((hour) => entry(hour, `Build ${hour}`, { desktop: 'delivered' })),
      ],
    };
    answers = {
      ...senseAnswers(pages.full),
      '/api/work/status': () => ({ body: { waiting: [], repo: 'ann/work', issues: { open: 3, closed: 1 }, lastFetch: null, pollIntervalSeconds: 60 } }),
      '/api/notify': () => ({ body: report }),
    }; // prettier-ignore
    served = await pages.serve(answers);
  });

  /** Changes the result of the failed push. */
  const setResult = (result: 'waiting' | 'expired' | 'delivered'): void => {
    const [voice, push] = report.history[1]!.channels;
    report.history[1]!.channels = [voice!, { ...push!, result, reason: null }];
  };
  const open = (options: OpenOptions = {}): Promise<OpenPage> => {
    return pages.open(`${served.url}/status`, options);
  };
  const signIn = async (page: Page, there = '#mute button[data-act]'): Promise<void> => {
    await page.evaluate("localStorage.setItem('steward-secret', 'x')");
    await page.reload();
    await page.waitForSelector(there);
  };

  it('offers no mute where the voice is off', async () => {
    report.voice = 'off';
    const { page } = await open();
    await signIn(page, '#history button');
    await waitForText(page, '#mute', /^The voice is off\.$/);
  });

  it('speaks of the past while the daemon is gone', async () => {
    const { page } = await open();
    await page.context().setOffline(true);
    await page.clock.runFor(31_000);
    await waitForText(page, '#facts', /^3 parts needed you at 17:41, 1 notification failed\.$/);
    await waitForText(page, '#mute', /^The voice was on\./);
    expect(await textOf(page, '#jobs summary')).not.to.include('next');
  });

  it('shows what needs a hand first, then sources and parts in one line each, and the process last', async () => {
    const one = await open();
    const { page } = one;
    expect(await textOf(page, '#facts')).to.equal('3 parts need you, 1 notification failed.');
    const parts = await page.locator('#parts li').allTextContents();
    expect(parts[0]).to.equal('Assistant hooks◇ warningNo hook is registered with an assistant. steward install hookscopy'); // prettier-ignore
    expect(parts[1]).to.match(/^Work▲ failedThe host answers 401\. gh auth login/);
    expect(parts.slice(2, 4)).to.deep.equal([
      'Capture● okevery 2 min · just now',
      'Applications● ok83 events today · just now',
    ]);
    expect(parts.slice(-2)[0]).to.equal('Hook events● ok3 queued, 0 failed');
    expect(parts.at(-1)).to.match(/^Hourly read– offnot installed/);
    const heights = await page.locator('#parts li').evaluateAll((rows) => rows.map((row) => (row as never as { offsetHeight: number }).offsetHeight)); // prettier-ignore
    expect(Math.max(...heights)).to.be.at.most(49);
    expect(await textOf(page, '#engine')).to.match(
      /^Version 0\.1\.0 · since 15:31 · 61 MiB · process 4711 · 127/,
    );
    expectQuiet(one, served.url);
  });

  it('folds the jobs unless one failed or is late; a job without anything to do is idle', async () => {
    const { page } = await open();
    expect(await textOf(page, '#jobs summary')).to.equal('2 jobs · 1 failed or late · next at 17:41');
    expect(await page.locator('#jobs details').getAttribute('open')).to.equal('');
    const jobs = await page.locator('#jobs li').allTextContents();
    expect(jobs[0]).to.match(/^poll▲ failedThe host answers 401/);
    expect(jobs[1]).to.equal('Capture● okevery 2 min · last 1 min ago · next at 17:42');
    answers['/api/status'] = () => ({
      body: {
        ...STATUS,
        modules: [],
        jobs: [
          { ...STATUS.jobs[0], reason: 'sense is not set up' },
          { ...STATUS.jobs[0], id: 'work', nextRun: '2026-11-20T17:35:00Z' },
        ],
      },
    });
    const again = await open();
    expect(await again.page.locator('#jobs li').allTextContents()).to.deep.equal([
      'Fetch GitHub issues▲ lateevery 2 min · last 1 min ago · due 6 min ago',
      'Capture○ idlesense is not set up · every 2 min · last 1 min ago · next at 17:42',
    ]);
    answers['/api/status'] = () => ({
      body: { ...STATUS, modules: [], jobs: [{ ...STATUS.jobs[0], reason: 'sense is not set up' }] },
    });
    const idle = (await open()).page;
    expect(await textOf(idle, '#facts')).to.equal('1 notification failed.');
    report.history.splice(1, 1);
    await waitForText((await open()).page, '#facts', /^No part needs you\.$/);
    expect(await idle.locator('#jobs details').getAttribute('open')).to.equal(null);
  });

  it('shows failed notifications first, and changes nothing without a sign-in', async () => {
    const { page } = await open();
    await waitForText(page, '#history > h3', /^1 failed notification$/);
    const rows = await page.locator('#history li').allTextContents();
    expect(rows[0]).to.match(
      /^Tests failed16:00voice delivered · push expired: Server error 503 .*notify retry 2026/,
    );
    expect(rows[1]).to.equal('Login <b>fixed</b>17:00voice delivered ');
    expect(await textOf(page, '#history summary')).to.equal('2 earlier');
    expect(await page.locator('[data-act]').count()).to.equal(0);
    expect(await textOf(page, '#mute')).to.match(/read-only\. .* steward open status/);
    expect(served.asked.filter((line) => !line.startsWith('GET '))).to.deep.equal([]);
  });

  it('says of a notification that may have arrived that it is not confirmed', async () => {
    const [, push] = report.history[1]!.channels;
    report.history[1]!.channels = [{ ...push!, result: 'unknown', reason: 'sending was interrupted twice' }];
    const { page } = await open();
    await waitForText(page, '#history > h3', /^1 unconfirmed notification$/);
    await waitForText(page, '#facts', / 1 notification unconfirmed\.$/);
    await waitForText(page, '#history li p', /^push not confirmed: sending was interrupted twice/);
  });

  it('retries and mutes by keyboard; a refusal is shown in its place', async () => {
    const { page } = await open();
    await signIn(page);
    const id = report.history[1]!.id;
    const row = `[data-key="${id}"]`;
    answers['/api/notify/retry'] = () => ({ status: 409, body: { error: { message: 'Nothing to retry.' } } });
    await page.focus('[data-act=retry]');
    await page.keyboard.press('Enter');
    await waitForText(page, `${row} [role=status]`, /^Nothing to retry\.$/);
    answers['/api/notify/retry'] = () => {
      setResult('waiting');
      return { body: { id, channels: ['push'] } };
    };
    await page.keyboard.press('Enter');
    await waitForText(page, row, /push waiting$/);
    // Enter again must not press another button, such as Mute.
    await until(page, `document.activeElement.dataset.key === ${JSON.stringify(id)}`);
    answers['/api/notify/mute'] = () => {
      report = { ...report, muted: { muted: true, until: '2026-11-20T18:41:00Z' } };
      return { body: report.muted };
    };
    await page.focus('[data-act=mute]');
    await page.keyboard.press('Enter');
    await waitForText(page, '#mute', /^The voice is muted until 18:41\. ?Unmute/);
    answers['/api/notify/unmute'] = () => {
      report = { ...report, muted: { muted: false, until: null } };
      return { body: report.muted };
    };
    await page.keyboard.press('Enter');
    await waitForText(page, '#mute', /^The voice is on/);
    await page.locator('[data-act=mute]').nth(1).press('Enter');
    await until(page, "document.activeElement.dataset.act === 'unmute'");
    expect(served.asked.filter((line) => line.startsWith('POST '))).to.deep.equal([
      'POST /api/notify/retry 409',
      'POST /api/notify/retry 200',
      'POST /api/notify/mute 200',
      'POST /api/notify/unmute 200',
      'POST /api/notify/mute 200',
    ]);
  });

  it('says what became of a retry, where the notification was', async () => {
    const { page } = await open();
    await signIn(page);
    const id = report.history[1]!.id;
    const first = `#history > ul:first-of-type [data-key="${id}"]`;
    answers['/api/notify/retry'] = () => {
      setResult('waiting');
      return { body: { id, channels: ['push'] } };
    };
    await page.click('[data-act=retry]');
    await waitForText(page, first, /push waiting$/);
    setResult('expired');
    await page.clock.runFor(31_000);
    await waitForText(page, first, /push expired Retry$/);
    await page.click('[data-act=retry]');
    await waitForText(page, first, /push waiting$/);
    setResult('delivered');
    await page.clock.runFor(31_000);
    await waitForText(page, first, /voice delivered · push delivered$/);
    await waitForText(page, '#history > h3', /^Retried$/);
  });

  it('removes the reason of a refusal once the notification has changed', async () => {
    const { page } = await open();
    await signIn(page);
    answers['/api/notify/retry'] = () => ({ status: 409, body: { error: { message: 'Nothing to retry.' } } });
    await page.click('[data-act=retry]');
    await waitForText(page, '#history', /Nothing to retry\./);
    setResult('delivered');
    await page.clock.runFor(31_000);
    await waitForText(page, '#history', /push delivered/);
    expect(await textOf(page, '#history')).not.to.include('Nothing to retry.');
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`axe finds nothing, and no width needs sideways scrolling: ${colorScheme}`, async () => {
      for (const width of [390, 768, 1280, 1920]) {
        const { page } = await open({ colorScheme, viewport: { width, height: 740 } });
        if (width > 800) await signIn(page);
        expect(await violations(page)).to.deep.equal([]);
        const [wide, room] = (await page.evaluate(
          '[document.documentElement.scrollWidth, innerWidth]',
        )) as number[];
        expect(wide).to.be.at.most(room!);
      }
    });
  }
});

function entry(hour: number, text: string, results: Record<string, 'delivered' | 'expired'>): HistoryEntry {
  return {
    id: `20261120T1${hour}0000123Z-0123456789ab`,
    at: `2026-11-20T1${hour}:00:00Z`,
    ...{ event: 'taskComplete', priority: 3, source: 'da', text, title: null, duplicateOf: null },
    channels: Object.entries(results).map(([channel, result]) => ({
      ...{ channel, result, attempts: 1, nextAt: null, maybeTwice: false },
      reason: result === 'expired' ? 'Server error 503 from ntfy.sh' : null,
    })),
  } as HistoryEntry;
}
