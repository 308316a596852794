import { expect } from 'chai';

import { exportEvents, exportRecords } from '../../../src/lib/sense/export';
import { purge } from '../../../src/lib/sense/purge';
import { rollup } from '../../../src/lib/sense/roll';
import { installText } from '../../../src/lib/sense/view-web';
import { addVisit, webSource, type SiteVisit, type SiteVisits } from '../../../src/lib/sense/web';
import { filesIn, focus, senseBox, sourceOf, type SenseBox } from '../../helpers/sense';

const at = (time: string): number => Date.parse(`2026-11-20T${time}:00Z`);

describe('the source of sites', () => {
  let box: SenseBox;
  let visits: SiteVisits;
  let isPaired: boolean;
  let exclude: string[];

  beforeEach(() => {
    box = senseBox('2026-11-20T12:00:00Z');
    visits = new Map();
    isPaired = true;
    exclude = [];
    const browser = focus('2026-11-20T12:00:00Z', 'Chromium', 3600);
    const events = [{ ...browser, detail: { ...browser.detail, machine: 'm' } }];
    box.deps.sources = [
      sourceOf('appFocus', ({ cursor }) =>
        Promise.resolve({ events: cursor === undefined ? events : [], cursor: 1, state: 'ok' }),
      ),
      webSource({ machineId: 'm', config: { exclude } }, () => isPaired, visits),
    ];
  });

  afterEach(() => box.remove());

  function visit(from: string, to: string, site: string | null, via: SiteVisit['via'] = 'chromium'): void {
    addVisit(visits, { site, at: at(from), until: at(to), via });
  }

  const log = (): unknown[] =>
    (box.lines('events/2026-11-20.jsonl') as { type: string }[]).filter(({ type }) => type === 'web-focus');

  it('stores each visit once, late ones too', async () => {
    visit('11:58', '11:59', 'github.com');
    visit('11:58', '11:59', 'github.com');
    visit('11:59', '12:00', null);
    await box.capture();
    await box.capture();
    visit('11:00', '11:30', 'docs.rs', 'firefox');
    await box.capture();
    expect(log()).to.deep.equal([
      {
        ts: '2026-11-20T11:59:00.000Z',
        type: 'web-focus',
        source: 'web',
        app: 'site:github.com',
        detail: { from: '2026-11-20T11:58:00.000Z', via: 'chromium', machine: 'm' },
      },
      {
        ts: '2026-11-20T12:00:00.000Z',
        type: 'web-focus',
        source: 'web',
        detail: { from: '2026-11-20T11:59:00.000Z', via: 'chromium', machine: 'm' },
      },
      {
        ts: '2026-11-20T11:30:00.000Z',
        type: 'web-focus',
        source: 'web',
        app: 'site:docs.rs',
        detail: { from: '2026-11-20T11:00:00.000Z', via: 'firefox', machine: 'm' },
      },
    ]);
  });

  it('stores visits again after the clock was set back', async () => {
    box.at('2026-11-21T12:00:00Z');
    addVisit(visits, {
      site: null,
      at: at('11:00') + 86_400_000,
      until: at('11:30') + 86_400_000,
      via: 'chromium',
    });
    await box.capture();
    visits.clear();
    box.at('2026-11-20T12:00:00Z');
    visit('11:58', '11:59', 'github.com');
    await box.capture();
    expect(log()).to.have.length(1);
  });

  it('is idle without a pairing, and off by its switch', async () => {
    isPaired = false;
    expect((await box.capture()).sources.at(-1)).to.include({ id: 'web', state: 'idle' });
    visit('11:58', '11:59', 'github.com');
    box.deps.config.sources.web = false;
    await box.capture();
    expect(log()).to.deep.equal([]);
  });

  it('does not store again what a purge deleted', async () => {
    visit('11:58', '11:59', 'github.com');
    await box.capture();
    visit('11:59', '12:00', 'docs.rs');
    purge(box.deps, { all: true }, false);
    await box.capture();
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal([]);
  });

  it('purges a site, or all sites of a browser', async () => {
    visit('11:50', '11:55', 'github.com');
    visit('11:55', '12:00', 'docs.rs');
    await box.capture();
    purge(box.deps, { app: 'site:docs.rs' }, false);
    expect(JSON.stringify(log())).to.include('github.com').and.not.include('docs.rs');
    purge(box.deps, { app: 'Chromium' }, false);
    expect(box.lines('events/2026-11-20.jsonl')).to.deep.equal([]);
  });

  it('stores nothing of an excluded browser or site', async () => {
    exclude.push('Firefox ESR', 'site:*.example.org');
    visit('11:00', '11:10', 'github.com', 'firefox');
    visit('11:00', '11:10', null, 'firefox');
    visit('11:10', '11:20', 'www.example.org');
    visit('11:20', '11:30', 'docs.rs');
    await box.capture();
    expect(log()).to.have.length(1);
    expect(log()).to.have.nested.property('[0].app', 'site:docs.rs');
    exclude.length = 0;
    await box.capture();
    expect(log()).to.have.length(1);
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
    visit('11:50', '11:55', 'github.com');
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
    visit('11:50', '11:55', 'github.com');
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
    visit('11:50', '11:55', 'github.com');
    await box.capture();
    box.at('2026-11-21T12:00:00Z');
    await box.capture();
    box.store.removeLog('2026-11-20');
    expect(purge(box.deps, { app: 'site:github.com' }, true).kept).to.deep.equal(['2026-11-20']);
    expect(purge(box.deps, { app: 'site:docs.rs' }, true).kept).to.deep.equal([]);
    expect(purge(box.deps, { app: 'Chromium' }, true).kept).to.deep.equal(['2026-11-20']);
  });
});
