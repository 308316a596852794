import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { SenseConfig } from '../../src/lib/config/schema';
import { toIso } from '../../src/lib/platform/time/clock';
import { capture, type CaptureDeps, type CaptureResult } from '../../src/lib/sense/capture';
import { makeClassifier } from '../../src/lib/sense/classify';
import type { SenseEvent, SourceId } from '../../src/lib/sense/event';
import type { ReadDeps } from '../../src/lib/sense/read';
import {
  recordTally,
  type DailyRecord,
  type RecordLabel,
  type TallyOptions,
} from '../../src/lib/sense/record';
import type { Collected, CollectInput, SenseSource } from '../../src/lib/sense/source';
import { senseStore, type SenseStore } from '../../src/lib/sense/store';
import { testArea, type TestArea } from './area';

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

const SOURCES: Record<SourceId, boolean> = { appFocus: true, git: true, agentSession: true };

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
  const detail = { sha, subject: `Commit ${sha}`, authoredAt: toIso(Date.parse(ts)), path: `/src/${repo}` };
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
