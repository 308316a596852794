import type { StewardError } from '../../errors';
import { clean } from '../../platform/terminal/terminal';
import type { Memories } from './cursor';
import type { Authors } from './scan';

/** What is wrong with one watched repository. */
export interface Fault {
  path: string;
  text: string;
  /** The rest of the repository could be read. */
  partial?: boolean;
}

export function faultOf(path: string, error: StewardError): Fault {
  const what = error.message.replace(/\.$/, '');
  return { path, text: error.hint === undefined ? what : `${what}; ${error.hint}` };
}

/** Said aloud: without an e-mail "mine" cannot be told, and everybody's commits count (decisions.md 3). */
export function anyAuthorReason(
  config: { repos: readonly string[]; git: { authors: Authors } },
  memories: Memories,
): string[] {
  if (config.git.authors !== 'mine') return [];
  const everybodys = new Set<string>();
  for (const { path, anyAuthor } of memories.values()) if (anyAuthor) everybodys.add(path);
  const names = config.repos.filter((path) => everybodys.has(path));
  if (names.length === 0) return [];
  const where = names.length === 1 ? (names[0] ?? '') : `${names.length} repositories`;
  return [
    clean(
      `git has no user.email in ${where}: commits of everybody count there. Set user.email in git, or sense.git.authors.`,
    ),
  ];
}

const NAMED_FAULTS = 5;

/** The troubles as one line, the first of them by name. */
export function reasonOf(faults: readonly Fault[], watched: number): string {
  const named = faults.slice(0, NAMED_FAULTS).map(({ path, text }) => `${path}: ${text}`);
  const more = faults.length > NAMED_FAULTS ? ` And ${faults.length - NAMED_FAULTS} more.` : '';
  return clean(
    `${faults.length} of ${watched} repositories ${faults.length === 1 ? 'has' : 'have'} trouble. ${named.join(' | ')}${more}`,
  );
}
