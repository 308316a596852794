import { expect } from 'chai';
import fc from 'fast-check';

import { toIso } from '../../../../src/lib/platform/time/clock';
import { dayBounds } from '../../../../src/lib/platform/time/time';
import { makeClassifier } from '../../../../src/lib/time/classify';
import type { SenseEvent } from '../../../../src/lib/time/event';
import { joinAnswers } from '../../../../src/lib/time/ledger/cells';
import { AGENT_STATES, minutesIn, PLACES, type DayLedger } from '../../../../src/lib/time/ledger/model';
import { overlapping, within, without } from '../../../../src/lib/time/ledger/spans';
import { frontOf, timelineTally } from '../../../../src/lib/time/ledger/timeline';
import type { DailyRecord } from '../../../../src/lib/time/record';
import { buildDailyRecord } from '../../../helpers/sense';
import { long } from '../../../helpers/long';

const classify = makeClassifier('templates');

function recordOf(events: readonly SenseEvent[], day = '2026-11-20', timezone = 'UTC'): DailyRecord {
  const label = { version: '1', generatedAt: '2026-11-21T00:00:00.000Z', final: true };
  return buildDailyRecord(day, events, { timezone, pollIntervalSec: 120, classify, ...label });
}

function ledgerOf(...args: Parameters<typeof recordOf>): DayLedger {
  const { ledger } = recordOf(...args);
  if (ledger === undefined) throw new Error('no ledger');
  return ledger;
}

const NINE = Date.parse('2026-11-20T09:00:00Z');
const at = (minute: number): string => toIso(NINE + minute * 60_000);

/** A sample of two minutes that ends at a minute after nine. */
function front(minute: number, app = 'Ghostty', detail: object = {}, repo?: string): SenseEvent {
  const event = { ts: at(minute), type: 'app-focus' as const, source: 'appFocus', app };
  return { ...event, ...(repo === undefined ? {} : { repo }), detail: { intervalSec: 120, ...detail } };
}

function state(minute: number, session: string, to: string, more: object = {}, repo = 'shop'): SenseEvent {
  const detail = { session, state: to, ...more };
  return { ts: at(minute), type: 'session-state', source: 'agentSession', repo, detail };
}

const away = (from: number, to: number): SenseEvent => ({
  ts: at(to),
  type: 'away',
  source: 'appFocus',
  detail: { from: at(from), reason: 'idle' },
});

