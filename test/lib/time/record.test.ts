import { expect } from 'chai';
import fc from 'fast-check';

import { addDays, dayBounds, hourStarts } from '../../../src/lib/platform/time/time';
import { makeClassifier } from '../../../src/lib/time/classify';
import type { SenseEvent } from '../../../src/lib/time/event';
import {
  asRecord,
  boundsOf,
  isEmptyRecord,
  parseRecord,
  recordDocument,
  recordTally,
  type DailyRecord,
} from '../../../src/lib/time/record';
import { MAX_HOURS } from '../../../src/lib/time/ledger/model';
import { buildDailyRecord } from '../../helpers/sense';
import { long } from '../../helpers/long';

type RecordOptions = Parameters<typeof buildDailyRecord>[2];

const DAY = '2026-11-20';
const options: RecordOptions = {
  timezone: 'Europe/Paris',
  pollIntervalSec: 120,
  classify: makeClassifier('templates'),
  version: '1.0.0',
  generatedAt: '2026-11-21T06:00:00.000Z',
  final: true,
};

function focus(ts: string, app: string, detail?: Record<string, unknown>): SenseEvent {
  return { ts, type: 'app-focus', source: 'appFocus', app, ...(detail === undefined ? {} : { detail }) };
}

function commit(ts: string, repo: string, detail: Record<string, unknown>): SenseEvent {
  return { ts, type: 'git-commit', source: 'git', repo, detail };
}

function session(ts: string, detail: Record<string, unknown>): SenseEvent {
  return { ts, type: 'agent-session', source: 'agentSession', detail };
}

const build = (events: readonly SenseEvent[], more: Partial<RecordOptions> = {}, day = DAY): DailyRecord =>
  buildDailyRecord(day, events, { ...options, ...more });

const tenths = (minutes: number): number => Math.round(minutes * 10);
const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + tenths(value), 0);

/** Whatever is rounded has to add up, in every direction. */
function expectSums(record: DailyRecord): void {
  const kinds = ['creation', 'consumption', 'neutral'] as const;
  const of = {
    creation: record.creationMinutes,
    consumption: record.consumptionMinutes,
    neutral: record.neutralMinutes,
  };
  expect(total(Object.values(of))).to.equal(tenths(record.totalMinutes));
  for (const kind of kinds) {
    const apps = record.apps.filter((app) => app.kind === kind).map(({ minutes }) => minutes);
    expect(total(apps), `${kind} by app`).to.equal(tenths(of[kind]));
    expect(total(record.hours.map((hour) => hour[kind])), `${kind} by hour`).to.equal(tenths(of[kind]));
  }
  const figures = [
    ...record.apps.map(({ minutes }) => minutes),
    ...record.hours.flatMap((h) => kinds.map((k) => h[k])),
  ];
  for (const minutes of figures) {
    expect(minutes).to.be.at.least(0);
    expect(minutes).to.equal(tenths(minutes) / 10);
  }
}

const zones = fc.constantFrom(
  'UTC',
  'Europe/Paris',
  'America/New_York',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/St_Johns',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Africa/Cairo',
  'America/Santiago',
);
const days = fc.integer({ min: 0, max: 3 * 366 }).map((n) => addDays('2024-01-01', n));

const anyInterval = fc.oneof(
  fc.double(),
  fc.integer({ min: 0, max: 4000 }),
  fc.constantFrom(undefined, null, '120', -5, NaN, Infinity),
);
const appName = fc.oneof(
  fc.constantFrom('Firefox', 'firefox', 'Code', 'Ghostty', 'Slack', 'Finder', '__proto__', ''),
  fc.string(),
);
const text = fc.option(fc.constantFrom('a', 'b', 'com.apple.Preview'), { nil: undefined });

function eventsAround(startMs: number): fc.Arbitrary<SenseEvent[]> {
  const ts = fc
    .integer({ min: -7_200_000, max: 97_200_000 })
    .map((ms) => new Date(startMs + ms).toISOString());
  return fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .record({ ts, app: appName, intervalSec: anyInterval, bundleId: text, machine: text })
          .map(({ ts: at, app, ...detail }) => focus(at, app, detail)),
      },
      fc
        .record({ ts, sha: text, path: text, authoredAt: fc.option(ts, { nil: undefined }), subject: text })
        .map(({ ts: at, ...detail }) => commit(at, 'repo', detail)),
      fc
        .record({ ts, session: text, events: anyInterval })
        .map(({ ts: at, ...detail }) => session(at, detail)),
    ),
    { maxLength: 60 },
  );
}

