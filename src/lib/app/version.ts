import { version } from '../../../package.json';

/** The product's version; `sense version` prints the version of one component. */
export const VERSION: string = version;

/** The output of `steward --version [--json]`; undefined for another command line. */
export function versionLine(argv: readonly string[]): string | undefined {
  if (!['--version', '-v', '-V', 'version'].includes(argv[0] ?? '')) return undefined;
  return argv.includes('--json') ? `{"version":"${VERSION}"}\n` : `steward ${VERSION}\n`;
}
