/**
 * Measures building a day's record from 10,000 events: first (cold) and median of later builds. The baseline is parsing
 * the same events. Run: npx tsx bench/record.ts
 */
import { makeClassifier } from '../src/lib/time/classify';
import { readEvent, type SenseEvent } from '../src/lib/time/event';
import { median } from './measure';
import { buildDailyRecord } from '../test/helpers/sense';

const EVENTS = 10_000;
const ROUNDS = 30;
const BUDGET_MS = 15;
const DAY = '2026-11-20';

function main(): void {
  const lines = Array.from({ length: EVENTS }, (_, i) => JSON.stringify(eventAt(i)));
  const events: SenseEvent[] = [];
  const read = timed(() => {
    events.length = 0;
    for (const line of lines) {
      const event = readEvent(JSON.parse(line));
      if (!('invalid' in event)) events.push(event);
    }
  });
  const build = timed(() => {
    buildDailyRecord(DAY, events, {
      timezone: 'Europe/Paris',
      pollIntervalSec: 120,
      classify: makeClassifier('templates'),
      version: 'bench',
      generatedAt: '2026-11-21T06:00:00.000Z',
      final: true,
    });
  });
  console.log(
    `record of ${EVENTS} events: cold ${build.cold.toFixed(1)} ms, warm ${build.warm.toFixed(1)} ms`,
  );
  console.log(`baseline, parsing them: cold ${read.cold.toFixed(1)} ms, warm ${read.warm.toFixed(1)} ms`);
  console.log(`budget: ${BUDGET_MS} ms warm, ${build.warm <= BUDGET_MS ? 'met' : 'EXCEEDED'}`);
  if (build.warm > BUDGET_MS) process.exitCode = 1;
}

/** Spreads events over the day and 80 applications; every fiftieth is a commit. */
function eventAt(i: number): SenseEvent {
  const ts = new Date(Date.parse(`${DAY}T00:00:00+01:00`) + i * 8_640).toISOString();
  const machine = 'bench';
  if (i % 50 === 0) {
    const detail = { sha: `sha${i}`, path: `/src/r${i % 5}`, machine };
    return { ts, type: 'git-commit', source: 'git', repo: `r${i % 5}`, detail };
  }
  const detail = { intervalSec: 8.64, bundleId: `com.example.app${i % 80}`, via: 'x11', machine };
  return { ts, type: 'app-focus', source: 'appFocus', app: `App ${i % 80}`, detail };
}

function timed(run: () => void): { cold: number; warm: number } {
  const times = Array.from({ length: ROUNDS + 1 }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return { cold: times[0] ?? Number.NaN, warm: median(times.slice(1)) };
}

main();
