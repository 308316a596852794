import { exists } from '../platform/files/folder';
import { repositoryOf } from '../platform/files/git-folder';
import type { CaptureResult } from '../sense/capture';
import { today, type Today } from '../sense/read';
import type { Context } from './context';
import { openSense, setUpSense } from './sense';

export interface UpResult {
  userArea: string;
  /** True when this run wrote the default configuration. */
  created: boolean;
  /** The repository of the folder it was started in; null where there is none. */
  watching: string | null;
  /** What of the configuration is not as a person may think. */
  warnings: readonly string[];
  capture: CaptureResult;
  today: Today;
  /** The address of the daemon; null when none runs. */
  daemon: string | null;
}

/** The words of the one question: what is captured and where it stays (decisions.md 2). */
export function consentText(userArea: string): string {
  return [
    'steward captures the name of the application in front, commits in the repositories it watches, and which assistant sessions were active. It never captures titles, keystrokes, screenshots or content. All of it stays on this machine, in the folder',
    `  ${userArea}`,
  ].join('\n');
}

/** Was the question answered before? */
export function isSetUp(context: Context): boolean {
  return exists(context.area.sense.config);
}

/** Sets up with defaults where nothing is set, watches the repository of `folder`, captures, reads the day. */
export async function up(context: Context, folder: string): Promise<UpResult> {
  const { created } = await setUpSense(context);
  const watching = repositoryOf(folder)?.root ?? null;
  if (watching !== null) await watch(context, watching);
  const { deps, locked, captureHere, warnings } = await openSense(context);
  const captured = await locked(captureHere);
  return {
    userArea: context.area.root,
    created,
    watching,
    warnings,
    capture: captured,
    today: today(deps),
    daemon: null,
  };
}

async function watch(context: Context, root: string): Promise<void> {
  const { config } = await context.loadConfig();
  if (config.sense.repos.includes(root)) return;
  const { changeConfig } = await import('../config/write');
  const added = (stored: unknown): string[] => [
    ...new Set([...(Array.isArray(stored) ? stored.map(String) : []), root]),
  ];
  await changeConfig(context, [{ key: 'sense.repos', to: added }]);
}
