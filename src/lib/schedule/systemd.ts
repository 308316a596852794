import { posix } from 'node:path';

import {
  callTool,
  installFiles,
  NOT_INSTALLED,
  requireTool,
  type Backend,
  type EntryState,
  type InstalledEntry,
} from './backend';
import type { BackendDeps, JobEntry } from './launcher';
import { TICK_LIMIT_SEC } from './job';
import type { Recorder } from './recorder';

/** Delay before the daemon is restarted, in seconds. */
const RESTART_SEC = 60;

/** Returns the unit files by name: a service and its timer, or only a service for the daemon. */
export function renderSystemd({ job, name, launcher, env }: JobEntry): Record<string, string> {
  const unit = `# Written by "${job.command}", which can also remove it.\n[Unit]\nDescription=${unitText(job.label)}\n`;
  const lines = [
    `ExecStart=/bin/sh ${quoted(launcher).replaceAll('$', '$$$$')} ${job.id}`,
    ...Object.entries(env).map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`),
  ].join('\n');
  if (job.everySec === null) {
    const service = `Type=exec\n${lines}\nRestart=on-failure\nRestartSec=${RESTART_SEC}\nTimeoutStopSec=20`;
    return { [`${name}.service`]: `${unit}\n[Service]\n${service}\n\n[Install]\nWantedBy=default.target\n` };
  }
  const times = `OnActiveSec=15\nOnUnitActiveSec=${job.everySec}\nAccuracySec=${job.everySec < 60 ? 1 : 5}s\n`;
  return {
    [`${name}.service`]: `${unit}\n[Service]\nType=oneshot\n${lines}\nTimeoutStartSec=${TICK_LIMIT_SEC}\nNice=10\n`,
    [`${name}.timer`]: `${unit}\n[Timer]\n${times}\n[Install]\nWantedBy=timers.target\n`,
  };
}

/** Escapes the percent sign, which starts a specifier. */
function unitText(text: string): string {
  return text.replaceAll('%', '%%');
}

function quoted(text: string): string {
  return `"${unitText(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** The scheduler that uses systemd user units. */
export function systemd(deps: BackendDeps): Backend {
  const { host } = deps;
  return {
    kind: 'systemd',
    interval: (everySec) => everySec,
    async probe() {
      // Without either variable, systemctl can't find a user manager.
      const variables = ['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'];
      if (host.platform !== 'linux' || !variables.some((name) => deps.env[name])) return undefined;
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

function pathOf({ host }: BackendDeps, file: string): string {
  const config = host.env['XDG_CONFIG_HOME'] ?? '';
  const folder = posix.isAbsolute(config) ? config : posix.join(host.home, '.config');
  return posix.join(folder, 'systemd', 'user', file);
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
  return `${name}.${job.everySec === null ? 'service' : 'timer'}`;
}

async function isLoaded(deps: BackendDeps, unit: string): Promise<boolean> {
  const { stdout } = await systemctl(deps, 'is-active', unit);
  return stdout.trim() === 'active' && (await systemctl(deps, 'is-enabled', unit)).code === 0;
}

async function disable(deps: BackendDeps, name: string): Promise<void> {
  const units = filesOf(deps, name).filter(deps.exists);
  for (const path of units) await systemctl(deps, 'disable', '--now', posix.basename(path));
}

async function install(deps: BackendDeps, entry: JobEntry, recorder: Recorder): Promise<InstalledEntry> {
  const unit = unitOf(entry);
  const files = Object.entries(renderSystemd(entry)).map(([file, data]) => ({
    path: pathOf(deps, file),
    data,
  }));
  const result = await installFiles(files, recorder, {
    isLoaded: () => isLoaded(deps, unit),
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
  return { installed: true, loaded: await isLoaded(deps, unitOf(entry)), edited: false };
}

/** Returns a hint if lingering is off, because the job then stops at logout. */
async function lingerHint(deps: BackendDeps, { job }: JobEntry): Promise<string[]> {
  if (job.id === 'tick') return [];
  const { stdout } = await callTool(deps, 'loginctl', [
    'show-user',
    String(deps.userId),
    '--property=Linger',
  ]);
  return stdout.trim() === 'Linger=no'
    ? ['The job runs only while you are logged in. To run it at all times: loginctl enable-linger']
    : [];
}
