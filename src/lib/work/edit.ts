import { StewardError } from '../errors';
import { addComment, changed, textOrFile } from './actions';
import type { Item } from './board';
import { readCache } from './cache';
import type { Open, WorkDeps } from './deps';
import type { IssueChange } from './host';
import { withText, withTitle } from './issue';
import { sameLabel, statusEdit, type Status } from './label';
import { labelNames, onlyExisting } from './labels';
import { openForWriting, repoOf } from './privacy';

export interface EditInput {
  number: number;
  title?: string | undefined;
  /** The text, or `@FILE`. */
  body?: string | undefined;
  addLabels?: readonly string[] | undefined;
  removeLabels?: readonly string[] | undefined;
}

/**
 * `work edit`: changes title, body and labels. The prefix and the identity of a title stay, and so does the hidden
 * marker of a body. A label that the repository lacks is `not_found`, before anything is changed.
 */
export async function editIssue(deps: WorkDeps, input: EditInput): Promise<Item> {
  const { number, title, body, addLabels = [], removeLabels = [] } = input;
  if (title === undefined && body === undefined && addLabels.length + removeLabels.length === 0) {
    throw new StewardError('usage', `Nothing to change in #${number}.`, {
      hint: 'Use --title, --body, --add-label or --remove-label.',
    });
  }
  if (title?.trim() === '')
    throw new StewardError('usage', 'The title is empty.', { hint: 'Write a title.' });
  const text = body === undefined ? undefined : textOrFile(body, 'body');
  const open = await openForWriting(deps);
  const { host, repo } = open;
  const before = await host.issue(repo, number);
  const labels = addLabels.length === 0 ? [] : await knownLabels(open, addLabels);
  const change: IssueChange = {
    ...(title === undefined ? {} : { title: withTitle(before.title, title) }),
    ...(text === undefined ? {} : { body: withText(before.body, text) }),
  };
  if (Object.keys(change).length > 0) await host.updateIssue(repo, number, change);
  if (labels.length > 0) await host.addLabels(repo, number, labels);
  const over = before.labels.filter((name) => removeLabels.some((one) => sameLabel(one, name)));
  for (const label of over) await host.removeLabel(repo, number, label);
  return changed(open, await host.issue(repo, number));
}

async function knownLabels(open: Open, wanted: readonly string[]): Promise<string[]> {
  const { labels, missing } = onlyExisting(wanted, await labelNames(open), open.repo);
  if (missing.length === 0) return labels;
  throw new StewardError('not_found', `${open.repo} has no label ${missing.join(', ')}.`, {
    hint: 'Run `steward work labels seed`, or create the label on GitHub.',
  });
}

/** `work start` and `work block`: sets the Status of an open issue, and says why in a comment where that is given. */
export async function moveIssue(
  deps: WorkDeps,
  { number, status, reason = '' }: { number: number; status: Status; reason?: string | undefined },
): Promise<Item> {
  const open = await openForWriting(deps);
  const before = await open.host.issue(open.repo, number);
  if (before.state === 'closed') {
    throw new StewardError('conflict', `#${number} is closed.`, {
      hint: 'Reopen it on GitHub first: `steward work open NUMBER`.',
    });
  }
  const { missingLabels } = await setStatus(open, { number, status });
  if (missingLabels.length > 0) {
    throw new StewardError('config', `${open.repo} has no label ${missingLabels.join(', ')}.`, {
      hint: 'Run `steward work labels seed`.',
    });
  }
  if (reason.trim() !== '') await addComment(open, before, `Blocked: ${reason.trim()}`);
  return changed(open, await open.host.issue(open.repo, number));
}

export interface StatusEdited {
  changed: boolean;
  /** The Status label, where the repository does not have it: then nothing is changed. */
  missingLabels: string[];
}

/**
 * Sets the Status of an issue: the Status label is replaced, every other label, the title and whether it is open
 * stay. The new one comes before the old one goes, so a kill in between leaves the issue with a Status, and the same
 * call again completes it. An issue that is closed is left alone.
 */
export async function setStatus(
  open: Open,
  { number, status }: { number: number; status: Status },
): Promise<StatusEdited> {
  const { host, repo } = open;
  const before = await host.issue(repo, number);
  const { add, remove } = statusEdit(before.labels, status);
  if (before.state === 'closed' || add.length + remove.length === 0)
    return { changed: false, missingLabels: [] };
  if (add.length > 0) {
    const { labels, missing } = onlyExisting(add, await labelNames(open), repo);
    if (missing.length > 0) return { changed: false, missingLabels: missing };
    await host.addLabels(repo, number, labels);
  }
  for (const label of remove) await host.removeLabel(repo, number, label);
  changed(open, await host.issue(repo, number));
  return { changed: true, missingLabels: [] };
}

/** `work open`: the page of an issue, from the cache where it is there. */
export async function issuePage(deps: WorkDeps, number: number): Promise<string> {
  const repo = repoOf(deps.workRepo());
  const kept = readCache(deps.paths.cache, repo).issues.find((one) => one.number === number);
  const { url } = kept ?? (await (await deps.host()).issue(repo, number));
  if (/^https?:\/\//.test(url)) return url;
  throw new StewardError('unavailable', `The address of #${number} is not a web page.`, {
    hint: 'Run `steward work board --refresh`.',
  });
}
