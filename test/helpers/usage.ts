import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Clock } from '../../src/lib/platform/time/clock';
import type { UsageDeps } from '../../src/lib/usage/collect';
import { daysIn } from '../../src/lib/platform/files/day-files';
import { readDayRows, type DayRow } from '../../src/lib/usage/days';

export const NOW = Date.parse('2026-11-20T12:00:00Z');

export interface UsageBox {
  deps: UsageDeps & { limits: string };
  /** Sets the clock. */
  at: (ms: number) => void;
  /** Writes lines to a log below the home folder, and returns its path. */
  log: (path: string, lines: readonly (object | string)[]) => string;
  append: (path: string, text: string) => void;
  /** All stored rows with their day. */
  rows: () => (DayRow & { day: string })[];
}

/** Usage below a folder, with a home of its own and a clock that stands still. */
export function usageBox(folder: string, zone = 'UTC', env: NodeJS.ProcessEnv = {}): UsageBox {
  let now = NOW;
  const clock: Clock = { now: () => now, monotonic: () => process.uptime() * 1000 };
  const home = join(folder, 'home');
  const area = join(folder, 'area');
  const deps = {
    ...{ clock, machineId: '0123456789ab', host: { env, home }, zone },
    ...{
      days: join(area, 'usage'),
      state: join(folder, 'machine', 'usage'),
      limits: join(area, 'limits.json'),
    },
  };
  mkdirSync(area, { recursive: true });
  return {
    deps,
    at: (ms) => (now = ms),
    log(path, lines) {
      const file = join(home, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, lines.map(lineOf).join(''));
      return file;
    },
    append: (path, text) => appendFileSync(join(home, path), text),
    rows: () =>
      daysIn(deps.days).flatMap((day) => readDayRows(deps.days, day).map((row) => ({ ...row, day }))),
  };
}

export function lineOf(line: object | string): string {
  return `${typeof line === 'string' ? line : JSON.stringify(line)}\n`;
}

export interface ClaudeAnswer {
  id: string;
  request?: string;
  at?: string;
  session?: string;
  model?: string;
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  sidechain?: boolean;
  cwd?: string;
}

/** A line of a Claude Code transcript, in the shape that Claude Code writes. */
export function claudeLine(answer: ClaudeAnswer): object {
  return {
    type: 'assistant',
    timestamp: answer.at ?? '2026-11-20T10:00:00.000Z',
    sessionId: answer.session ?? 's1',
    ...(answer.request === undefined ? {} : { requestId: answer.request }),
    isSidechain: answer.sidechain === true,
    cwd: answer.cwd ?? '/nowhere',
    message: {
      id: answer.id,
      model: answer.model ?? 'claude-opus-4-8',
      content: [{ type: 'text', text: 'a secret text' }],
      usage: {
        input_tokens: answer.input ?? 100,
        output_tokens: answer.output ?? 10,
        cache_read_input_tokens: answer.cacheRead ?? 0,
        cache_creation_input_tokens: answer.cacheWrite ?? 0,
      },
    },
  };
}

type Totals = readonly [input: number, cached: number, output: number];

const codexUsage = ([input, cached, output]: Totals): object => ({
  input_tokens: input,
  cached_input_tokens: cached,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
});

/** A line of a Codex rollout with the totals so far. */
export function codexTotals(totals: Totals, at = '2026-11-20T10:00:05.000Z', limits?: object): object {
  const info = { total_token_usage: codexUsage(totals) };
  return {
    timestamp: at,
    type: 'event_msg',
    payload: { type: 'token_count', info, ...(limits === undefined ? {} : { rate_limits: limits }) },
  };
}

/** The first lines of a Codex rollout. */
export function codexStart(id: string, more: object = {}, at = '2026-11-20T10:00:00.000Z'): object[] {
  return [
    { timestamp: at, type: 'session_meta', payload: { id, timestamp: at, cwd: '/nowhere', ...more } },
    { timestamp: at, type: 'turn_context', payload: { model: 'test-model', cwd: '/nowhere' } },
  ];
}
