import { StewardError } from '../errors';
import type { RunResult } from '../platform/process/process';
import { callTool, NOT_INSTALLED, outputOf, requireTool, type Backend, type InstalledEntry } from './backend';
import type { BackendDeps, JobEntry } from './launcher';
import type { Job } from './job';
import type { Recorder } from './recorder';

/** The longest command that Debian's cron accepts, in bytes. */
const MAX_COMMAND = 990;
const HOUR_MIN = 60;
/** The crontab's name in the install manifest. The real path depends on the system. */
const CRONTAB = 'crontab';

/** What crontab prints without a crontab, and for a user that the system has no account for. */
const NONE = /no crontab|can't open|cannot open/i;
const NO_ACCOUNT = /UID isn't in the passwd file|who are you|unknown uid/i;

/** Returns a job's crontab lines, between markers that contain the entry's name. */
export function renderCron({ job, name, launcher }: JobEntry): string {
  const command = `/bin/sh ${cronWord(launcher)} ${job.id}${job.everySec === null ? ' --keep' : ''}`;
  if (Buffer.byteLength(command) > MAX_COMMAND) {
    throw new StewardError('config', `The path of the user area is too long for a crontab: ${launcher}`, {
      hint: 'Move the user area to a shorter path, and set STEWARD_HOME to it.',
    });
  }
  return `# >>> ${name} (written by "${job.command}", which can also remove it)\n${timesOf(job)} ${command}\n# <<< ${name}\n`;
}

/** Returns the interval in minutes, rounded down to a divisor of 60, so that all intervals are equal. */
export function cronMinutes(everySec: number): number {
  let minutes = Math.min(Math.max(1, Math.floor(everySec / 60)), HOUR_MIN);
  while (HOUR_MIN % minutes !== 0) minutes -= 1;
  return minutes;
}

function timesOf({ everySec }: Job): string {
  if (everySec === null) return '@reboot';
  const minutes = cronMinutes(everySec);
  if (minutes === HOUR_MIN) return '0 * * * *';
  return `${minutes === 1 ? '*' : `*/${minutes}`} * * * *`;
}

/**
 * Quotes a word for cron and the shell. A percent sign becomes `\%` outside quotes, so that cron or the shell
 * removes the backslash.
 */
export function cronWord(text: string): string {
  return text.replace(/%|\\|'|[^\w@+=:,./%\\'-]+/g, (part) => {
    if (part === '%') return '\\%';
    return part === "'" ? `"'"` : `'${part}'`;
  });
}

export function withoutCron(crontab: string, name: string): string {
  return crontab.replace(blocksOf(name), '');
}

/** Replaces the job's blocks in the crontab with `block`. Appends `block` if the crontab has none. */
export function withCron(crontab: string, name: string, block: string): string {
  let text = block;
  const replaced = crontab.replace(blocksOf(name), () => {
    const first = text;
    text = '';
    return first;
  });
  if (text === '') return replaced;
  return `${crontab === '' || crontab.endsWith('\n') ? crontab : `${crontab}\n`}${block}`;
}

export function cronBlocks(crontab: string, name: string): string[] {
  return crontab.match(blocksOf(name)) ?? [];
}

function blocksOf(name: string): RegExp {
  return new RegExp(`^# >>> ${name} [^\\n]*\\n(?:[^\\n]*\\n){0,2}?# <<< ${name}(?:\\n|$)`, 'gm');
}

function commandOf(block: string): string {
  const command = block.split('\n').filter((line) => !line.startsWith('#'));
  return command.join('\n').replace(/^(?:\*(?:\/\d+)?|\d+) \* \* \* \* /m, '');
}

const intervalOf = (everySec: number): number => cronMinutes(everySec) * 60;
/**
 * Returns the job's block as Latin-1 text (one character per byte), because a crontab may have any encoding.
 */
const blockOf = (entry: JobEntry): string => Buffer.from(renderCron(entry)).toString('latin1');

