import { StewardError } from '../errors';
import { namedFile } from '../platform/files/named-file';
import { type ActionDeps, addComment } from './actions';
import { type Item, toItem } from './board';
import { keptIssue, readCache, remember } from './cache';
import type { EnsureDeps } from './ensure';
import type { Host, HostIssue, IssueChange } from './host';
import { type Issue, MAX_BODY, withText, withTitle } from './issue';
import { type Status, sameLabel, statusEdit } from './label';
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

const BODY_FILE = { maxBytes: 4 * MAX_BODY, instead: 'or write the body itself, without the @' };

/**
 * `work edit`: changes title, body and labels. The prefix and the identity of a title stay, and so does the hidden
 * marker of a body. A label that the repository lacks is `not_found`, before anything is changed.
 */
export async function editIssue(deps: ActionDeps, input: EditInput): Promise<Item> {
  const { number, title, body, addLabels = [], removeLabels = [] } = input;
  if (title === undefined && body === undefined && addLabels.length + removeLabels.length === 0) {
    throw new StewardError('usage', `Nothing to change in #${number}.`, {
      hint: 'Use --title, --body, --add-label or --remove-label.',
    });
  }
  if (title?.trim() === '')
    throw new StewardError('usage', 'The title is empty.', { hint: 'Write a title.' });
  const text = body?.startsWith('@') === true ? namedFile(body.slice(1), BODY_FILE) : body;
  const repo = await openForWriting(deps);
  const host = await deps.host();
  const before = await host.issue(repo, number);
  const labels = await knownLabels(deps, host, repo, addLabels);
  const change: IssueChange = {
    ...(title === undefined ? {} : { title: withTitle(before.title, title) }),
    ...(text === undefined ? {} : { body: withText(before.body, text) }),
  };
  if (Object.keys(change).length > 0) await host.updateIssue(repo, number, change);
  if (labels.length > 0) await host.addLabels(repo, number, labels);
  const over = before.labels.filter((name) => removeLabels.some((one) => sameLabel(one, name)));
  for (const label of over) await host.removeLabel(repo, number, label);
  return changed(deps, repo, await host.issue(repo, number));
}

async function knownLabels(
  deps: ActionDeps,
  host: Host,
  repo: string,
  wanted: readonly string[],
): Promise<string[]> {
  if (wanted.length === 0) return [];
  const { labels, missing } = onlyExisting(wanted, await labelNames(deps, host, repo), repo);
  if (missing.length === 0) return labels;
  throw new StewardError('not_found', `${repo} has no label ${missing.join(', ')}.`, {
    hint: 'Run `steward work labels seed`, or create the label on GitHub.',
  });
}

/** `work start` and `work block`: sets the Status of an open issue, and says why in a comment where that is given. */
export async function moveIssue(
  deps: ActionDeps,
  { number, status, reason }: { number: number; status: Status; reason?: string | undefined },
): Promise<Item> {
  const repo = await openForWriting(deps);
  const host = await deps.host();
  const before = await host.issue(repo, number);
  if (before.state === 'closed') {
    throw new StewardError('conflict', `#${number} is closed.`, {
      hint: 'Reopen it on GitHub first: `steward work open NUMBER`.',
    });
  }
  const { missingLabels } = await setStatus(deps, host, repo, { number, status });
  if (missingLabels.length > 0) {
    throw new StewardError('config', `${repo} has no label ${missingLabels.join(', ')}.`, {
      hint: 'Run `steward work labels seed`.',
    });
  }
  if (reason !== undefined && reason.trim() !== '')
    await addComment(host, repo, before, `Blocked: ${reason.trim()}`);
  return changed(deps, repo, await host.issue(repo, number));
}

function changed(deps: ActionDeps, repo: string, issue: HostIssue): Item {
  remember(deps, repo, issue);
  return toItem(keptIssue(issue), deps.config.KANBAN_COLUMNS);
}

/** `work open`: the page of an issue, from what was read before where it is there. */
export async function issuePage(deps: ActionDeps, number: number): Promise<string> {
  const repo = repoOf(deps.workRepo());
  const kept = readCache(deps.paths.cache, repo).issues.find((one) => one.number === number);
  const { url } = kept ?? (await (await deps.host()).issue(repo, number));
  if (/^https?:\/\//.test(url)) return url;
  throw new StewardError('unavailable', `The address of #${number} is not a web page.`, {
    hint: 'Run `steward work board --refresh`.',
  });
}

export interface StatusEdited {
  issue: Issue;
  changed: boolean;
  /** The Status label, where the repository does not have it: then nothing is changed. */
  missingLabels: string[];
}

/**
 * Sets the Status of an issue (decisions.md 6): the Status label is replaced, every other label, the title and
 * whether it is open stay. The new one comes before the old one goes, so a kill in between leaves the issue with
 * a Status, and the same call again completes it. An issue that is closed is left alone.
 */
export async function setStatus(
  deps: EnsureDeps,
  host: Host,
  repo: string,
  input: { number: number; status: Status },
): Promise<StatusEdited> {
  const before = await host.issue(repo, input.number);
  const { add, remove } = statusEdit(before.labels, input.status);
  const nothing = before.state === 'closed' || (add.length === 0 && remove.length === 0);
  if (nothing) return { issue: keptIssue(before), changed: false, missingLabels: [] };
  const known = add.length === 0 ? [] : await labelNames(deps, host, repo);
  const { labels, missing } = add.length === 0 ? { labels: [], missing: [] } : onlyExisting(add, known, repo);
  if (missing.length > 0) return { issue: keptIssue(before), changed: false, missingLabels: missing };
  if (labels.length > 0) await host.addLabels(repo, input.number, labels);
  for (const label of remove) await host.removeLabel(repo, input.number, label);
  const after = await host.issue(repo, input.number);
  remember(deps, repo, after);
  return { issue: keptIssue(after), changed: true, missingLabels: [] };
}
