import fc from 'fast-check';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { StewardError } from '../../src/lib/errors';
import type { Run, RunResult } from '../../src/lib/platform/process/process';
import type { JobEntry } from '../../src/lib/schedule/launcher';
import { DAEMON_JOB, tickJob, type Job, type JobId } from '../../src/lib/schedule/job';

export const JOBS: Readonly<Record<JobId, Job>> = {
  daemon: DAEMON_JOB,
  tick: tickJob({ pollIntervalSec: 120 }),
};

/** An entry of each kind of job, with ordinary paths. */
export function entryFor(id: JobId, over: Partial<JobEntry> = {}): JobEntry {
  return {
    job: JOBS[id],
    name: `steward-${id}`,
    launcher: '/home/ada/.steward/bin/steward-job',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', STEWARD_HOME: '/home/ada/.steward' },
    log: '/home/ada/.steward/sense/logs/tick.log',
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

const answer = (code: number, stdout = '', stderr = ''): RunResult => ({
  code,
  signal: null,
  stdout,
  stderr,
  truncated: false,
  timedOut: false,
});

const missing = (file: string): Promise<RunResult> =>
  Promise.reject(new StewardError('not_found', `${file} is not installed or not on the PATH.`));

/**
 * launchd as its manual and its sources tell of it: a job is gone a while after its bootout has answered, and one
 * that is still there is refused with 5; a user without a session on the screen has no domain.
 */
export function launchdModel(options: { session?: boolean; refuses?: boolean } = {}) {
  const started: string[] = [];
  const loaded = new Map<string, { path: string; lasts: number }>();
  const run: Run = (file, [verb = '', ...args]) => {
    if (file !== 'launchctl') return missing(file);
    const [target = '', path = ''] = args;
    const name = target.split('/')[2];
    if (options.session === false)
      return Promise.resolve(answer(125, '', 'Domain does not support specified action'));
    if (verb === 'print' && name === undefined) return Promise.resolve(answer(0, `${target} = {}`));
    if (verb === 'print') {
      const job = loaded.get(name ?? '');
      if (job?.lasts === 0) loaded.delete(name ?? '');
      else if (job !== undefined && job.lasts > 0) job.lasts -= 1;
      return Promise.resolve(
        loaded.has(name ?? '')
          ? answer(0, `${target} = {\n\tstate = not running\n\tlast exit code = 0\n}`)
          : answer(113, '', 'Could not find service'),
      );
    }
    if (verb === 'kickstart') {
      if (!loaded.has(name ?? '')) return Promise.resolve(answer(113, '', 'Could not find service'));
      started.push(name ?? '');
    }
    if (verb === 'bootout') {
      const job = loaded.get(name ?? '');
      if (job !== undefined) job.lasts = 2;
      return Promise.resolve(answer(0));
    }
    if (verb === 'bootstrap') {
      const label = /<key>Label<\/key>\s*<string>([^<]*)</.exec(readFileSync(path, 'utf8'))?.[1] ?? '';
      if (options.refuses === true || loaded.has(label))
        return Promise.resolve(answer(5, '', 'Bootstrap failed: 5: Input/output error'));
      loaded.set(label, { path, lasts: -1 });
    }
    return Promise.resolve(answer(0));
  };
  return { run, loaded: () => [...loaded.keys()], started: () => started };
}

/** A crontab that lies in memory, and no systemd. */
export function crontabModel(initial: string | undefined, options: { refuses?: boolean } = {}) {
  let text = initial;
  const run: Run = (file, [verb = ''], { input }) => {
    if (file !== 'crontab') return missing(file);
    if (verb === '-l')
      return Promise.resolve(text === undefined ? answer(1, '', 'no crontab for ada') : answer(0, text));
    if (options.refuses === true) return Promise.resolve(answer(1, '', 'not allowed\u001b[31m'));
    text = verb === '-r' ? undefined : Buffer.from(input ?? '').toString('latin1');
    return Promise.resolve(answer(0));
  };
  return { run, text: () => text };
}

/**
 * Task Scheduler, spoken to by schtasks.exe: what it was told, in its words. A task is read from its file when it is
 * created; one that is told to run while it is disabled is refused.
 *
 * @param files what lies on the disk
 */
export function taskSchedulerModel(files: ReadonlyMap<string, Uint8Array>) {
  const tasks = new Map<string, string>();
  const told: string[] = [];
  let isDisabled = false;
  const run: Run = (file, [verb = '', ...args]) => {
    if (file !== 'schtasks.exe') return missing(file);
    const name = args[args.indexOf('/tn') + 1] ?? '';
    if (verb !== '/query') told.push([verb, ...args].join(' '));
    if (verb === '/create')
      tasks.set(name, Buffer.from(files.get(args[args.indexOf('/xml') + 1] ?? '') ?? []).toString('utf16le'));
    else if (!tasks.has(name))
      return Promise.resolve(answer(1, '', 'ERROR: The system cannot find the file specified.'));
    if (verb === '/run' && isDisabled)
      return Promise.resolve(answer(1, '', 'ERROR: The task is disabled.\r\n'));
    if (verb === '/delete') tasks.delete(name);
    return Promise.resolve(answer(0, `<Enabled>${String(!isDisabled)}</Enabled>`));
  };
  return {
    run,
    told: () => told.splice(0),
    tasks: () => Object.fromEntries(tasks),
    disable: () => (isDisabled = true),
  };
}

export interface FakeCrontab {
  /** A PATH on which `crontab` is this one. */
  path: string;
  text: () => string | undefined;
}

/**
 * The program `crontab` over a file, so that no crontab of this machine is touched; nothing runs the jobs. With
 * CRONTAB_KILL=before or =after in its environment it kills whoever called it to change something, on that side of the change.
 */
export function fakeCrontab(folder: string): FakeCrontab {
  mkdirSync(folder, { recursive: true });
  const table = join(folder, 'table');
  const program = join(folder, 'crontab');
  writeFileSync(
    program,
    `#!/bin/sh
table='${table}'
if [ "$1" = -l ]; then
  [ -f "$table" ] || { echo 'no crontab for ada' >&2; exit 1; }
  exec cat "$table"
fi
[ "$1" = -r ] || cat >"$table.new"
[ "\${CRONTAB_KILL-}" != before ] || { kill -9 "$PPID"; exit 1; }
if [ "$1" = -r ]; then rm -f "$table"; else mv "$table.new" "$table"; fi
[ "\${CRONTAB_KILL-}" != after ] || kill -9 "$PPID"
`,
  );
  chmodSync(program, 0o755);
  return {
    path: `${folder}:${process.env['PATH'] ?? ''}`,
    text: () => (existsSync(table) ? readFileSync(table, 'utf8') : undefined),
  };
}
