import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { firstOf, hasWords } from '../sessions/find';
import type { InboxRow } from './row';

/**
 * Finds a row by its name or id, or by words in its name, id, repository, branch and title. Throws `not_found`
 * if none matches, and `usage` if several do.
 */
export function findRow(rows: readonly InboxRow[], text: string, isSnoozed = false): InboxRow {
  const wanted = text.trim().toLowerCase();
  const exact = rows.filter(({ id, name }) =>
    [id, name, name.replace(/^#/, '')].some((own) => own.toLowerCase() === wanted),
  );
  const similar = rows.filter(({ id, name, repo, branch, title, why }) =>
    hasWords([id, name, repo, branch, title, why], text),
  );
  const found = exact.length > 0 ? exact : similar;
  const [row, ...more] = found;
  if (row !== undefined && more.length === 0) return row;
  if (row === undefined)
    throw new StewardError(
      'not_found',
      `"${clean(text)}" is not ${isSnoozed ? 'snoozed' : 'in the inbox'}.`,
      {
        hint: `Run "steward inbox${isSnoozed ? ' --snoozed' : ''}" to list the rows.`,
      },
    );
  throw new StewardError('usage', `"${clean(text)}" matches ${found.length} rows.`, {
    hint: firstOf(found.map(({ name }) => clean(name)), 'steward inbox'), // prettier-ignore
  });
}

/** Throws `conflict` if a row ends only when what it waits for happens. */
export function checkEnd({ name, why, go, canEnd }: InboxRow): void {
  if (canEnd) return;
  const snooze = `To hide the row: steward inbox snooze ${name.replace(/^#/, '')} 2h`;
  const row = `${clean(name)} (${clean(why)})`;
  const hint = go === null ? snooze : `Run \`${go}\`. ${snooze}`;
  throw new StewardError('conflict', `${row} disappears when that is no longer true.`, { hint });
}
