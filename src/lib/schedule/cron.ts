import { StewardError } from '../errors';
import {
  must,
  NOT_THERE,
  outputOf,
  tell,
  type Backend,
  type BackendDeps,
  type JobEntry,
  type Keeper,
} from './backend';
import { everySecOf, type Job } from './job';

/** Debian's cron takes no longer command; bytes. */
const MAX_COMMAND = 990;
/** Of an hourly job: not at the full hour, when everybody's run. */
const MINUTE = 7;
const HOUR_MIN = 60;
/** Its name in the install manifest: it is no file that this user may name. */
const CRONTAB = 'crontab';

/** The lines of a job in a crontab, between two marks that name it. */
export function renderCron({ job, name, launcher }: JobEntry): string {
  const command = `/bin/sh ${cronWord(launcher)} ${job.id}${job.when.kind === 'login' ? ' --keep' : ''}`;
  if (Buffer.byteLength(command) > MAX_COMMAND) {
    throw new StewardError('config', `The path of the user area is too long for a crontab: ${launcher}`, {
      hint: 'Move it to a place with a shorter path, and set STEWARD_HOME to that.',
    });
  }
  return `# >>> ${name} (written by "${job.command}", which takes it back too)\n${timesOf(job)} ${command}\n# <<< ${name}\n`;
}

/** The minutes between runs: a divisor of the hour, so that there is no gap at the full hour. */
export function cronMinutes(everySec: number): number {
  let minutes = Math.min(Math.max(1, Math.floor(everySec / 60)), HOUR_MIN);
  while (HOUR_MIN % minutes !== 0) minutes -= 1;
  return minutes;
}

function timesOf(job: Job): string {
  if (job.when.kind === 'login') return '@reboot';
  const minutes = cronMinutes(everySecOf(job) ?? 0);
  if (minutes === HOUR_MIN) return `${MINUTE} * * * *`;
  return `${minutes === 1 ? '*' : `*/${minutes}`} * * * *`;
}

/**
 * Quotes a word for cron and then for the shell. Some crons remove the backslash before a percent sign and some leave
 * it: outside of quotes both mean the same. A backslash of the path itself stands alone between quotes.
 */
export function cronWord(text: string): string {
  return text.replace(/%|\\|'|[^\w@+=:,./%\\'-]+/g, (part) => {
    if (part === '%') return '\\%';
    return part === "'" ? `"'"` : `'${part}'`;
  });
}

/** The crontab without the lines of a job; every other byte stays. */
export function withoutCron(crontab: string, name: string): string {
  return crontab.replace(blocksOf(name), '');
}

/** The crontab with this block once: in place of the first one, else at the end. */
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

/** A block without its times: a changed interval is no edit. */
function untimed(block: string): string {
  return block.trimEnd().replace(/^(?:\*(?:\/\d+)?|\d+) \* \* \* \* /m, '');
}

const keepsOf = (everySec: number): number => cronMinutes(everySec) * 60;
/** A crontab may be in any encoding: each byte is a character here. */
const blockOf = (entry: JobEntry): string => Buffer.from(renderCron(entry)).toString('latin1');

/** The crontab of this user. */
export function cron(deps: BackendDeps): Backend {
  const { host } = deps;
  return {
    kind: 'cron',
    keeps: keepsOf,
    async probe() {
      if (host.platform === 'win32' || (await tell(deps, 'crontab', ['-l'])).code === 127) return undefined;
      return runs(deps) ? 'cron runs' : undefined;
    },
    install: (entry, keeper) => install(deps, entry, keeper),
    uninstall: (name, keeper) => uninstall(deps, name, keeper),
    start: (entry) => Promise.resolve(startNow(deps, entry)),
    async holds(name) {
      if (host.platform === 'win32') return false;
      const { code, stdout } = await tell(deps, 'crontab', ['-l'], { encoding: 'latin1' });
      return code === 0 && cronBlocks(stdout, name).length > 0;
    },
    async state(entry) {
      const blocks = cronBlocks((await read(deps)) ?? '', entry.name);
      if (blocks.length === 0) return NOT_THERE;
      const meant = untimed(blockOf(entry));
      const edited = blocks.some((block) => untimed(block) !== meant);
      return { ...NOT_THERE, installed: true, loaded: runs(deps), copies: blocks.length, edited };
    },
  };
}

function runs({ host, processNames }: BackendDeps): boolean {
  if (host.platform === 'darwin') return true;
  return ['cron', 'crond', 'fcron', 'dcron', 'cronie'].some((name) => processNames().has(name));
}

function startNow(deps: BackendDeps, { launcher, job }: JobEntry): void {
  deps.start('/bin/sh', [launcher, job.id, ...(job.when.kind === 'login' ? ['--keep'] : [])]);
}

async function read(deps: BackendDeps): Promise<string | undefined> {
  const result = await tell(deps, 'crontab', ['-l'], { encoding: 'latin1' });
  if (result.code === 0) return result.stdout;
  if (result.code === 127 || /no crontab|can't open|cannot open/i.test(result.stderr)) return undefined;
  throw new StewardError('unavailable', `The crontab cannot be read: ${outputOf(result)}`, {
    hint: 'See "crontab -l"; on systems with /etc/cron.allow your user has to be named there.',
  });
}

function write(deps: BackendDeps, text: string): Promise<void> {
  const refused = { words: 'The crontab cannot be written', hint: 'It is as it was. See "crontab -e".' };
  return must(deps, refused, ['crontab', '-'], { input: Buffer.from(text, 'latin1') });
}

async function install(deps: BackendDeps, entry: JobEntry, keeper: Keeper): ReturnType<Backend['install']> {
  const before = await read(deps);
  const after = withCron(before ?? '', entry.name, blockOf(entry));
  const everySec = everySecOf(entry.job);
  const warnings = runs(deps) ? [] : ['No cron runs on this machine: the job waits for one.'];
  if (everySec !== null && keepsOf(everySec) !== everySec)
    warnings.push(`cron counts in whole parts of an hour: it runs every ${keepsOf(everySec) / 60} min.`);
  if (after === before) return { files: [], warnings, changed: false };
  const made = before === undefined || keeper.recorded(CRONTAB)?.['made'] === true;
  keeper.record(CRONTAB, { made, name: entry.name });
  try {
    await write(deps, after);
  } catch (error) {
    if (cronBlocks(before ?? '', entry.name).length === 0) keeper.forget(CRONTAB);
    throw error;
  }
  // Cron would start it with the machine only.
  if (everySec === null) startNow(deps, entry);
  return { files: [], warnings, changed: true };
}

async function uninstall(deps: BackendDeps, name: string, keeper: Keeper): Promise<string[]> {
  const before = await read(deps);
  const after = before === undefined ? undefined : withoutCron(before, name);
  if (after !== undefined && after !== before) {
    if (after === '' && keeper.recorded(CRONTAB)?.['made'] === true)
      await must(deps, { words: 'The empty crontab cannot be removed' }, ['crontab', '-r']);
    else await write(deps, after);
  }
  keeper.forget(CRONTAB);
  return after === before ? [] : [CRONTAB];
}
