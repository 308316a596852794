import { join } from 'node:path';

import type { CommandTable } from './lib/cli/run';
import { listFolder, lstatOf } from './lib/platform/files/folder';

/**
 * Maps each command's id to its module. A command's id is its file path: `sense/today.ts` defines `steward
 * sense today`. The build replaces this module with a static table.
 */
export const COMMANDS: CommandTable = Object.fromEntries(
  idsUnder(join(__dirname, 'commands')).map(([id, path]) => [id, () => import(path)]),
);

function idsUnder(folder: string, topic: readonly string[] = []): [string, string][] {
  return listFolder(folder)
    .sort()
    .flatMap((name): [string, string][] => {
      const path = join(folder, name);
      if (lstatOf(path)?.isFolder === true) return idsUnder(path, [...topic, name]);
      const verb = name.replace(/\.ts$/, '');
      return [[(verb === 'index' ? topic : [...topic, verb]).join(':'), path]];
    });
}
