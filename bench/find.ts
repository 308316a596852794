/**
 * Measures `steward find` on 1 GB of transcripts with 36 known hits. Run after a build: npx tsx bench/find.ts
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, jsonOf } from '../test/helpers/cli';
import { medians, peakMemory } from './measure';

const FILES = 200;
const FILE_BYTES = 5_000_000;
const HITS = 36;
const LIMITS = { ms: 5000, mib: 150 };
const WORDS = 'login form queue retry daemon branch commit merge socket parser window letter number'.split(
  ' ',
);

/** A line of a transcript with some 900 bytes of text, and the words if it is a hit. */
function lineOf(session: string, index: number, isHit: boolean): string {
  const words = Array.from({ length: 130 }, (_, i) => WORDS[(i * 7 + index * 3) % WORDS.length]);
  if (isHit) words.splice(60, 0, 'zebrafish', 'crossing');
  const text = words.join(' ');
  return `${JSON.stringify({ type: 'user', timestamp: '2026-11-20T10:00:00.000Z', sessionId: session, cwd: '/tmp/shop', message: { content: text } })}\n`;
}

function fill(home: string): void {
  const folder = join(home, '.claude', 'projects', 'shop');
  mkdirSync(folder, { recursive: true });
  for (let file = 0; file < FILES; file += 1) {
    const session = `s${file}`;
    const block = Array.from({ length: 100 }, (_, index) => lineOf(session, index, false)).join('');
    const output = openSync(join(folder, `${session}.jsonl`), 'w');
    for (let bytes = 0; bytes < FILE_BYTES; bytes += block.length) writeSync(output, block);
    if (file % 5 === 0 && file / 5 < HITS) writeSync(output, lineOf(session, 0, true));
    closeSync(output);
  }
}

const home = emptyHome();
try {
  fill(home.path);
  const env = cleanEnv(home.path);
  const args = [BIN, 'find', 'zebrafish', 'crossing', '--limit', '100', '--json'];
  const found = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  const { rows } = jsonOf({ ...found, code: found.status ?? -1 }) as { rows: unknown[] };
  const [ms = NaN] = medians([{ args }], 3, env);
  const mib = peakMemory({ args }, env);
  const [grep = NaN] = medians(
    [{ file: 'grep', args: ['-rlF', 'zebrafish', join(home.path, '.claude')] }],
    3,
    env,
  );
  console.log(
    `${rows.length} of ${HITS} hits in ${((FILES * FILE_BYTES) / 1e9).toFixed(1)} GB: ${ms.toFixed(0)} ms, limit ${LIMITS.ms} ms; ${mib.toFixed(0)} MiB, limit ${LIMITS.mib} MiB; grep -F ${grep.toFixed(0)} ms`,
  );
  if (rows.length !== HITS || ms > LIMITS.ms || mib > LIMITS.mib) process.exitCode = 1;
} finally {
  home.remove();
}
