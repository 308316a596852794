import { posix } from 'node:path';

import { StewardError } from '../errors';
import { filled, readTemplate } from '../platform/files/template';
import {
  callTool,
  installFiles,
  NOT_INSTALLED,
  outputOf,
  requireTool,
  xmlText,
  type Backend,
} from './backend';
import type { BackendDeps, JobEntry } from './launcher';

const UNLOAD_POLLS = 10;
const UNLOAD_POLL_MS = 500;

/** Returns a reverse-DNS label. The prefix `local` can't clash with a real domain. */
export function launchdLabel(name: string): string {
  return `local.${name.replaceAll('-', '.')}`;
}

/** Keeps the daemon running, unless it was stopped. */
const KEEP_ALIVE = '  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>';

/** @param root the folder with steward's package.json */
export function renderLaunchd({ job, name, launcher, env, log }: JobEntry, root: string): string {
  const variables = Object.entries(env).map(
    ([key, value]) => `    <key>${xmlText(key)}</key>\n    <string>${xmlText(value)}</string>`,
  );
  return filled(readTemplate(root, 'schedule/agent.plist'), {
    ABOUT: xmlText(job.label),
    COMMAND: job.command.replaceAll('--', ''),
    LABEL: launchdLabel(name),
    LAUNCHER: xmlText(launcher),
    JOB: job.id,
    ENVIRONMENT: variables.join('\n'),
    TIMES:
      job.everySec === null ? KEEP_ALIVE : `  <key>StartInterval</key>\n  <integer>${job.everySec}</integer>`,
    LOG: xmlText(log),
  });
}

/** The scheduler that uses the logged-in user's launch agents. */
export function launchd(deps: BackendDeps): Backend {
  const { host, userId, exists, wait } = deps;
  const domain = `gui/${userId}`;
  const pathOf = (name: string): string =>
    posix.join(host.home, 'Library', 'LaunchAgents', `${launchdLabel(name)}.plist`);
  const targetOf = (name: string): string => `${domain}/${launchdLabel(name)}`;
  const launchctl = (...args: string[]) => callTool(deps, 'launchctl', args);
  const isLoaded = async (name: string): Promise<boolean> =>
    (await launchctl('print', targetOf(name))).code === 0;

  async function unload(name: string): Promise<void> {
    if (!(await isLoaded(name))) return;
    await launchctl('bootout', targetOf(name));
    // `bootout` returns before the job is unloaded. Until then, launchd rejects a new job with the same name.
    for (let polls = 0; polls < UNLOAD_POLLS && (await isLoaded(name)); polls += 1)
      await wait(UNLOAD_POLL_MS);
  }

  async function load(name: string): Promise<string[]> {
    await unload(name);
    await launchctl('enable', targetOf(name));
    const loaded = await launchctl('bootstrap', domain, pathOf(name));
    if (loaded.code === 0) return [];
    if ((await launchctl('print', domain)).code !== 0)
      return ['No user is logged in to the desktop. launchd loads the job at the next login.'];
    throw new StewardError('unavailable', `launchd rejected the job: ${outputOf(loaded)}`, {
      hint: 'Check "launchctl print" and System Settings > General > Login Items, where the job may be turned off.',
    });
  }

  return {
    kind: 'launchd',
    interval: (everySec) => everySec,
    probe: () => Promise.resolve(host.platform === 'darwin' ? 'this is macOS' : undefined),
    install: (entry, recorder) =>
      installFiles([{ path: pathOf(entry.name), data: renderLaunchd(entry, deps.root) }], recorder, {
        isLoaded: () => isLoaded(entry.name),
        load: () => load(entry.name),
        unload: () => unload(entry.name),
      }),
    async uninstall(name, recorder) {
      await unload(name);
      return recorder.remove(pathOf(name)) ? [pathOf(name)] : [];
    },
    start: ({ name }) => {
      const refused = { message: 'launchd did not start the job' };
      return requireTool(deps, refused, ['launchctl', 'kickstart', targetOf(name)]);
    },
    holds: (name) => Promise.resolve(host.platform === 'darwin' && exists(pathOf(name))),
    async state({ name }) {
      if (!exists(pathOf(name))) return NOT_INSTALLED;
      return { installed: true, loaded: await isLoaded(name), edited: false };
    },
  };
}