/** The scheduler that uses the user's crontab. */
export function cron(deps: BackendDeps): Backend {
  const isWindows = deps.host.platform === 'win32';
  return {
    kind: 'cron',
    interval: intervalOf,
    async probe() {
      if (isWindows) return undefined;
      const { code, stderr } = await list(deps);
      if (code === 127 || NO_ACCOUNT.test(stderr)) return undefined;
      return isRunning(deps) ? 'cron is running' : undefined;
    },
    install: (entry, recorder) => install(deps, entry, recorder),
    uninstall: (name, recorder) => uninstall(deps, name, recorder),
    start: (entry) => Promise.resolve(startNow(deps, entry)),
    async holds(name) {
      if (isWindows) return false;
      const { code, stdout } = await list(deps);
      return code === 0 && cronBlocks(stdout, name).length > 0;
    },
    async state(entry) {
      const blocks = cronBlocks((await read(deps)) ?? '', entry.name);
      if (blocks.length === 0) return NOT_INSTALLED;
      const command = commandOf(blockOf(entry));
      const edited = blocks.length > 1 || blocks.some((block) => commandOf(block) !== command);
      return { installed: true, loaded: isRunning(deps), edited };
    },
  };
}

function isRunning({ host, processNames }: BackendDeps): boolean {
  if (host.platform === 'darwin') return true;
  // Reading the names opens a file of every process.
  const names = processNames();
  return ['cron', 'crond', 'fcron', 'dcron', 'cronie'].some((name) => names.has(name));
}

function startNow(deps: BackendDeps, { launcher, job }: JobEntry): void {
  deps.start('/bin/sh', [launcher, job.id, ...(job.everySec === null ? ['--keep'] : [])]);
}

/** Runs `crontab -l`, always in the same way, so that `onceEach` runs it once. */
function list(deps: BackendDeps): Promise<RunResult> {
  return callTool(deps, 'crontab', ['-l'], { encoding: 'latin1' });
}

async function read(deps: BackendDeps): Promise<string | undefined> {
  const result = await list(deps);
  if (result.code === 0) return result.stdout;
  if (result.code === 127 || NONE.test(result.stderr) || NO_ACCOUNT.test(result.stderr)) return undefined;
  throw new StewardError('unavailable', `The crontab is not readable: ${outputOf(result)}`, {
    hint: 'Run "crontab -l" to see why. If /etc/cron.allow exists, it must list your user.',
  });
}

function write(deps: BackendDeps, text: string): Promise<void> {
  const refused = {
    message: 'The crontab is not writable',
    hint: 'The crontab is unchanged. Check that you can edit it with "crontab -e".',
  };
  return requireTool(deps, refused, ['crontab', '-'], { input: Buffer.from(text, 'latin1') });
}

async function install(deps: BackendDeps, entry: JobEntry, recorder: Recorder): Promise<InstalledEntry> {
  const before = await read(deps);
  const after = withCron(before ?? '', entry.name, blockOf(entry));
  const { everySec } = entry.job;
  const warnings = isRunning(deps) ? [] : ['cron is not running, so the job does not run.'];
  if (everySec !== null && intervalOf(everySec) !== everySec)
    warnings.push(
      `cron runs the job every ${intervalOf(everySec) / 60} min, the closest interval it supports.`,
    );
  if (after === before) return { files: [], warnings, changed: false };
  const made = before === undefined || recorder.recorded(CRONTAB)?.['made'] === true;
  recorder.record(CRONTAB, { made, name: entry.name });
  try {
    await write(deps, after);
  } catch (error) {
    if (cronBlocks(before ?? '', entry.name).length === 0) recorder.forget(CRONTAB);
    throw error;
  }
  // Start the daemon now, because cron would start it only at the next boot.
  if (everySec === null) startNow(deps, entry);
  return { files: [], warnings, changed: true };
}

async function uninstall(deps: BackendDeps, name: string, recorder: Recorder): Promise<string[]> {
  const before = await read(deps);
  const after = before === undefined ? undefined : withoutCron(before, name);
  if (after !== undefined && after !== before) {
    if (after === '' && recorder.recorded(CRONTAB)?.['made'] === true)
      await requireTool(deps, { message: 'The empty crontab was not removed' }, ['crontab', '-r']);
    else await write(deps, after);
  }
  recorder.forget(CRONTAB);
  return after === before ? [] : [CRONTAB];
}
