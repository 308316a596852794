import { errnoCode } from '../../errors';
import { spawn } from '../process/spawn';

/**
 * A launcher that is still running after this time counts as successful, because it may be the browser itself.
 */
const FAILS_WITHIN_MS = 2_000;

/**
 * Opens a URL in the default browser. Returns a sentence if the launcher is missing or fails within 2 s.
 */
export function openInBrowser(
  url: string,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const [file, args] = openerOf(platform, url);
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: 'ignore', detached: true, windowsHide: true });
    const timer = setTimeout(() => {
      child.unref();
      resolve(undefined);
    }, FAILS_WITHIN_MS);
    const end = (why: string | undefined): void => {
      clearTimeout(timer);
      resolve(why && `Could not open a browser: ${file} ${why}.`);
    };
    child.on('error', (error) =>
      end(errnoCode(error) === 'ENOENT' ? 'is not installed' : `could not be started (${error.message})`),
    );
    child.on('exit', (code, signal) => end(code === 0 ? undefined : `exited with ${code ?? String(signal)}`));
  });
}

/** Returns how to reach an address of this machine from the one that you logged in from by ssh, if you did. */
export function fromAfar(address: string, env: NodeJS.ProcessEnv = process.env): string[] {
  if ((env['SSH_CONNECTION'] ?? '') === '') return [];
  const { host, port } = new URL(address);
  return [`To open it on your own computer, run there: ssh -L ${port}:${host} HOST`];
}

function openerOf(platform: NodeJS.Platform, url: string): [string, string[]] {
  if (platform === 'darwin') return ['open', [url]];
  // Doesn't use the `start` command, because cmd would interpret special characters in the URL, such as `&`.
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', url]];
  return ['xdg-open', [url]];
}
