import type { WorkDeps } from './deps';
import { titleText } from './issue';
import { labelReader } from './label';
import { staleness } from './poll';
import { currentPrivacy } from './privacy';
import { storedReviews } from './reviews';

/**
 * Returns the stored issues and review requests, when reminders are due, and when each was last read; none if the
 * repository isn't known to be private.
 */
export function waitingWork(deps: WorkDeps) {
  if (['setup', 'off', 'public'].includes(currentPrivacy(deps)))
    return { issues: [], reviews: [], dues: [], asOf: {} };
  const workRepo = deps.workRepo();
  const factsOf = labelReader();
  const issues = deps
    .cache(workRepo.repo ?? '')
    .issues.map(({ number, title, url, state, labels, updatedAt, due }) => {
      const { status, priority } = factsOf(labels);
      return { number, title: titleText(title), url, state, status, priority, updatedAt, due };
    });
  const { reviews, at } = storedReviews(deps);
  const asOf = { issues: staleness(deps, workRepo).lastFetch, reviews: at };
  return { issues, reviews, dues: issues.map(({ due }) => due), asOf };
}
