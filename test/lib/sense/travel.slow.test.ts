import { expect } from 'chai';
import fc from 'fast-check';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { toIso } from '../../../src/lib/platform/time/clock';
import { dayOf } from '../../../src/lib/platform/time/time';
import { agentSessionSource } from '../../../src/lib/sense/agent-session';
import { ledgersOf } from '../../../src/lib/sense/ledgers';
import { minutesIn } from '../../../src/lib/time/ledger/model';
import { dayDetail } from '../../../src/lib/sense/read';
import { focus, listSource, senseBox, type SenseBox } from '../../helpers/sense';

const MINUTE = 60_000;
const STEP = 20;
const START = Date.parse('2026-11-20T12:00:00Z');
const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'];

interface Trip {
  zones: { zone: string; steps: number }[];
}

const trips: fc.Arbitrary<Trip> = fc.record({
  zones: fc.array(fc.record({ zone: fc.constantFrom(...ZONES), steps: fc.integer({ min: 1, max: 80 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
});

/** Captures every 20 minutes while one session works, in the trip's zones. Returns the number of captures. */
async function travel(box: SenseBox, { zones }: Trip): Promise<number> {
  box.deps.config.pollIntervalSec = STEP * 60;
  const path = join(box.area.machine, 'work-events.jsonl');
  mkdirSync(box.area.machine, { recursive: true });
  const list: ReturnType<typeof focus>[] = [];
  let nowMs = START;
  for (const { zone, steps } of zones) {
    box.deps.timezone = zone;
    const agents = agentSessionSource({ path, timezone: zone, machineId: 'm1', config: { repos: ['/app'] } });
    box.deps.sources = [listSource('appFocus', list), listSource('git', []), agents];
    for (let step = 0; step < steps; step += 1) {
      const type = list.length === 0 ? 'prompt' : 'tool-after';
      const ts = toIso(nowMs - MINUTE);
      appendFileSync(path, `${JSON.stringify({ ts, type, session: 'a', slug: null, repo: 'app' })}\n`);
      // Each event ends 1 ms early, because an event at the full hour counts in the hour that begins.
      list.push({ ...focus(toIso(nowMs - 1), 'Code', STEP * 60) });
      box.at(toIso(nowMs));
      await box.capture();
      nowMs += STEP * MINUTE;
    }
  }
  return list.length;
}

describe('sense: a change of the time zone', () => {
  let box: SenseBox;
  beforeEach(() => (box = senseBox()));

  it('counts each minute once, in the hour it belongs to', async function () {
    this.timeout(60_000);
    await fc.assert(
      fc.asyncProperty(trips, async (trip) => {
        box = senseBox();
        const captures = await travel(box, trip);
        const days = box.store.loggedDays();
        const details = days.map((day) => dayDetail(box.deps, day));
        const total = details.reduce((sum, { record }) => sum + record.totalMinutes, 0);
        expect(Math.round(total)).to.equal(captures * STEP);
        for (const { record, startMs, endMs } of details) {
          for (const { ts } of box.store.readLog(record.date).events) {
            expect(Date.parse(ts)).to.be.within(startMs, endMs);
          }
          for (const { creation, start } of record.hours) expect(creation, start).to.be.at.most(60);
        }
        expect(
          new Set(
            details
              .flatMap(({ record }) => record.hours)
              .filter(({ creation }) => creation > 0)
              .map(({ start }) => Date.parse(start)),
          ).size,
        ).to.be.at.least(captures / 3);
        // A change at midnight can count one poll interval twice, because a gap between events is covered.
        const spare = 5 + STEP * (trip.zones.length - 1);
        const working = ledgersOf(box.deps, days).ledgers.map(({ cells }) => minutesIn(cells, 'working'));
        expect(working.reduce((sum, each) => sum + each, 0)).to.be.within(
          (captures - 1) * STEP - 5,
          (captures - 1) * STEP + spare,
        );
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  it('extends the evening of a journey west', async () => {
    await travel(box, {
      zones: [
        { zone: 'Europe/Berlin', steps: 3 },
        { zone: 'America/New_York', steps: 45 },
      ],
    });
    const { record } = dayDetail(box.deps, '2026-11-20');
    expect(dayOf(START + 48 * STEP * MINUTE, 'America/New_York')).to.equal('2026-11-20');
    expect(record).to.include({ timezone: 'Europe/Berlin', totalMinutes: 960 });
    expect(record.hours.at(-1)).to.include({ start: '2026-11-21T04:00:00+01:00', creation: 40 });
    const { ledgers, timezone } = ledgersOf(box.deps, ['2026-11-20']);
    expect(minutesIn(ledgers[0]?.cells ?? {}, 'working')).to.equal(941);
    expect(timezone).to.equal('Europe/Berlin');
  });
});
