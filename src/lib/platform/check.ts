import { StewardError, toStewardError, type ErrorKind } from '../errors';

/**
 * - ok: looked at, and it works
 * - off: not set up, switched off, or not asked; that may be meant
 * - warning: works, but not as a person may think
 * - failed: should work, and does not
 */
export type State = 'ok' | 'off' | 'warning' | 'failed';

/** What a check of `doctor` has found. */
export interface Finding {
  state: State;
  /** In words, for a person; no secret. */
  found: string;
  /** The command that mends it, as it is typed. */
  mend?: string;
  /** What else to do, where no command does it. */
  hint?: string;
  /** Of `failed`: what kind of trouble, for the exit code; `unavailable` when left out. */
  kind?: ErrorKind;
}

interface About {
  /** `PART.NAME` */
  id: string;
  /** What it looks at, in a few words. */
  title: string;
  /** It is given up after so long, ms; 15 s when left out. */
  limitMs?: number;
}

type Findings = Promise<Finding[]> | Finding[];

/**
 * A row of the table of `doctor`. It never changes anything; what it throws is `failed`. One that does not need the
 * configuration runs where that is broken, too.
 */
export type Check<At extends object> =
  | (About & { needsConfig: false; run: (at: Omit<At, 'config'>) => Findings })
  | (About & { needsConfig: true; run: (at: At) => Findings });

type More = Omit<Finding, 'state' | 'found'>;

export const ok = (found: string, more: More = {}): Finding => ({ state: 'ok', found, ...more });
export const off = (found: string, more: More = {}): Finding => ({ state: 'off', found, ...more });
export const warning = (found: string, more: More = {}): Finding => ({ state: 'warning', found, ...more });
export const failed = (found: string, more: More = {}): Finding => ({ state: 'failed', found, ...more });

/** What is said of a check that would ask another host, without `--online`. */
export const NOT_CHECKED = 'not checked: add --online';

/** An error as a finding: its message, and its hint as what to do. One of ours that is a fault says so. */
export function failure(error: unknown, more: More = {}): Finding {
  const { kind, message, hint } = toStewardError(error);
  const words = kind === 'internal' ? 'This is a bug in steward.' : hint;
  return failed(message, { kind, ...(words === undefined ? {} : { hint: words }), ...more });
}

/** What `work` gives; an error of steward's becomes a finding, a fault is thrown on. */
export async function orFailure(work: () => Findings, more: More = {}): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    return [failure(error, more)];
  }
}
