import type { Context } from '../app/context';
import { ASSISTANTS } from '../assistant';
import { titlesOf } from '../assistant/registered';
import { throwIfBug } from '../errors';
import { plural } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { DAY_MS } from '../platform/time/time';
import { terminal } from '../sense/front-app/terminal';
import { authorshipOf, mostUsedFirst, type Authorship } from '../sense/git/authorship';

/** Asks a question that is answered with yes or no. */
export type AskYes = (question: string) => Promise<boolean>;

/** Whose commits the current repository has. */
export interface RepositoryAuthors extends Authorship {
  days: number;
}

const FALLBACK_DAYS = 30;
const ADD_EMAIL = '  steward config add user.emails';
const YOURS = 'YOU@EXAMPLE.ORG';

/** Returns null if commits are off, or if git can't read the repository, which the capture reports. */
export async function authorsIn(context: Context, root: string): Promise<RepositoryAuthors | null> {
  const { sense, user } = (await context.loadConfig()).config;
  if (!sense.enabled || !sense.sources.git) return null;
  const days = sense.git.backfillDays || FALLBACK_DAYS;
  const deps = { run: context.run, config: sense, yours: user.user.emails };
  try {
    const found = await authorshipOf(deps, root, context.clock.now() - days * DAY_MS);
    return found && { ...found, days };
  } catch (error) {
    throwIfBug(error);
    return null;
  }
}

/** Returns your other addresses in several repositories, as far as their commits are under your name. */
export async function aliasesIn(context: Context, roots: readonly string[]): Promise<Authorship['aliases']> {
  const commits = new Map<string, number>();
  for (const root of roots)
    for (const { email, commits: more } of (await authorsIn(context, root))?.aliases ?? [])
      commits.set(email, (commits.get(email) ?? 0) + more);
  return mostUsedFirst(commits);
}

/** Asks whether other addresses under your name are yours, and stores them in `user.emails`. */
export async function askForAliases(context: Context, aliases: Authorship['aliases'], ask: AskYes) {
  if (aliases.length === 0) return false;
  const listed = aliases.map(({ email, commits }) => `${email} (${plural(commits, 'commit')})`).join(', ');
  if (!(await ask(`There are commits under your name by ${listed}. Are they yours, too?`))) return false;
  const { addItems } = await import('../config/write');
  const emails = aliases.map(({ email }) => email);
  await addItems(context, 'user.emails', emails);
  return true;
}

/** Returns how to count exactly your commits; undefined if nothing suggests that others or too few count. */
export function authorsHint({ emails, aliases }: Authorship): string | undefined {
  if (emails !== null) return aliasHint(aliases);
  return `Commits of all authors count. For yours only, set git's user.email, or run\n${ADD_EMAIL} ${YOURS}`;
}

/** Returns how to count commits by your other addresses; undefined if none are known. */
export function aliasHint([first]: Authorship['aliases']): string | undefined {
  if (first === undefined) return undefined;
  const { email, commits } = first;
  return [
    `Not counted: ${plural(commits, 'commit')} under your name by ${email}. If that is you, run`,
    `${ADD_EMAIL} ${email}`,
    '  steward sense backfill',
  ].join('\n');
}

/** Returns what steward looked for without finding any activity, and what to do. */
export function nothingText(watching: string | null, authors: RepositoryAuthors | null): string {
  const readable = ASSISTANTS.filter(({ transcripts }) => transcripts !== undefined);
  return [
    'No activity found yet. steward looked for:',
    `  commits       ${commitsText(watching, authors)}`,
    `  sessions      none in the transcripts of ${titlesOf(readable)}`,
    '  applications  none so far today; they are recorded from now on',
    '',
    ...nextSteps(watching, authors),
    'To see the pages and commands with invented data:',
    '  steward demo',
  ].join('\n');
}

function commitsText(watching: string | null, authors: RepositoryAuthors | null): string {
  if (watching === null) return 'this folder is not a git repository';
  if (authors === null) return `not read in ${clean(watching)}`;
  const by = authors.emails === null ? '' : ` by ${authors.emails.map(clean).join(', ')}`;
  return `none${by} in the last ${authors.days} days; ${authors.others} by others`;
}

function nextSteps(watching: string | null, authors: RepositoryAuthors | null): string[] {
  if (watching === null) return ['To record commits:', '  steward config add sense.repos PATH'];
  if (authors === null || authors.emails === null) return [];
  return ['If you commit with another address:', `${ADD_EMAIL} ${authors.aliases[0]?.email ?? YOURS}`];
}

/** Returns what works on a machine without a desktop, then what doesn't; undefined on a desktop. */
export function placeText({ desktop }: Pick<Context, 'desktop'>): string | undefined {
  if (!terminal.detect(desktop)) return undefined;
  return [
    'Works here: commits, assistant sessions, your time at terminals, and the pages.',
    'Not here, without a desktop: banners, and the time in applications.',
  ].join('\n');
}
