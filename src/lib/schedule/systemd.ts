import { posix } from 'node:path';

import { toIso } from '../platform/time/clock';
import {
  must,
  NOT_THERE,
  tell,
  type Backend,
  type BackendDeps,
  type EntryState,
  type JobEntry,
  type Keeper,
} from './backend';
import { everySecOf } from './job';

const HOUR_SEC = 3600;
/** The daemon is started again this long after a failure, s. */
const RESTART_SEC = 60;

/** Unit files by name: a service and its timer; of the daemon the service alone. */
export function renderSystemd(entry: JobEntry): Record<string, string> {
  const { job, name, launcher, env } = entry;
  const unit = `# Written by "${job.command}", which takes it back too.\n[Unit]\nDescription=${unitText(job.label)}\n`;
  const lines = [
    `ExecStart=/bin/sh ${execWord(launcher)} ${job.id}`,
    ...Object.entries(env).map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`),
    ...(job.timeoutSec === null ? [] : [`TimeoutStartSec=${job.timeoutSec}`]),
  ].join('\n');
  const everySec = everySecOf(job);
  if (everySec === null) {
    const service = `Type=exec\n${lines}\nRestart=on-failure\nRestartSec=${RESTART_SEC}\nTimeoutStopSec=20`;
    return { [`${name}.service`]: `${unit}\n[Service]\n${service}\n\n[Install]\nWantedBy=default.target\n` };
  }
  return {
    [`${name}.service`]: `${unit}\n[Service]\nType=oneshot\n${lines}\nNice=10\n`,
    [`${name}.timer`]: `${unit}\n[Timer]\n${timesOf(everySec)}\n[Install]\nWantedBy=timers.target\n`,
  };
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

/** Parses `systemctl show`: a property a line. */
export function parseShow(text: string): Record<string, string> {
  const pairs = text
    .split('\n')
    .map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** The last run by the properties of a service (with `--timestamp=unix`). */
export function lastRunOf(shown: Readonly<Record<string, string>>): Pick<EntryState, 'lastRun' | 'lastExit'> {
  const started = unixIso(shown['ExecMainStartTimestamp']);
  const isRunning = /^(activating|active)$/.test(shown['ActiveState'] ?? '') && shown['MainPID'] !== '0';
  const status = Number(shown['ExecMainStatus']);
  return {
    lastRun: unixIso(shown['ExecMainExitTimestamp']) ?? started,
    lastExit: started === null || isRunning || !Number.isSafeInteger(status) ? null : status,
  };
}

function unixIso(text: string | undefined): string | null {
  const found = /^@(\d+)/.exec(text ?? '');
  return found === null ? null : toIso(Number(found[1]) * 1000);
}

/** The timer's next run in `systemctl list-timers --output=json`; null if unknown. */
export function nextRunOf(json: string, timer: string): string | null {
  // Before version 248 it is a table, with times in words.
  if (!json.startsWith('[')) return null;
  const row = (JSON.parse(json) as Record<string, unknown>[]).find(({ unit }) => unit === timer);
  const next = row?.['next'];
  return typeof next === 'number' && next > 0 ? toIso(Math.round(next / 1000)) : null;
}

const SHOWN = 'ActiveState,MainPID,ExecMainStartTimestamp,ExecMainExitTimestamp,ExecMainStatus';
const REFUSED = {
  words: 'The systemd user manager refuses',
  hint: 'See "systemctl --user status", or choose another scheduler with --scheduler cron.',
};

/** Units of the person's own systemd. */
export function systemd(deps: BackendDeps): Backend {
  const { host } = deps;
  return {
    kind: 'systemd',
    keeps: (everySec) => everySec,
    async probe() {
      if (host.platform !== 'linux') return undefined;
      const { stdout } = await systemctl(deps, 'is-system-running');
      return /^(running|degraded|starting|initializing|maintenance)$/.test(stdout.trim())
        ? 'the systemd user manager answers'
        : undefined;
    },
    install: (entry, keeper) => install(deps, entry, keeper),
    async uninstall(name, keeper) {
      await takeOut(deps, name);
      const removed = filesOf(deps, name).filter((file) => keeper.remove(file));
      // Also if none was removed: an earlier run may have been killed before this.
      await systemctl(deps, 'daemon-reload');
      for (const unit of [`${name}.timer`, `${name}.service`]) await systemctl(deps, 'reset-failed', unit);
      return removed;
    },
    start: ({ name }) => change(deps, 'start', `${name}.service`),
    holds: (name) => Promise.resolve(isThere(deps, name)),
    state: (entry) => state(deps, entry),
  };
}

function xdg({ host }: BackendDeps, name: string, usual: string): string {
  const set = host.env[name] ?? '';
  return posix.isAbsolute(set) ? set : posix.join(host.home, usual);
}

function pathOf(deps: BackendDeps, file: string): string {
  return posix.join(xdg(deps, 'XDG_CONFIG_HOME', '.config'), 'systemd', 'user', file);
}

function filesOf(deps: BackendDeps, name: string): string[] {
  return [`${name}.service`, `${name}.timer`].map((file) => pathOf(deps, file));
}

function isThere(deps: BackendDeps, name: string): boolean {
  return deps.host.platform === 'linux' && filesOf(deps, name).some((file) => deps.keep.exists(file));
}

function systemctl(deps: BackendDeps, ...args: string[]): ReturnType<typeof tell> {
  return tell(deps, 'systemctl', ['--user', ...args]);
}

function change(deps: BackendDeps, ...args: string[]): Promise<void> {
  return must(deps, REFUSED, ['systemctl', '--user', ...args]);
}

function unitOf({ name, job }: JobEntry): string {
  return `${name}.${job.when.kind === 'login' ? 'service' : 'timer'}`;
}

async function isActive(deps: BackendDeps, unit: string): Promise<boolean> {
  return (await systemctl(deps, 'is-active', unit)).stdout.trim() === 'active';
}

async function isEnabled(deps: BackendDeps, unit: string): Promise<boolean> {
  return (await systemctl(deps, 'is-enabled', unit)).code === 0;
}

/** Also removes what systemd noted: the link that enables it, the time of its last run. */
async function takeOut(deps: BackendDeps, name: string): Promise<void> {
  for (const unit of filesOf(deps, name)
    .filter(deps.keep.exists)
    .map((path) => posix.basename(path))) {
    await systemctl(deps, 'disable', '--now', unit);
    if (unit.endsWith('.timer')) await systemctl(deps, 'clean', '--what=state', unit);
  }
}

async function install(deps: BackendDeps, entry: JobEntry, keeper: Keeper): ReturnType<Backend['install']> {
  const unit = unitOf(entry);
  const units = Object.entries(renderSystemd(entry)).map(([file, text]) => ({
    path: pathOf(deps, file),
    text,
  }));
  // systemd keeps there when a timer last elapsed, to make up for what was missed.
  const stamps = posix.join(xdg(deps, 'XDG_DATA_HOME', '.local/share'), 'systemd', 'timers');
  const beside = [posix.join(stamps, `stamp-${entry.name}.timer`)];
  const changed = units.map(({ path, text }) => keeper.write(path, text, { beside })).includes(true);
  const about = { files: units.map(({ path }) => path), warnings: await lingerHint(deps, entry) };
  if (!changed && (await isEnabled(deps, unit)) && (await isActive(deps, unit))) {
    return { ...about, changed: false };
  }
  try {
    await change(deps, 'daemon-reload');
    await change(deps, 'enable', unit);
    await change(deps, 'restart', unit);
  } catch (error) {
    await takeOut(deps, entry.name);
    for (const { path } of units) keeper.remove(path);
    await systemctl(deps, 'daemon-reload');
    throw error;
  }
  return { ...about, changed: true };
}

async function state(deps: BackendDeps, entry: JobEntry): Promise<EntryState> {
  if (!isThere(deps, entry.name)) return NOT_THERE;
  const service = `${entry.name}.service`;
  const { stdout } = await systemctl(deps, 'show', service, `--property=${SHOWN}`, '--timestamp=unix');
  const timers = await systemctl(deps, 'list-timers', '--all', '--output=json');
  return {
    ...NOT_THERE,
    installed: true,
    loaded: await isActive(deps, unitOf(entry)),
    copies: 1,
    disabled: !(await isEnabled(deps, unitOf(entry))),
    nextRun: nextRunOf(timers.stdout, `${entry.name}.timer`),
    ...lastRunOf(parseShow(stdout)),
  };
}

/** Without lingering the user manager ends with the last session, and the jobs with it. */
async function lingerHint(deps: BackendDeps, { job }: JobEntry): Promise<string[]> {
  if (job.id === 'sense' || job.id === 'insight') return [];
  const { stdout } = await tell(deps, 'loginctl', ['show-user', String(deps.userId), '--property=Linger']);
  return stdout.trim() === 'Linger=no'
    ? ['It runs while you are logged in. To have it run without a login too: loginctl enable-linger']
    : [];
}
