import fs from 'node:fs';

/**
 * Given to a process by --require: counts its calls that change files, and at the call FAULT_AT kills the
 * process before the call (`kill`), in the middle of it (`half`), or lets it fail as a full disk does
 * (`fail`). Says the number of calls at the end.
 */
const CALLS = [
  'openSync',
  'writeSync',
  'fsyncSync',
  'renameSync',
  'rmSync',
  'unlinkSync',
  'mkdirSync',
  'linkSync',
  'ftruncateSync',
  'writeFileSync',
] as const;

/** Reading changes nothing; nor does a sync, as far as a killed process is concerned. */
function counts(name: string, [, flags]: readonly unknown[]): boolean {
  if (name === 'fsyncSync') return mode === 'fail';
  if (name !== 'openSync') return true;
  return typeof flags === 'number'
    ? (flags & fs.constants.O_CREAT) !== 0
    : flags !== undefined && flags !== 'r';
}

const at = Number(process.env['FAULT_AT']);
const mode = process.env['FAULT_MODE'];
const write = fs.writeSync;
let count = 0;

type Call = (...args: unknown[]) => unknown;
const table = fs as unknown as Record<string, Call>;
for (const name of CALLS) {
  const real = table[name] as Call;
  table[name] = (...args) => {
    if (!counts(name, args)) return real(...args);
    count += 1;
    if (count !== at) return real(...args);
    // Nothing can be short of space when something is removed.
    if (mode === 'fail' && name !== 'rmSync' && name !== 'unlinkSync') {
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    }
    if (mode === 'fail') return real(...args);
    if (mode === 'half' && name === 'writeSync') {
      const [fd, bytes, from] = args as [number, Uint8Array, number];
      write(fd, bytes, from, Math.ceil((bytes.length - from) / 2));
    }
    process.kill(process.pid, 'SIGKILL');
    return undefined;
  };
}
process.on('exit', () => write(2, `calls ${count}\n`));
