import { StewardError } from '../errors';
import { everySecOf, type Job } from './job';
import { NOT_THERE, type JobEntry, type Backend, type BackendDeps, outputOf, tell } from './backend';

/** Debian's cron takes no longer command; bytes. */
const MAX_COMMAND = 990;
/** Of an hourly job: not at the full hour, when everybody's run. */
const MINUTE = 7;
const HOUR_MIN = 60;

/** The lines of a job in a crontab, between two marks that name it. */
export function renderCron(entry: JobEntry): string {
  const { job, name, launcher } = entry;
  const keep = job.when.kind === 'login' ? ' --keep' : '';
  const command = `/bin/sh ${cronWord(launcher)} ${job.id}${keep}`;
  if (Buffer.byteLength(command) > MAX_COMMAND) {
    throw new StewardError('config', `The path of the user area is too long for a crontab: ${launcher}`, {
      hint: 'Move it to a place with a shorter path, and set STEWARD_HOME to that.',
    });
  }
  return `${beginOf(name)} (written by "${job.command}", which takes it back too)\n${timesOf(job)} ${command}\n${endOf(name)}\n`;
}

/** The minutes between two runs that a crontab can have without a gap at the full hour: a part of an hour. */
export function cronMinutes(everySec: number): number {
  const wanted = Math.max(1, Math.floor(everySec / 60));
  for (let minutes = Math.min(wanted, HOUR_MIN); minutes > 1; minutes -= 1) {
    if (HOUR_MIN % minutes === 0) return minutes;
  }
  return 1;
}

function timesOf(job: Job): string {
  if (job.when.kind === 'login') return '@reboot';
  const minutes = cronMinutes(everySecOf(job) ?? 0);
  if (minutes === HOUR_MIN) return `${MINUTE} * * * *`;
  return `${minutes === 1 ? '*' : `*/${minutes}`} * * * *`;
}

/**
 * A word of the command of a crontab: for cron, to which a percent sign ends the command unless a backslash stands
 * before it, and then for the shell. Some crons take that backslash away and some leave it: outside of the shell's
 * quotes both mean the same. A backslash of the path itself stands alone between quotes, where no cron touches it.
 */
export function cronWord(text: string): string {
  return text.replace(/%|\\|'|[^\w@+=:,./%\\'-]+/g, (part) => {
    if (part === '%') return '\\%';
    return part === "'" ? `"'"` : `'${part}'`;
  });
}

/** The text without the lines of a job, however often they stand there. Every other byte stays. */
export function withoutCron(crontab: string, name: string): string {
  return crontab.replace(blocksOf(name), '');
}

/** The text with these lines for a job, once: in the place of the first that it has, else at the end. */
export function withCron(crontab: string, name: string, block: string): string {
  let isFirst = true;
  const replaced = crontab.replace(blocksOf(name), () => {
    const text = isFirst ? block : '';
    isFirst = false;
    return text;
  });
  if (!isFirst) return replaced;
  return `${crontab === '' || crontab.endsWith('\n') ? crontab : `${crontab}\n`}${block}`;
}

/** The lines of a job, as often as they stand there. */
export function cronBlocks(crontab: string, name: string): string[] {
  return crontab.match(blocksOf(name)) ?? [];
}

function blocksOf(name: string): RegExp {
  return new RegExp(`^${beginOf(name)} [^\\n]*\\n(?:[^\\n]*\\n){0,2}?${endOf(name)}(?:\\n|$)`, 'gm');
}

function beginOf(name: string): string {
  return `# >>> ${name}`;
}

function endOf(name: string): string {
  return `# <<< ${name}`;
}

/** A block without the minutes that it runs at. */
function linesOf(block: string): string {
  return block.trimEnd().replace(/^(?:\*(?:\/\d+)?|\d+) \* \* \* \* /m, '');
}

function keepsOf(everySec: number): number {
  return cronMinutes(everySec) * 60;
}

