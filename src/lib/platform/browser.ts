import { StewardError } from '../errors';
import type { Run } from './process';

/** Opens an address of ours in the person's browser, by an argument array. No way to do so is `unavailable`. */
export async function openInBrowser(
  run: Run,
  url: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  const [file, args] = openerOf(platform, url);
  try {
    const { code, stderr } = await run(file, args, { timeoutMs: 10_000, maxBytes: 4096 });
    if (code === 0) return;
    throw new StewardError(
      'unavailable',
      `${file} could not open a browser: ${stderr.trim() || `exit ${String(code)}`}`,
    );
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    throw new StewardError('unavailable', error.message, {
      hint: 'Print the address instead, and open it yourself: steward open --print',
      cause: error,
    });
  }
}

function openerOf(platform: NodeJS.Platform, url: string): [string, string[]] {
  if (platform === 'darwin') return ['open', [url]];
  // `start` is a word of cmd, to whom & and ? mean something: the handler of addresses is asked itself.
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}
