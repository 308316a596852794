import { writeOut } from '../../platform/terminal/stdio';
import { SENSE_VERSION } from '../../sense/version';

/** `steward sense version [--json]`; the rest (`--help`, mistakes) is the full command's. */
export function run(argv: readonly string[]): number | undefined {
  const json = argv[0] === '--json';
  if (argv.length > (json ? 1 : 0)) return undefined;
  writeOut(json ? `{\n  "version": "${SENSE_VERSION}"\n}\n` : `${SENSE_VERSION}\n`);
  return 0;
}
