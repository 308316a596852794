import { AREA_CHECKS } from './area';
import { CONFIG_CHECKS } from './config';
import { DAEMON_CHECKS } from './daemon';
import type { Check } from './finding';
import { HOOK_CHECKS } from './hooks';
import { JOB_CHECKS } from './jobs';
import { MACHINE_CHECKS } from './machine';
import { NOTIFY_CHECKS } from './notify';
import { SENSE_CHECKS } from './sense';
import { SHELL_CHECKS } from './shell';
import { WORK_CHECKS } from './work';

/** Every check, in the order of the report. To add one: a row in the file of its part. */
export const CHECKS: readonly Check[] = [
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
];
