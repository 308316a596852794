import { keptIssue, remember } from './cache';
import type { EnsureDeps } from './ensure';
import type { Host } from './host';
import type { Issue } from './issue';
import { statusEdit, type Status } from './label';
import { labelNames, onlyExisting } from './labels';

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
