import { posix } from 'node:path';

import { StewardError } from '../errors';
import {
  must,
  NOT_THERE,
  outputOf,
  tell,
  type Backend,
  type BackendDeps,
  type EntryState,
  type JobEntry,
  xmlText,
} from './backend';
import { everySecOf, type Job } from './job';

/** A crashed job is started again after this time at the earliest, s. */
const THROTTLE_SEC = 60;
/** The hourly job runs at this minute. */
const MINUTE = 5;
const BOOTSTRAP_TRIES = 10;
const BOOTSTRAP_WAIT_MS = 500;

/** launchd's name for it: the reverse of a host that nobody owns. */
export function launchdLabel(name: string): string {
  return `local.${name.replaceAll('-', '.')}`;
}

/** The property list of a launch agent. */
export function renderLaunchd({ job, name, launcher, env, log }: JobEntry): string {
  const list: Plist = {
    Label: launchdLabel(name),
    ProgramArguments: ['/bin/sh', launcher, job.id],
    EnvironmentVariables: { ...env },
    ...timesOf(job),
    RunAtLoad: true,
    ThrottleInterval: THROTTLE_SEC,
    ProcessType: 'Background',
    LimitLoadToSessionType: 'Aqua',
    StandardErrorPath: log,
  };
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${xmlText(job.label)}. Written by "${job.command.replaceAll('--', '')}", which takes it back too. -->
<plist version="1.0">
${xmlOf(list, '')}
</plist>
`;
}

type Plist = string | number | boolean | readonly Plist[] | { readonly [key: string]: Plist };

function xmlOf(value: Plist, pad: string): string {
  if (typeof value === 'string') return `${pad}<string>${xmlText(value)}</string>`;
  if (typeof value === 'number') return `${pad}<integer>${value}</integer>`;
  if (typeof value === 'boolean') return `${pad}<${value}/>`;
  const [tag, items] =
    value instanceof Array
      ? ['array', value.map((item: Plist) => xmlOf(item, `${pad}  `))]
      : [
          'dict',
          Object.entries(value).map(
            ([key, item]) => `${pad}  <key>${xmlText(key)}</key>\n${xmlOf(item, `${pad}  `)}`,
          ),
        ];
  return `${pad}<${tag}>\n${items.join('\n')}\n${pad}</${tag}>`;
}

function timesOf(job: Job): Record<string, Plist> {
  if (job.when.kind === 'login') return { KeepAlive: { SuccessfulExit: false } };
  // While the machine sleeps an interval is skipped; a calendar time is made up for on waking.
  if (job.when.kind === 'hourly') return { StartCalendarInterval: { Minute: MINUTE } };
  return { StartInterval: everySecOf(job) ?? 0 };
}

/** The answer of `launchctl print` for a loaded agent. */
export function parseLaunchd(text: string): Pick<EntryState, 'lastExit'> {
  const exit = /^[ \t]*last exit code = (\d+)/m.exec(text)?.[1];
  return { lastExit: exit === undefined ? null : Number(exit) };
}

/** Launch agents of the person who is logged in. */
export function launchd(deps: BackendDeps): Backend {
  const { host, userId, keep, wait } = deps;
  const domain = `gui/${userId}`;
  const pathOf = (name: string): string =>
    posix.join(host.home, 'Library', 'LaunchAgents', `${launchdLabel(name)}.plist`);
  const launchctl = (verb: string, ...args: string[]) => tell(deps, 'launchctl', [verb, ...args]);
  const print = (name: string) => launchctl('print', `${domain}/${launchdLabel(name)}`);
  const isLoaded = async (name: string): Promise<boolean> => (await print(name)).code === 0;

  async function unload(name: string): Promise<void> {
    if (!(await isLoaded(name))) return;
    await launchctl('bootout', `${domain}/${launchdLabel(name)}`);
    // It answers before the job is gone; until then launchd refuses a new one of that name.
    for (let tries = 0; tries < BOOTSTRAP_TRIES && (await isLoaded(name)); tries += 1)
      await wait(BOOTSTRAP_WAIT_MS);
  }

  return {
    kind: 'launchd',
    keeps: (everySec) => everySec,
    probe: () => Promise.resolve(host.platform === 'darwin' ? 'this is macOS' : undefined),
    async install(entry, keeper) {
      const path = pathOf(entry.name);
      const about = { files: [path], warnings: [] };
      const written = keeper.write(path, renderLaunchd(entry));
      if (!written && (await isLoaded(entry.name))) return { ...about, changed: false };
      await unload(entry.name);
      await launchctl('enable', `${domain}/${launchdLabel(entry.name)}`);
      const loaded = await launchctl('bootstrap', domain, path);
      if (loaded.code === 0) return { ...about, changed: true };
      if ((await launchctl('print', domain)).code !== 0) {
        const waits = 'Nobody is logged in on the screen: it is loaded at the next login.';
        return { ...about, changed: true, warnings: [waits] };
      }
      keeper.remove(path);
      throw new StewardError('unavailable', `launchd does not take the job: ${outputOf(loaded)}`, {
        hint: 'See "launchctl print" and System Settings, General, Login Items: it may be switched off there.',
      });
    },
    async uninstall(name, keeper) {
      await unload(name);
      return keeper.remove(pathOf(name)) ? [pathOf(name)] : [];
    },
    start: ({ name }) => {
      const refused = { words: 'launchd does not start the job' };
      return must(deps, refused, ['launchctl', 'kickstart', `${domain}/${launchdLabel(name)}`]);
    },
    holds: (name) => Promise.resolve(host.platform === 'darwin' && keep.exists(pathOf(name))),
    async state({ name }) {
      if (!keep.exists(pathOf(name))) return NOT_THERE;
      const there = { ...NOT_THERE, installed: true, copies: 1 };
      const { code, stdout } = await print(name);
      if (code !== 0) return there;
      return { ...there, loaded: true, ...parseLaunchd(stdout) };
    },
  };
}
