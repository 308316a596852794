// npm start: build, then `steward up --yes` in this very process, so that what ends npm ends the daemon.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ROOT, endBundler } from './bundle.mjs';

// npm may end during the build, so its process is found first.
if (process.env['npm_lifecycle_event'] === 'start' && process.platform !== 'win32') endWith(npmProcess());
await import('./build.mjs');
await endBundler();
const bin = join(ROOT, 'bin', 'run.js');
process.argv = [process.argv[0], bin, 'up', '--yes', ...process.argv.slice(2)];
await import(pathToFileURL(bin).href);

/** npm starts a shell, which starts this process: a signal to npm reaches the shell only. */
function npmProcess() {
  try {
    return Number(readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
  } catch {
    return Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(process.ppid)], { encoding: 'utf8' }));
  }
}

function endWith(npm) {
  const shell = process.ppid;
  const look = setInterval(() => {
    if (process.ppid !== shell || !isRunning(npm)) process.kill(process.pid, 'SIGTERM');
  }, 500);
  look.unref();
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