describe('sense: the time ledger', () => {
  it('counts what agents did by where you were', () => {
    const { cells, heldUpMinutes, agents } = ledgerOf([
      state(0, 'a', 'working'),
      ...[2, 4].map((minute) => front(minute, 'Ghostty', { sessions: ['a'] })),
      ...[6, 8, 10].map((minute) => front(minute, 'Firefox')),
      state(7, 'a', 'waiting', { reason: 'permission_prompt' }),
      away(10, 14),
      state(12, 'a', 'working'),
      state(17, 'a', 'ready'),
      state(18, 'a', 'over'),
    ]);
    expect(cells).to.deep.equal({
      working: { front: 4, desk: 3, away: 2, unknown: 3 },
      waiting: { desk: 3, away: 2 },
      ready: { unknown: 1 },
    });
    expect(heldUpMinutes).to.equal(3);
    expect(agents).to.deep.equal([{ session: 'a', assistant: null, repo: 'shop', branch: null, cells }]);
  });

  it('takes a prompt as proof that its session was in front for six seconds', () => {
    const { cells, attention } = ledgerOf([
      state(0, 'a', 'ready'),
      state(1, 'a', 'working', { prompt: true, branch: 'main' }),
      front(2, 'Firefox'),
      state(3, 'a', 'over'),
    ]);
    expect(cells).to.deep.equal({
      working: { desk: 1, unknown: 1 },
      ready: { front: 0.1, desk: 0.9 },
    });
    expect(attention).to.deep.equal([
      { app: 'Firefox', repo: null, branch: null, session: null, assistant: null, minutes: 1.9 },
      { app: 'Firefox', repo: 'shop', branch: 'main', session: 'a', assistant: null, minutes: 0.1 },
    ]);
  });

  it('puts a prompt in a folder that is not watched under other folders', () => {
    const { attention, agents } = ledgerOf([
      state(0, 'a', 'ready', { otherFolder: true, branch: 'secret' }, 'client'),
      state(1, 'a', 'working', { otherFolder: true, branch: 'secret', prompt: true }, 'client'),
      front(2, 'Firefox'),
      front(4, 'Ghostty', { sessions: ['a'] }),
    ]);
    const own = { repo: null, otherFolder: true, branch: null, session: 'a', assistant: null };
    expect(attention).to.deep.include({ ...own, app: 'Firefox', minutes: 0.1 });
    expect(attention).to.deep.include({ ...own, app: 'Ghostty', minutes: 2 });
    expect(agents.map(({ cells: _cells, ...row }) => row)).to.deep.equal([
      { session: 'a', assistant: null, repo: null, otherFolder: true, branch: null },
    ]);
  });

  it('gives your time to the repository, branch and session in front', () => {
    const codex = { sessions: [{ id: 'a', assistant: 'codex' }], branch: 'fix' };
    const { attention } = ledgerOf([
      state(0, 'a', 'working', { branch: 'main' }),
      front(2, 'Ghostty', codex, 'site'),
      front(4, 'Ghostty', { otherFolder: true, sessions: ['a'] }),
      front(6, 'ghostty'),
      front(8, 'Ghostty', { sessions: ['a'] }),
    ]);
    const own = { app: 'Ghostty', branch: null, session: 'a', assistant: null, repo: null, minutes: 2 };
    expect(attention).to.have.deep.members([
      { ...own, repo: 'site', branch: 'fix', assistant: 'codex' },
      { ...own, otherFolder: true },
      { ...own, session: null },
      { ...own, repo: 'shop', branch: 'main' },
    ]);
  });

  it('puts one of two sessions on one terminal in front: the one of the latest prompt that is not over', () => {
    const pane = { sessions: ['a', 'b'] };
    const { agents } = ledgerOf([
      state(0, 'a', 'working', { prompt: true }),
      state(0, 'b', 'ready'),
      front(2, 'Ghostty', pane),
      state(3, 'b', 'working', { prompt: true }),
      front(4, 'Ghostty', pane),
      state(5, 'b', 'over'),
      front(6, 'Ghostty', pane),
      state(6, 'a', 'over'),
    ]);
    const inFront = agents.map(({ session, cells }) => [
      session,
      AGENT_STATES.reduce((sum, each) => sum + Math.round(minutesIn(cells, each, 'front') * 10), 0) / 10,
    ]);
    // Six seconds before its prompt, b was in front.
    expect(Object.fromEntries(inFront)).to.deep.equal({ a: 3.9, b: 2.1 });
  });

  it('does not cover time in which nothing was captured', () => {
    const { cells } = ledgerOf([state(0, 'a', 'working'), front(2), front(240), state(242, 'a', 'over')]);
    expect(cells).to.deep.equal({ working: { desk: 4, unknown: 2 } });
  });

  it('finds spans in a long list without reading the whole list', () => {
    const spans = Array.from({ length: 100_000 }, (_, i): [number, number] => [10 * i, 10 * i + 5]);
    let reads = 0;
    const found = overlapping(spans, [500_003, 500_025], (span) => {
      reads += 1;
      return span;
    });
    expect(found).to.deep.equal([
      [500_000, 500_005],
      [500_010, 500_015],
      [500_020, 500_025],
    ]);
    expect(reads).to.be.below(50);
    expect(within([[500_003, 500_012]], spans)).to.deep.equal([
      [500_003, 500_005],
      [500_010, 500_012],
    ]);
    expect(without([[500_003, 500_012]], spans)).to.deep.equal([[500_005, 500_010]]);
  });

  it('covers a day up to its last event until it is over', () => {
    const events = [state(14 * 60 + 40, 'a', 'working'), front(14 * 60 + 50)];
    expect(ledgerOf(events).cells).to.deep.equal({ working: { desk: 2, unknown: 18 } });
    const options = { timezone: 'UTC', pollIntervalSec: 120, classify, version: '1', generatedAt: '' };
    const open = buildDailyRecord('2026-11-20', events, { ...options, final: false });
    expect(open.ledger?.cells).to.deep.equal({ working: { desk: 2, unknown: 8 } });
  });

  it('counts answers from the beginning of a wait, also on an earlier day', () => {
    const { answers } = ledgerOf([
      state(0, 'a', 'waiting', { since: at(-720) }),
      state(1, 'a', 'working'),
      state(2, 'a', 'waiting'),
      state(5, 'a', 'working'),
      state(6, 'a', 'waiting'),
      state(8, 'a', 'over'),
      state(0, 'b', 'waiting'),
      state(1, 'b', 'waiting', { reason: 'elicitation_dialog' }),
      state(2, 'b', 'ready'),
    ]);
    expect(answers).to.deep.equal({ count: 3, medianMinutes: 3, longestMinutes: 721, times: [2, 3, 721] });
    expect(ledgerOf([]).answers).to.deep.equal({ count: 0, medianMinutes: null, longestMinutes: null });
  });

  it('keeps at most 500 answer times of a day', () => {
    const questions = Array.from({ length: 640 }, (_, i) => [
      state(i, 'a', 'waiting'),
      state(i + (i % 8) / 10 + 0.1, 'a', 'working'),
    ]);
    const { answers } = ledgerOf(questions.flat());
    expect(answers).to.include({ count: 640, medianMinutes: 0.5, longestMinutes: 0.8 });
    expect(answers.times).to.have.length(500);
    const { medianMinutes, longestMinutes } = joinAnswers([answers, answers]);
    expect([medianMinutes, longestMinutes]).to.deep.equal([0.5, 0.8]);
  });

  it('joins the answer times of several days, unless a record lacks them', () => {
    const day = (...times: number[]) => ({
      ...{
        count: times.length,
        medianMinutes: times[0] ?? null,
        longestMinutes: times.at(-1) ?? null,
        times,
      },
    });
    const none = { count: 0, medianMinutes: null, longestMinutes: null };
    expect(joinAnswers([day(1, 2, 9), none, day(3), day(4)])).to.deep.equal({
      ...{ count: 5, medianMinutes: 3, longestMinutes: 9, times: [1, 2, 3, 4, 9] },
    });
    const older = { count: 1, medianMinutes: 5, longestMinutes: 5 };
    expect(joinAnswers([day(1), older]).medianMinutes).to.equal(null);
    expect(joinAnswers([none, older])).to.deep.equal(older);
    expect(joinAnswers([])).to.deep.equal(none);
  });

  it('counts the sessions that worked at once', () => {
    const { parallel } = ledgerOf([
      ...['a', 'b', 'c'].map((id) => state(0, id, 'working')),
      state(10, 'a', 'over'),
      state(20, 'b', 'ready'),
      state(20, 'd', 'working'),
      state(20, 'c', 'over'),
      state(30, 'd', 'over'),
    ]);
    expect(parallel).to.deep.equal({ most: 3, mean: 2 });
  });

  it('counts a session without known states by its activity, as on backfilled days', () => {
    const activity = (minute: number): SenseEvent => ({
      ...{ ts: at(minute), type: 'agent-session', source: 'agentSession', repo: 'shop' },
      detail: { session: 'a', events: 3, backfilled: true },
    });
    const record = recordOf([activity(2), activity(3), activity(60)]);
    expect(record.backfilled).to.equal(true);
    expect(record.ledger?.cells).to.deep.equal({ working: { unknown: 5 } });
    expect(record.ledger?.attention).to.deep.equal([]);
  });

  it('takes the assistant of backfilled activity from the session', () => {
    const activity = (session: string): SenseEvent => ({
      ...{ ts: at(2), type: 'agent-session', source: 'agentSession', repo: 'shop' },
      detail: { session, events: 3, backfilled: true },
    });
    const { ledger } = recordOf(['a', 'codex:b', 'qwen:c'].map(activity));
    expect(ledger?.agents.map(({ assistant }) => assistant)).to.have.members([null, 'codex', 'qwen']);
  });

  it('ignores the activity that a session reports with its first state', () => {
    const activity: SenseEvent = {
      ...{ ts: at(10), type: 'agent-session', source: 'agentSession', repo: 'shop' },
      detail: { session: 'a', events: 1 },
    };
    const { ledger } = recordOf([activity, state(10, 'a', 'working'), state(15, 'a', 'ready')]);
    expect(ledger?.cells['working']).to.deep.equal({ unknown: 5 });
  });

  it('counts the hours of days on which the clock changes', () => {
    for (const [day, hours] of [
      ['2026-10-25', 25],
      ['2026-03-29', 23],
    ] as const) {
      const { startMs, endMs } = dayBounds(day, 'Europe/Paris');
      const events: SenseEvent[] = [{ ...state(0, 'a', 'working'), ts: toIso(startMs) }];
      for (let ms = startMs + 120_000; ms <= endMs - 120_000; ms += 120_000)
        events.push({ ...front(0), ts: toIso(ms) });
      const record = recordOf(events, day, 'Europe/Paris');
      expect(record.totalMinutes).to.equal(hours * 60 - 2);
      expect(record.ledger?.cells).to.deep.equal({ working: { desk: hours * 60 - 2, unknown: 2 } });
    }
  });
});

