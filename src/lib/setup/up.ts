import type { Context } from '../app/context';
import { openSense, setUpSense } from '../app/sense';
import { StewardError } from '../errors';
import { repositoryOf } from '../platform/files/git-folder';
import { canAsk, confirm } from '../platform/terminal/ask';
import type { CaptureResult } from '../sense/capture';
import { today, type Today } from '../sense/read';

export interface UpResult {
  userArea: string;
  /** This run wrote the default configuration. */
  created: boolean;
  /** The repository of the current folder; null if there is none. */
  watching: string | null;
  warnings: readonly string[];
  capture: CaptureResult;
  today: Today;
  /** The address of the daemon; null if none runs. */
  daemon: string | null;
}

/** What is captured and where it stays: the words of the one question. */
export function consentText(userArea: string): string {
  return `steward captures the name of the application in front, commits in the repositories it watches, and which assistant sessions were active. It never captures titles, keystrokes, screenshots or content. All of it stays on this machine, in the folder\n  ${userArea}`;
}

/** Asks whether to start; a no is `canceled`, and no terminal to ask on is `usage`. */
export async function askToStart({ area }: Context, say: (text: string) => void): Promise<void> {
  const text = `${consentText(area.root)}\nNotifications are spoken aloud where this machine has a voice;\n"steward notify mute" silences them.`;
  if (!canAsk()) {
    throw new StewardError('usage', `${text}\nThere is no terminal to ask on.`, {
      hint: 'Say yes with: steward up --yes',
    });
  }
  say(text);
  if (await confirm('Start?')) return;
  throw new StewardError('canceled', 'Nothing was set up.', {
    hint: 'Run steward up again when you want to.',
  });
}

/** Sets up with defaults if nothing is set, watches the repository of `folder`, captures, reads the day. */
export async function up(context: Context, folder: string): Promise<UpResult> {
  const { created } = await setUpSense(context);
  const watching = repositoryOf(folder)?.root ?? null;
  if (watching !== null) await watch(context, watching);
  const { deps, locked, captureHere, warnings } = await openSense(context);
  const capture = await locked(captureHere);
  return {
    userArea: context.area.root,
    created,
    watching,
    warnings,
    capture,
    today: today(deps),
    daemon: null,
  };
}

async function watch(context: Context, root: string): Promise<void> {
  const { config } = await context.loadConfig();
  if (config.sense.repos.includes(root)) return;
  const { changeConfig } = await import('../config/write');
  const to = (stored: unknown): string[] => [
    ...new Set([...(Array.isArray(stored) ? stored.map(String) : []), root]),
  ];
  await changeConfig(context, [{ key: 'sense.repos', to }]);
}
