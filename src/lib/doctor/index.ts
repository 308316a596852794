import { HOOK_CHECKS, type HooksChecked } from '../assistant/checks';
import { CONFIG_CHECKS, type ConfigChecked } from '../config/checks';
import type { Config } from '../config/schema';
import { DAEMON_CHECKS, type DaemonChecked } from '../daemon/checks';
import { undefinedIf } from '../errors';
import { NOTIFY_CHECKS } from '../notify/checks';
import type { NotifyChecked } from '../notify/channels/channel';
import type { Check } from '../platform/check';
import { JOB_CHECKS, type JobsChecked } from '../schedule/checks';
import { DEMO_VARIABLE } from '../platform/files/durable';
import { SENSE_CHECKS, type SenseChecked } from '../sense/checks';
import { SHELL_CHECKS, type ShellChecked } from '../shell/checks';
import { SYNC_CHECKS, type SyncChecked } from '../sync/checks';
import { WORK_CHECKS, type WorkChecked } from '../work/checks';
import { AREA_CHECKS, type AreaChecked } from './area';
import { MACHINE_CHECKS, type MachineChecked } from './machine';
import { exitCodeOf, partOf, reportOf, runChecks, type DoctorReport } from './run';

export type Checked = MachineChecked &
  AreaChecked &
  ConfigChecked &
  SenseChecked &
  HooksChecked &
  JobsChecked &
  DaemonChecked &
  NotifyChecked &
  WorkChecked &
  ShellChecked &
  SyncChecked & { config: Config };

/** All checks, in report order. To add a check, add it to the `checks.ts` of its feature. */
const CHECKS: readonly Check<Checked>[] = [
  ...MACHINE_CHECKS,
  ...AREA_CHECKS,
  ...CONFIG_CHECKS,
  ...SENSE_CHECKS,
  ...HOOK_CHECKS,
  ...JOB_CHECKS,
  ...DAEMON_CHECKS,
  ...NOTIFY_CHECKS,
  ...WORK_CHECKS,
  ...SHELL_CHECKS,
  ...SYNC_CHECKS,
];

/** The parts of steward that have checks, in dependency order. */
export const PARTS: readonly string[] = [...new Set(CHECKS.map(({ id }) => partOf(id)))];

/** Runs the checks of the given parts, or of all parts if none is given, without changing anything. */
export async function examine(
  at: Omit<Checked, 'config'>,
  { parts, strict }: { parts: readonly string[]; strict: boolean },
  onCheck: (title: string) => void,
): Promise<{ report: DoctorReport; exitCode: number }> {
  // Why a configuration is invalid is what the check `config.files` reports.
  const config = (await at.loadConfig().catch(undefinedIf('config')))?.config;
  // Always report an invalid configuration, because it prevents most checks.
  const isDemo = at.host.env[DEMO_VARIABLE] !== undefined;
  const checks = CHECKS.filter(({ notInDemo }) => !(isDemo && notInDemo)).filter(
    ({ id }) =>
      parts.length === 0 || parts.includes(partOf(id)) || (config === undefined && id === 'config.files'),
  );
  const found = await runChecks(checks, at, config, onCheck);
  return { report: reportOf(found), exitCode: exitCodeOf(found, strict) };
}
