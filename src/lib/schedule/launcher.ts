import { posix, win32 } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { forBatch, type LauncherForm } from '../platform/process/launcher';
import type { PathHost } from '../platform/files/paths';
import { forShell } from '../platform/process/shell-word';
import { clean } from '../platform/terminal/terminal';
import { JOBS, JOB_IDS, type JobId } from './job';

export const LAUNCHER = { name: 'steward-job', manifestId: 'schedule:launcher' };

/** Where steward and its assistant look for what is theirs: where it was installed from, they were found. */
const COPIED = [
  'STEWARD_HOME',
  'XDG_STATE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'CLAUDE_CONFIG_DIR',
];
/** What a session has and a scheduler may lack; where it has its own, that is newer. */
const SESSION = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'];

/**
 * Returns the environment of the jobs: the PATH of whoever installs them, without what depends on the current
 * folder or a project, and the variables that choose steward's folders.
 */
export function jobEnvironment({
  platform,
  env,
}: Pick<PathHost, 'platform' | 'env'>): Record<string, string> {
  const { delimiter, isAbsolute } = platform === 'win32' ? win32 : posix;
  const path = (env['PATH'] ?? env['Path'] ?? '')
    .split(delimiter)
    .filter(
      (folder) => isAbsolute(folder) && isOneLine(folder) && !/[\\/]node_modules[\\/]\.bin/.test(folder),
    )
    .filter((folder) => platform !== 'win32' || !folder.includes('"'));
  const copied = COPIED.flatMap((name): [string, string][] => {
    const value = env[name] ?? '';
    return value === '' ? [] : [[name, oneLine(value, name)]];
  });
  // An empty PATH would mean the current folder: where nothing is left, the scheduler's own holds.
  const own = path.length === 0 ? {} : { PATH: [...new Set(path)].join(delimiter) };
  return { ...own, ...Object.fromEntries(copied) };
}

/** Where the output of a job goes, all of its runs into one file of at most 256 KiB, and the one before that. */
export function logOf(
  area: Pick<UserArea, 'sense' | 'work' | 'daemonLog'>,
  { platform }: Pick<PathHost, 'platform'>,
  id: JobId,
): string {
  const { join, dirname } = platform === 'win32' ? win32 : posix;
  const logs: Record<JobId, string> = {
    sense: join(area.sense.logs, 'capture.log'),
    insight: join(area.sense.logs, 'insight.log'),
    work: join(area.work.root, 'logs', 'sweep.log'),
    daemon: join(dirname(area.daemonLog), 'service.log'),
  };
  return logs[id];
}

/** What stands in the launcher of the jobs beside what all launchers have. */
export function launcherForm(input: {
  area: Pick<UserArea, 'sense' | 'work' | 'daemonLog'>;
  host: Pick<PathHost, 'platform' | 'env'>;
  records: string;
}): LauncherForm {
  const { area, host, records } = input;
  const isWindows = host.platform === 'win32';
  const env = Object.entries(jobEnvironment(host));
  const session = SESSION.flatMap((name): [string, string][] => {
    const value = host.env[name] ?? '';
    return value === '' || !isOneLine(value) ? [] : [[name, value]];
  });
  const jobs = JOB_IDS.map((id) => ({ id, words: JOBS[id].args.join(' '), log: logOf(area, host, id) }));
  const quoted = (path: string): string => (isWindows ? forBatch(path, host.env) : forShell(path));
  return {
    ...LAUNCHER,
    values: {
      RECORDS: quoted(oneLine(records, 'the folder of the state')),
      ENVIRONMENT: (isWindows
        ? env.map(([name, value]) => `set "${name}=${value.replaceAll('%', '%%')}"`)
        : [
            ...env.map(([name, value]) => `export ${name}=${forShell(value)}`),
            ...session.map(([name, value]) => `[ -n "\${${name}-}" ] || export ${name}=${forShell(value)}`),
          ]
      ).join('\n'),
      JOBS: jobs
        .map(({ id, words, log }) =>
          isWindows
            ? `if "%job%"=="${id}" (set "words=${words}"& set "log=${quoted(log)}")`
            : `  ${id}) log=${quoted(log)} && set -- ${words} ;;`,
        )
        .join('\n'),
    },
  };
}

function isOneLine(text: string): boolean {
  return !/[\u0000-\u001f\u007f]/.test(text);
}

/** No scheduler's file takes a line break in a path, and nobody has one on purpose. */
export function oneLine(text: string, what: string): string {
  if (isOneLine(text)) return text;
  throw new StewardError('config', `${what} has a control character in it: ${clean(text)}`, {
    hint: 'Schedulers take paths of one line only: give the folder another name.',
  });
}
