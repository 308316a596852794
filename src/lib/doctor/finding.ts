import { StewardError, toStewardError, type ErrorKind } from '../errors';
import type { Config } from '../config/schema';
import type { FindProgram } from '../platform/process/program';
import type { PathHost } from '../platform/files/paths';
import type { Context } from '../app/context';

/** The parts of steward, in the order in which one stands on the other. */
export const PARTS = [
  'machine',
  'area',
  'config',
  'sense',
  'hooks',
  'jobs',
  'daemon',
  'notify',
  'work',
  'shell',
] as const;
export type Part = (typeof PARTS)[number];

/**
 * - ok: looked at, and it works
 * - off: not set up, switched off, or not asked; that may be meant
 * - warning: works, but not as a person may think
 * - failed: should work, and does not
 */
export type State = 'ok' | 'off' | 'warning' | 'failed';

/** What a check has found. */
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

/** What the checks are given. */
export interface DoctorContext {
  context: Context;
  /** The folder of steward's package.json. */
  root: string;
  host: PathHost;
  find: FindProgram;
  /** Hosts beyond this machine may be asked. */
  online: boolean;
  /** The voice may be heard. */
  sound: boolean;
}

/** The same with the configuration, for the checks that begin with it. */
export interface ConfiguredContext extends DoctorContext {
  config: Config;
}

interface About {
  /** `PART.NAME` */
  id: string;
  part: Part;
  /** What it looks at, in a few words. */
  title: string;
  /** It is given up after so long, ms; 15 s when left out. */
  limitMs?: number;
}

/** A row of the table. It never changes anything; what it throws is `failed`. */
export type Check =
  | (About & { needsConfig: false; run: (at: DoctorContext) => Promise<Finding[]> | Finding[] })
  | (About & { needsConfig: true; run: (at: ConfiguredContext) => Promise<Finding[]> | Finding[] });

type More = Omit<Finding, 'state' | 'found'>;

export const ok = (found: string, more: More = {}): Finding => ({ state: 'ok', found, ...more });
export const off = (found: string, more: More = {}): Finding => ({ state: 'off', found, ...more });
export const warning = (found: string, more: More = {}): Finding => ({ state: 'warning', found, ...more });
export const failed = (found: string, more: More = {}): Finding => ({ state: 'failed', found, ...more });

/** An error as a finding: its message, and its hint as what to do. One of ours that is a fault says so. */
export function failure(error: unknown, more: More = {}): Finding {
  const { kind, message, hint } = toStewardError(error);
  const words = kind === 'internal' ? 'This is a fault in steward.' : hint;
  return failed(message, { kind, ...(words === undefined ? {} : { hint: words }), ...more });
}

/** What `work` gives; an error of steward's becomes a finding, a fault is thrown on. */
export async function orFailure(
  work: () => Promise<Finding[]> | Finding[],
  more: More = {},
): Promise<Finding[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    return [failure(error, more)];
  }
}
