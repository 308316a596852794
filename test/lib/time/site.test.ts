import { expect } from 'chai';

import { makeClassifier } from '../../../src/lib/time/classify';
import type { SenseEvent } from '../../../src/lib/time/event';
import { timeRows } from '../../../src/lib/time/ledger/rows';
import { appOf, browserOf, isSite, siteOf } from '../../../src/lib/time/site';
import { buildDailyRecord, focus } from '../../helpers/sense';

const DAY = '2026-11-20';
const NAMES = { session: (id: string) => id, issue: () => undefined, goal: () => undefined };

function visit(from: string, to: string, site?: string, more: Record<string, unknown> = {}): SenseEvent {
  const at = (time: string): string => `${DAY}T${time}:00.000Z`;
  const detail = { from: at(from), via: 'chromium', ...more };
  const event: SenseEvent = { ts: at(to), type: 'web-focus', source: 'web', detail };
  return site === undefined ? event : { ...event, app: `site:${site}` };
}

function recordOf(...events: SenseEvent[]) {
  return buildDailyRecord(DAY, events, {
    timezone: 'UTC',
    pollIntervalSec: 120,
    classify: makeClassifier('templates'),
    version: '1',
    generatedAt: '',
    final: true,
  });
}

const apps = (...events: SenseEvent[]): [string, number, string][] =>
  recordOf(...events).apps.map(({ app, minutes, kind }) => [app, minutes, kind]);

describe('time by site', () => {
  it('splits the minutes of a browser only', () => {
    const events = [
      focus(`${DAY}T10:30:00Z`, 'Chromium', 1800),
      focus(`${DAY}T11:00:00Z`, 'Code', 1800),
      visit('10:00', '10:12', 'github.com'),
      visit('10:12', '10:15'),
      visit('10:20', '10:50', 'youtube.com'),
    ];
    expect(apps(...events)).to.deep.equal([
      ['Code', 30, 'creation'],
      ['Chromium: github.com', 12, 'creation'],
      ['Chromium: youtube.com', 10, 'consumption'],
      ['Chromium', 5, 'consumption'],
      ['Chromium: other sites', 3, 'consumption'],
    ]);
  });

  it('counts time once, whatever is reported twice, in any order', () => {
    const events = [
      focus(`${DAY}T10:30:00Z`, 'Chromium', 1800),
      visit('10:00', '10:20', 'github.com'),
      visit('10:00', '10:20', 'github.com'),
      visit('10:10', '10:25', 'docs.rs'),
    ];
    const wanted = [
      ['Chromium: github.com', 20, 'creation'],
      ['Chromium', 5, 'consumption'],
      ['Chromium: docs.rs', 5, 'creation'],
    ];
    expect(apps(...events)).to.deep.equal(wanted);
    expect(apps(...events.reverse())).to.deep.equal(wanted);
  });

  it('leaves out time away, and other browsers and machines', () => {
    const away: SenseEvent = {
      ts: `${DAY}T10:30:00.000Z`,
      type: 'away',
      source: 'appFocus',
      detail: { from: `${DAY}T10:10:00.000Z`, reason: 'idle' },
    };
    const browser = focus(`${DAY}T10:30:00Z`, 'Firefox', 1800);
    const own = visit('10:00', '10:30', 'github.com', { via: 'firefox' });
    expect(apps(browser, own, away)).to.deep.equal([['Firefox: github.com', 10, 'creation']]);
    expect(apps(browser, visit('10:00', '10:30', 'github.com'))).to.deep.equal([
      ['Firefox', 30, 'consumption'],
    ]);
    const elsewhere = visit('10:00', '10:30', 'github.com', { via: 'firefox', machine: 'b' });
    expect(apps(browser, elsewhere)).to.deep.equal([['Firefox', 30, 'consumption']]);
    expect(recordOf(own).totalMinutes).to.equal(0);
  });

  it('adds up by site and by application', () => {
    const { ledger } = recordOf(
      focus(`${DAY}T10:30:00Z`, 'Chromium', 1800),
      focus(`${DAY}T11:00:00Z`, 'Code', 1800),
      visit('10:00', '10:12', 'github.com'),
      visit('10:12', '10:30'),
    );
    const rows = (by: 'app' | 'site') =>
      timeRows([ledger], by, NAMES).map(({ key, minutes }) => [key, minutes]);
    expect(rows('app')).to.deep.equal([
      ['Chromium', 30],
      ['Code', 30],
    ]);
    expect(rows('site')).to.deep.equal([
      ['other sites', 18],
      ['github.com', 12],
      ['no site', 30],
    ]);
  });

  it('classifies by the site, its parent domains, then the browser', () => {
    const classify = makeClassifier('templates', [
      { key: 'app', pattern: 'site:example.org', kind: 'creation' },
      { key: 'app', pattern: 'Firefox', kind: 'neutral' },
    ]);
    expect(classify('Firefox: www.example.org').rule).to.include({ text: 'app: site:example.org', index: 1 });
    expect(classify('site:gist.github.com')).to.deep.include({ kind: 'creation' });
    expect(classify('Firefox: example.net').kind).to.equal('neutral');
    expect(classify('Firefox: other sites').kind).to.equal('neutral');
    expect(classify('Chromium: example.net', 'chromium').kind).to.equal('consumption');
    expect(classify('site:example.net')).to.deep.equal({ kind: 'neutral' });
  });

  it('tells names with a site from other names', () => {
    for (const name of ['Code', 'Star Wars: KOTOR', 'a: b', ': github.com extra', 'github.com'])
      expect([siteOf(name), appOf(name)], name).to.deep.equal([undefined, name]);
    expect([siteOf('A: b: docs.rs'), appOf('A: b: docs.rs')]).to.deep.equal(['docs.rs', 'A: b']);
    for (const text of ['localhost', 'GitHub.com', 'a..b', 'x.org/path', 'a b.org', `${'a'.repeat(99)}.org`])
      expect(isSite(text), text).to.equal(false);
  });

  it('knows browsers by their names and ids', () => {
    for (const [name, id] of [
      ['Google Chrome', 'google-chrome'],
      ['Chromium', undefined],
      ['Web', 'com.microsoft.edgemac msedge.exe'],
      ['Brave Browser', 'brave-browser'],
    ] as const)
      expect(browserOf(name, id), name).to.equal('chromium');
    for (const name of ['Firefox', 'firefox_firefox', 'Zen Browser', 'LibreWolf'])
      expect(browserOf(name), name).to.equal('firefox');
    for (const name of ['Knowledge', 'Operator', 'Citizen', 'Code'])
      expect(browserOf(name), name).to.equal(undefined);
  });
});
