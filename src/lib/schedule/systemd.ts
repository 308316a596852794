import { posix } from 'node:path';

import { toIso } from '../platform/time/clock';
import {
  callTool,
  installFiles,
  NOT_INSTALLED,
  requireTool,
  type Backend,
  type BackendDeps,
  type EntryState,
  type InstalledEntry,
  type JobEntry,
} from './backend';
import { everySecOf } from './job';
import type { Recorder } from './recorder';

const HOUR_SEC = 3600;
/** Delay before the daemon is restarted, in seconds. */
const RESTART_SEC = 60;

/** Returns the unit files by name: a service and its timer, or only a service for the daemon. */
export function renderSystemd({ job, name, launcher, env }: JobEntry): Record<string, string> {
  const unit = `# Written by "${job.command}", which can also remove it.\n[Unit]\nDescription=${unitText(job.label)}\n`;
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
  // `Persistent` makes systemd start a missed run after sleep or a logout.
  if (everySec === HOUR_SEC)
    return 'OnActiveSec=60\nOnCalendar=hourly\nPersistent=true\nRandomizedDelaySec=30\n';
  return `OnActiveSec=15\nOnUnitActiveSec=${everySec}\nAccuracySec=${everySec < 60 ? 1 : 5}s\n`;
}

/** Escapes the percent sign, which starts a specifier. */
function unitText(text: string): string {
  return text.replaceAll('%', '%%');
}

function quoted(text: string): string {
  return `"${unitText(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Quotes a word for ExecStart, where a dollar sign starts a variable. */
function execWord(text: string): string {
  return quoted(text).replaceAll('$', '$$$$');
}

/** Parses `systemctl show`, which prints one property per line. */
export function parseShow(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]),
  );
}

/** Returns the last run from a service's properties (with `--timestamp=unix`). */
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

/** Returns a timer's next run from `systemctl list-timers --output=json`; null if unknown. */
export function nextRunOf(json: string, timer: string): string | null {
  // systemd before version 248 prints a table instead of JSON.
  if (!json.startsWith('[')) return null;
  const row = (JSON.parse(json) as Record<string, unknown>[]).find(({ unit }) => unit === timer);
  const next = row?.['next'];
  return typeof next === 'number' && next > 0 ? toIso(Math.round(next / 1000)) : null;
}

const SHOWN = 'ActiveState,MainPID,ExecMainStartTimestamp,ExecMainExitTimestamp,ExecMainStatus';

/** The scheduler that uses systemd user units. */
export function systemd(deps: BackendDeps): Backend {
  const { host } = deps;
  return {
    kind: 'systemd',
    interval: (everySec) => everySec,
    async probe() {
      if (host.platform !== 'linux') return undefined;
      const { stdout } = await systemctl(deps, 'is-system-running');
      return /^(running|degraded|starting|initializing|maintenance)$/.test(stdout.trim())
        ? 'the systemd user manager is running'
        : undefined;
    },
    install: (entry, recorder) => install(deps, entry, recorder),
    async uninstall(name, recorder) {
      await disable(deps, name);
      const removed = filesOf(deps, name).filter((file) => recorder.remove(file));
      // Reload even if no file was removed, because an earlier uninstall may have been killed before
      // reloading.
      await systemctl(deps, 'daemon-reload');
      for (const unit of [`${name}.timer`, `${name}.service`]) await systemctl(deps, 'reset-failed', unit);
      return removed;
    },
    start: ({ name }) => mustSystemctl(deps, 'start', `${name}.service`),
    holds: (name) => Promise.resolve(isThere(deps, name)),
    state: (entry) => state(deps, entry),
  };
}

function xdg({ host }: BackendDeps, name: string, fallback: string): string {
  const folder = host.env[name] ?? '';
  return posix.isAbsolute(folder) ? folder : posix.join(host.home, fallback);
}

function pathOf(deps: BackendDeps, file: string): string {
  return posix.join(xdg(deps, 'XDG_CONFIG_HOME', '.config'), 'systemd', 'user', file);
}

function filesOf(deps: BackendDeps, name: string): string[] {
  return [`${name}.service`, `${name}.timer`].map((file) => pathOf(deps, file));
}

function isThere(deps: BackendDeps, name: string): boolean {
  return deps.host.platform === 'linux' && filesOf(deps, name).some(deps.exists);
}

function systemctl(deps: BackendDeps, ...args: string[]): ReturnType<typeof callTool> {
  return callTool(deps, 'systemctl', ['--user', ...args]);
}

function mustSystemctl(deps: BackendDeps, ...args: string[]): Promise<void> {
  const refused = {
    message: 'The systemd user manager rejected the job',
    hint: 'Check "systemctl --user status", or use another scheduler with --scheduler cron.',
  };
  return requireTool(deps, refused, ['systemctl', '--user', ...args]);
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

/**
 * Disables a job's units. Also removes the files that systemd created: the enabling symlink and the timer's
 * timestamp.
 */
async function disable(deps: BackendDeps, name: string): Promise<void> {
  for (const unit of filesOf(deps, name)
    .filter(deps.exists)
    .map((path) => posix.basename(path))) {
    await systemctl(deps, 'disable', '--now', unit);
    if (unit.endsWith('.timer')) await systemctl(deps, 'clean', '--what=state', unit);
  }
}

async function install(deps: BackendDeps, entry: JobEntry, recorder: Recorder): Promise<InstalledEntry> {
  const unit = unitOf(entry);
  const stamps = posix.join(xdg(deps, 'XDG_DATA_HOME', '.local/share'), 'systemd', 'timers');
  const beside = posix.join(stamps, `stamp-${entry.name}.timer`);
  const files = Object.entries(renderSystemd(entry)).map(([file, text]) => ({
    ...{ path: pathOf(deps, file), text, beside },
  }));
  const result = await installFiles(files, recorder, {
    isLoaded: async () => (await isEnabled(deps, unit)) && (await isActive(deps, unit)),
    async load() {
      await mustSystemctl(deps, 'daemon-reload');
      await mustSystemctl(deps, 'enable', unit);
      await mustSystemctl(deps, 'restart', unit);
      return [];
    },
    unload: () => disable(deps, entry.name),
  }).catch(async (error: unknown) => {
    await systemctl(deps, 'daemon-reload');
    throw error;
  });
  return { ...result, warnings: await lingerHint(deps, entry) };
}

async function state(deps: BackendDeps, entry: JobEntry): Promise<EntryState> {
  if (!isThere(deps, entry.name)) return NOT_INSTALLED;
  const service = `${entry.name}.service`;
  const { stdout } = await systemctl(deps, 'show', service, `--property=${SHOWN}`, '--timestamp=unix');
  const timers = await systemctl(deps, 'list-timers', '--all', '--output=json');
  return {
    ...NOT_INSTALLED,
    installed: true,
    loaded: await isActive(deps, unitOf(entry)),
    copies: 1,
    disabled: !(await isEnabled(deps, unitOf(entry))),
    nextRun: nextRunOf(timers.stdout, `${entry.name}.timer`),
    ...lastRunOf(parseShow(stdout)),
  };
}

/** Returns a hint if lingering is off, because the job then stops at logout. */
async function lingerHint(deps: BackendDeps, { job }: JobEntry): Promise<string[]> {
  if (job.id === 'sense' || job.id === 'insight') return [];
  const { stdout } = await callTool(deps, 'loginctl', [
    'show-user',
    String(deps.userId),
    '--property=Linger',
  ]);
  return stdout.trim() === 'Linger=no'
    ? ['The job runs only while you are logged in. To run it at all times: loginctl enable-linger']
    : [];
}
