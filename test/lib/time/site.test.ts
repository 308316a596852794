import { expect } from 'chai';
import { readFileSync } from 'node:fs';

import { blocksOf } from '../../../src/lib/report/blocks';
import { buildReport } from '../../../src/lib/report/build';
import { reportMarkdown } from '../../../src/lib/report/view';
import { recordText } from '../../../src/lib/sense/view';
import { explainClassification, makeClassifier } from '../../../src/lib/time/classify';
import type { SenseEvent } from '../../../src/lib/time/event';
import { timeRows } from '../../../src/lib/time/ledger/rows';
import { mergeDays } from '../../../src/lib/time/machines/merge';
import { appOf, browserOf, siteOf } from '../../../src/lib/time/site';
import { checkedSite, isSite } from '../../../src/lib/platform/net/site';
import { siteLines, withoutSites } from '../../../src/lib/time/site-rows';
import { thrown } from '../../helpers/errors';
import { MACHINES, machineDay } from '../../helpers/machines';
import { day as facts, reportInput } from '../../helpers/report';
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

  it('is shown as one line for each browser, in a day and a week', () => {
    const record = recordOf(
      focus(`${DAY}T11:00:00Z`, 'Firefox', 3600),
      focus(`${DAY}T11:31:00Z`, 'Firefox', 1860),
      focus(`${DAY}T12:00:00Z`, 'Code', 1740),
      visit('10:00', '10:42', 'github.com', { via: 'firefox' }),
      visit('10:42', '11:00', 'docs.rs', { via: 'firefox' }),
      visit('11:00', '11:31', undefined, { via: 'firefox' }),
    );
    const line = 'Firefox: github.com 42 m, docs.rs 18 m, other sites 31 m';
    expect(siteLines(record.apps)).to.deep.equal([line]);
    const rows = [
      ['Firefox', 60, 'creation'],
      ['Firefox', 31, 'consumption'],
      ['Code', 29, 'creation'],
    ];
    expect(withoutSites(record.apps).map(({ app, minutes, kind }) => [app, minutes, kind])).to.deep.equal(
      rows,
    );
    const notSeen = { idleMinutes: 0, sources: [] };
    const text = recordText(record, { columns: 80, color: false, notSeen });
    expect(text)
      .to.include(`\n  ${line}\n`)
      .and.match(/\n  not tracked: nothing$/);
    expect(text).to.match(/\n {2}Firefox +1 h 00 m /);
    const days = [facts(DAY, { apps: record.apps, totalMinutes: record.totalMinutes })];
    expect(reportMarkdown(blocksOf(buildReport(reportInput({ days })), 'Week')).split('\n')).to.include(
      `- ${line}`,
    );
  });

  it('adds up the sites of several machines', () => {
    const days = [
      machineDay(MACHINES[0].id, [
        ['09:00', '09:30', 'Firefox: github.com'],
        ['09:30', '09:40', 'Firefox: other sites'],
      ]),
      machineDay(MACHINES[1].id, [
        ['10:00', '10:12', 'Chromium: github.com'],
        ['10:12', '10:20', 'Chromium: docs.rs'],
      ]),
    ];
    const [record] = mergeDays(days, new Set([DAY]), MACHINES);
    const rows = timeRows(record === undefined ? [] : [record.ledger], 'site', NAMES);
    expect(rows.map(({ key, minutes }) => [key, minutes])).to.deep.equal([
      ['github.com', 42],
      ['other sites', 10],
      ['docs.rs', 8],
    ]);
    expect(siteLines(record?.apps ?? [])).to.deep.equal([
      'Firefox: github.com 30 m, other sites 10 m',
      'Chromium: github.com 12 m, docs.rs 8 m',
    ]);
  });

  it('knows the kind of some 200 sites', () => {
    const table = JSON.parse(readFileSync('templates/data/applications.json', 'utf8')) as Record<
      string,
      string[][]
    >;
    const sites = Object.values(table)
      .flat(2)
      .filter((name) => name.startsWith('site:'));
    expect(new Set(sites).size).to.equal(sites.length).and.be.within(200, 300);
    expect(sites.filter((name) => !isSite(name.slice('site:'.length)))).to.deep.equal([]);
    const explain = (site: string) =>
      explainClassification(makeClassifier('templates'), 'classify.yaml', site);
    expect(explain('site:github.com')).to.deep.include({
      kind: 'creation',
      explanation: 'site:github.com is creation because of a built-in rule (app: site:github.com).',
    });
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
    expect(siteOf('Player: 10.2')).to.equal(undefined);
  });

  it('takes the names of sites that the extension takes, whose code has a real port', async () => {
    const path: string = '../../../extension/visits.js';
    const { parseCode, siteName, tickedSites } = (await import(path)) as {
      parseCode: (text: string) => object | undefined;
      siteName: (text: string) => string | undefined;
      tickedSites: (origins: string[]) => string[];
    };
    const names = ['docs.rs', 'a-b.example.org', 'xn--bcher-kva.de', '3.org', `${'a'.repeat(96)}.org`];
    const others = [
      'localhost',
      '127.0.0.1',
      '[::1]',
      'x.y',
      '-a-.com',
      'a-.com',
      'a.-b.org',
      'a..b',
      `${'a'.repeat(97)}.org`,
      'a_b.org',
      '',
    ];
    for (const name of [...names, ...others]) {
      const isName = names.includes(name);
      expect([isSite(name), siteName(name) === name], name).to.deep.equal([isName, isName]);
      expect(tickedSites([`https://*.${name}/*`]), name).to.deep.equal(isName ? [name] : []);
      if (isName) expect(checkedSite(name.toUpperCase())).to.equal(name);
      else expect(() => checkedSite(name)).to.throw('Invalid site');
    }
    const isCode = (port: string): boolean => parseCode(`${port}-${'x'.repeat(32)}`) !== undefined;
    expect(['1', '65535', '0', '65536'].map(isCode)).to.deep.equal([true, true, false, false]);
    expect(siteName('https://user@Bücher.de:8080/path?q=1#x')).to.equal('xn--bcher-kva.de');
  });

  it('refuses to classify what is no name of a site', () => {
    const classify = makeClassifier('templates');
    for (const app of ['site:https://docs.rs', 'site:', 'site: docs.rs', 'site:localhost'])
      expect(() => explainClassification(classify, 'classify.yaml', app), app).to.throw('Invalid site');
    expect(thrown(() => checkedSite('http://Docs.rs:80/x')).hint).to.equal(
      'Use docs.rs, without the rest of the address.',
    );
    for (const app of ['site:docs.rs', 'site:other sites', 'Firefox: docs.rs'])
      expect(explainClassification(classify, 'classify.yaml', app)).to.include({ app });
    expect(explainClassification(classify, 'classify.yaml', 'site:Bücher.de').app).to.equal(
      'site:xn--bcher-kva.de',
    );
    expect(explainClassification(classify, 'classify.yaml', 'docs.rs').explanation).to.include(
      'docs.rs is neutral because no rule matches it (for the site, use site:docs.rs).',
    );
    // Without a rule, the kind of the browser counts.
    expect(explainClassification(classify, 'classify.yaml', 'site:example.net').explanation).to.match(
      /^site:example\.net counts as its browser does because no rule matches it\. /,
    );
  });

  it('knows browsers by their names and ids', () => {
    const AROUND = ['Opera Mail', 'Chrome Remote Desktop', "Mirror's Edge", 'Brave New World', 'Google'];
    for (const [name, id] of [
      ['Google Chrome', 'google-chrome'],
      ['Chromium', undefined],
      ['Web', 'com.microsoft.edgemac msedge.exe'],
      ['Brave Browser', 'brave-browser'],
      ['Chromium Web Browser', undefined],
      ['Navegador web', 'com.google.Chrome'],
      ['chromium_chromium.desktop', undefined],
      ['io.github.ungoogled_software.ungoogled_chromium', undefined],
    ] as const)
      expect(browserOf(name, id), name).to.equal('chromium');
    for (const name of [
      'Firefox',
      'Firefox ESR',
      'Firefox Web Browser',
      'firefox_firefox',
      'Zen Browser',
      'Zen',
      'LibreWolf',
      'firefox-esr.desktop',
      'io.gitlab.librewolf-community.librewolf',
      'net.waterfox.waterfox',
      'one.ablaze.floorp',
      'org.mozilla.firefoxdeveloperedition',
    ])
      expect(browserOf(name), name).to.equal('firefox');
    const others = ['Knowledge', 'Operator', 'Citizen', 'Code', 'Zen Timer', 'Chromium: docs.rs', ...AROUND];
    for (const name of [...others, 'site:chrome.com', 'site:firefox.com'])
      expect(browserOf(name), name).to.equal(undefined);
  });
});
