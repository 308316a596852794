import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { loadConfig } from '../../src/lib/config/load';
import { userArea } from '../../src/lib/config/user-area';
import type { Context } from '../../src/lib/app/context';
import { openSense } from '../../src/lib/app/sense';
import { run } from '../../src/lib/platform/process/process';
import { capture, type CaptureResult } from '../../src/lib/sense/capture';
import type { SenseEvent, SourceId } from '../../src/lib/sense/event';
import type { SenseSource } from '../../src/lib/sense/source';
import { listSource } from './sense';

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
