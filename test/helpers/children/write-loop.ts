import { writeSync } from 'node:fs';

import { readText, replaceFile } from '../../../src/lib/platform/files/atomic-file';
import { completeAppend, planAppend } from '../../../src/lib/platform/files/jsonl';
import { linesOf, numbered, type Progress } from '../numbered';

/** Replaces a file with the contents 0, 1, 2, …, and says each number once it is stored. */
function replaceLoop(folder: string): void {
  const stored = readText(`${folder}/file`);
  for (let n = stored === undefined ? 0 : Number(stored.split(':')[0]) + 1; ; n += 1) {
    replaceFile(`${folder}/file`, numbered(n));
    writeSync(1, `${n}\n`);
  }
}

/** Appends numbered lines in batches, each planned in a state file first, as a capture does. */
function appendLoop(folder: string): void {
  const log = `${folder}/log`;
  for (;;) {
    const progress = JSON.parse(readText(`${folder}/progress`) ?? '{"next":0,"plan":null}') as Progress;
    if (progress.plan !== null) completeAppend(log, progress.plan);
    const count = 1 + (progress.next % 7);
    const plan = planAppend(log, linesOf(progress.next, count));
    replaceFile(`${folder}/progress`, JSON.stringify({ next: progress.next + count, plan }));
    completeAppend(log, plan);
    writeSync(1, `${progress.next + count}\n`);
  }
}

const folder = process.argv[3] ?? '';
if (process.argv[2] === 'replace') replaceLoop(folder);
else appendLoop(folder);
