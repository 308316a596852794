import { version } from '../../../package.json';

/** The version of steward; `steward sense version` prints the version of sense. */
export const VERSION: string = version;

/** Returns the output of `steward --version [--json]`, or undefined for other command lines. */
export function versionLine(argv: readonly string[]): string | undefined {
  if (!['--version', '-v', '-V', 'version'].includes(argv[0] ?? '')) return undefined;
  return argv.includes('--json') ? `{"version":"${VERSION}"}\n` : `steward ${VERSION}\n`;
}
