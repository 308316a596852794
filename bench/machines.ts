import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { filesOf } from '../src/lib/sync/publish';
import { BIN, cleanEnv } from '../test/helpers/cli';
import { machineDay } from '../test/helpers/machines';
import { focus } from '../test/helpers/sense';

const APPS = ['Code', 'Firefox', 'Slack', 'kitty', 'Zed'];
const OTHERS = ['bbbbbbbbbbbb', 'cccccccccccc'];

function intervals(date: string, index: number, count: number) {
  const step = Math.floor(80_000 / count);
  const startMs = Date.parse(`${date}T00:00:00Z`);
  return Array.from({ length: count }, (_, i) => {
    const fromMs = startMs + (step * i + 7 * index) * 1000;
    const at = (ms: number): string => new Date(ms).toISOString();
    return [
      at(fromMs),
      at(fromMs + Math.floor(step * 0.775) * 1000),
      APPS[(i + index) % APPS.length] ?? '',
      `repo${i % 3}`,
    ] as const;
  });
}

/** Fills a home with the days of this machine and of two others, with so many intervals each. */
export function fillMachines(home: string, days: readonly string[], count: number): void {
  const events = join(home, '.steward', 'sense', 'events');
  const exchange = join(home, 'exchange');
  for (const path of [events, exchange]) mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const date of days) {
    const lines = intervals(date, 0, count).map(([, to, app, repo]) =>
      JSON.stringify({ ...focus(to, app, Math.floor(Math.floor(80_000 / count) * 0.775)), repo }),
    );
    writeFileSync(join(events, `${date}.jsonl`), `${lines.join('\n')}\n`);
  }
  for (const args of [
    ['config', 'set', 'timezone', 'UTC'],
    ['sense', 'capture'],
    ['sync', 'setup', exchange],
  ])
    spawnSync(process.execPath, [BIN, ...args], { env: cleanEnv(home) });
  for (const [index, id] of OTHERS.entries()) {
    const own = join(exchange, 'machines', id);
    mkdirSync(join(own, 'daily'), { recursive: true });
    const info = { format: 1, id, name: id.slice(0, 3), timezone: 'UTC', version: '1', lastInput: null };
    writeFileSync(
      join(own, 'machine.json'),
      JSON.stringify({ ...info, publishedAt: `${days.at(-1) ?? ''}T09:42Z` }),
    );
    for (const date of days) {
      const { record, spans } = machineDay(id, intervals(date, index + 1, count), { date });
      const day = { format: 1, record, spans: [...spans], commits: [] };
      for (const { path, text } of filesOf(own, date, { day, sessions: [], usage: [] }))
        writeFileSync(join(own, path), text);
    }
  }
}
