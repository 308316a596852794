import { version } from '../../../package.json';

/** The version of the product; `sense version` is that of one component. */
export const VERSION: string = version;

/** The answer to `steward --version [--json]`; undefined for any other command line. */
export function versionLine(argv: readonly string[]): string | undefined {
  if (!['--version', '-v', '-V', 'version'].includes(argv[0] ?? '')) return undefined;
  return argv.includes('--json') ? `{"version":"${VERSION}"}\n` : `steward ${VERSION}\n`;
}