const anyDay = fc
  .record({ zone: zones, day: days })
  .chain(({ zone, day }) =>
    eventsAround(dayBounds(day, zone).startMs).map((events) => ({ zone, day, events })),
  );

describe('sense: daily record', () => {
  it('has the documented shape', () => {
    const events = [
      focus('2026-11-20T08:00:00.000Z', 'Ghostty', { intervalSec: 120, bundleId: 'com.mitchellh.ghostty' }),
      focus('2026-11-20T08:02:00.000Z', 'Ghostty', { intervalSec: 45 }),
      focus('2026-11-20T09:59:59.999Z', 'Firefox'),
      focus('2026-11-20T22:59:59.999Z', 'Some game'),
      commit('2026-11-20T09:00:00.000Z', 'steward', { sha: 'aa', path: '/home/ann/steward' }),
      session('2026-11-20T09:10:00.000Z', { session: 's1', events: 3 }),
    ];
    const { hours, ledger, ...rest } = build(events);
    expect(rest).to.deep.equal({
      date: DAY,
      timezone: 'Europe/Paris',
      version: '1.0.0',
      generatedAt: '2026-11-21T06:00:00.000Z',
      final: true,
      totalMinutes: 6.8,
      creationMinutes: 2.8,
      consumptionMinutes: 2,
      neutralMinutes: 2,
      apps: [
        { app: 'Ghostty', kind: 'creation', minutes: 2.8 },
        { app: 'Firefox', kind: 'consumption', minutes: 2 },
        { app: 'Some game', kind: 'neutral', minutes: 2 },
      ],
      commits: { count: 1, repos: [{ repo: 'steward', commits: 1 }] },
      sessions: { count: 1, items: [{ session: 's1', events: 3 }] },
      narrative: null,
      goalTags: {},
    });
    expect(Object.keys(build([]))).to.deep.equal([
      'date',
      'timezone',
      'version',
      'generatedAt',
      'final',
      'totalMinutes',
      'creationMinutes',
      'consumptionMinutes',
      'neutralMinutes',
      'apps',
      'hours',
      'commits',
      'sessions',
      'ledger',
      'narrative',
      'goalTags',
    ]);
    expect(Object.keys(ledger ?? {})).to.deep.equal([
      ...['attention', 'agents', 'apps', 'cells', 'heldUpMinutes', 'answers', 'parallel'],
    ]);
    expect(hours).to.have.length(24);
    expect(hours[9]).to.deep.equal({
      start: '2026-11-20T09:00:00+01:00',
      creation: 2.8,
      consumption: 0,
      neutral: 0,
    });
    expect(hours[10]).to.include({ start: '2026-11-20T10:00:00+01:00', consumption: 2 });
    expect(hours[23]).to.include({ start: '2026-11-20T23:00:00+01:00', neutral: 2 });
  });

  long('is the same for any order of events', () => {
    fc.assert(
      fc.property(
        anyDay.chain((input) =>
          fc
            .shuffledSubarray(input.events, { minLength: input.events.length })
            .map((shuffled) => ({ ...input, shuffled })),
        ),
        ({ zone, day, events, shuffled }) => {
          const more = { timezone: zone };
          expect(JSON.stringify(build(shuffled, more, day))).to.equal(
            JSON.stringify(build(events, more, day)),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  long('is a pure function', () => {
    const frozen = <T extends object>(value: T): T => {
      for (const part of Object.values(value))
        if (typeof part === 'object' && part !== null) frozen(part as object);
      return Object.freeze(value);
    };
    fc.assert(
      fc.property(anyDay, ({ zone, day, events }) => {
        const input = frozen(events);
        const first = JSON.stringify(build(input, { timezone: zone }, day));
        const { now } = Date;
        Date.now = () => 0;
        try {
          expect(JSON.stringify(build(input, { timezone: zone }, day))).to.equal(first);
        } finally {
          Date.now = now;
        }
      }),
      { numRuns: 50 },
    );
  });

  long('adds up for any day and time zone', () => {
    fc.assert(
      fc.property(anyDay, ({ zone, day, events }) => {
        const record = build(events, { timezone: zone }, day);
        expectSums(record);
        expect(record.hours.length).to.be.at.least(hourStarts(day, zone).length);
        expect(record.commits.count).to.equal(
          record.commits.repos.reduce((sum, row) => sum + row.commits, 0),
        );
        expect(record.sessions.count).to.equal(record.sessions.items.length);
      }),
      { numRuns: 60 },
    );
  });

  it('gives each hour a distinct start', () => {
    fc.assert(
      fc.property(zones, days, (timezone, day) => {
        const starts = build([], { timezone }, day).hours.map(({ start }) => start);
        expect(starts.map((start) => Date.parse(start))).to.deep.equal(hourStarts(day, timezone));
        for (const start of starts) expect(start.slice(0, 10)).to.equal(day);
      }),
      { numRuns: 80 },
    );
  });

  it('has 25 hours when the clock goes back, with a distinct repeated hour', () => {
    const events = [focus('2026-10-25T00:30:00Z', 'Code'), focus('2026-10-25T01:30:00Z', 'Firefox')];
    const { hours } = build(events, {}, '2026-10-25');
    expect(hours).to.have.length(25);
    expect(hours.slice(2, 4)).to.deep.equal([
      { start: '2026-10-25T02:00:00+02:00', creation: 2, consumption: 0, neutral: 0 },
      { start: '2026-10-25T02:00:00+01:00', creation: 0, consumption: 2, neutral: 0 },
    ]);
  });

  it('has 23 hours when the clock goes forward', () => {
    const { hours } = build([focus('2026-03-29T01:00:00Z', 'Code')], {}, '2026-03-29');
    expect(hours.map(({ start }) => start.slice(11, 13)).slice(0, 4)).to.deep.equal(['00', '01', '03', '04']);
    expect(hours[2]).to.include({ start: '2026-03-29T03:00:00+02:00', creation: 2 });
    expect(hours).to.have.length(23);
  });

  it('counts an event in its local hour', () => {
    const hourOf = (ts: string, more: Partial<RecordOptions> = {}): string | undefined =>
      build([focus(ts, 'Code')], more).hours.find(({ creation }) => creation > 0)?.start;
    expect(hourOf('2026-11-20T08:30:00Z')).to.equal('2026-11-20T09:00:00+01:00');
    expect(hourOf('2026-11-20T08:30:00Z', { timezone: 'America/New_York' })).to.match(/T03:00:00-05:00$/);
    expect(hourOf('2026-11-20T11:59:00+03:00'), 'an offset is read').to.match(/T09:/);
    expect(hourOf('2026-11-19T22:59:59.999Z'), 'before the day').to.equal('2026-11-19T23:00:00+01:00');
    expect(hourOf('2026-11-19T23:00:00Z'), 'its first instant').to.match(/T00:/);
    expect(hourOf('2026-11-20T22:59:59.999Z'), 'its last instant').to.match(/T23:/);
  });

  it('adds hours after a flight west', () => {
    // 23:30 in Los Angeles is 08:30 of the next day in Paris.
    const record = build([focus('2026-11-21T07:30:00Z', 'Code')]);
    expect(record.totalMinutes).to.equal(2);
    expect(record.hours).to.have.length(33);
    expect(record.hours.at(-1)).to.deep.equal({
      start: '2026-11-21T08:00:00+01:00',
      creation: 2,
      consumption: 0,
      neutral: 0,
    });
    expectSums(record);
    const committed = commit('2026-11-21T07:30:00Z', 'app', { sha: 'a', path: '/app' });
    expect(build([committed]).commits.count).to.equal(1);
    expect(build([session('2026-11-21T07:30:00Z', { session: 's', events: 3 })]).sessions.count).to.equal(1);
  });

  it('ignores events of another date', () => {
    const minutes = (ts: string): number => build([focus(ts, 'Code')]).totalMinutes;
    expect(minutes('2026-11-19T09:59:59.999Z')).to.equal(0);
    expect(minutes('2026-11-19T10:00:00Z'), 'midnight on Kiritimati').to.equal(2);
    expect(minutes('2026-11-21T11:59:59.999Z'), '12 hours behind UTC').to.equal(2);
    expect(minutes('2026-11-21T12:00:00Z')).to.equal(0);
  });

  it('counts an event by its interval, else by the poll interval', () => {
    const minutes = (intervalSec: unknown): number =>
      build([focus('2026-11-20T09:00:00Z', 'Code', { intervalSec })]).totalMinutes;
    expect(minutes(60)).to.equal(1);
    expect(minutes(0)).to.equal(0);
    expect(minutes(300)).to.equal(5);
    for (const nonsense of [undefined, null, NaN, Infinity, -1, '60', {}]) {
      expect(minutes(nonsense), String(nonsense)).to.equal(2);
    }
    expect(minutes(1e9), 'at most the longest poll interval there is').to.equal(60);
    expect(build([focus('2026-11-20T09:00:00Z', 'Code')], { pollIntervalSec: 30 }).totalMinutes).to.equal(
      0.5,
    );
  });

  it('rounds by largest remainder', () => {
    // 3 × 10 s are 5 tenths; each alone would be 1.67.
    const events = ['A', 'B', 'C'].map((app, i) =>
      focus(`2026-11-20T0${i + 7}:00:00Z`, app, { intervalSec: 10 }),
    );
    const record = build(events);
    expect(record.totalMinutes).to.equal(0.5);
    expect(record.apps).to.deep.equal([
      { app: 'A', kind: 'neutral', minutes: 0.2 },
      { app: 'B', kind: 'neutral', minutes: 0.2 },
      { app: 'C', kind: 'neutral', minutes: 0.1 },
    ]);
    expectSums(record);
  });

  it('counts a repeated line once, and the same time on two machines once', () => {
    const event = focus('2026-11-20T09:00:00.000Z', 'Code', { machine: 'm1', intervalSec: 60 });
    const other = focus('2026-11-20T09:00:00Z', 'Code', { machine: 'm2', intervalSec: 60 });
    expect(build([event, { ...event }]).totalMinutes).to.equal(1);
    expect(build([event, other]).totalMinutes).to.equal(1);
    expect(build([event, { ...event, app: 'Slack' }]).totalMinutes).to.equal(2);
    const longer = { ...event, detail: { ...event.detail, intervalSec: 90 } };
    expect(build([longer, event]).totalMinutes).to.equal(1.5);
    const work = session('2026-11-20T09:00:00Z', { session: 's', events: 2 });
    expect(build([work, { ...work }]).sessions.items).to.deep.equal([{ session: 's', events: 2 }]);
  });

  it('joins spellings of a name, and splits a name of two kinds', () => {
    const record = build([
      focus('2026-11-20T09:00:00Z', 'ghostty'),
      focus('2026-11-20T09:02:00Z', 'Ghostty'),
      focus('2026-11-20T09:04:00Z', 'Ghostty'),
      focus('2026-11-20T10:00:00Z', 'Viewer', { bundleId: 'com.apple.Preview' }),
      focus('2026-11-20T10:02:00Z', 'Viewer', { bundleId: 'org.example.viewer' }),
    ]);
    expect(record.apps).to.deep.equal([
      { app: 'Ghostty', kind: 'creation', minutes: 6 },
      { app: 'Viewer', kind: 'consumption', minutes: 2 },
      { app: 'Viewer', kind: 'neutral', minutes: 2 },
    ]);
  });

  it('shows events without an application as unknown', () => {
    const event: SenseEvent = { ts: '2026-11-20T09:00:00Z', type: 'app-focus', source: 'appFocus' };
    expect(build([event]).apps).to.deep.equal([{ app: 'unknown', kind: 'neutral', minutes: 2 }]);
  });

  it('counts distinct commits by repository', () => {
    const at = (minute: number): string => `2026-11-20T09:${String(minute).padStart(2, '0')}:00.000Z`;
    const record = build([
      commit(at(0), 'steward', { sha: 'a1', path: '/w/steward' }),
      commit(at(0), 'steward', { sha: 'a1', path: '/w/steward' }),
      commit(at(0), 'steward', { sha: 'a2', path: '/w/steward', identity: 'one' }),
      commit(at(9), 'steward', { sha: 'b2', path: '/w/steward', identity: 'one' }),
      commit(at(9), 'steward', { sha: 'b3', path: '/w/steward', identity: 'two' }),
      commit(at(1), 'notes', { sha: 'a1', path: '/w/notes' }),
      commit(at(1), 'api', { sha: 'a1', path: '/home/api' }),
      commit(at(1), 'api', { sha: 'a1', path: '/work/api' }),
      commit(at(2), 'api', { sha: 'a2', path: '/work/api' }),
    ]);
    expect(record.commits).to.deep.equal({
      count: 7,
      repos: [
        { repo: 'steward', commits: 3 },
        { repo: 'work/api', commits: 2 },
        { repo: 'home/api', commits: 1 },
        { repo: 'notes', commits: 1 },
      ],
    });
  });

  it('counts a commit once if several machines have it at different paths', () => {
    const ts = '2026-11-20T09:00:00.000Z';
    const on = (machine: string, path: string, identity: string): SenseEvent =>
      commit(ts, 'api', { sha: machine, path, identity, machine });
    const events = [
      on('laptop', '/home/ann/api', 'one'),
      on('server', '/srv/api', 'one'),
      on('server', '/srv/api', 'two'),
      on('laptop', '/home/ann/old/api', 'three'),
    ];
    for (const order of [events, [...events].reverse()])
      expect(build(order).commits).to.deep.equal({
        count: 3,
        repos: [
          { repo: 'ann/api', commits: 2 },
          { repo: 'old/api', commits: 1 },
        ],
      });
  });

  it('counts distinct sessions and their events', () => {
    const polls = Array.from({ length: 60 }, (_, i) =>
      session(`2026-11-20T09:${String(i).padStart(2, '0')}:00Z`, {
        session: i % 3 === 0 ? 'b' : 'a',
        events: 2,
      }),
    );
    const record = build([
      ...polls,
      session('2026-11-20T11:00:00Z', {}),
      session('2026-11-20T11:00:00Z', { session: 'c' }),
    ]);
    expect(record.sessions).to.deep.equal({
      count: 3,
      items: [
        { session: 'a', events: 80 },
        { session: 'b', events: 40 },
        { session: 'c', events: 1 },
      ],
    });
  });

  it('is empty for a day without events, or that its time zone skipped', () => {
    expect(build([])).to.deep.include({
      totalMinutes: 0,
      apps: [],
      commits: { count: 0, repos: [] },
      sessions: { count: 0, items: [] },
    });
    expect(build([], { timezone: 'Pacific/Apia' }, '2011-12-30').hours).to.deep.equal([]);
  });
});

describe('sense: what a record is for', () => {
  const at = (minute: number): string => new Date(Date.parse(`${DAY}T09:00:00Z`) + minute * 60_000).toISOString();
  const used = focus(at(2), 'Code');

  it('is read back as it was stored, and refused if it is impossible', () => {
    const record = build([used, commit(at(1), 'shop', { sha: 'a' })]);
    const [hour] = record.hours as [DailyRecord['hours'][0]];
    const near = (start: string) => ({ ...record, hours: [{ ...hour, start }] });
    const many = (length: number) => ({ ...record, hours: Array.from({ length }, () => hour) });
    expect(parseRecord(JSON.stringify(record))).to.deep.equal(record);
    for (const good of [near('2026-11-22T23:59:00Z'), near('2026-11-17T00:01:00Z'), many(MAX_HOURS)])
      expect(asRecord(good)).to.equal(good);
    const bad = [
      ...[undefined, {}, { ...record, totalMinutes: -1 }, { ...record, date: '2026-02-30' }],
      ...[{ ...record, timezone: 'Mars/Base' }, many(MAX_HOURS + 1)],
      ...[near('2026-11-23T00:00:00Z'), near('2026-11-17T00:00:00Z'), near('now')],
      { ...record, hours: [...record.hours, { ...hour, start: '2026-12-01T00:00:00Z' }] },
    ];
    for (const value of bad) expect(asRecord(value), JSON.stringify(value)?.slice(0, 80)).to.equal(undefined);
  });

  it('is bounded by its day, and by hours outside it', () => {
    const own = dayBounds(DAY, 'UTC');
    const hours = (...starts: string[]) => ({
      ...{ date: DAY, timezone: 'UTC' },
      hours: starts.map((start) => ({ start, creation: 0, consumption: 0, neutral: 0 })),
    });
    expect(boundsOf(build([used], { timezone: 'UTC' }))).to.deep.equal(own);
    expect(boundsOf(hours())).to.deep.equal(own);
    expect(boundsOf(hours('2026-11-20T05:00:00Z', '2026-11-20T06:00:00Z'))).to.deep.equal(own);
    expect(boundsOf(hours('2026-11-19T22:00:00Z', '2026-11-20T23:00:00Z'))).to.deep.equal({
      ...own,
      startMs: own.startMs - 2 * 3_600_000,
    });
    expect(boundsOf(hours('2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'))).to.deep.equal({
      ...own,
      endMs: own.endMs + 3_600_000,
    });
  });

  it('is empty without time, commits and sessions', () => {
    expect(isEmptyRecord(build([]))).to.equal(true);
    for (const event of [used, commit(at(1), 'shop', { sha: 'a' }), session(at(1), { session: 's' })])
      expect(isEmptyRecord(build([event])), event.type).to.equal(false);
  });

  it('says that its time is not known if nothing was captured that day', () => {
    const made = commit(at(1), 'shop', { sha: 'a', backfilled: true });
    const seen = commit(at(2), 'shop', { sha: 'b' });
    expect(build([made]).backfilled).to.equal(true);
    expect(build([], { isUncaptured: true }).backfilled).to.equal(true);
    for (const record of [build([]), build([seen]), build([made, seen]), build([seen], { isUncaptured: true })])
      expect(record).not.to.have.property('backfilled');
    expect(recordDocument(build([made]))).to.deep.include({
      ...{ date: DAY, totalMinutes: null, creationMinutes: null, consumptionMinutes: null, neutralMinutes: null },
      commits: { count: 1, repos: [{ repo: 'shop', commits: 1 }] },
    });
    const known = build([used]);
    expect(recordDocument(known)).to.equal(known);
  });

  it('has agents only where they are recorded', () => {
    const tally = recordTally(DAY, options);
    const [began, ended] = ['working', 'over'].map((state, index) => ({
      ...session(at(9 + index), { session: 's', state }),
      type: 'session-state' as const,
    }));
    for (const event of [used, began, ended]) if (event) tally.add(event, Date.parse(event.ts));
    expect(tally.result(options).ledger.agents).to.have.length(1);
    expect(tally.result(options, false).ledger.agents).to.deep.equal([]);
  });

  it('counts sessions by repository, most first', () => {
    const tally = recordTally(DAY, options);
    const add = (repo: string | undefined, id: string): void => {
      const event = { ...session(at(1), { session: id }), ...(repo === undefined ? {} : { repo }) };
      tally.add(event, Date.parse(event.ts));
    };
    for (const [repo, id] of [['b', '1'], ['c', '2'], ['a', '3'], ['c', '4'], ['c', '2'], [undefined, '5']] as const)
      add(repo, id);
    expect(tally.sessionRepos()).to.deep.equal([
      { repo: 'c', sessions: 2 },
      { repo: 'a', sessions: 1 },
      { repo: 'b', sessions: 1 },
    ]);
  });

  it('counts a session of odd numbers of events as one, and one of two machines twice', () => {
    const events = [-1, 1.5, '7', null, Infinity].map((count, index) =>
      session(at(index), { session: `s${index}`, events: count }),
    );
    expect(build(events).sessions.items.map((item) => item.events)).to.deep.equal([1, 1, 1, 1, 1]);
    const shared = ['', 'x', 'x'].map((machine) => session(at(1), { session: 's', events: 0, machine }));
    expect(build(shared).sessions.items).to.deep.equal([{ session: 's', events: 0 }]);
    const twice = ['x', 'y'].map((machine) => session(at(1), { session: 's', events: 3, machine }));
    expect(build(twice).sessions.items).to.deep.equal([{ session: 's', events: 6 }]);
    expect(build([{ ts: at(1), type: 'agent-session', source: 'agentSession' }]).sessions.count).to.equal(0);
  });

  it('names repositories apart by where they are', () => {
    const { commits } = build([
      commit(at(1), 'api', { sha: 'a', path: '/home//api/' }),
      commit(at(2), 'api', { sha: 'b', path: '/work/api', machine: 'x' }),
      commit(at(3), 'api', { sha: 'c', path: '/work/api', machine: 'y' }),
      commit(at(3), 'api', { sha: 'd', path: '/other/api', machine: 'y' }),
      { ts: at(4), type: 'git-commit', source: 'git' },
    ]);
    expect(commits).to.deep.equal({
      count: 5,
      repos: [
        { repo: 'home/api', commits: 2 },
        { repo: 'work/api', commits: 2 },
        { repo: 'unknown', commits: 1 },
      ],
    });
  });
}); // prettier-ignore
