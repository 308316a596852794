import { main } from './cli';
import type { Manifest } from './lib/cli/oclif';

/** The manifest of this build; written in by the build. */
declare const STEWARD_MANIFEST: Manifest;

/** What the launcher calls in the big bundle. */
export function start(argv: readonly string[], root: string): Promise<void> {
  return main(argv, root, () => STEWARD_MANIFEST);
}
