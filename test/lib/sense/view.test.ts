import { join } from 'node:path';

import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';

import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { makeClassifier, APP_KINDS } from '../../../src/lib/time/classify';
import type { SenseEvent } from '../../../src/lib/time/event';
import type { DailyRecord } from '../../../src/lib/time/record';
import type { SenseStatus } from '../../../src/lib/sense/read';
import type { SourceStatus } from '../../../src/lib/sense/source';
import { recordText, type NotSeen } from '../../../src/lib/sense/view';
import { recordMarkdown } from '../../../src/lib/sense/view-markdown';
import { recentText, sourcesText, statusText } from '../../../src/lib/sense/view-status';
import { expectGolden } from '../../helpers/golden';
import { shownOn } from '../../../src/lib/platform/terminal/fold';
import { buildDailyRecord } from '../../helpers/sense';
import { long } from '../../helpers/long';

const golden = (name: string, text: string): void =>
  expectGolden(join(__dirname, 'golden', `${name}.txt`), `${text}\n`);

/** Minutes of an app from an hour on, a sample every two minutes. */
function use(day: string, hour: number, app: string, minutes: number, bundleId?: string): SenseEvent[] {
  return Array.from({ length: minutes / 2 }, (_, i) => ({
    ts: new Date(Date.parse(`${day}T00:00:00+01:00`) + hour * 3_600_000 + i * 120_000).toISOString(),
    type: 'app-focus' as const,
    source: 'appFocus',
    app,
    detail: { intervalSec: 120, ...(bundleId === undefined ? {} : { bundleId }) },
  }));
}

function commits(day: string, repo: string, count: number): SenseEvent[] {
  return Array.from({ length: count }, (_, i) => ({
    ts: `${day}T09:${String(i + 10)}:00.000Z`,
    type: 'git-commit' as const,
    source: 'git',
    repo,
    detail: { sha: `${repo}${i}` },
  }));
}

const session = (day: string, id: string): SenseEvent => ({
  ts: `${day}T10:00:00.000Z`,
  type: 'agent-session',
  source: 'agentSession',
  detail: { session: id, events: 4 },
});

function record(date: string, events: SenseEvent[], final = false): DailyRecord {
  return buildDailyRecord(date, events, {
    timezone: 'Europe/Paris',
    pollIntervalSec: 120,
    classify: makeClassifier('templates'),
    version: '1.0.0',
    generatedAt: '2026-11-20T17:30:00.000Z',
    final,
  });
}

const DAY = '2026-11-20';
const full = record(DAY, [
  ...use(DAY, 8, 'Ghostty', 8),
  ...use(DAY, 8.5, 'Firefox', 20),
  ...use(DAY, 9, 'Ghostty', 56),
  ...use(DAY, 10, 'VS Code', 60),
  ...use(DAY, 11, 'Ghostty', 38),
  ...use(DAY, 12.5, '微信 の アプリ 🎉', 30),
  ...use(DAY, 13, 'Firefox', 46),
  ...use(DAY, 14, 'Ghostty', 44),
  ...use(DAY, 15, 'Slack', 14),
  ...use(DAY, 15.5, 'Finder', 12),
  ...use(DAY, 16, 'A very long name of an application that nobody has', 16),
  ...use(DAY, 16.5, 'Zoom', 6),
  ...use(DAY, 17, '\u001b[31mred\u001b[0m | <b>`x`', 4),
  ...commits(DAY, 'steward', 6),
  ...commits(DAY, 'notes', 3),
  ...['s1', 's2', 's3'].map((id) => session(DAY, id)),
]);
const empty = record(DAY, []);
const final = record(
  '2026-11-19',
  [...use('2026-11-19', 9, 'Code', 60), ...commits('2026-11-19', 'a', 1)],
  true,
);

const notSeen: NotSeen = { idleMinutes: 72, sources: [] };
const unsupported: NotSeen = {
  idleMinutes: 0,
  sources: [
    {
      label: 'Front application',
      reason:
        'GNOME hides the front window from other programs. Install the extension Focused Window D-Bus, or set sources.appFocus to false.',
    },
  ],
};

