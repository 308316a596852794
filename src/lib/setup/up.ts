import type { Context } from '../app/context';
import { openBackfill, openSense, setUpSense, type SenseContext } from '../app/sense';
import { StewardError } from '../errors';
import { repositoryOf } from '../platform/files/git-folder';
import { isInteractive, confirm } from '../platform/terminal/ask';
import type { CaptureResult } from '../sense/capture';
import type { BackfillResult } from '../sense/backfill';
import { lastDays, today, type Today } from '../sense/read';
import type { DailyRecord } from '../sense/record';

export interface UpResult {
  userArea: string;
  /** This run wrote the default configuration. */
  created: boolean;
  /** The repository of the current folder; null if there is none. */
  watching: string | null;
  warnings: readonly string[];
  /** What was read back of the days before; null if that was done earlier, or is off. */
  backfill: BackfillResult | null;
  capture: CaptureResult;
  today: Today;
  /** The last seven days with today, newest first. */
  days: DailyRecord[];
  /** The address of the daemon; null if none runs. */
  daemon: string | null;
}

/** What is recorded and where it stays: the text before the first question. */
export function consentText(userArea: string): string {
  return `steward records the name of the application in front, commits in the repositories it watches, and which assistant sessions were active. During set-up it also reads your own commits of the last 30 days, and the times of past sessions from your assistant's transcripts. It never records titles, keystrokes, screenshots or content. All of it stays on this machine, in the folder\n  ${userArea}`;
}

/** Asks whether to start; a no is `canceled`, and no terminal to ask on is `usage`. */
export async function askToStart({ area }: Context, say: (text: string) => void): Promise<void> {
  const text = `${consentText(area.root)}\nNotifications are spoken aloud where this machine has a voice;\n"steward notify mute" silences them.`;
  if (!isInteractive()) {
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
  const isNew = watching !== null && (await watch(context, watching));
  const sense = await openSense(context);
  const { deps, locked, captureHere, warnings } = sense;
  const readBack = created || isNew ? await locked(() => readBackDays(context, sense)) : null;
  const capture = await locked(captureHere);
  return {
    userArea: context.area.root,
    created,
    watching,
    warnings,
    backfill: readBack,
    capture,
    today: today(deps),
    days: lastDays(deps, 7),
    daemon: null,
  };
}

/** Reads back what `sense.git.backfillDays` says; null where that is 0. Call it under the lock of sense. */
export async function readBackDays(context: Context, sense: SenseContext): Promise<BackfillResult | null> {
  const { config } = await context.loadConfig();
  const days = config.sense.git.backfillDays;
  if (days === 0 || !config.sense.enabled) return null;
  const { backfill } = await import('../sense/backfill');
  return backfill(await openBackfill(context, sense), { days, dryRun: false });
}

/** Returns false if it was watched already. */
async function watch(context: Context, root: string): Promise<boolean> {
  const { config } = await context.loadConfig();
  if (config.sense.repos.includes(root)) return false;
  const { changeConfig } = await import('../config/write');
  const to = (stored: unknown): string[] => [
    ...new Set([...(Array.isArray(stored) ? stored.map(String) : []), root]),
  ];
  await changeConfig(context, [{ key: 'sense.repos', to }]);
  return true;
}
