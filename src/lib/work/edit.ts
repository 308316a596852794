import { StewardError } from '../errors';
import { addComment, changed, textOrFile } from './actions';
import type { Item } from './board';
import { readCache } from './cache';
import type { OpenRepo, WorkDeps } from './deps';
import type { IssueChange } from './host';
import { withText, withTitle, type HostIssue } from './issue';
import { hasLabel, sameLabel, statusEdit, statusLabels, statusOf, type IssueStatus } from './label';
import { existingLabels, labelMissing, labelNames } from './labels';
import { conflict, openForWriting, refuseClosed, repoOf } from './privacy';

/** Delays between reads of the event list, which may lag behind a write. */
export const EVENT_DELAYS_MS = [500, 1000, 2000, 4000, 0];

interface EditInput {
  number: number;
  title?: string | undefined;
  /** The new text, or `@FILE` to read it from a file. */
  body?: string | undefined;
  addLabels?: readonly string[] | undefined;
  removeLabels?: readonly string[] | undefined;
}

/** Runs `work edit`. Preserves the prefix and identity in the title, and the marker in the body. */
export async function editIssue(deps: WorkDeps, input: EditInput): Promise<Item> {
  const { number, title, body, addLabels = [], removeLabels = [] } = input;
  if (title === undefined && body === undefined && addLabels.length + removeLabels.length === 0) {
    throw new StewardError('usage', `Nothing to change in #${number}.`, {
      hint: 'Use --title, --body, --add-label or --remove-label.',
    });
  }
  if (title?.trim() === '')
    throw new StewardError('usage', 'The title is empty.', { hint: 'Describe the task in a few words.' });
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
  for (const label of before.labels.filter((name) => hasLabel(removeLabels, name)))
    await host.removeLabel(repo, number, label);
  return changed(open, await host.issue(repo, number));
}

async function knownLabels(open: OpenRepo, wanted: readonly string[]): Promise<string[]> {
  const { labels, missing } = existingLabels(wanted, await labelNames(open), open.repo);
  if (missing.length === 0) return labels;
  throw new StewardError('not_found', `${open.repo} has no label ${missing.join(', ')}.`, {
    hint: 'Run `steward work labels seed`, or create the label on GitHub.',
  });
}

interface MoveInput {
  number: number;
  status: IssueStatus;
  reason?: string | undefined;
  /** Refuses to move an issue that no longer has this Status. */
  from?: IssueStatus | undefined;
}

/** Runs `work start` and `work block`: sets the Status of an open issue, and adds the reason as a comment. */
export async function moveIssue(deps: WorkDeps, { number, status, reason = '', from }: MoveInput) {
  const open = await openForWriting(deps);
  const before = await open.host.issue(open.repo, number);
  refuseClosed(before, `Reopen it on GitHub first (\`steward work open ${number}\` opens the page).`);
  if (from !== undefined && statusOf(before.labels) !== from) throw changedSince(before, from);
  const missing = await setStatus(open, { number, status });
  if (missing.length > 0) throw labelMissing(open.repo, missing);
  const after = await open.host.issue(open.repo, number);
  if (!hasLabel(after.labels, `Status:${status}`)) throw changedSince(after, status);
  if (reason.trim() !== '') await addComment(open, before, `Blocked: ${reason.trim()}`);
  return changed(open, after);
}

function changedSince({ number, labels }: HostIssue, expected: IssueStatus): StewardError {
  const hint = `See who changed it: \`steward work show ${number}\`.`;
  return conflict(`#${number} is ${statusOf(labels) ?? 'without a Status'} now, not ${expected}.`, hint);
}

/**
 * Replaces the Status label of an open issue. Adds the new label before removing the old one, so that a crash
 * never leaves an issue without a Status. Returns the labels that the repository lacks; then nothing changed.
 */
export async function setStatus(open: OpenRepo, { number, status }: { number: number; status: IssueStatus }) {
  const { host, repo } = open;
  const before = await host.issue(repo, number);
  const { add, remove } = statusEdit(before.labels, status);
  if (before.state === 'closed' || add.length + remove.length === 0) return [];
  if (add.length > 0) {
    const { labels, missing } = existingLabels(add, await labelNames(open), repo);
    if (missing.length > 0) return missing;
    await host.addLabels(repo, number, labels);
  }
  changed(open, await keepLastStatus(open, before, status));
  return [];
}

/**
 * Removes the Status labels that an issue had before this one was added. If another process has set one since,
 * keeps the one that was added last. Returns the issue.
 */
export async function keepLastStatus({ deps, host, repo }: OpenRepo, before: HostIssue, status: IssueStatus) {
  const { number } = before;
  let outdated = statusEdit(before.labels, status).remove;
  for (const delay of EVENT_DELAYS_MS) {
    for (const label of outdated) await host.removeLabel(repo, number, label);
    const issue = await host.issue(repo, number);
    const present = statusLabels(issue.labels);
    if (present.length === 1) return issue;
    const events = present.length === 0 ? [] : await host.labelEvents(repo, number);
    const addedAt = (label: string): number => {
      const last = events.findLast((event) => sameLabel(event.label, label));
      return last?.event === 'labeled' ? last.id : 0;
    };
    const order = present.sort((a, b) => addedAt(a) - addedAt(b));
    const isComplete = delay === 0 || order.every((label) => addedAt(label) > 0);
    outdated = isComplete ? order.slice(0, -1) : [];
    if (present.length === 0) await host.addLabels(repo, number, [`Status:${status}`]);
    else if (!isComplete) await deps.sleep(delay);
  }
  return host.issue(repo, number);
}

/** Runs `work open`: returns the URL of an issue, from the cache if possible. */
export async function issuePage(deps: WorkDeps, number: number): Promise<string> {
  const repo = repoOf(deps.workRepo());
  const cached = readCache(deps.paths.cache, repo).issues.find((each) => each.number === number);
  const { url } = cached ?? (await (await deps.host()).issue(repo, number));
  if (/^https?:\/\//.test(url)) return url;
  throw new StewardError('unavailable', `Invalid URL for #${number}.`, {
    hint: 'Run `steward work board --refresh`.',
  });
}