const sources: SourceStatus[] = [
  {
    id: 'appFocus',
    label: 'Front application',
    description: 'The frontmost application: its name and id, never a title.',
    enabled: true,
    state: 'unsupported',
    reason: unsupported.sources[0]!.reason,
    pollIntervalSec: 120,
    eventsToday: 0,
    lastEventTs: null,
  },
  {
    id: 'git',
    label: 'Git',
    description: 'Commits in the local branches of the repositories you name.',
    enabled: true,
    state: 'ok',
    pollIntervalSec: 120,
    eventsToday: 212,
    lastEventTs: '2026-11-20T08:42:00.000Z',
  },
  {
    id: 'agentSession',
    label: 'Assistant sessions',
    description: 'Sessions of your assistant.',
    enabled: false,
    state: 'off',
    pollIntervalSec: 120,
    eventsToday: 0,
    lastEventTs: '2026-11-18T16:20:00.000Z',
  },
];
const status: SenseStatus = {
  enabled: true,
  version: '1.0.0',
  pollIntervalSec: 120,
  repos: ['/home/ann/src/site'],
  retentionDays: 30,
  eventsToday: 212,
  lastCaptureTs: '2026-11-20T08:42:00.000Z',
  lastRecord: '2026-11-19',
  damagedDays: [],
  lostDays: [],
  quarantined: 1,
  clockJumps: [],
  sources,
  scheduler: { kind: 'systemd', installed: false },
};
const now = Date.parse('2026-11-20T12:00:00Z');
const timezone = 'Europe/Paris';

const lines = (text: string): string[] => text.split('\n');
const widest = (text: string): number => Math.max(...lines(text).map(displayWidth));