/** Events at whole seconds of two hours, some of them twice. */
const second = fc.integer({ min: 0, max: 2 * 3600 });
const SESSIONS = ['a', 'b', 'c'];
const session = fc.constantFrom(...SESSIONS);
const anyEvent = fc.oneof(
  fc
    .record({
      s: second,
      length: fc.integer({ min: 0, max: 120 }),
      app: fc.constantFrom('Code', 'code', 'Web'),
    })
    .chain(({ s, length, app }) =>
      fc
        .record({ sessions: fc.subarray(SESSIONS), repo: fc.constantFrom(undefined, 'shop') })
        .map(({ sessions, repo }) => front(s / 60, app, { intervalSec: length, sessions }, repo)),
    ),
  fc
    .record({
      s: second,
      session,
      to: fc.constantFrom('working', 'waiting', 'ready', 'over'),
      prompt: fc.boolean(),
    })
    .map(({ s, session: id, to, prompt }) =>
      state(s / 60, id, to, prompt ? { prompt, state: 'working' } : {}),
    ),
  fc
    .record({ s: second, length: fc.integer({ min: 1, max: 900 }) })
    .map(({ s, length }) => away((s - length) / 60, s / 60)),
  fc.record({ s: second, session }).map(({ s, session: id }) => ({
    ...state(s / 60, id, ''),
    type: 'agent-session' as const,
    detail: { session: id, events: 1 },
  })),
);
const anyDay = fc.array(anyEvent, { maxLength: 30 });

