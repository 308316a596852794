import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { Context } from '../../src/lib/app/context';
import { openSense } from '../../src/lib/app/sense';
import { loadConfig } from '../../src/lib/config/load';
import type { SenseConfig } from '../../src/lib/config/schema';
import { userArea } from '../../src/lib/config/user-area';
import { run } from '../../src/lib/platform/process/process';
import { toIso } from '../../src/lib/platform/time/clock';
import { dayOf } from '../../src/lib/platform/time/time';
import { type CaptureDeps, type CaptureResult, capture } from '../../src/lib/sense/capture';
import { makeClassifier } from '../../src/lib/time/classify';
import type { SenseEvent, SourceId } from '../../src/lib/time/event';
import type { ReadDeps } from '../../src/lib/sense/read';
import {
  type DailyRecord,
  type RecordLabel,
  type TallyOptions,
  recordTally,
} from '../../src/lib/time/record';
import type { CollectInput, Collected, SenseSource } from '../../src/lib/sense/source';
import { type SenseStore, senseStore } from '../../src/lib/sense/store';
import { type TestArea, testArea } from './area';
import { zoneInTheMorning } from './midnight';

export interface SenseBox extends Omit<TestArea, 'deps'> {
  /** The time of day of the box, ISO-8601; set it before a capture. */
  at: (iso: string) => void;
  store: SenseStore;
  deps: CaptureDeps & ReadDeps;
  /** The days for which goals were told of records, in order. */
  told: string[];
  capture: (more?: Partial<CaptureDeps>) => Promise<CaptureResult>;
  /** The lines of a file of sense/, parsed; none without the file. */
  lines: (name: string) => unknown[];
  record: (day: string) => DailyRecord;
  state: () => Record<string, unknown>;
}

const SOURCES: Record<SourceId, boolean> = { appFocus: true, git: true, agentSession: true, web: true };

/** A user area with a store, a clock that is set by hand, and no sources until a test gives some. */
export function senseBox(start = '2026-11-20T12:00:00Z', timezone = 'UTC'): SenseBox {
  const area = testArea();
  let nowMs = Date.parse(start);
  const store = senseStore(area.area);
  const told: string[] = [];
  const config: Pick<SenseConfig, 'enabled' | 'pollIntervalSec' | 'sources' | 'repos' | 'retentionDays'> = {
    enabled: true,
    pollIntervalSec: 120,
    sources: { ...SOURCES },
    repos: [],
    retentionDays: 30,
  };
  const deps: SenseBox['deps'] = {
    clock: { now: () => nowMs, monotonic: () => performance.now() },
    store,
    config,
    timezone,
    classify: makeClassifier('templates'),
    sources: [],
    afterRecords: (today) => told.push(today),
  };
  return {
    ...area,
    store,
    deps,
    told,
    at: (iso) => (nowMs = Date.parse(iso)),
    capture: (more = {}) => capture({ ...deps, ...more }),
    lines: (name) => linesOf(join(area.area.sense.root, name)),
    record: (day) => JSON.parse(area.read(`sense/daily/${day}.json`)) as DailyRecord,
    state: () => JSON.parse(area.read('sense/state.json')) as Record<string, unknown>,
  };
}

function linesOf(path: string): unknown[] {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
}

export function sourceOf(id: SourceId, collect: (input: CollectInput) => Promise<Collected>): SenseSource {
  return { id, label: `the ${id}`, description: `What ${id} sees.`, collect };
}

/**
 * A source over a list that grows: it gives what stands behind its cursor, each once. The list is the truth
 * that the stored events are compared with.
 */
export function listSource(id: SourceId, list: readonly SenseEvent[]): SenseSource {
  return sourceOf(id, ({ cursor }) => {
    const from = typeof cursor === 'number' ? cursor : 0;
    return Promise.resolve({ events: list.slice(from), cursor: list.length, state: 'ok' });
  });
}

export function focus(ts: string, app: string, intervalSec = 120): SenseEvent {
  return { ts: toIso(Date.parse(ts)), type: 'app-focus', source: 'appFocus', app, detail: { intervalSec } };
}

export function commit(ts: string, repo: string, sha: string): SenseEvent {
  const detail = { sha, identity: sha, subject: `Commit ${sha}`, path: `/src/${repo}` };
  return { ts: toIso(Date.parse(ts)), type: 'git-commit', source: 'git', repo, detail };
}

/** Every file below a folder with its content, but for temp files that a killed run left. */
export function filesIn(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (statSync(path).isFile() && !name.endsWith('.tmp')) files[name] = readFileSync(path, 'utf8');
  }
  return files;
}

/** The record of these events, counted one by one as a roll does. */
export function buildDailyRecord(
  date: string,
  events: readonly SenseEvent[],
  options: TallyOptions & RecordLabel,
): DailyRecord {
  const tally = recordTally(date, options);
  for (const event of events) tally.add(event, Date.parse(event.ts));
  return tally.result(options);
}

/** What is there to be seen: the truth that the stored events are compared with. */
export type World = Partial<Record<SourceId, SenseEvent[]>>;

/**
 * One capture as the command does it, with the lock and the goals, at a fixed time in a folder: `area` is the
 * user area, `world.json` has what the listed sources see; the others are the real ones.
 */
export async function captureOnce(folder: string, iso: string): Promise<CaptureResult> {
  const home = join(folder, 'home');
  const area = userArea({
    platform: process.platform,
    env: { STEWARD_HOME: join(folder, 'area'), XDG_STATE_HOME: join(folder, 'state') },
    home,
  });
  const nowMs = Date.parse(iso);
  const context: Context = {
    clock: { now: () => nowMs, monotonic: () => performance.now() },
    area,
    machineId: '0123456789ab',
    loadConfig: () => loadConfig({ area, env: {}, home }),
    run,
    desktop: { platform: process.platform, env: {}, run },
    // From the repository's root: as a bundle of its own, this file lies elsewhere.
    templates: resolve('templates'),
  };
  const world = JSON.parse(readFileSync(join(folder, 'world.json'), 'utf8')) as World;
  const { deps, locked } = await openSense(context);
  const sources: SenseSource[] = deps.sources.map((source) => {
    const list = world[source.id];
    return list === undefined ? (source as SenseSource) : listSource(source.id, list);
  });
  return locked(() => capture({ ...deps, sources }));
}

/**
 * Writes into a home folder that an application was in use a minute ago, in a zone in which that is today, and returns
 * the day. Yesterday would have no zone, and so no time.
 */
export function captureNow(home: string, app: string): string {
  const area = join(home, '.steward');
  const events = join(area, 'sense', 'events');
  const timezone = zoneInTheMorning();
  mkdirSync(events, { recursive: true });
  writeFileSync(join(area, 'config.yaml'), `timezone: ${timezone}\n`);
  const atMs = Date.now() - 60_000;
  const day = dayOf(atMs, timezone);
  writeFileSync(
    join(events, `${day}.jsonl`),
    `${JSON.stringify(focus(new Date(atMs).toISOString(), app))}\n`,
  );
  return day;
}
