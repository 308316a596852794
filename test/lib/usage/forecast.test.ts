import { expect } from 'chai';

import {
  forecast,
  forecastText,
  withStep,
  type Steps,
  type UsageLimit,
} from '../../../src/lib/usage/forecast';
import { killsOr, seeded, type Random } from '../../helpers/random';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TICK = HOUR / 2;
/** A Monday. */
const START = Date.parse('2026-11-16T00:00:00Z');
const RESET = START + 7 * DAY;

type Way = (random: Random) => (hour: number) => number;

/** Ways to spend a limit: how many percent are used in each hour of the week. */
const WAYS: Readonly<Record<string, Way>> = {
  steady: (random) => {
    const rate = 0.3 + random.next();
    return () => rate;
  },
  'on workdays': (random) => {
    const [rate, first] = [1 + 3 * random.next(), 7 + random.below(4)];
    return (hour) => (hour % 24 >= first && hour % 24 < first + 9 && hour < 120 ? rate : 0);
  },
  'in bursts': (random) => {
    const bursts = Array.from({ length: 168 }, () => (random.chance(0.25) ? 6 * random.next() : 0));
    return (hour) => bursts[hour] ?? 0;
  },
};

const limitOf = (usedPercent: number): UsageLimit => ({
  ...{ assistant: 'codex', name: 'Codex', window: 'sevenDay', usedPercent },
  resetsAt: new Date(RESET).toISOString(),
});

/** For each forecast of a week, six hours apart: whether what it said came true. */
function tellWeek(rateAt: (hour: number) => number): boolean[] {
  let [used, reachedMs] = [0, Infinity];
  let steps: Steps = [];
  const forecasts: NonNullable<ReturnType<typeof forecast>>[] = [];
  for (let ms = START; ms < RESET; ms += TICK) {
    const limit = limitOf(Math.min(100, Math.floor(used)));
    if (limit.usedPercent > 0) steps = withStep(steps, limit, ms);
    const found = (ms - START) % (6 * HOUR) === 0 ? forecast(limit, steps, ms) : undefined;
    if (found !== undefined) forecasts.push(found);
    used += (rateAt(Math.floor((ms - START) / HOUR)) * TICK) / HOUR;
    if (used >= 100 && reachedMs === Infinity) reachedMs = ms + TICK;
  }
  return forecasts.map(({ fromMs, toMs, isClose }) => {
    if (fromMs >= RESET) return reachedMs === Infinity;
    const slackMs = isClose ? 6 * HOUR : 0;
    return reachedMs >= fromMs - slackMs && (reachedMs <= toMs + slackMs || toMs >= RESET);
  });
}

describe('forecasts of limits (lib)', () => {
  // The forecasts aim at 80%.
  for (const [name, least] of [
    ['steady', 0.97],
    ['on workdays', 0.8],
    ['in bursts', 0.78],
  ] as const) {
    it(`come true in simulated weeks: ${name}`, () => {
      const weeks = Array.from({ length: killsOr(60) }, (_, seed) =>
        tellWeek((WAYS[name] as Way)(seeded(seed))),
      );
      const told = weeks.flat();
      const share = told.filter(Boolean).length / told.length;
      expect(told.length).to.be.greaterThan(weeks.length * 10);
      expect(share, `of ${told.length} forecasts`).to.be.at.least(least);
    });
  }

  const textAt = (percent: number, atMs: number, steps: Steps): string =>
    forecastText(limitOf(percent), steps, atMs, 'UTC');
  const daily = (...percents: number[]): Steps =>
    percents.flatMap((percent, day) =>
      [0, 6, 12, 18].map((hour): [number, number] => {
        const before = percents[day - 1] ?? 0;
        return [START + day * DAY + (hour + 6) * HOUR, before + ((percent - before) * (hour + 6)) / 24];
      }),
    );

  it('say in words how certain they are', () => {
    const [wednesday, friday] = [START + 2 * DAY, START + 4 * DAY];
    expect(textAt(60, wednesday, daily(30, 60))).to.equal(
      'At this pace, the weekly limit is reached about Thu 08:00.',
    );
    expect(textAt(50, wednesday, daily(10, 50))).to.equal(
      'At this pace, the weekly limit is probably reached between Thu 04:17 and Fri 19:42.',
    );
    expect(textAt(60, friday, daily(5, 40, 45, 60))).to.equal(
      'At this pace, the weekly limit may be reached from Sat 12:41 on, or not before it resets.',
    );
    expect(textAt(20, wednesday, daily(10, 20))).to.equal(
      'At this pace, the weekly limit is probably not reached before it resets.',
    );
  });

  it('are not made without a reset time, nor of too little', () => {
    const unknown = { ...limitOf(60), resetsAt: null };
    expect(forecastText(unknown, [], START + 2 * DAY, 'UTC')).to.equal(
      'No forecast for the weekly limit, because its reset time is unknown.',
    );
    expect(textAt(60, START + HOUR, [[START, 60]])).to.equal('');
    expect(textAt(4, START + 2 * DAY, daily(2, 4))).to.equal('');
    expect(textAt(100, START + 2 * DAY, daily(50, 100))).to.equal('');
  });

  it('begin again with a new period', () => {
    const old: Steps = [
      [START - 8 * DAY, 20],
      [START - DAY, 90],
    ];
    expect(withStep(old, limitOf(3), START)).to.deep.equal([[START, 3]]);
    expect(withStep([[START, 3]], limitOf(3), START + HOUR)).to.deep.equal([[START, 3]]);
    expect(withStep([[START, 3]], limitOf(4), START + HOUR)).to.deep.equal([
      [START, 3],
      [START + HOUR, 4],
    ]);
  });
});
