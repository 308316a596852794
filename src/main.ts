import { dirname } from 'node:path';

import { versionLine } from './lib/platform/version';
import { StewardError } from './lib/errors';
import { provideAccount } from './lib/platform/files/paths';
import { bundleLoader } from './lib/platform/process/code-cache';
import { writeOut } from './lib/platform/terminal/stdio';

/** Build id of the bundles, defined by the build. */
declare const STEWARD_BUILD: string;

/** Matches the commands that hot.ts handles. Hooks, shells and status lines run them very often. */
const HOT = /^(?:hook|statusline|notify send)(?: |$)/;

/** Launches the built program. Kept small because every run compiles this file. */
async function launch(argv: readonly string[]): Promise<void> {
  const version = versionLine(argv);
  if (version !== undefined) return void writeOut(version);
  const isHot = HOT.test(argv.slice(0, 2).join(' '));
  const kind = kindOf(argv, isHot);
  const unused = new Set<string>();
  const load = bundleLoader({ folder: __dirname, build: STEWARD_BUILD, kind, native: require, unused });
  let result: number | readonly string[] = argv;
  if (isHot) result = await (load('./hot.js') as typeof import('./hot')).runHot(argv);
  if (typeof result === 'number') {
    process.exitCode = result;
    return;
  }
  // Don't cache compiled code for hot.js, because this run uses few of its functions.
  if (isHot) unused.add('hot.js');
  // oclif asks the system for the home folder as soon as it is loaded.
  provideAccount();
  await (load('./cli.js') as typeof import('./cli')).start(result, dirname(__dirname));
}

/** Returns the code cache key. Command lines with the same key use mostly the same functions. */
function kindOf(argv: readonly string[], isHot: boolean): string {
  const words = argv.filter((word) => !word.startsWith('-')).slice(0, isHot ? 2 : 1);
  return [...words, ...(argv.includes('--help') ? ['--help'] : [])].join(' ');
}

/** Reports a build that can't be loaded, and a missing home folder. `hook` fails silently, because an error would block the assistant. */
function fail(error: unknown): void {
  if (argv[0] === 'hook' && !argv.includes('--strict')) {
    process.exitCode = 0;
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const { kind, hint } = error instanceof StewardError ? error : { kind: 'internal' };
  const body = JSON.stringify({ error: { kind, message, hint } });
  const text = [message, hint].filter((line) => line !== undefined).join('\n');
  process.stderr.write(`${argv.includes('--json') ? body : text}\n`);
  process.exitCode = 1;
}

const argv = process.argv.slice(2);
launch(argv).catch(fail);
