import { dirname } from 'node:path';

import { hotCall, runHot, type HotCall, type HotCommand } from './hot';
import { versionLine } from './lib/platform/version';
import { StewardError } from './lib/errors';
import { provideAccount } from './lib/platform/files/paths';
import { bundleLoader } from './lib/platform/process/code-cache';
import { writeOut } from './lib/platform/terminal/stdio';

/** Build id of the bundles, defined by the build. */
declare const STEWARD_BUILD: string;

/** Launches the built program. Kept small because every run compiles this file. */
async function launch(argv: readonly string[]): Promise<void> {
  const version = versionLine(argv);
  if (version !== undefined) return void writeOut(version);
  const root = dirname(__dirname);
  const hot = hotCall(argv);
  const kind = kindOf(argv, hot);
  const unused = new Set<string>();
  const load = bundleLoader({ folder: __dirname, build: STEWARD_BUILD, kind, native: require, unused });
  let result: number | readonly string[] = argv;
  if (hot !== undefined) {
    const file = `${hot.bundle}.js`;
    result = await runHot(hot, load(`./${file}`) as HotCommand, root);
    // Don't cache the bundle's compiled code if the full command runs, because this run used few of its functions.
    if (typeof result !== 'number') unused.add(file);
  }
  if (typeof result === 'number') {
    process.exitCode = result;
    return;
  }
  // oclif asks the system for the home folder as soon as it is loaded.
  provideAccount();
  await (load('./cli.js') as typeof import('./cli')).start(result, root);
}

/** Returns the code cache key. Command lines with the same key use mostly the same functions. */
function kindOf(argv: readonly string[], hot: HotCall | undefined): string {
  const words = argv.filter((word) => !word.startsWith('-')).slice(0, hot === undefined ? 1 : 2);
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
  process.exitCode = kind === 'config' ? 3 : 1;
}

const argv = process.argv.slice(2);
launch(argv).catch(fail);
