import { writeOut } from '../../platform/terminal/stdio';
import { VERSION } from '../../app/version';

/** `steward --version [--json]`. A flag of oclif's, so that there is no full command behind it. */
export function run(argv: readonly string[]): number {
  writeOut(argv.includes('--json') ? `{"version":"${VERSION}"}\n` : `steward ${VERSION}\n`);
  return 0;
}