/** The crontab of this user. It may be in any encoding: each byte is a character here. */
export function cron(deps: BackendDeps): Backend {
  const { host, processNames } = deps;

  async function read(): Promise<string | undefined> {
    const result = await tell(deps, 'crontab', ['-l'], { encoding: 'latin1' });
    if (result.code === 0) return result.stdout;
    if (result.code === 127 || /no crontab|can't open|cannot open/i.test(result.stderr)) return undefined;
    throw new StewardError('unavailable', `The crontab cannot be read: ${outputOf(result)}`, {
      hint: 'See "crontab -l"; on systems with /etc/cron.allow your user has to be named there.',
    });
  }

  async function write(text: string): Promise<void> {
    const result = await tell(deps, 'crontab', ['-'], { input: Buffer.from(text, 'latin1') });
    if (result.code === 0) return;
    throw new StewardError('unavailable', `The crontab cannot be written: ${outputOf(result)}`, {
      hint: 'It is as it was. See "crontab -e".',
    });
  }

  const runs = (): boolean =>
    ['cron', 'crond', 'fcron', 'dcron', 'cronie'].some((name) => processNames().has(name));

  const startNow = ({ launcher, job }: JobEntry): void => {
    deps.start('/bin/sh', [launcher, job.id, ...(everySecOf(job) === null ? ['--keep'] : [])]);
  };

  return {
    kind: 'cron',
    keeps: keepsOf,
    async probe() {
      if (host.platform === 'win32') return undefined;
      const { code } = await tell(deps, 'crontab', ['-l']);
      if (code === 127) return undefined;
      return host.platform === 'darwin' || runs() ? 'cron runs' : undefined;
    },
    async install(entry, keeper) {
      const block = Buffer.from(renderCron(entry)).toString('latin1');
      const before = await read();
      const after = withCron(before ?? '', entry.name, block);
      const warnings =
        host.platform === 'darwin' || runs() ? [] : ['No cron runs on this machine: the job waits for one.'];
      const everySec = everySecOf(entry.job);
      if (everySec !== null && keepsOf(everySec) !== everySec)
        warnings.push(`cron counts in whole parts of an hour: it runs every ${keepsOf(everySec) / 60} min.`);
      const about = { files: [], warnings };
      if (after === before) return { ...about, changed: false };
      const made = before === undefined || keeper.recorded(CRONTAB)?.['made'] === true;
      keeper.record(CRONTAB, { made, name: entry.name });
      try {
        await write(after);
      } catch (error) {
        if (cronBlocks(before ?? '', entry.name).length === 0) keeper.forget(CRONTAB);
        throw error;
      }
      // Cron would start it with the machine only.
      if (everySec === null) startNow(entry);
      return { ...about, changed: true };
    },
    async uninstall(name, keeper) {
      const before = await read();
      const after = before === undefined ? undefined : withoutCron(before, name);
      if (before !== undefined && after !== undefined && after !== before) {
        if (after === '' && keeper.recorded(CRONTAB)?.['made'] === true) await remove();
        else await write(after);
      }
      keeper.forget(CRONTAB);
      return after === before ? [] : [CRONTAB];
    },
    start(entry) {
      startNow(entry);
      return Promise.resolve();
    },
    async holds(name) {
      if (host.platform === 'win32') return false;
      const { code, stdout } = await tell(deps, 'crontab', ['-l'], { encoding: 'latin1' });
      return code === 0 && cronBlocks(stdout, name).length > 0;
    },
    async state(entry) {
      const blocks = cronBlocks((await read()) ?? '', entry.name);
      if (blocks.length === 0) return NOT_THERE;
      // Of a job that is to run at another interval by now the times alone differ, which is no edit.
      const meant = linesOf(Buffer.from(renderCron(entry)).toString('latin1'));
      return {
        ...NOT_THERE,
        installed: true,
        loaded: host.platform === 'darwin' || runs(),
        copies: blocks.length,
        edited: blocks.some((block) => linesOf(block) !== meant),
      };
    },
  };

  async function remove(): Promise<void> {
    const result = await tell(deps, 'crontab', ['-r']);
    if (result.code === 0) return;
    throw new StewardError('unavailable', `The empty crontab cannot be removed: ${outputOf(result)}`);
  }
}

/** What a crontab is called in the install manifest: it is no file that this user may name. */
const CRONTAB = 'crontab';
