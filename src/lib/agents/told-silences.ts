import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import type { Clock } from '../platform/time/clock';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import { withLock } from '../platform/files/lock';

const LOCK_WAIT_MS = 5000;
const MAX_REMEMBERED = 500;

/** The format of the file of told silences. */
const VERSION = 1;

export interface ToldDeps {
  clock: Clock;
  machineId: string;
  /** Machine-local folder of the locks. */
  locks: string;
  /** `state/watchdog.json`: for which silence an alert went out. */
  alerts: string;
}

/** Takes the right to tell of this silence: false when it was told of before. */
export async function claim(
  deps: ToldDeps,
  { session, mark }: { session: string; mark: string },
): Promise<boolean> {
  const { clock, machineId, alerts } = deps;
  const lock = join(deps.locks, 'watchdog-alerts.lock');
  return withLock(lock, { clock, machineId, waitMs: LOCK_WAIT_MS }, () => {
    ensureFolder(dirname(alerts));
    const known = toldIn(alerts);
    if (known.get(session) === mark) return Promise.resolve(false);
    known.delete(session);
    known.set(session, mark);
    const kept = Object.fromEntries([...known].slice(-MAX_REMEMBERED));
    replaceFile(alerts, `${JSON.stringify({ version: VERSION, alerts: kept })}\n`);
    return Promise.resolve(true);
  });
}

/** A file that is no JSON means at worst one alert more; a newer format is `config`. */
function toldIn(path: string): Map<string, string> {
  const stored = parseObject(readText(path, { maxBytes: 1024 * 1024 }) ?? '');
  const version = stored?.['version'];
  if (typeof version === 'number' && version > VERSION) {
    throw new StewardError('config', `${path} was written by a newer steward (format ${version}).`, {
      hint: 'Upgrade steward; this version leaves the file alone.',
    });
  }
  const alerts = stored?.['alerts'];
  if (!isObject(alerts)) return new Map();
  return new Map(
    Object.entries(alerts).flatMap(([slug, mark]) => (typeof mark === 'string' ? [[slug, mark]] : [])),
  );
}
