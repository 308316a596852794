import type { Context } from '../app/context';
import { openBackfill, openSense, setUpSense, type SenseContext } from '../app/sense';
import { repositoryOf } from '../platform/files/git-folder';
import type { BackfillResult } from '../sense/backfill';
import { lastDays, today } from '../sense/read';
import { isEmptyRecord, recordDocument, type DailyRecord } from '../time/record';
import { askForAliases, type AskYes, authorsIn } from './first-look';
import { consent } from './init/step';

/** Returns the result for JSON output. */
export function upDocument({ today: shown, days, ...result }: UpResult) {
  return {
    ...result,
    today: { ...shown, record: recordDocument(shown.record) },
    days: days.map(recordDocument),
  };
}

/** Returns the text that precedes the first question: what steward records, and where it stores the data. */
export function consentText(userArea: string): string {
  return `steward records the name of the frontmost application, commits in the repositories it watches, and which assistant sessions were active. During setup, it also reads your own commits from the last 30 days, and the times of past sessions from your assistant's transcripts. It never records titles, keystrokes, screenshots or content. Everything stays on this machine, in the folder\n  ${userArea}`;
}

/** Asks for consent. Throws `canceled` if the user declines, or `usage` if there is no terminal. */
export async function askToStart({ area }: Context, say: (text: string) => void): Promise<void> {
  const text = `${consentText(area.root)}\nNotifications are spoken if there is a speech engine.\nTo silence them: steward notify mute`;
  say(text);
  const hint = 'To confirm without a terminal: steward up --yes';
  await consent('Start?', { hint, no: 'Nothing was set up.' });
}

/**
 * Creates the default configuration, watches the repository that contains `folder`, then captures and
 * summarizes the day.
 * @param ask asks about a new repository's commits; undefined if steward must not ask questions
 */
export async function up(context: Context, folder: string, ask?: AskYes) {
  const { created } = await setUpSense(context);
  const watching = repositoryOf(folder)?.root ?? null;
  const isNew = watching !== null && (await watch(context, [watching]));
  let authors = watching === null ? null : await authorsIn(context, watching);
  if (isNew && authors !== null && ask !== undefined && (await askForAliases(context, authors.aliases, ask)))
    authors = await authorsIn(context, watching);
  const sense = await openSense(context);
  const { deps, locked, captureHere, warnings } = sense;
  const isDue = created || isNew || hasNothing(lastDays(deps, 7));
  const backfill = isDue ? await locked(() => backfillDays(context, sense)) : null;
  const capture = await locked(captureHere);
  return {
    userArea: context.area.root,
    /** Whether this run created the default configuration. */
    created,
    /** The current folder's repository, or null. */
    watching,
    /** Whose commits that repository has; null if it was not read. */
    authors,
    warnings,
    /** The result of the backfill. Null if the backfill was done before or is switched off. */
    backfill,
    capture,
    today: today(deps),
    /** The last seven days including today, newest first. */
    days: lastDays(deps, 7),
    daemon: null as string | null,
  };
}

type UpResult = Awaited<ReturnType<typeof up>>;

/**
 * Backfills the last `sense.git.backfillDays` days. Returns null if backfilling is off. The caller must hold
 * the sense lock.
 */
export async function backfillDays(context: Context, sense: SenseContext): Promise<BackfillResult | null> {
  const { config } = await context.loadConfig();
  const days = config.sense.git.backfillDays;
  if (days === 0 || !config.sense.enabled) return null;
  const { backfill } = await import('../sense/backfill');
  return backfill(await openBackfill(context, sense), { days, dryRun: false });
}

/** Returns whether no day has anything that was captured. */
export function hasNothing(days: readonly DailyRecord[]): boolean {
  return days.every(isEmptyRecord);
}

/** Adds repositories to `sense.repos`. Returns false if all are already watched. */
export async function watch(context: Context, repositories: readonly string[]): Promise<boolean> {
  const { config } = await context.loadConfig();
  if (repositories.every((path) => config.sense.repos.includes(path))) return false;
  const { addItems } = await import('../config/write');
  await addItems(context, 'sense.repos', repositories);
  return true;
}
