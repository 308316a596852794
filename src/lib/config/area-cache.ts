import { dirname, join } from 'node:path';

import { orElse } from '../errors';
import { sweepTemps } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { readObject, writeObject } from '../platform/files/object-file';
import { cachePath } from '../platform/files/paths';
import { shortHash } from '../platform/files/short-hash';
import { systemClock } from '../platform/time/clock';
import type { UserArea } from './user-area';

/** Age in ms after which a temp file in the cache folder is deleted as abandoned. */
const TEMPS_STALE_MS = 60_000;

/** Reads the user area's cache entry, or returns undefined if the entry is missing or unreadable. */
export function readCache<T>(name: string, area: UserArea): Partial<T> | undefined {
  return orElse(undefined, () => readObject(fileOf(name, area)) as Partial<T> | undefined);
}

/** Stores a cache entry for later runs. Ignores write errors: the hook must still store its event. */
export function writeCache(name: string, area: UserArea, value: object): void {
  orElse(undefined, () => {
    const path = fileOf(name, area);
    ensureFolder(dirname(path));
    sweepTemps(dirname(path), TEMPS_STALE_MS, systemClock().now());
    writeObject(path, value);
  });
}

function fileOf(name: string, area: UserArea): string {
  return join(cachePath(), `${name}-${shortHash(area.own)}.json`);
}
