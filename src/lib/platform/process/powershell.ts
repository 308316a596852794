import { StewardError } from '../../errors';
import type { Run } from './process';

const TIMEOUT_MS = 10_000;

/** Installs what calls Windows directly, in the version that `windows.ts` is written for. */
export const FASTER = 'npm install --global koffi@3';

/** Runs a script in Windows PowerShell and gives the JSON object that it prints. Slow: about a second. */
export async function askPowerShell(run: Run, script: string): Promise<Record<string, unknown>> {
  const { code, stdout, timedOut } = await run('powershell.exe', powerShellArgs(script), {
    timeoutMs: TIMEOUT_MS,
  });
  if (timedOut || code !== 0) {
    const reason = timedOut ? `did not answer in ${TIMEOUT_MS / 1000} s` : `failed with code ${code}`;
    throw new StewardError('unavailable', `PowerShell ${reason}.`, {
      hint: `Run "${FASTER}"; then PowerShell is not needed.`,
    });
  }
  try {
    const value: unknown = JSON.parse(stdout);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new StewardError('unavailable', 'PowerShell gave no readable answer.', {
    hint: 'Check that "powershell.exe -NoProfile" starts without errors.',
  });
}

/** The arguments that make PowerShell run a script. */
export function powerShellArgs(script: string): string[] {
  // Base64 of UTF-16: nothing of the script is up to the rules of a command line.
  const encoded = Buffer.from(script, 'utf16le').toString('base64');
  return ['-NoProfile', '-NonInteractive', '-EncodedCommand', encoded];
}
