import type { Config } from '../config/schema';
import { StewardError } from '../errors';
import { processHost } from '../platform/files/paths';
import { findProgram } from '../platform/process/program';
import type { Context } from '../app/context';
import { CHECKS } from './index';
import type { Check, Part } from './finding';
import { exitCodeOf, reportOf, type DoctorReport } from './report';
import { runChecks } from './run';

export interface DoctorInput {
  /** The folder of steward's package.json. */
  root: string;
  /** Only these parts; all when empty. */
  parts: readonly Part[];
  online: boolean;
  sound: boolean;
  strict: boolean;
}

/** `steward doctor`: looks at every part, changes nothing, and says what mends what. */
export async function examine(
  context: Context,
  { root, parts, online, sound, strict }: DoctorInput,
  onCheck: (title: string) => void,
): Promise<{ report: DoctorReport; exitCode: number }> {
  const at = { context, root, host: processHost(), find: (name: string) => findProgram(name), online, sound };
  const config = await soundConfig(context);
  // A broken configuration keeps most parts from being looked at: it is told whatever was asked for.
  const isAsked = ({ id, part }: Check): boolean =>
    parts.length === 0 || parts.includes(part) || (config === undefined && id === 'config.files');
  const found = await runChecks(CHECKS.filter(isAsked), at, config, onCheck);
  return { report: reportOf(found), exitCode: exitCodeOf(found, strict) };
}

/** Undefined where it is wrong: a check of its own says what. */
async function soundConfig(context: Context): Promise<Config | undefined> {
  try {
    return (await context.loadConfig()).config;
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'config') return undefined;
    throw error;
  }
}