describe('sense: views', () => {
  for (const columns of [40, 80, 120]) {
    it(`draws a day in ${columns} columns`, () => {
      const text = recordText(full, { columns, color: false, notSeen, waiting: 1 });
      expect(widest(text)).to.be.at.most(columns);
      golden(`today-${columns}`, text);
    });
  }

  it('draws a day in colour, with the same text', () => {
    const plain = recordText(full, { columns: 80, color: false, notSeen, waiting: 1 });
    const colored = recordText(full, { columns: 80, color: true, notSeen, waiting: 1 });
    golden('today-colour', colored);
    const bare = lines(colored.replace(/\u001b\[\d+m/g, '')).map((line) => line.trimEnd());
    expect(bare.join('\n')).to.equal(plain);
  });

  it('draws a day in ASCII', () => {
    const day = record(DAY, [...use(DAY, 9, 'Code', 42), ...use(DAY, 10, 'Slack', 8)]);
    const drawn = recordText(day, { columns: 80, color: false, notSeen });
    const text = shownOn({ columns: 80, unicode: false }, drawn);
    expect(text).to.match(/^[\x20-\x7e\n]*$/);
    golden('today-ascii', text);
  });

  it('shows repositories of sessions and waiting ones, as space permits', () => {
    const sessionRepos = [
      { repo: 'web', sessions: 2 },
      { repo: 'api', sessions: 1 },
    ];
    const text = (columns: number, waiting: number): string =>
      recordText(full, { columns, color: false, notSeen, waiting, sessionRepos });
    expect(text(80, 0)).to.match(/sessions \d+ +web 2 · api 1$/m);
    expect(text(80, 1)).to.match(/sessions \d+ +1 waiting for you$/m);
    expect(text(120, 1)).to.match(/sessions \d+ +web 2 · api 1 · 1 waiting for you$/m);
  });

  it('explains an empty day', () => {
    golden('empty', recordText(empty, { columns: 80, color: false, notSeen }));
    golden('empty-unscheduled', recordText(empty, { columns: 80, color: false, notSeen: unsupported }));
    const over = recordText({ ...empty, final: true }, { columns: 80, color: false, notSeen });
    expect(lines(over).slice(0, 2)).to.deep.equal([
      'Fri 20 Nov 2026 · Europe/Paris',
      'Nothing was captured on this day.',
    ]);
  });

  it('shows commits of a day without application time', () => {
    const text = recordText(record(DAY, commits(DAY, 'steward', 2)), { columns: 80, color: false, notSeen });
    golden('commits-only', text);
  });

  it('shows a past day with commits only as not recorded', () => {
    const past = { columns: 80, color: false, notSeen: { idleMinutes: 0, sources: [] } };
    const text = recordText(record(DAY, commits(DAY, 'steward', 2), true), past);
    golden('commits-only-past', text);
    expect(text)
      .to.include('application time (not recorded)')
      .and.not.match(/\b0 m\b/);
    expect(recordText(final, past)).not.to.include('not recorded');
    expect(recordText({ ...empty, final: true }, past)).not.to.include('not recorded');
  });

  it('shows reasons in full at any width', () => {
    for (const columns of [32, 40, 80]) {
      const text = recordText(full, { columns, color: false, notSeen: unsupported });
      expect(
        lines(text)
          .map((line) => line.trim())
          .join(' '),
      ).to.include(
        `not tracked: Front application (${unsupported.sources[0]!.reason}) · browser sites (none reported)`,
      );
    }
  });

  long('fits any day into its columns', () => {
    const app = fc.record({
      hour: fc.integer({ min: 0, max: 23 }),
      app: fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.constantFrom('Code', 'Firefox', '微信', '👩‍👩‍👧', 'e\u0301'),
      ),
      minutes: fc.integer({ min: 0, max: 60 }),
    });
    fc.assert(
      fc.property(
        fc.array(app, { maxLength: 12 }),
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 1, max: 220 }),
        fc.boolean(),
        (used, count, columns, color) => {
          const events = used.flatMap((u) => use(DAY, u.hour, u.app, u.minutes - (u.minutes % 2)));
          const day = record(DAY, [...events, ...commits(DAY, 'répo 📦', count)]);
          const sessionRepos = used.map(({ app: repo }, sessions) => ({ repo, sessions }));
          const options = { color, notSeen, waiting: count, sessionRepos };
          const text = recordText(day, { ...options, columns });
          expect(widest(text)).to.be.at.most(Math.max(32, columns));
          expect(lines(text).length).to.be.at.least(
            lines(recordText(day, { ...options, columns: columns + 40 })).length,
          );
          expect(widest(recentText([day, final], { columns, color }))).to.be.at.most(Math.max(32, columns));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('cleans all names', () => {
    const evil = 'a\u001b]0;title\u0007b\u202ec\u009b31m\n\r\tZ';
    const day = record(DAY, [...use(DAY, 9, evil, 4), ...commits(DAY, evil, 1), session(DAY, evil)]);
    const texts = [
      recordText(day, {
        columns: 80,
        color: false,
        notSeen: { idleMinutes: 0, sources: [{ label: evil, reason: evil }] },
      }),
      recordMarkdown(day),
      sourcesText([{ ...sources[0]!, id: evil, description: evil, reason: evil }], {
        columns: 80,
        color: false,
        timezone,
        now,
      }),
      statusText(
        { ...status, scheduler: { kind: evil, installed: false } },
        { columns: 80, color: false, timezone, now },
      ),
    ];
    for (const text of texts)
      expect(text).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it('passes no judgement', () => {
    const text = [
      recordText(full, { columns: 80, color: false, notSeen }),
      recordMarkdown(full),
      recentText([full], { columns: 80, color: false }),
    ].join('\n');
    expect(text).not.to.match(/score|streak|goal[^T]|well done|great|good|bad|wasted|productiv/i);
  });

  it('writes the day as Markdown', () => {
    const page = recordMarkdown(full);
    golden('day.md', page.trimEnd());
    const front = parse(/^---\n([\s\S]*?)\n---\n/.exec(page)![1]!) as Record<string, unknown>;
    const { apps, hours, commits: repos, sessions, ledger, ...rest } = full;
    expect(front).to.deep.equal({ ...rest, commits: repos.count, sessions: sessions.count });
    expect(ledger, 'in the JSON file only').to.be.an('object');
    for (const { minutes } of apps) expect(page).to.include(` ${minutes.toFixed(1)} |`);
    for (const { start, creation } of hours.slice(8, 18)) {
      expect(page).to.include(`| ${start.slice(11, 16)} | ${creation.toFixed(1)} |`);
    }
    golden('empty.md', recordMarkdown({ ...empty, final: true }).trimEnd());
  });

  it('distinguishes the repeated hour in Markdown', () => {
    const day = '2026-10-25';
    const page = recordMarkdown(
      record(day, [...use(day, 1, 'Code', 2), ...use(day, 2, 'Code', 2)].slice(0, 2), true),
    );
    expect(page).to.include('| 02:00 (+02:00) | 2.0 |').and.to.include('| 02:00 (+01:00) | 2.0 |');
  });

  for (const columns of [40, 80]) {
    it(`shows sources, status and recent days in ${columns} columns`, () => {
      const options = { columns, color: false, timezone, now };
      const text = [
        sourcesText(sources, options),
        statusText(status, options),
        statusText(
          {
            ...status,
            enabled: false,
            quarantined: 0,
            scheduler: null,
            lastCaptureTs: null,
            lastRecord: null,
            damagedDays: [],
            lostDays: [],
            sources: [],
          },
          options,
        ),
        recentText([full, final], options),
        recentText([], options),
      ].join('\n\n');
      expect(widest(text)).to.be.at.most(columns);
      golden(`status-${columns}`, text);
    });
  }

  it('highlights states that need attention', () => {
    const text = sourcesText(sources, { columns: 80, color: true, timezone, now });
    expect(text).to.include('\u001b[35munsupported\u001b[39m').and.to.include('\u001b[90moff\u001b[39m');
    expect(text).to.match(/git\s+ok /);
  });

  it('shows each kind in words, not by colour alone', () => {
    const text = recordText(full, { columns: 40, color: false, notSeen });
    for (const kind of APP_KINDS) expect(text).to.match(new RegExp(`\\d m  .*${kind}`));
  });
});
