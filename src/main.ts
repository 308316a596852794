import { dirname } from 'node:path';

import { versionLine } from './lib/app/version';
import { bundleLoader } from './lib/platform/process/code-cache';
import { writeOut } from './lib/platform/terminal/stdio';

/** Names the bytes of all bundles; written in by the build. */
declare const STEWARD_BUILD: string;

/** The commands of hot.ts, which hooks, shells and status lines start all the time. */
const HOT = /^(?:hook|statusline|notify send)(?: |$)/;

/** The launcher of the built product. Every run waits for this file to be compiled: it stays small. */
async function launch(argv: readonly string[]): Promise<void> {
  const version = versionLine(argv);
  if (version !== undefined) return void writeOut(version);
  const isHot = HOT.test(argv.slice(0, 2).join(' '));
  const kind = kindOf(argv, isHot);
  const load = bundleLoader({ folder: __dirname, build: STEWARD_BUILD, kind, native: require });
  let left: number | readonly string[] = argv;
  if (isHot) left = await (load('./hot.js') as typeof import('./hot')).runHot(argv);
  if (typeof left === 'number') process.exitCode = left;
  else await (load('./cli.js') as typeof import('./cli')).start(left, dirname(__dirname));
}

/** Runs of one kind call about the same functions: a hook each, commands by their topic. */
function kindOf(argv: readonly string[], isHot: boolean): string {
  const words = argv.filter((word) => !word.startsWith('-')).slice(0, isHot ? 2 : 1);
  return [...words, ...(argv.includes('--help') ? ['--help'] : [])].join(' ');
}

/** A build that cannot be loaded. Under `hook` it is not even said: an exit code would block the assistant. */
function fail(error: unknown): void {
  if (argv[0] === 'hook' && !argv.includes('--strict')) {
    process.exitCode = 0;
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const body = JSON.stringify({ error: { kind: 'internal', message } });
  process.stderr.write(`${argv.includes('--json') ? body : message}\n`);
  process.exitCode = 1;
}

const argv = process.argv.slice(2);
launch(argv).catch(fail);
