/**
 * Measures hooks in pairs while a daemon gives 10,000 events to programs that fail, hang and are slow, and while one
 * has the same events and no programs. Run after a build: npx tsx bench/programs.ts
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { appendWorkEvent } from '../src/lib/sessions/work-events';
import { BIN, cleanEnv, emptyHome } from '../test/helpers/cli';
import { startDaemon } from '../test/helpers/daemon';
import { hookJson } from '../test/helpers/hooks';
import { medians, time } from './measure';

const LIMIT = 1.1;
const EVENTS = 10_000;
const ROUNDS = 50;
const PROGRAMS = { fails: 'exit 1', hangs: 'exec sleep 600', slow: 'exec sleep 2' };

type Home = ReturnType<typeof emptyHome>;

function addPrograms({ path }: Home): void {
  const folder = join(path, '.steward', 'on', 'turn-ended.d');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, line] of Object.entries(PROGRAMS))
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o700 });
}

/** Appends turns that begin and end, and so two events each. */
function addTurns({ path }: Home, round: number): void {
  const log = join(path, '.steward', 'state', 'work-events.jsonl');
  for (let i = 0; i < EVENTS / ROUNDS / 2; i += 1) {
    const about = { session: `s${i % 20}`, slug: `20261128-shop-${i % 20}`, repo: 'shop' };
    const at = Date.now() - 1000 + round + i;
    appendWorkEvent(log, { ...about, ts: new Date(at).toISOString(), type: 'prompt' });
    appendWorkEvent(log, { ...about, ts: new Date(at + 1).toISOString(), type: 'stop' });
  }
}

async function main(): Promise<void> {
  const [bad, none] = [emptyHome(), emptyHome()];
  addPrograms(bad);
  const daemons = await Promise.all([bad, none].map(({ path }) => startDaemon({ home: path })));
  try {
    for (const { path } of [bad, none]) mkdirSync(join(path, '.steward', 'state'), { recursive: true });
    const programs = [bad, none].map(({ path }) => ({
      args: [BIN, 'hook', 'tool'],
      env: cleanEnv(path) as Record<string, string>,
      input: hookJson('tool', { session_id: 'bench-0001', cwd: path }),
    }));
    let round = 0;
    const [withBad = NaN, without = NaN] = medians(programs, ROUNDS, process.env, (program, base) => {
      addTurns(program === programs[0] ? bad : none, (round += 1));
      return time(program, base);
    });
    const ratio = withBad / without;
    console.log(
      `hook tool: ${withBad.toFixed(1)} ms with bad programs, ${without.toFixed(1)} ms without: ${ratio.toFixed(2)}, limit ${LIMIT}`,
    );
    if (ratio > LIMIT) process.exitCode = 1;
  } finally {
    for (const daemon of daemons) await daemon.stop();
    for (const home of [bad, none]) home.remove();
  }
}

void main();
