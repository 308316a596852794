import { StewardError, errnoCode } from '../../errors';
import { spawn } from '../process/spawn';

/**
 * A launcher that is still running after this time counts as successful, because it may be the browser itself.
 */
const FAILS_WITHIN_MS = 2_000;

/**
 * Opens a URL in the default browser. Throws `unavailable` if the launcher is missing or fails within 2 s.
 */
export function openInBrowser(url: string, platform: NodeJS.Platform = process.platform): Promise<void> {
  const [file, args] = openerOf(platform, url);
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'ignore', detached: true, windowsHide: true });
    const timer = setTimeout(() => {
      child.unref();
      resolve();
    }, FAILS_WITHIN_MS);
    const fail = (why: string, cause?: unknown): void => {
      clearTimeout(timer);
      reject(
        new StewardError('unavailable', `Could not open a browser: ${file} ${why}.`, {
          hint: 'Add --print to print the address instead.',
          cause,
        }),
      );
    };
    child.on('error', (error) =>
      fail(
        errnoCode(error) === 'ENOENT' ? 'is not installed' : `could not be started (${error.message})`,
        error,
      ),
    );
    child.on('exit', (code, signal) => {
      if (code === 0) {
        clearTimeout(timer);
        resolve();
      } else fail(`exited with ${code ?? String(signal)}`);
    });
  });
}

function openerOf(platform: NodeJS.Platform, url: string): [string, string[]] {
  if (platform === 'darwin') return ['open', [url]];
  // Doesn't use the `start` command, because cmd would interpret special characters in the URL, such as `&`.
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}
