import fc from 'fast-check';

import type { JobEntry } from '../../src/lib/schedule/backend';
import { JOBS, type JobId } from '../../src/lib/schedule/job';

/** An entry of each kind of job, with ordinary paths. */
export function entryFor(id: JobId, over: Partial<JobEntry> = {}): JobEntry {
  return {
    job: JOBS[id],
    name: `steward-${id}`,
    launcher: '/home/ada/.steward/bin/steward-job',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', STEWARD_HOME: '/home/ada/.steward' },
    log: '/home/ada/.steward/sense/logs/capture.log',
    ...over,
  };
}

/** Paths of one line that a file system allows and that mean something to a shell, a scheduler or XML. */
export const ODD_PATHS: readonly string[] = [
  '/home/a b/steward-job',
  `/home/it's/steward-job`,
  '/home/"x"/steward-job',
  '/home/100%/steward-job',
  '/home/%h%%n/steward-job',
  '/home/$HOME/${PATH}$$/steward-job',
  '/home/a\\b\\\\c\\%d\\/steward-job',
  '/home/größe 🦉/steward-job',
  '/home/`id`$(id);|&<>#*?[]{}!~/steward-job',
  '/home/-n @NODE@ $& $1/steward-job',
];

/** Text of one line, with what is special to any of the formats often in it. */
export const lineText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...'%\\\'"$`&<>#; {}*~é🦉'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
    ),
    {
      maxLength: 24,
    },
  )
  .map((parts) => parts.join('').replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ''));
