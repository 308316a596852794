// schedule-step HOME launchd|systemd|task-scheduler install|uninstall SECONDS: an installer of the tick over a
// program that stands for that scheduler; what it knows lies in HOME/scheduler.json.
import { existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { userArea } from '../../../src/lib/config/user-area';
import { systemClock } from '../../../src/lib/platform/time/clock';
import type { Run, RunResult } from '../../../src/lib/platform/process/process';
import { createScheduler, type SchedulerKind } from '../../../src/lib/schedule';
import { tickJob } from '../../../src/lib/schedule/job';

const [home = '', kind = '', verb = '', seconds = ''] = process.argv.slice(2);
const PLATFORMS: Record<string, NodeJS.Platform> = {
  launchd: 'darwin',
  systemd: 'linux',
  'task-scheduler': 'win32',
};
const platform = PLATFORMS[kind] ?? 'linux';
// The folders are of this machine, whatever platform is played.
if (platform === 'win32') Object.assign(path, { win32: path.posix });

/** What the scheduler has read: `runs` is what it runs by, under the name that it knows it by. */
interface Known {
  read: Record<string, string>;
  runs: Record<string, string>;
  enabled: string[];
}

const file = path.join(home, 'scheduler.json');
const known = (): Known =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Known) : { read: {}, runs: {}, enabled: [] };
/** At once: a scheduler goes on when who has asked it dies. */
function change(how: (state: Known) => void): void {
  const state = known();
  how(state);
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
}

const answer = (code: number, stdout = ''): RunResult => ({
  code,
  signal: null,
  stdout,
  stderr: '',
  truncated: false,
  timedOut: false,
});
const without = <T>(table: Record<string, T>, name: string): Record<string, T> =>
  Object.fromEntries(Object.entries(table).filter(([key]) => key !== name));

function launchctl([call, target = '', plist = '']: readonly string[]): RunResult {
  const label = target.split('/')[2] ?? '';
  if (call === 'print') return answer(label === '' || label in known().runs ? 0 : 113);
  if (call === 'bootout') change((state) => (state.runs = without(state.runs, label)));
  if (call === 'bootstrap') {
    const text = readFileSync(plist, 'utf8');
    const name = /<key>Label<\/key>\s*<string>([^<]*)</.exec(text)?.[1] ?? '';
    if (name in known().runs) return answer(5);
    change((state) => (state.runs[name] = text));
  }
  return answer(0);
}

const units = path.join(home, '.config', 'systemd', 'user');
function systemctl([, call, ...args]: readonly string[]): RunResult {
  const unit = args.at(-1) ?? '';
  const name = args.find((word) => word.startsWith('steward-')) ?? '';
  const state = known();
  switch (call) {
    case 'is-system-running':
      return answer(0, 'running\n');
    case 'is-active':
      return unit in state.runs ? answer(0, 'active\n') : answer(3, 'inactive\n');
    case 'is-enabled':
      return answer(state.enabled.includes(unit) ? 0 : 1);
    case 'show':
      return answer(0, `LoadState=${name in state.read ? 'loaded' : 'not-found'}\n`);
    case 'daemon-reload': {
      const there = existsSync(units)
        ? readdirSync(units).filter((one) => /\.(?:service|timer)$/.test(one))
        : [];
      change((now) => {
        now.read = Object.fromEntries(there.map((one) => [one, readFileSync(path.join(units, one), 'utf8')]));
      });
      return answer(0);
    }
    case 'enable':
      change((now) => (now.enabled = [...new Set([...now.enabled, unit])]));
      return answer(0);
    case 'restart':
      change((now) => (now.runs[unit] = now.read[unit] ?? ''));
      return answer(0);
    case 'disable':
      change((now) => {
        now.enabled = now.enabled.filter((one) => one !== unit);
        now.runs = without(now.runs, unit);
      });
      return answer(0);
    default:
      return answer(0);
  }
}

function schtasks([call, , name = '', , xml = '']: readonly string[]): RunResult {
  if (call === '/query') return answer(name in known().runs ? 0 : 1);
  if (call === '/create') change((state) => (state.runs[name] = readFileSync(xml).toString('utf16le')));
  if (call === '/delete') change((state) => (state.runs = without(state.runs, name)));
  return answer(0);
}

const PROGRAMS: Record<string, (args: readonly string[]) => RunResult> = {
  launchctl,
  systemctl,
  'schtasks.exe': schtasks,
};
const run: Run = (program, args) => Promise.resolve(PROGRAMS[program]?.(args) ?? answer(1));

async function main(): Promise<void> {
  const host = { platform, home, env: { PATH: '/usr/bin:/bin', HOME: home, USERNAME: 'ada' } };
  const here = { ...host, platform: 'linux' as const };
  const scheduler = await createScheduler(
    {
      area: userArea(here),
      clock: systemClock(),
      machineId: '0123456789ab',
      host,
      run,
      product: { root: process.env['PRODUCT_ROOT'] ?? '', node: process.execPath },
    },
    kind as SchedulerKind,
  );
  const job = tickJob({ pollIntervalSec: Number(seconds) });
  await (verb === 'install' ? scheduler.install(job) : scheduler.uninstall(job));
}

void main();
