import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { replaceFile } from '../../../src/lib/platform/files/atomic-file';
import { bareEnvironment } from '../git';
import { focus, captureOnce, type World } from '../sense';

/** Lets things happen and captures them, again and again; says each capture that it came through. */
async function main(folder: string): Promise<void> {
  const world = join(folder, 'world.json');
  for (let n = 0; ; n += 1) {
    const seen = JSON.parse(readFileSync(world, 'utf8')) as World;
    const app = `App ${seen.appFocus?.length ?? 0}`;
    replaceFile(
      world,
      JSON.stringify({ appFocus: [...(seen.appFocus ?? []), focus(new Date().toISOString(), app)] }),
    );
    const event = { ts: new Date().toISOString(), type: 'subagent-stop', session: `s${n % 3}` };
    appendFileSync(join(folder, 'area', 'state', 'work-events.jsonl'), `${JSON.stringify(event)}\n`);
    // It outlives a kill, or finds the lock of one that did: what is in the repository then is the truth.
    spawnSync('git', ['commit', '-q', '--allow-empty', '-m', `${process.pid} ${n}`], {
      cwd: join(folder, 'repo'),
      env: bareEnvironment(folder),
      stdio: 'ignore',
    });
    await captureOnce(folder, new Date().toISOString());
    writeSync(1, `${n}\n`);
  }
}

void main(process.argv[2] ?? '');
