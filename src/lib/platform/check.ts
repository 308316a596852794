import { StewardError, toStewardError, type ErrorKind } from '../errors';
import { definedOnly } from './files/json-object';
import type { FindProgram } from './process/spawn';
import type { Run } from './process/process';
import type { PathHost } from './files/paths';
import type { Clock } from './time/clock';

/**
 * `off` means not set up, turned off, or not checked. `warning` means working, but possibly not as intended.
 */
export type State = 'ok' | 'off' | 'warning' | 'failed';

/** The answer to whether a part works. `status`, the daemon and `doctor` all show these. */
export interface Finding {
  state: State;
  /** A description of the result. Must not contain secrets. */
  found: string;
  /** The command that fixes the problem. */
  fix?: string;
  /** Advice for problems that no command can fix. */
  hint?: string;
  /** The error kind of a failure, which determines the exit code. Default: `unavailable`. */
  kind?: ErrorKind;
}

interface About {
  /** The id of the check, `PART.NAME`. */
  id: string;
  title: string;
  /** Whether the check needs what the demo lacks: programs, a GitHub account. */
  notInDemo?: true;
}

/** What checks use of the machine. */
export interface CheckedHost {
  clock: Clock;
  host: PathHost;
  run: Run;
  find: FindProgram;
  /** Whether other hosts may be contacted. */
  online: boolean;
}

type Findings = Promise<Finding[]> | Finding[];

/** A `doctor` check. It must not change anything. If it throws, its result is `failed`. */
export type Check<At extends object> =
  | (About & { needsConfig: false; run: (at: Omit<At, 'config'>) => Findings })
  | (About & { needsConfig: true; run: (at: At) => Findings });

type More = Omit<Finding, 'state' | 'found'>;

export const ok = (found: string, more: More = {}): Finding => ({ state: 'ok', found, ...more });
export const off = (found: string, more: More = {}): Finding => ({ state: 'off', found, ...more });
export const warning = (found: string, more: More = {}): Finding => ({ state: 'warning', found, ...more });
export const failed = (found: string, more: More = {}): Finding => ({ state: 'failed', found, ...more });

const ORDER: readonly State[] = ['failed', 'warning', 'ok', 'off'];

/** Returns the worst finding, and of several the first. */
export function worstOf(findings: readonly [Finding, ...Finding[]]): Finding {
  return findings.reduce((worst, next) =>
    ORDER.indexOf(next.state) < ORDER.indexOf(worst.state) ? next : worst,
  );
}

/** Returns what was found and the advice as one text. */
export function withHint({ found, hint }: { found: string; hint?: string | undefined }): string {
  return hint === undefined ? found : `${/[.!?]$/.test(found) ? found : `${found}.`} ${hint}`;
}

export const NOT_CHECKED = 'not checked: add --online';

export function failure(error: unknown, more: More = {}): Finding {
  const { kind, message, hint } = toStewardError(error);
  const words = kind === 'internal' ? 'This is a bug in steward.' : hint;
  return failed(message, { ...definedOnly({ kind, hint: words }), ...more });
}

/**
 * Runs `work` and returns its findings. Converts a StewardError to a finding, and rethrows any other error.
 */
export async function orFailure(work: () => Findings, more: More = {}): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    return [failure(error, more)];
  }
}
