import { posix } from 'node:path';

import { StewardError } from '../errors';
import { toIso } from '../platform/time/clock';
import { everySecOf } from './job';
import {
  NOT_THERE,
  type EntryState,
  type JobEntry,
  type Backend,
  type BackendDeps,
  outputOf,
  tell,
} from './backend';

const HOUR_SEC = 3600;
/** After a failure the daemon is started again after so long, s. */
const RESTART_SEC = 60;

/** The text of each unit file by its name: a service, and the timer that starts it; of the daemon the service alone. */
export function renderSystemd(entry: JobEntry): Record<string, string> {
  const { job, name } = entry;
  const about = `# Written by "${job.command}", which takes it back too.\n`;
  const service = `${about}[Unit]\nDescription=${unitText(job.label)}\n\n${serviceOf(entry)}`;
  if (job.when.kind === 'login') {
    return { [`${name}.service`]: `${service}\n[Install]\nWantedBy=default.target\n` };
  }
  const timer = `${about}[Unit]\nDescription=${unitText(job.label)}\n\n[Timer]\n${timesOf(everySecOf(job) ?? 0)}\n[Install]\nWantedBy=timers.target\n`;
  return { [`${name}.service`]: service, [`${name}.timer`]: timer };
}

function serviceOf({ job, launcher, env }: JobEntry): string {
  const lines = [
    `ExecStart=/bin/sh ${execWord(launcher)} ${job.id}`,
    ...Object.entries(env).map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`),
    ...(job.timeoutSec === null ? [] : [`TimeoutStartSec=${job.timeoutSec}`]),
  ];
  if (job.when.kind === 'login') {
    return `[Service]\nType=exec\n${lines.join('\n')}\nRestart=on-failure\nRestartSec=${RESTART_SEC}\nTimeoutStopSec=20\n`;
  }
  return `[Service]\nType=oneshot\n${lines.join('\n')}\nNice=10\n`;
}

function timesOf(everySec: number): string {
  // An hour that was slept through, or without a login, is made up for.
  if (everySec === HOUR_SEC)
    return 'OnActiveSec=60\nOnCalendar=hourly\nPersistent=true\nRandomizedDelaySec=30\n';
  return `OnActiveSec=15\nOnUnitActiveSec=${everySec}\nAccuracySec=${everySec < 60 ? 1 : 5}s\n`;
}

/** A percent sign begins a specifier, everywhere in a unit. */
function unitText(text: string): string {
  return text.replaceAll('%', '%%');
}

function quoted(text: string): string {
  return `"${unitText(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** A word of ExecStart, where a dollar sign begins a variable too. */
function execWord(text: string): string {
  return quoted(text).replaceAll('$', '$$$$');
}

/** The answer of `systemctl show`: a property a line. */
export function parseShow(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf('=');
      return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

/** What the properties of a service (with `--timestamp=unix`) say of its last run. */
export function lastRunOf(
  properties: Readonly<Record<string, string>>,
): Pick<EntryState, 'lastRun' | 'lastExit'> {
  const started = unixIso(properties['ExecMainStartTimestamp']);
  const ended = unixIso(properties['ExecMainExitTimestamp']);
  const isRunning =
    /^(activating|active)$/.test(properties['ActiveState'] ?? '') && properties['MainPID'] !== '0';
  const status = Number(properties['ExecMainStatus']);
  return {
    lastRun: ended ?? started,
    lastExit: started === null || isRunning || !Number.isSafeInteger(status) ? null : status,
  };
}

/** When the timer starts its service next, by `systemctl list-timers --output=json`; null where that is not told. */
export function nextRunOf(json: string, timer: string): string | null {
  try {
    const rows = JSON.parse(json) as unknown;
    if (!Array.isArray(rows)) return null;
    const row = (rows as Record<string, unknown>[]).find(({ unit }) => unit === timer);
    const next = row?.['next'];
    return typeof next === 'number' && next > 0 ? toIso(Math.round(next / 1000)) : null;
  } catch (error) {
    // Before version 248 it is a table, with times in words.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function unixIso(text: string | undefined): string | null {
  const found = /^@(\d+)/.exec(text ?? '');
  return found === null ? null : toIso(Number(found[1]) * 1000);
}

const SHOWN = ['ActiveState', 'MainPID', 'ExecMainStartTimestamp', 'ExecMainExitTimestamp', 'ExecMainStatus'];

/** Units of the person's own systemd. */
export function systemd(deps: BackendDeps): Backend {
  const { host, keep } = deps;
  const xdg = (name: string, usual: string): string => {
    const set = host.env[name] ?? '';
    return posix.isAbsolute(set) ? set : posix.join(host.home, usual);
  };
  const folder = posix.join(xdg('XDG_CONFIG_HOME', '.config'), 'systemd', 'user');
  /** Where systemd keeps when a timer last elapsed, to make up for what was missed. */
  const stamps = posix.join(xdg('XDG_DATA_HOME', '.local/share'), 'systemd', 'timers');
  const ask = (...args: string[]) => tell(deps, 'systemctl', ['--user', ...args]);
  const started = (entry: Pick<JobEntry, 'name' | 'job'>): string =>
    `${entry.name}.${entry.job.when.kind === 'login' ? 'service' : 'timer'}`;
  const filesOf = (name: string): string[] =>
    [`${name}.service`, `${name}.timer`].map((file) => posix.join(folder, file));

  async function must(...args: string[]): Promise<void> {
    const result = await ask(...args);
    if (result.code === 0) return;
    throw new StewardError('unavailable', `The systemd user manager refuses: ${outputOf(result)}`, {
      hint: 'See "systemctl --user status", or choose another scheduler with --scheduler cron.',
    });
  }

  async function isLoaded(entry: Pick<JobEntry, 'name' | 'job'>): Promise<boolean> {
    const { stdout } = await ask('is-active', started(entry));
    return stdout.trim() === 'active';
  }

  return {
    kind: 'systemd',
    keeps: (everySec) => everySec,
    async probe() {
      if (host.platform !== 'linux') return undefined;
      const { stdout } = await ask('is-system-running');
      return /^(running|degraded|starting|initializing|maintenance)$/.test(stdout.trim())
        ? 'the systemd user manager answers'
        : undefined;
    },
    async install(entry, keeper) {
      const unit = started(entry);
      const units = Object.entries(renderSystemd(entry));
      const files = units.map(([file]) => posix.join(folder, file));
      const beside = [posix.join(stamps, `stamp-${entry.name}.timer`)];
      const changed = units
        .map(([file, text]) => keeper.write(posix.join(folder, file), text, { beside }))
        .includes(true);
      const warnings = await lingerHint(deps, entry);
      const isOn = (await ask('is-enabled', unit)).code === 0 && (await isLoaded(entry));
      if (!changed && isOn) return { changed: false, files, warnings };
      try {
        await must('daemon-reload');
        const { LoadState, FragmentPath } = parseShow(
          (await ask('show', unit, '--property=LoadState,FragmentPath')).stdout,
        );
        if (LoadState === 'not-found')
          throw new StewardError('unavailable', `The systemd user manager does not look into ${folder}.`, {
            hint: 'It was started with another XDG_CONFIG_HOME: unset it, or set it in ~/.config/environment.d too.',
          });
        if (LoadState !== 'loaded')
          throw new StewardError(
            'unavailable',
            `The systemd user manager does not load ${FragmentPath ?? unit}.`,
            {
              hint: `See "systemctl --user status ${unit}"${LoadState === 'masked' ? `; unmask it with "systemctl --user unmask ${unit}"` : ''}.`,
            },
          );
        await must('enable', unit);
        await must('restart', unit);
      } catch (error) {
        await takeOut(entry.name);
        for (const file of files) keeper.remove(file);
        await ask('daemon-reload');
        throw error;
      }
      return { changed: true, files, warnings };
    },
    async uninstall(name, keeper) {
      await takeOut(name);
      const removed = filesOf(name).filter((file) => keeper.remove(file));
      // Whoever removed them may have been killed before this.
      await ask('daemon-reload');
      for (const unit of [`${name}.timer`, `${name}.service`]) await ask('reset-failed', unit);
      return removed;
    },
    start: ({ name }) => must('start', `${name}.service`),
    holds: (name) =>
      Promise.resolve(host.platform === 'linux' && filesOf(name).some((file) => keep.exists(file))),
    async state(entry) {
      const isThere = filesOf(entry.name).some((file) => keep.exists(file));
      if (!isThere) return NOT_THERE;
      const service = await ask(
        'show',
        `${entry.name}.service`,
        `--property=${SHOWN.join(',')}`,
        '--timestamp=unix',
      );
      const timers = await ask('list-timers', '--all', '--output=json');
      return {
        ...NOT_THERE,
        installed: true,
        loaded: await isLoaded(entry),
        copies: 1,
        disabled: (await ask('is-enabled', started(entry))).code !== 0,
        nextRun: nextRunOf(timers.stdout, `${entry.name}.timer`),
        ...lastRunOf(parseShow(service.stdout)),
      };
    },
  };

  /** Stops it, and takes away what systemd itself has noted: the link that enables it, the time of its last run. */
  async function takeOut(name: string): Promise<void> {
    for (const file of filesOf(name).filter((path) => keep.exists(path))) {
      const unit = posix.basename(file);
      await ask('disable', '--now', unit);
      if (unit.endsWith('.timer')) await ask('clean', '--what=state', unit);
    }
  }
}

/** Without lingering the user manager ends with the last session, and the jobs with it. */
async function lingerHint(deps: BackendDeps, { job }: JobEntry): Promise<string[]> {
  if (job.id === 'sense' || job.id === 'insight') return [];
  const { stdout } = await tell(deps, 'loginctl', ['show-user', String(deps.userId), '--property=Linger']);
  return stdout.trim() === 'Linger=no'
    ? ['It runs while you are logged in. To have it run without a login too: loginctl enable-linger']
    : [];
}