describe('sense: the timeline of sessions', () => {
  const active = (minute: number, session: string, repo: string): SenseEvent => ({
    ...{ ts: at(minute), type: 'agent-session', source: 'agentSession', repo, detail: { session } },
  });
  const events = [
    ...[state(5, 'b', 'waiting'), state(5, 'b', 'working'), state(3, 'b', 'working', { prompt: true })],
    ...[state(4, 'a', 'ready', { assistant: 'codex' }), state(1, 'a', 'working', { prompt: true })],
    ...[active(2, 'c', 'site'), active(2, 'c', 'shop'), state(9, 'a', 'gone'), state(9, 'a', 'toString')],
    ...[{ ...state(9, 'a', 'over'), detail: { state: 'over' } }, { ...state(9, 'a', 'over'), detail: { session: 'a' } }],
  ];
  const timelineOf = (list: readonly SenseEvent[]) => {
    const tally = timelineTally(120);
    for (const event of list) tally.add(Date.parse(event.ts), event);
    return tally.result();
  };
  const minute = (ms: number): number => (ms - NINE) / 60_000;

  it('orders sessions, states, repositories and prompts, in whatever order events come', () => {
    for (const list of [events, events.toReversed()]) {
      const { stays, proofs } = timelineOf(list);
      const shown = [...stays].map(([id, own]) => [id, own.map(({ ms, state, repo }) => [minute(ms), state, repo])]);
      expect(shown).to.deep.equal([
        ['a', [[1, 'working', 'shop'], [4, 'ready', 'shop']]],
        ['b', [[3, 'working', 'shop'], [5, 'working', 'shop'], [5, 'waiting', 'shop']]],
        ['c', [[0, 'working', 'shop'], [0, 'working', 'site']]],
      ]);
      expect(proofs.map(({ session, span }) => [session, minute(span[1])])).to.deep.equal([['a', 1], ['b', 3]]);
      const [working, ready] = stays.get('a') ?? [];
      expect([working?.assistant, working?.next, ready?.assistant]).to.deep.equal([null, 'ready', 'codex']);
      expect(stays.get('c')?.map(({ next }) => next)).to.deep.equal(['over', 'over']);
    }
  });

  it('puts in front who was prompted last, or else changed last, and is not over', () => {
    const front = (...list: readonly SenseEvent[]) => frontOf(timelineOf(list), ['z', 'y', 'x'], NINE + 600_000);
    expect(front()).to.equal('x');
    expect(front(state(1, 'y', 'working'), state(2, 'x', 'working'))).to.equal('x');
    expect(front(state(1, 'y', 'working', { prompt: true }), state(2, 'x', 'working'))).to.equal('y');
    expect(front(state(1, 'y', 'working', { prompt: true }), state(2, 'y', 'over'), state(1, 'z', 'ready'))).to.equal('z');
    expect(front(active(10, 'y', 'shop'), state(1, 'z', 'ready'))).to.equal('z');
    expect(frontOf(timelineOf([]), [], NINE)).to.equal(undefined);
  });
}); // prettier-ignore

