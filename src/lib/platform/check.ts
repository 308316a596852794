import { StewardError, toStewardError, type ErrorKind } from '../errors';

/** `off`: not set up, turned off, or not checked; `warning`: works, but perhaps not as intended. */
export type State = 'ok' | 'off' | 'warning' | 'failed';

/** The result of a check of `doctor`. */
export interface Finding {
  state: State;
  /** Shown to a person, so it contains no secrets. */
  found: string;
  /** The command that fixes it. */
  mend?: string;
  /** What to do if no command fixes it. */
  hint?: string;
  /** Decides the exit code of a failure. Default: `unavailable`. */
  kind?: ErrorKind;
}

interface About {
  /** `PART.NAME` */
  id: string;
  title: string;
  /** Time limit. Default: 15 s. */
  limitMs?: number;
}

type Findings = Promise<Finding[]> | Finding[];

/** A check of `doctor`, which never changes anything; a thrown error is `failed`. */
export type Check<At extends object> =
  | (About & { needsConfig: false; run: (at: Omit<At, 'config'>) => Findings })
  | (About & { needsConfig: true; run: (at: At) => Findings });

type More = Omit<Finding, 'state' | 'found'>;

export const ok = (found: string, more: More = {}): Finding => ({ state: 'ok', found, ...more });
export const off = (found: string, more: More = {}): Finding => ({ state: 'off', found, ...more });
export const warning = (found: string, more: More = {}): Finding => ({ state: 'warning', found, ...more });
export const failed = (found: string, more: More = {}): Finding => ({ state: 'failed', found, ...more });

/** The result of a check that needs `--online`. */
export const NOT_CHECKED = 'not checked: add --online';

/** Converts an error to a finding. */
export function failure(error: unknown, more: More = {}): Finding {
  const { kind, message, hint } = toStewardError(error);
  const words = kind === 'internal' ? 'This is a bug in steward.' : hint;
  return failed(message, { kind, ...(words === undefined ? {} : { hint: words }), ...more });
}

/** Returns the findings of `work`; a StewardError becomes a finding, a bug is rethrown. */
export async function orFailure(work: () => Findings, more: More = {}): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    return [failure(error, more)];
  }
}
