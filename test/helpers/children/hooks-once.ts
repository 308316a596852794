import fs from 'node:fs';

import { userArea } from '../../../src/lib/config/user-area';
import { claudeCode } from '../../../src/lib/assistant/claude-code';
import { installHooks } from '../../../src/lib/assistant/install';
import { uninstallHooks } from '../uninstall-hooks';
import { systemClock } from '../../../src/lib/platform/time/clock';

/** What changes something on the disk. */
const CHANGES = [
  'openSync',
  'renameSync',
  'linkSync',
  'rmSync',
  'rmdirSync',
  'mkdirSync',
  'writeSync',
] as const;

/** Installs or uninstalls, and kills itself just before the change to the disk of that number. */
async function main(action: string, home: string, root: string, dieAt: number): Promise<void> {
  let count = 0;
  for (const name of CHANGES) {
    const real = fs[name] as (...args: unknown[]) => unknown;
    Reflect.set(fs, name, (...args: unknown[]) => {
      if (!(name === 'openSync' && isReading(args[1]))) count += 1;
      if (count === dieAt) process.kill(process.pid, 'SIGKILL');
      return real(...args);
    });
  }
  const host = { platform: process.platform, env: {}, home };
  const deps = {
    area: userArea(host),
    clock: systemClock(),
    machineId: '0123456789ab',
    host,
    product: { root, node: process.execPath },
  };
  const input = { assistant: claudeCode, dryRun: false };
  if (action === 'install') await installHooks(deps, { ...input, skill: true });
  else await uninstallHooks(deps, input);
}

function isReading(flags: unknown): boolean {
  if (typeof flags === 'string') return flags === 'r';
  return typeof flags === 'number' && (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0;
}

const [, , action = '', home = '', root = '', dieAt = '0'] = process.argv;
void main(action, home, root, Number(dieAt));
