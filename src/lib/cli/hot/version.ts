import { writeOut } from '../../platform/stdio';
import { VERSION } from '../version';

/** `steward --version [--json]`. A flag of oclif's, so that there is no full command behind it. */
export function run(argv: readonly string[]): number {
  writeOut(argv.includes('--json') ? `{"version":"${VERSION}"}\n` : `steward ${VERSION}\n`);
  return 0;
}
