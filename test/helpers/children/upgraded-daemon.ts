/**
 * A daemon that checks for an upgrade ten times a second: `upgraded-daemon.ts VERSION_FILE …`. The file contains the
 * installed version.
 */
import { readFileSync } from 'node:fs';

import { createContext } from '../../../src/lib/app/context';
import { openDaemon } from '../../../src/lib/app/daemon';
import { runDaemon } from '../../../src/lib/daemon/daemon';
import { relaunch } from '../../../src/lib/platform/process/own-process';

const [file = '', port = '0'] = process.argv.slice(2);
const installed = (): string => readFileSync(file, 'utf8').trim();

async function main(): Promise<void> {
  const context = createContext(process.cwd());
  const { parts } = await openDaemon(context, { port: Number(port) }, () => undefined);
  let listensOn = 0;
  const own = {
    ...parts,
    version: installed(),
    build: installed(),
    installedBuild: installed,
    checkSec: 0.1,
  };
  const ending = await runDaemon(own, ({ url, pid, port: chosen }) => {
    listensOn = chosen;
    process.stdout.write(`${JSON.stringify({ url, pid, port: chosen })}\n`);
  });
  process.exit(ending === 'stopped' ? 7 : await relaunch([file, String(listensOn)]));
}

void main();
