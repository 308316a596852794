import type { SenseConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { replaceFile } from '../platform/atomic-file';
import { exists } from '../platform/folder';
import type { SenseStore } from './store';

export interface InitResult {
  /** The configuration file. */
  config: string;
  /** False: it was there, and is as it was. */
  created: boolean;
}

/** Writes the default configuration under the user area; what is there stays as it is (service.md: init). */
export function initSense(
  deps: { area: Pick<UserArea, 'sense'>; store: SenseStore },
  defaults: SenseConfig,
): InitResult {
  deps.store.prepare();
  const path = deps.area.sense.config;
  if (exists(path)) return { config: path, created: false };
  const { enabled, pollIntervalSec, sources, repos, retentionDays } = defaults;
  const content = { version: 1, enabled, pollIntervalSec, sources, repos, retentionDays };
  replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
  return { config: path, created: true };
}
