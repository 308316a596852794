import { dirname, join } from 'node:path';

import { createContext, type Context } from '../app/context';
import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { DEMO_VARIABLE } from '../platform/files/durable';
import { ensureFolder, exists, listFolder } from '../platform/files/folder';
import { isLockHeld, withLock } from '../platform/files/lock';
import { processHost } from '../platform/files/paths';
import { tempFolders, withTempFolder } from '../platform/files/system-files';
import { replaceEnvironment } from '../platform/process/own-process';
import { systemZone } from '../platform/time/time';
import { tellStory } from './story';
import { hostAt, repositoriesFolder, writeStory } from './write';

const PREFIX = 'steward-demo-';
const SEED = 42;
/** Exists once the demo is complete. */
const MARKER = 'demo.json';
const STARTING_MS = 60_000;

export interface DemoOptions {
  /** The folder to keep; by default, a temporary one. */
  keep?: string | undefined;
  /** Whether to use the folder of a demo that is running. */
  join: boolean;
}

/**
 * Makes the demo's area this process's own while `use` runs, and removes it afterwards, unless it is kept.
 * Also removes the folders of killed demos.
 */
export async function withDemo<T>(
  { clock, templates }: Pick<Context, 'clock' | 'templates'>,
  options: DemoOptions,
  use: (folder: string, context: Context) => Promise<T>,
): Promise<T> {
  if (processHost().env[DEMO_VARIABLE] !== undefined) {
    throw new StewardError('usage', 'This is the demo already.', {
      hint: 'Run the command outside the demo.',
    });
  }
  const enter = (folder: string): Promise<T> => {
    replaceEnvironment(environmentOf(folder));
    return use(folder, { ...createContext(dirname(templates)), clock });
  };
  const fill = async (folder: string): Promise<void> => {
    // Before anything is written, so that caches are written below the folder too.
    replaceEnvironment(environmentOf(folder));
    const zone = systemZone();
    const nowMs = clock.now();
    const story = tellStory({ seed: SEED, nowMs, zone, folder: repositoriesFolder(folder) });
    await writeStory(folder, story, { templates, zone });
    replaceFile(join(folder, MARKER), `${JSON.stringify({ version: 1, nowMs })}\n`);
  };
  const lock = { clock, machineId: 'demo', waitMs: 0 };
  const isRunning = (folder: string): boolean => isLockHeld(lockOf(folder), lock);
  if (options.keep !== undefined) {
    if (readText(join(options.keep, MARKER)) === undefined) await fillKept(options.keep, fill);
    return enter(options.keep);
  }
  const running = tempFolders(PREFIX).find(({ path }) => exists(join(path, MARKER)) && isRunning(path));
  if (options.join && running !== undefined) return enter(running.path);
  const isStale = (path: string, ageMs: number): boolean =>
    exists(lockOf(path)) ? !isRunning(path) : ageMs > STARTING_MS;
  return withTempFolder(
    (folder) =>
      withLock(lockOf(folder), lock, async () => {
        await fill(folder);
        return enter(folder);
      }),
    { prefix: PREFIX, isStale },
  );
}

function lockOf(folder: string): string {
  return join(folder, 'demo.lock');
}

async function fillKept(folder: string, fill: (folder: string) => Promise<void>): Promise<void> {
  if (listFolder(folder).length > 0) {
    throw new StewardError('usage', `${folder} is not empty, and is not a demo.`, {
      hint: 'Choose another folder for --keep.',
    });
  }
  ensureFolder(folder);
  await fill(folder);
}

/** The variables that the demo keeps: how to show text and name commands, and what Windows needs. */
const KEPT =
  /^(?:TERM|SSH_CONNECTION|COLORTERM|NO_COLOR|FORCE_COLOR|LANG|LC_\w+|TZ|COLUMNS|LINES|TMPDIR|TEMP|TMP|SystemRoot|npm_(?:command|lifecycle_event|package_name))$/;

/**
 * Returns an environment in which steward finds only the demo: no credentials, no display, no message bus and
 * no programs to start.
 */
function environmentOf(folder: string): NodeJS.ProcessEnv {
  const kept = Object.entries(processHost().env).filter(([name]) => KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    ...hostAt(folder).env,
    PATH: join(folder, 'no-programs'),
    HOME: folder,
    USERPROFILE: folder,
    [DEMO_VARIABLE]: folder,
  };
}
