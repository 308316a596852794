import { expect } from 'chai';

import { exportEvents, exportRecords } from '../../../src/lib/sense/export';
import { purge, type PurgeSelection } from '../../../src/lib/sense/purge';
import { sources } from '../../../src/lib/sense/read';
import { rollup } from '../../../src/lib/sense/roll';
import { installText } from '../../../src/lib/sense/view-web';
import { storeVisit, webSource, whyOff, type SiteVisit } from '../../../src/lib/sense/web';
import { filesIn, focus, senseBox, sourceOf, type SenseBox } from '../../helpers/sense';

const at = (time: string): number => Date.parse(`2026-11-20T${time}Z`);

describe('the source of sites', () => {
  let box: SenseBox;
  let isPaired: boolean;
  let exclude: string[];

  beforeEach(() => {
    box = senseBox('2026-11-20T12:00:00Z');
    isPaired = true;
    exclude = [];
    const browser = focus('2026-11-20T12:00:00Z', 'Chromium', 3600);
    const events = [{ ...browser, detail: { ...browser.detail, machine: 'm' } }];
    box.deps.sources = [
      sourceOf('appFocus', ({ cursor }) =>
        Promise.resolve({ events: cursor === undefined ? events : [], cursor: 1, state: 'ok' }),
      ),
      webSource(() => isPaired),
    ];
  });

  afterEach(() => box.remove());

  function visit(from: string, to: string, site: string | null, via: SiteVisit['via'] = 'chromium') {
    const config = { ...box.deps.config, exclude };
    const [start, end] = [from, to].map((time) => at(time.length === 5 ? `${time}:00` : time));
    return storeVisit({ ...box.deps, config }, { site, at: start ?? 0, until: end ?? 0, via }, 'm');
  }

  const log = (day = '2026-11-20'): unknown[] =>
    (box.lines(`events/${day}.jsonl`) as { type: string }[]).filter(({ type }) => type === 'web-focus');

  /** The stored visits as `site from to`. */
  const stored = (): string[] =>
    (log() as { app?: string; ts: string; detail: { from: string } }[]).map(({ app, ts, detail }) =>
      [app?.slice('site:'.length) ?? 'other', detail.from.slice(11, 19), ts.slice(11, 19)].join(' '),
    );

  it('stores each visit when it arrives, once', async () => {
    await visit('11:58', '11:59', 'github.com');
    expect(log()).to.deep.equal([
      {
        ts: '2026-11-20T11:59:00.000Z',
        type: 'web-focus',
        source: 'web',
        app: 'site:github.com',
        detail: { from: '2026-11-20T11:58:00.000Z', via: 'chromium', machine: 'm' },
      },
    ]);
    await visit('11:59', '12:00', null);
    const [, other] = log();
    expect(other).to.deep.equal({
      ts: '2026-11-20T12:00:00.000Z',
      type: 'web-focus',
      source: 'web',
      detail: { from: '2026-11-20T11:59:00.000Z', via: 'chromium', machine: 'm' },
    });
    await box.capture();
    await visit('11:58', '11:59', 'github.com');
    await visit('11:59', '12:00', null);
    expect(log()).to.have.length(2);
  });

  it('stores what two browsers of a family kept, in any order', async () => {
    const kept = Array.from({ length: 5 }, (_, i): [string, string] => [`11:${i + 10}`, `11:${i + 11}`]);
    for (const [from, to] of kept.toReversed()) await visit(from, to, 'docs.rs');
    for (const [from, to] of kept) await visit(from, to, 'docs.rs');
    await box.capture();
    for (const [from, to] of kept) await visit(from.replace('11:', '10:'), to.replace('11:', '10:'), null);
    for (const [from, to] of kept) await visit(from, to, 'docs.rs', 'firefox');
    const wanted = (name: string, hour: number): string[] =>
      kept.map(([from, to]) => `${name} ${hour}${from.slice(2)}:00 ${hour}${to.slice(2)}:00`);
    expect(stored().sort()).to.deep.equal(
      [...wanted('docs.rs', 11), ...wanted('docs.rs', 11), ...wanted('other', 10)].sort(),
    );
  });

  it('stores a visit of yesterday in its day, whose record is built again', async () => {
    await box.capture();
    box.at('2026-11-21T00:01:00Z');
    await box.capture();
    await visit('11:50', '11:55', 'github.com');
    await box.capture();
    expect(box.record('2026-11-20').apps).to.deep.include({
      app: 'Chromium: github.com',
      kind: 'creation',
      minutes: 5,
    });
  });

  it('says when the last visit ended, also on the next day, and that a capture finds none', async () => {
    await box.capture();
    await visit('11:58', '11:59', 'github.com');
    const result = await box.capture();
    expect(result.sources.at(-1)).to.include({ id: 'web', state: 'ok', events: 0 });
    expect(result.sources.at(-1)?.reason).to.include('the daemon stores visits');
    box.at('2026-11-21T12:00:00Z');
    await box.capture();
    const row = sources(box.deps).find(({ id }) => id === 'web');
    expect(row).to.include({ eventsToday: 0, lastEventTs: '2026-11-20T11:59:00.000Z' });
  });

  it('is idle without a pairing, and off by its switch', async () => {
    isPaired = false;
    expect((await box.capture()).sources.at(-1)).to.include({ id: 'web', state: 'idle' });
    const { config } = box.deps;
    expect(whyOff(true, config)).to.equal(undefined);
    expect(whyOff(false, config)).to.have.property('fix', 'steward up');
    config.sources.web = false;
    expect(whyOff(true, config)).to.have.property('fix', 'steward config set sense.sources.web true');
    config.enabled = false;
    expect(whyOff(true, config)).to.deep.equal({
      found: 'sense.enabled is false',
      fix: 'steward config set sense.enabled true',
    });
  });

  describe('after a purge', () => {
    const all: [string, string, string | null, SiteVisit['via']][] = [
      ['11:50', '11:51', 'github.com', 'chromium'],
      ['11:51', '11:52', 'chrome.com', 'chromium'],
      ['11:52', '11:53', null, 'chromium'],
      ['11:53', '11:54', 'gist.github.com', 'firefox'],
    ];
    const names = ['github.com', 'chrome.com', 'other', 'gist.github.com'];
    /** What stays of `all`, by position. */
    const cases: [string, PurgeSelection, number[]][] = [
      ['all', { all: true }, []],
      ['today', { from: '2026-11-20', to: '2026-11-20' }, []],
      ['yesterday', { from: '2026-11-19', to: '2026-11-19' }, [0, 1, 2, 3]],
      ['a site and its subdomains', { app: 'site:GitHub.com' }, [1, 2]],
      ['a subdomain', { app: 'site:gist.github.com' }, [0, 1, 2]],
      ['all sites that are not ticked', { app: 'site:other sites' }, [0, 1, 3]],
      ['a site with the name of a browser', { app: 'site:chrome.com' }, [0, 2, 3]],
      ['a site, yesterday', { app: 'site:github.com', to: '2026-11-19' }, [0, 1, 2, 3]],
      ['a browser', { app: 'Firefox' }, [0, 1, 2]],
      ['another application', { app: 'Solitaire' }, [0, 1, 2, 3]],
    ];

    for (const [what, selection, left] of cases)
      it(`deletes what it selects, and nothing else, also if it arrives later: ${what}`, async () => {
        const kept = left.map((i) => `${names[i]} ${all[i]?.[0]}:00 ${all[i]?.[1]}:00`);
        for (const one of all) await visit(...one);
        purge(box.deps, selection, false);
        expect(stored()).to.deep.equal(kept);
        // The same visits again, as an extension sends them that did not get the answer.
        for (const one of all) await visit(...one);
        expect(stored()).to.deep.equal(kept);
        box.at('2026-11-20T12:05:00Z');
        await visit('12:01', '12:02', 'github.com');
        expect(stored()).to.deep.equal([...kept, 'github.com 12:01:00 12:02:00']);
      });

    beforeEach(() => box.capture());

    it('keeps the part of a visit after it', async () => {
      box.at('2026-11-20T11:59:30Z');
      purge(box.deps, { app: 'site:docs.rs' }, false);
      box.at('2026-11-20T12:00:30Z');
      for (const site of ['docs.rs', 'github.com', 'docs.rs']) await visit('11:59', '12:00', site);
      expect(stored()).to.deep.equal(['docs.rs 11:59:30 12:00:00', 'github.com 11:59:00 12:00:00']);
    });

    it('leaves no trace of the name', async () => {
      await visit('11:58', '11:59', 'secret-clinic.org');
      purge(box.deps, { app: 'site:secret-clinic.org' }, false);
      await visit('11:58', '11:59', 'secret-clinic.org');
      await visit('11:59', '12:00', null);
      expect(JSON.stringify(filesIn(box.area.root))).to.not.include('secret-clinic');
    });

    it('forgets purges of a week ago, and those after a clock that was set back', async () => {
      purge(box.deps, { app: 'site:docs.rs' }, false);
      box.at('2026-11-20T11:00:00Z');
      await visit('10:58', '10:59', 'docs.rs');
      expect(stored()).to.deep.equal(['docs.rs 10:58:00 10:59:00']);
      box.at('2026-11-28T12:00:00Z');
      purge(box.deps, { app: 'site:github.com' }, false);
      expect(box.state()).to.have.nested.property('cursors.purges').with.length(1);
    });

    it('of a repository, deletes no site', async () => {
      purge(box.deps, { repo: 'shop' }, false);
      await visit('11:50', '11:51', 'github.com');
      expect(stored()).to.have.length(1);
    });
  });

  it('purges a site, or all sites of a browser', async () => {
    await visit('11:50', '11:55', 'github.com');
    await visit('11:55', '12:00', 'docs.rs');
    await box.capture();
    purge(box.deps, { app: 'site:docs.rs' }, false);
    expect(JSON.stringify(log())).to.include('github.com').and.not.include('docs.rs');
    purge(box.deps, { app: 'Chromium' }, false);
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal([]);
  });

  it('stores nothing of an excluded browser or site', async () => {
    exclude.push('Firefox ESR', 'site:Example.org', 'site:*.example.net', 'site:chrome.com');
    await visit('11:00', '11:10', 'github.com', 'firefox');
    await visit('11:00', '11:10', null, 'firefox');
    await visit('11:10', '11:20', 'www.example.org');
    await visit('11:20', '11:30', 'docs.rs');
    await visit('11:30', '11:40', 'chrome.com');
    await visit('11:40', '11:45', 'www.example.net');
    await visit('11:45', '11:50', 'example.org');
    expect(stored()).to.deep.equal(['docs.rs 11:20:00 11:30:00']);
  });

  it('takes a host name for a site too, and excludes what is not ticked', async () => {
    exclude = ['Müller.de', 'com.google.Mail'];
    await visit('11:00', '11:10', 'www.xn--mller-kva.de');
    await visit('11:10', '11:20', 'mail.google.com');
    await visit('11:20', '11:30', null);
    exclude = ['site:Other sites'];
    await visit('11:30', '11:40', 'docs.rs');
    await visit('11:40', '11:50', null);
    expect(stored()).to.deep.equal([
      'mail.google.com 11:10:00 11:20:00',
      'other 11:20:00 11:30:00',
      'docs.rs 11:30:00 11:40:00',
    ]);
  });

  it('stores nothing of a browser that a glob or an id excludes', async () => {
    for (const glob of ['*fox*', 'Google *', 'org.mozilla.*', 'firefox-esr.desktop', '*']) {
      exclude = [glob];
      await visit('11:00', '11:10', 'github.com', glob.startsWith('G') ? 'chromium' : 'firefox');
      expect(stored(), glob).to.deep.equal([]);
    }
    exclude = ['*mail', 'Opera Mail', 'site:*.org'];
    await visit('11:00', '11:10', 'docs.rs');
    await visit('11:10', '11:20', null);
    expect(stored()).to.deep.equal(['docs.rs 11:00:00 11:10:00', 'other 11:10:00 11:20:00']);
  });

  it('is installed with the steps for each browser, and says what is stored', () => {
    const facts = { folder: '/x/extension', code: '31337-abc', retentionDays: 14 };
    const text = installText({ ...facts, browsers: ['Firefox ESR', 'Google Chrome'] });
    expect(text)
      .to.match(/^Firefox ESR: open about:debugging/m)
      .and.match(/^Google Chrome: open chrome:/m);
    expect(text).to.include('31337-abc').and.include('stay for 14 days');
    const unknown = installText({ ...facts, browsers: [] });
    expect(unknown)
      .to.match(/^Firefox: open about:/m)
      .and.match(/^Chrome, Chromium, Edge or Brave: open chrome:/m);
  });

  it('exports the events, and the minutes by site', async () => {
    await visit('11:50', '11:55', 'github.com');
    await box.capture();
    const { events } = box.store.readLog('2026-11-20');
    const json = JSON.parse([...exportEvents(events, 'json')].join('')) as { type: string }[];
    expect(json.filter(({ type }) => type === 'web-focus')).to.deep.equal(log());
    expect([...exportEvents(events, 'csv')].join('')).to.match(
      /2026-11-20T11:55:00\.000Z,web-focus,web,site:github\.com,,"\{""from"":""2026-11-20T11:50:00\.000Z""/,
    );
    const record = rollup(box.deps, '2026-11-20');
    expect([...exportRecords([record], 'csv', 'apps')].join('')).to.include(
      '2026-11-20,Chromium: github.com,creation,5',
    );
  });

  it('deletes the times past the retention, and keeps the minutes by site', async () => {
    await visit('11:50', '11:55', 'github.com');
    await box.capture();
    box.at('2026-12-20T12:00:00Z');
    await box.capture();
    expect(log()).to.have.length(1);
    box.at('2026-12-21T12:00:00Z');
    await box.capture();
    expect(
      Object.entries(filesIn(box.area.root)).filter(([, text]) => text.includes('web-focus')),
    ).to.deep.equal([]);
    expect(box.record('2026-11-20').apps).to.deep.include({
      app: 'Chromium: github.com',
      kind: 'creation',
      minutes: 5,
    });
  });

  it('finds a site in records whose log is deleted', async () => {
    await visit('11:50', '11:55', 'github.com');
    await box.capture();
    box.at('2026-11-21T12:00:00Z');
    await box.capture();
    box.store.removeLog('2026-11-20');
    expect(purge(box.deps, { app: 'site:github.com' }, true).kept).to.deep.equal(['2026-11-20']);
    expect(purge(box.deps, { app: 'site:docs.rs' }, true).kept).to.deep.equal([]);
    for (const app of ['Chromium', 'chromium.desktop', 'Google Chrome', 'chromium: GitHub.com'])
      expect(purge(box.deps, { app }, true).kept, app).to.deep.equal(['2026-11-20']);
    for (const app of ['Firefox', 'Opera Mail'])
      expect(purge(box.deps, { app }, true).kept, app).to.deep.equal([]);
  });
});
