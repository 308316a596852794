import { expect } from 'chai';
import fc from 'fast-check';

import { toIso } from '../../../../src/lib/platform/time/clock';
import { dayBounds } from '../../../../src/lib/platform/time/time';
import { makeClassifier } from '../../../../src/lib/time/classify';
import { dayParts } from '../../../../src/lib/time/day-parts';
import { SENSE_VERSION, type SenseEvent } from '../../../../src/lib/time/event';
import { mergeDays } from '../../../../src/lib/time/machines/merge';
import type { MachineDay } from '../../../../src/lib/time/machines/model';
import { MACHINES } from '../../../helpers/machines';
import { buildDailyRecord, focus } from '../../../helpers/sense';
import { long } from '../../../helpers/long';

const DAY = '2026-11-20';
const classify = makeClassifier('templates');

/** A machine's day from its events, in the form that it publishes. */
function dayOf(machine: string, events: readonly SenseEvent[], timezone = 'UTC'): MachineDay {
  const options = { pollIntervalSec: 120, classify };
  const label = { version: SENSE_VERSION, generatedAt: `${DAY}T23:59:00.000Z`, final: true };
  const record = buildDailyRecord(DAY, events, { ...label, ...options, timezone });
  const parts = dayParts(events, { ...dayBounds(DAY, 'UTC'), ...options });
  const spans = parts.spans.map(({ repo, ...span }) => (repo === undefined ? span : { ...span, repo }));
  return { machine, record, spans, commits: [] };
}

/** Samples of `[ms since the last sample, measured seconds, application]`, which don't overlap. */
function samples(fromMs: number, list: readonly (readonly [number, number, string])[]): SenseEvent[] {
  let ms = Date.parse(`${DAY}T00:00:00Z`) + fromMs;
  return list.map(([gapMs, intervalSec, app]) => {
    ms += gapMs + Math.round(intervalSec * 1000);
    const event = focus(toIso(ms), app, intervalSec);
    return { ...event, detail: { ...event.detail, idleSec: Math.round(ms % 300_000) / 1000 } };
  });
}

const sample = fc.tuple(
  fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 0, max: 3_000_000 })),
  fc.integer({ min: 1, max: 240_000 }).map((ms) => ms / 1000),
  fc.constantFrom('Code', 'Firefox', 'Slack'),
);
const eventsOfADay = fc
  .tuple(fc.integer({ min: 0, max: 36_000_000 }), fc.array(sample, { minLength: 1, maxLength: 12 }))
  .map(([fromMs, list]) => samples(fromMs, list));
const [A, B] = [MACHINES[0].id, MACHINES[1].id];
const union = (days: readonly MachineDay[]) =>
  mergeDays(days, new Set([DAY]), MACHINES)[0]?.totalMinutes ?? 0;

describe('time of several machines: laws', () => {
  it('does not change the time of a machine with another one elsewhere in the day', () => {
    // Two measured minutes every 170 seconds.
    const first = Array.from({ length: 12 }, (_, i) =>
      focus(toIso(Date.parse(`${DAY}T09:02:00Z`) + i * 170_000), 'Code', 120),
    );
    const alone = dayOf(B, first);
    expect(alone.record.totalMinutes).to.equal(24);
    // The other machine's minute counts for that machine, whose id is lower.
    const other = dayOf(A, [focus(`${DAY}T09:01:30Z`, 'Firefox', 60)]);
    expect(union([alone, other])).to.equal(24);
  });

  long('gives one machine the same minutes alone and merged, whatever the zone', () => {
    fc.assert(
      fc.property(eventsOfADay, (events) => {
        const alone = dayOf(A, events);
        const elsewhere = dayOf(B, [], 'Asia/Kolkata');
        const [merged] = mergeDays([alone, elsewhere], new Set([DAY]), MACHINES);
        expect(merged?.totalMinutes).to.equal(alone.record.totalMinutes);
        // Other machines read its spans.
        const sumSec = alone.spans.reduce((sum, { from, to }) => sum + to - from, 0);
        expect(sumSec / 60).to.be.closeTo(alone.record.totalMinutes, 0.1);
      }),
    );
  });

  long('never exceeds the sum of the machines, and is never less than one of them', () => {
    fc.assert(
      fc.property(eventsOfADay, eventsOfADay, (first, second) => {
        const days = [dayOf(A, first), dayOf(B, second)];
        const [one, two] = days.map(({ record }) => record.totalMinutes) as [number, number];
        const both = union(days);
        // Each total is rounded to a tenth of a minute by itself.
        expect(both).to.be.at.most(one + two + 0.15);
        expect(both).to.be.at.least(Math.max(one, two) - 0.15);
      }),
    );
  });
});
