import { StewardError } from '../errors';
import { isReminder, itemsOf, type Item } from './board';
import type { WorkDeps } from './deps';
import { titleText } from './issue';
import { staleness } from './poll';

const MAX_EVIDENCE = 30;

/** Returns the cached issues for a report, or undefined without a work repository. Notes a stale cache. */
export function issueFacts(deps: WorkDeps, { reminders }: { reminders: boolean }, notes: string[]) {
  const repo = deps.workRepo();
  if (repo.repo === undefined) return undefined;
  const { stale, staleReason, lastFetch } = staleness(deps, repo);
  if (lastFetch === null) notes.push('Issues: not fetched yet. Run "steward work board".');
  else if (stale) notes.push(`Issues: last fetched ${lastFetch}; ${staleReason ?? 'the cache is stale'}`);
  return itemsOf(deps, repo)
    .filter((item) => reminders || !isReminder(item))
    .map(factsOf);
}

function factsOf(item: Item) {
  const { number, title, url, state, status, priority, property, slug, createdAt, closedAt } = item;
  return {
    number,
    url,
    state,
    status,
    priority,
    property,
    slug,
    createdAt,
    closedAt,
    title: titleText(title),
    completed: item.stateReason === null || item.stateReason === 'completed',
  };
}

/** Fetches the last comment on each of the closed issues. Adds a note about what could not be fetched. */
export async function closingComments(deps: WorkDeps, numbers: readonly number[], notes: string[]) {
  const found = new Map<number, string>();
  const { repo } = deps.workRepo();
  if (repo === undefined || numbers.length === 0) return found;
  try {
    const host = await deps.host();
    for (const number of numbers.slice(0, MAX_EVIDENCE)) {
      const comment = (await host.comments(repo, number)).at(-1)?.body.trim() ?? '';
      if (comment !== '') found.set(number, comment);
    }
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    notes.push(`Closing comments: ${error.message}`);
  }
  if (numbers.length > MAX_EVIDENCE)
    notes.push(`Closing comments: not fetched for ${numbers.length - MAX_EVIDENCE} more issues.`);
  return found;
}

/** Returns the issues closed in a period, in order, with the seconds since its start. */
export function closedBetween(deps: WorkDeps, fromMs: number, toMs: number) {
  const closed = itemsOf(deps, deps.workRepo()).flatMap((item) => {
    const ms = Date.parse(item.closedAt ?? '');
    const isOfDay = ms >= fromMs && ms < toMs && item.stateReason !== 'not_planned' && !isReminder(item);
    const title = titleText(item.title);
    return isOfDay ? [{ number: item.number, title, at: Math.floor((ms - fromMs) / 1000) }] : [];
  });
  return closed.sort((a, b) => a.at - b.at);
}
