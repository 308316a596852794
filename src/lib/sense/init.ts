import { join } from 'node:path';

import type { SenseConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { exists } from '../platform/files/folder';
import type { SenseStore } from './store';

export interface InitResult {
  /** The configuration file. */
  config: string;
  /** False: it was there, and is as it was. */
  created: boolean;
}

/** Writes the default configuration under the user area; what is there stays as it is (service.md: init). */
export function initSense(
  deps: { area: Pick<UserArea, 'sense' | 'config'>; store: SenseStore },
  defaults: SenseConfig,
  /** The folder of the templates that the package brings. */
  templates: string,
): InitResult {
  deps.store.prepare();
  copyTemplate(join(templates, 'classify.yaml'), deps.area.sense.classify);
  copyTemplate(join(templates, 'config.yaml'), deps.area.config);
  const path = deps.area.sense.config;
  if (exists(path)) return { config: path, created: false };
  const { enabled, pollIntervalSec, sources, repos, retentionDays } = defaults;
  const content = { version: 1, enabled, pollIntervalSec, sources, repos, retentionDays };
  replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
  return { config: path, created: true };
}

/** A commented file for a person to edit; one that is there stays as it is. */
function copyTemplate(template: string, path: string): void {
  const text = readText(template);
  if (text !== undefined && !exists(path)) replaceFile(path, text);
}
