import { readFileSync } from 'node:fs';

import { isAlive } from '../files/lock';
import { factsOf, ifThere, pidScope } from './own-terminal';
import { spawnSync } from './spawn';

/** Identifies a process by its pid and start time, because pids are reused. */
export interface ProcessMark {
  pid: number;
  started: string;
  /** Boot id and pid namespace, within which the pid is unique. Empty if unknown. */
  boot: string;
  namespace: string;
  /** Set if the process only shows a session that another process runs, so its end is not a crash. */
  isClient?: true;
}

const MAX_STEPS = 16;
const PS_TIMEOUT_MS = 1000;
const PS_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Returns the nearest ancestor (other than init) whose command line doesn't contain `word`. Reads /proc on
 * Linux; on macOS, runs `ps` if `mayStartPs` is true.
 */
export function ancestorWithout(word: string, mayStartPs: boolean): ProcessMark | undefined {
  const isMac = process.platform === 'darwin';
  if (isMac ? !mayStartPs : process.platform !== 'linux') return undefined;
  const read = isMac ? processTable() : readProc;
  for (let pid = process.ppid, step = 0; pid > 1 && step < MAX_STEPS; step += 1) {
    const found = read(pid);
    if (found === undefined) return undefined;
    if (!found.command.includes(word)) return { pid, started: found.started, ...placeOfPids() };
    pid = found.parent;
  }
  return undefined;
}

/**
 * Returns whether a process is still running, or `unknown` if its pid is from another namespace or may have
 * been reused.
 */
export function stateOf(mark: ProcessMark): 'runs' | 'gone' | 'unknown' {
  if (process.platform === 'darwin') return isAlive(mark.pid) ? 'unknown' : 'gone';
  if (process.platform !== 'linux') return 'unknown';
  const here = placeOfPids();
  if (mark.boot !== here.boot) return mark.boot === '' || here.boot === '' ? 'unknown' : 'gone';
  if (mark.namespace !== here.namespace) return 'unknown';
  const facts = factsOf(mark.pid);
  return facts?.started === mark.started && !facts.isDead ? 'runs' : 'gone';
}

interface Found {
  parent: number;
  started: string;
  command: string;
}

function readProc(pid: number): Found | undefined {
  const facts = factsOf(pid);
  const command = ifThere(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  return facts === undefined || command === undefined ? undefined : { ...facts, command };
}

/**
 * Lists all processes with one run of `ps`. Example line:
 * `  812   501 Sun Nov 22 17:00:00 2026 claude --resume`.
 */
function processTable(): (pid: number) => Found | undefined {
  // Without -ww, macOS truncates command lines, so the shim could be mistaken for the assistant.
  const args = ['-axww', '-o', 'pid=', '-o', 'ppid=', '-o', 'lstart=', '-o', 'command='];
  const { stdout } = spawnSync('ps', args, {
    encoding: 'utf8',
    timeout: PS_TIMEOUT_MS,
    maxBuffer: PS_MAX_BYTES,
    env: { ...process.env, LC_ALL: 'C' },
  });
  const lines = stdout.split('\n').map((line) => line.trim().split(/ +/));
  return (pid) => {
    const [, parent, ...words] = lines.find(([first]) => first === String(pid)) ?? [];
    if (words.length < 6) return undefined;
    return {
      parent: Number(parent),
      started: words.slice(0, 5).join(' '),
      command: words.slice(5).join(' '),
    };
  };
}

let known: ReturnType<typeof pidScope> | undefined;

function placeOfPids(): Pick<ProcessMark, 'boot' | 'namespace'> {
  if (process.platform !== 'linux') return { boot: '', namespace: '' };
  const { boot, namespace } = (known ??= pidScope());
  return { boot: boot ?? '', namespace: namespace ?? '' };
}