describe('sense: the time ledger, for any events', () => {
  long('adds up: your time to the record, the cells to the covered time of all sessions', () => {
    fc.assert(
      fc.property(anyDay, (events) => {
        const { totalMinutes, ledger } = recordOf(events);
        if (ledger === undefined) throw new Error('no ledger');
        const tenths = (values: readonly number[]): number =>
          values.reduce((sum, value) => sum + Math.round(value * 10), 0);
        expect(tenths(ledger.attention.map(({ minutes }) => minutes))).to.equal(
          Math.round(totalMinutes * 10),
        );
        const exact = secondsByCell(events);
        const sum = [...exact.values()].reduce((total, seconds) => total + seconds, 0);
        const all = AGENT_STATES.flatMap((row) => PLACES.map((place) => [row, place] as const));
        expect(tenths(all.map(([row, place]) => minutesIn(ledger.cells, row, place)))).to.equal(
          Math.round(sum / 6),
        );
        for (const id of SESSIONS)
          for (const [row, place] of all) {
            const cells = ledger.agents.find((agent) => agent.session === id)?.cells ?? {};
            const given = Math.round(minutesIn(cells, row, place) * 10);
            const found = (exact.get(`${id} ${row} ${place}`) ?? 0) / 6;
            expect(given, `${id} ${row} ${place}`).to.be.within(Math.floor(found), Math.ceil(found));
          }
      }),
      { numRuns: 40 },
    );
  });

  long('is the same, to the byte, for any order of events and for repeated lines', () => {
    fc.assert(
      fc.property(
        anyDay.chain((events) =>
          fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })),
        ),
        ([events, shuffled]) => {
          const bytes = JSON.stringify(ledgerOf(events));
          expect(JSON.stringify(ledgerOf([...shuffled, ...shuffled.slice(0, 5)]))).to.equal(bytes);
        },
      ),
    );
  });
});

/** The seconds of each session's cells, found by asking for every second of every session. */
function secondsByCell(events: readonly SenseEvent[]): Map<string, number> {
  const cells = new Map<string, number>();
  const spans = events.map((event) => spanOf(event));
  const times = [...new Set(spans.flat())].sort((a, b) => a - b);
  const isIn = (ms: number, [from, to]: readonly [number, number]): boolean => from <= ms && ms < to;
  const prompts = events
    .filter(({ detail }) => detail?.['prompt'] === true)
    .map(endOf)
    .sort((a, b) => a - b);
  const proofs = events
    .filter(({ detail }) => detail?.['prompt'] === true)
    .map((event) => ({
      id: String(event.detail?.['session']),
      span: [
        Math.max(endOf(event) - 6000, ...prompts.filter((ms) => ms < endOf(event))),
        endOf(event),
      ] as const,
    }));
  const samples = samplesOf(events);
  const count = (name: string): void => void cells.set(name, (cells.get(name) ?? 0) + 1);
  for (let ms = times[0] ?? 0; ms < (times.at(-1) ?? 0); ms += 1000) {
    const next = times.find((time) => time > ms) ?? Infinity;
    const last = times.findLast((time) => time <= ms) ?? -Infinity;
    if (next - last > 30 * 60_000) continue;
    const proof = proofs.find(({ span }) => isIn(ms, span));
    const isAway = events.some((event) => event.type === 'away' && isIn(ms, [Date.parse(String(event.detail?.['from'])), endOf(event)])); // prettier-ignore
    const seen = isAway ? [] : samples.filter((sample) => isIn(ms, spanOf(sample)));
    const fronts = proof === undefined ? seen.map((sample) => frontAt(events, sample, ms)) : [proof.id];
    const place = seen.length > 0 || proof !== undefined ? 'desk' : isAway ? 'away' : 'unknown';
    for (const id of SESSIONS) {
      const now = stateAt(events, id, ms);
      if (now !== undefined && now !== 'over') count(`${id} ${now} ${fronts.includes(id) ? 'front' : place}`);
    }
  }
  return cells;
}

