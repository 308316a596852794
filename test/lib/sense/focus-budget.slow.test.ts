import { expect } from 'chai';

import { appFocusSource } from '../../../src/lib/sense/app-focus';
import { makeClassifier } from '../../../src/lib/time/classify';
import type { SenseEvent } from '../../../src/lib/time/event';
import { addObservation, intervalsAfter, type FocusTimeline } from '../../../src/lib/sense/focus-timeline';
import type { Focus, Observation } from '../../../src/lib/sense/observe';
import { recordedDesktop } from '../../helpers/fake-desktop';
import { seeded } from '../../helpers/random';
import { buildDailyRecord } from '../../helpers/sense';

const DAY = '2026-11-20';
const START = Date.parse(`${DAY}T00:00:00.000Z`);
const DAY_MS = 86_400_000;
const MOST_BYTES = 400_000;

/** Terminals with a repository, a branch and two sessions, which make the longest usual events. */
function foci(count: number): Focus[] {
  return Array.from({ length: count }, (_, i) => ({
    app: `Terminal ${i}`,
    repo: `repository-${i}`,
    detail: {
      ...{ via: 'x11', bundleId: `org.example.terminal-${i}`, path: `/home/ann/src/repository-${i}` },
      ...{
        branch: `feature/${i}-some-branch`,
        sessions: [`0b8f7a52-6c1d-4e0f-9a3b-${i}`, `codex:session-${i}`],
      },
    },
  }));
}

/** Watches a day in which the focus changes every 5 s; returns its events and the true time by application. */
async function worstDay(count: number): Promise<{ events: SenseEvent[]; trueMs: Map<string, number> }> {
  const random = seeded(count).next;
  const apps = foci(count);
  const timeline: FocusTimeline = { done: [] };
  const events: SenseEvent[] = [];
  const trueMs = new Map<string, number>();
  let seen: Observation = { state: 'none' };
  const source = appFocusSource({
    desktop: recordedDesktop('linux', {}),
    config: { pollIntervalSec: 120, idleAfterSec: 300, countsAsActive: [], exclude: [] },
    machineId: '0123456789ab',
    timezone: 'UTC',
    watch: {
      since: (ms) => Promise.resolve({ intervals: intervalsAfter(timeline, ms), now: seen, canWait: true }),
    },
  });
  let cursor: unknown;
  for (let at = START; at <= START + DAY_MS; at += 5_000) {
    if (seen.state === 'focus') trueMs.set(seen.focus.app, (trueMs.get(seen.focus.app) ?? 0) + 5_000);
    const others = apps.filter(({ app }) => seen.state !== 'focus' || app !== seen.focus.app);
    // Some are used much more than others.
    seen = { state: 'focus', focus: others[Math.floor(random() ** 2 * others.length)]! };
    addObservation(timeline, at, seen);
    if ((at - START) % 120_000 !== 0 || at === START) continue;
    const found = await source.collect({ nowMs: at, dayStartMs: START, cursor });
    // As in a log, a restarted capture reads the cursor from a file.
    cursor = JSON.parse(JSON.stringify(found.cursor ?? null));
    events.push(...found.events);
  }
  return { events, trueMs };
}

function bytesOf(events: readonly SenseEvent[]): number {
  return events.reduce((sum, event) => sum + JSON.stringify(event).length + 1, 0);
}

function recordOf(events: readonly SenseEvent[]) {
  return buildDailyRecord(DAY, [...events], {
    ...{ timezone: 'UTC', pollIntervalSec: 120, classify: makeClassifier('templates') },
    ...{ version: 'any', generatedAt: `${DAY}T23:59:59.000Z`, final: true },
  });
}

describe('sense: a day in which the focus changes every 5 s', () => {
  it('costs at most 400 kB, and each application has its exact time', async () => {
    const { events, trueMs } = await worstDay(5);
    expect(bytesOf(events)).to.be.at.most(MOST_BYTES);
    expect(events.length).to.be.at.least(600);
    const { apps, totalMinutes, hours } = recordOf(events);
    expect(totalMinutes).to.equal(24 * 60);
    for (const hour of hours) expect(hour.creation + hour.neutral + hour.consumption).to.be.closeTo(60, 0.15);
    for (const [app, ms] of trueMs) {
      const found = apps.find((row) => row.app === app)?.minutes ?? 0;
      expect(Math.abs(found - ms / 60_000), app).to.be.at.most(0.1);
    }
  });

  it('costs at most 400 kB even with more applications than fit, and covers the whole time', async () => {
    const { events } = await worstDay(60);
    expect(bytesOf(events)).to.be.at.most(MOST_BYTES);
    expect(recordOf(events).totalMinutes).to.equal(24 * 60);
  });

  it('keeps every interval of the first hour', async () => {
    const { events } = await worstDay(5);
    const early = events.filter(({ ts }) => Date.parse(ts) <= START + 120_000);
    expect(early.map(({ detail }) => detail?.['intervalSec'])).to.deep.equal(early.map(() => 5));
    expect(early).to.have.length(24);
  });
});
