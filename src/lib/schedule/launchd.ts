import { posix } from 'node:path';

import { StewardError } from '../errors';
import { everySecOf, type Job } from './job';
import {
  NOT_THERE,
  xmlText,
  type EntryState,
  type JobEntry,
  type Backend,
  type BackendDeps,
  outputOf,
  tell,
} from './backend';

/** A crashed job is started again after so long at the earliest, s (service.md: Limits). */
const THROTTLE_SEC = 60;
/** The hourly job runs at this minute. */
const MINUTE = 5;

/** What launchd calls it: the reverse of a host that nobody owns. */
export function launchdLabel(name: string): string {
  return `local.${name.replaceAll('-', '.')}`;
}

/** The property list of a launch agent. */
export function renderLaunchd({ job, name, launcher, env, log }: JobEntry): string {
  const rows: [string, string][] = [
    ['Label', string(launchdLabel(name))],
    ['ProgramArguments', array(['/bin/sh', launcher, job.id].map(string))],
    ['EnvironmentVariables', dict(Object.entries(env).map(([key, value]) => [key, string(value)]))],
    ...timesOf(job),
    ['RunAtLoad', '<true/>'],
    ['ThrottleInterval', integer(THROTTLE_SEC)],
    ['ProcessType', string('Background')],
    ['LimitLoadToSessionType', string('Aqua')],
    ['StandardErrorPath', string(log)],
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${xmlText(job.label)}. Written by "${job.command.replaceAll('--', '')}", which takes it back too. -->
<plist version="1.0">
${dict(rows)}
</plist>
`;
}

/** What `launchctl print` says of a loaded agent. */
export function parseLaunchd(text: string): Pick<EntryState, 'lastExit'> & { running: boolean } {
  const exit = /^[ \t]*last exit code = (\d+)/m.exec(text)?.[1];
  return {
    lastExit: exit === undefined ? null : Number(exit),
    running: /^[ \t]*state = running$/m.test(text),
  };
}

function timesOf({ when, ...job }: Job): [string, string][] {
  if (when.kind === 'login') return [['KeepAlive', dict([['SuccessfulExit', '<false/>']])]];
  // What is due while the machine sleeps: an interval is left out, a time of the calendar is made up for on waking.
  if (when.kind === 'hourly') return [['StartCalendarInterval', dict([['Minute', integer(MINUTE)]])]];
  return [['StartInterval', integer(everySecOf({ ...job, when }) ?? 0)]];
}

const BOOTSTRAP_TRIES = 10;
const BOOTSTRAP_WAIT_MS = 500;

/** LaunchAgents of the person who is logged in. */
export function launchd(deps: BackendDeps): Backend {
  const { host, userId, keep, wait } = deps;
  const domain = `gui/${userId}`;
  const folder = posix.join(host.home, 'Library', 'LaunchAgents');
  const pathOf = (name: string): string => posix.join(folder, `${launchdLabel(name)}.plist`);
  const targetOf = (name: string): string => `${domain}/${launchdLabel(name)}`;
  const isLoaded = async (name: string): Promise<boolean> =>
    (await tell(deps, 'launchctl', ['print', targetOf(name)])).code === 0;

  async function unload(name: string): Promise<void> {
    if (!(await isLoaded(name))) return;
    await tell(deps, 'launchctl', ['bootout', targetOf(name)]);
    // It answers before the job is gone, and until then a new one of its name is refused.
    for (let look = 0; look < BOOTSTRAP_TRIES && (await isLoaded(name)); look += 1)
      await wait(BOOTSTRAP_WAIT_MS);
  }

  return {
    kind: 'launchd',
    keeps: (everySec) => everySec,
    probe: () => Promise.resolve(host.platform === 'darwin' ? 'this is macOS' : undefined),
    async install(entry, keeper) {
      const path = pathOf(entry.name);
      const written = keeper.write(path, renderLaunchd(entry));
      if (!written && (await isLoaded(entry.name))) return { changed: false, files: [path], warnings: [] };
      await unload(entry.name);
      await tell(deps, 'launchctl', ['enable', targetOf(entry.name)]);
      const loaded = await tell(deps, 'launchctl', ['bootstrap', domain, path]);
      if (loaded.code === 0) return { changed: true, files: [path], warnings: [] };
      if ((await tell(deps, 'launchctl', ['print', domain])).code !== 0)
        return {
          changed: true,
          files: [path],
          warnings: ['Nobody is logged in on the screen: it is loaded at the next login.'],
        };
      keeper.remove(path);
      throw new StewardError('unavailable', `launchd does not take the job: ${outputOf(loaded)}`, {
        hint: 'See "launchctl print" and System Settings, General, Login Items: it may be switched off there.',
      });
    },
    async uninstall(name, keeper) {
      await unload(name);
      const path = pathOf(name);
      return keeper.remove(path) ? [path] : [];
    },
    async start({ name }) {
      const started = await tell(deps, 'launchctl', ['kickstart', targetOf(name)]);
      if (started.code !== 0)
        throw new StewardError('unavailable', `launchd does not start the job: ${outputOf(started)}`);
    },
    holds: (name) => Promise.resolve(host.platform === 'darwin' && keep.exists(pathOf(name))),
    async state({ name }) {
      if (!keep.exists(pathOf(name))) return NOT_THERE;
      const printed = await tell(deps, 'launchctl', ['print', targetOf(name)]);
      if (printed.code !== 0) return { ...NOT_THERE, installed: true, copies: 1 };
      const { lastExit } = parseLaunchd(printed.stdout);
      return { ...NOT_THERE, installed: true, loaded: true, copies: 1, lastExit };
    },
  };
}

function string(text: string): string {
  return `<string>${xmlText(text)}</string>`;
}

function integer(value: number): string {
  return `<integer>${value}</integer>`;
}

function array(items: readonly string[]): string {
  return `<array>\n${indent(items.join('\n'))}\n</array>`;
}

function dict(rows: readonly (readonly [string, string])[]): string {
  return `<dict>\n${indent(rows.map(([key, value]) => `<key>${xmlText(key)}</key>\n${value}`).join('\n'))}\n</dict>`;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