const endOf = ({ ts }: SenseEvent): number => Date.parse(ts);

function spanOf(event: SenseEvent): readonly [number, number] {
  const seconds = event.type === 'app-focus' ? Number(event.detail?.['intervalSec']) : event.type === 'agent-session' ? 120 : 0; // prettier-ignore
  return [endOf(event) - seconds * 1000, endOf(event)];
}

/** Of two samples of one time and application the longer one. */
function samplesOf(events: readonly SenseEvent[]): SenseEvent[] {
  const rank = (event: SenseEvent): number => Number(event.detail?.['intervalSec']);
  const isBetter = (a: SenseEvent, b: SenseEvent): boolean =>
    rank(a) > rank(b) || (rank(a) === rank(b) && JSON.stringify(a.detail) < JSON.stringify(b.detail));
  const samples = events.filter(({ type }) => type === 'app-focus');
  return samples.filter((a) => !samples.some((b) => a.ts === b.ts && a.app === b.app && isBetter(b, a)));
}

const RANKS = ['working', 'waiting', 'ready', 'over'];

function changesOf(events: readonly SenseEvent[], id: string, untilMs: number): SenseEvent[] {
  return events
    .filter((event) => event.type === 'session-state' && event.detail?.['session'] === id && endOf(event) <= untilMs)
    .sort((a, b) => endOf(a) - endOf(b) || RANKS.indexOf(String(a.detail?.['state'])) - RANKS.indexOf(String(b.detail?.['state']))); // prettier-ignore
}

function stateAt(events: readonly SenseEvent[], id: string, ms: number): string | undefined {
  const last = changesOf(events, id, ms).at(-1);
  if (last !== undefined) return String(last.detail?.['state']);
  const isActive = activityOf(events, id).some((event) => spanOf(event)[0] <= ms && ms < endOf(event));
  return isActive ? 'working' : undefined;
}

/** Activity counts only before the first known state. */
function activityOf(events: readonly SenseEvent[], id: string): SenseEvent[] {
  const first = changesOf(events, id, Infinity)[0]?.ts ?? '9999';
  return events.filter(
    ({ type, ts, detail }) => type === 'agent-session' && detail?.['session'] === id && ts < first,
  );
}

/** Which session of a sample is in front: not over, then the latest prompt, then the latest change. */
function frontAt(events: readonly SenseEvent[], sample: SenseEvent, ms: number): string | undefined {
  const ids = sample.detail?.['sessions'] as string[];
  const keyOf = (id: string): number[] => {
    const before = changesOf(events, id, ms);
    const state = stateAt(events, id, ms);
    const prompted = before.filter(({ detail }) => detail?.['prompt'] === true).map(endOf);
    const active = activityOf(events, id).map(spanOf);
    // Activity that goes on begins nothing.
    const begins = active.map(([from]) => from).filter((from) => from <= ms && !active.some((span) => span[0] < from && from <= span[1])); // prettier-ignore
    const started = before.length > 0 ? before.map(endOf) : begins;
    return [
      state === undefined || state === 'over' ? 0 : 1,
      Math.max(0, ...prompted),
      Math.max(0, ...started),
    ];
  };
  return [...ids].sort((a, b) => {
    const [x, y] = [keyOf(a), keyOf(b)];
    return (
      (y[0] ?? 0) - (x[0] ?? 0) || (y[1] ?? 0) - (x[1] ?? 0) || (y[2] ?? 0) - (x[2] ?? 0) || (a < b ? -1 : 1)
    );
  })[0];
}
