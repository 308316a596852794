import type * as Interfaces from '@oclif/core/interfaces';

import pjson from '../package.json';
import type { CommandGroup, Product } from './lib/cli/oclif';
import { runCli } from './lib/cli/run';

/** Written in by the build: all commands, and the bundle of a group by the first word of its commands. */
declare const STEWARD_COMMANDS: Product['ids'];
declare const STEWARD_GROUPS: Readonly<Record<string, string>>;

/**
 * What the launcher calls in the bundle that all commands share; `loadBundle` loads the one of a group. A first word
 * that the table does not name is in the group of the empty one.
 */
export function start(
  argv: readonly string[],
  root: string,
  loadBundle: (id: string) => unknown,
): Promise<void> {
  const load = (words: readonly string[]): CommandGroup => {
    const bundle = STEWARD_GROUPS[words[0] ?? '--help'] ?? STEWARD_GROUPS[''];
    return (loadBundle(String(bundle)) as { group: CommandGroup }).group;
  };
  return runCli({ root, pjson: pjson as unknown as Interfaces.PJSON, ids: STEWARD_COMMANDS, load }, argv);
}
