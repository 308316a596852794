import { StewardError, undefinedIf } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { parseIso } from '../platform/time/clock';
import { cacheIssue } from './cache';
import { withWorkLock, type OpenRepo, type WorkDeps } from './deps';
import { EVENT_DELAYS_MS, keepLastStatus } from './edit';
import type { LabelEvent } from './host/github-read';
import { toIssue, type HostIssue } from './issue';
import { failureOf } from './host/failure';
import { agentLabel, agentsOf, hasLabel, sameLabel, statusOf, statusOfLabel } from './label';
import { existingLabels, labelMissing, labelNames, labelOfAgent } from './labels';
import { conflict, openForWriting, refuseClosed } from './privacy';

export type ClaimResult = Awaited<ReturnType<typeof claimIssue>>;

const IN_PROGRESS = 'Status:in-progress';
/** Events from one request may have timestamps up to a second apart. */
const SAME_REQUEST_MS = 1000;

/**
 * Runs `work claim`: adds the labels Agent:NAME and Status:in-progress in one request. If several agents
 * claim the issue, the first one wins; the others remove their label and get a `conflict` error. Safe to
 * repeat.
 */
export async function claimIssue(deps: WorkDeps, { number, agent }: { number: number; agent: string }) {
  if (agent.trim() !== agent || !/^[^,]{1,40}$/.test(agent) || clean(agent) !== agent) {
    throw new StewardError('usage', `Invalid agent name ${JSON.stringify(agent)}.`, {
      hint: 'Use at most 40 characters on one line, without a comma.',
    });
  }
  const open = await openForWriting(deps);
  const { host, repo } = open;
  // Hold a lock, so that another process acting for the same agent sees this claim.
  return withWorkLock(deps, 'claim', async () => {
    const before = await host.issue(repo, number);
    refuseUnclaimable(before);
    const already = statusOf(before.labels) === 'in-progress';
    if (already) {
      const holder = await holderOf(open, before);
      if (holder !== agent.toLowerCase()) throw taken(before, holder);
    } else {
      const label = agentLabel(agent);
      await ensureLabels(open, agent);
      const hadLabel = hasLabel(before.labels, label);
      const known = hadLabel ? await host.labelEvents(repo, number) : [];
      // Adding a label that the issue has would not record the time of this claim.
      if (hadLabel) await host.removeLabel(repo, number, label);
      await host.addLabels(repo, number, [IN_PROGRESS, label]);
      await winOrWithdraw(open, number, agent, known.at(-1)?.id ?? 0);
    }
    const after = await keepLastStatus(open, before, 'in-progress');
    cacheIssue(deps, repo, toIssue(after));
    const { title, url, labels } = after;
    return { number, title, url, agent, already, labels };
  });
}

function refuseUnclaimable(issue: HostIssue): void {
  refuseClosed(issue, 'Reopen it first, or choose another issue: `steward work ready`.');
  const { number, labels } = issue;
  const status = statusOf(labels);
  if (status === null || ['ready', 'queued', 'in-progress'].includes(status)) return;
  const hint = 'Set Status:ready first, or choose another issue: `steward work ready`.';
  throw conflict(`#${number} is ${status}; only ready or queued issues can be claimed.`, hint);
}

/** Creates the agent's label if it is missing. The Status label must already exist. */
async function ensureLabels(open: OpenRepo, agent: string): Promise<void> {
  const { host, repo } = open;
  const { missing } = existingLabels([agentLabel(agent), IN_PROGRESS], await labelNames(open), repo);
  if (missing.includes(IN_PROGRESS)) throw labelMissing(repo, [IN_PROGRESS]);
  if (missing.length === 0) return;
  // If GitHub rejects the request, another process has just created the label.
  const isThere = (error: unknown): boolean => failureOf(error)?.reason === 'rejected';
  await host.createLabel(repo, labelOfAgent(agent)).catch(undefinedIf(isThere));
}

/** @param since The last event before this claim, if the issue had the label. */
async function winOrWithdraw(open: OpenRepo, number: number, agent: string, since: number): Promise<void> {
  const { deps, host, repo } = open;
  const label = agentLabel(agent);
  for (const delay of EVENT_DELAYS_MS) {
    const [issue, events] = [await host.issue(repo, number), await host.labelEvents(repo, number)];
    // An earlier claim, whose label was removed, confirms nothing.
    const own = events.findLast((each) => sameLabel(each.label, label));
    if (own?.event === 'labeled' && own.id > since) {
      const holder = firstHolder(issue.labels, events);
      if (holder === agent.toLowerCase()) return;
      await host.removeLabel(repo, number, label);
      throw taken(issue, holder);
    }
    await deps.sleep(delay);
  }
  await host.removeLabel(repo, number, label);
  if (agentsOf((await host.issue(repo, number)).labels).length === 0)
    await host.removeLabel(repo, number, IN_PROGRESS);
  throw new StewardError('unavailable', `GitHub did not confirm the claim on #${number}.`, {
    hint: 'The claim was withdrawn; try again in a minute.',
  });
}

/**
 * Returns the lowercase name of the agent that claimed an in-progress issue, or null if the issue has no
 * `Agent:` label.
 */
async function holderOf({ host, repo }: OpenRepo, issue: HostIssue): Promise<string | null> {
  const agents = agentsOf(issue.labels);
  if (agents.length <= 1) return agents[0]?.toLowerCase() ?? null;
  return firstHolder(issue.labels, await host.labelEvents(repo, issue.number));
}

/**
 * Returns the lowercase name of the agent that claimed the issue, or null if there are no `Agent:` labels.
 * Of several labels, the first one added after work started wins; if there is none, the oldest label wins.
 */
export function firstHolder(labels: readonly string[], events: readonly LabelEvent[]): string | null {
  const latest = (matches: (label: string) => boolean): LabelEvent | undefined =>
    events.findLast(({ event, label }) => event === 'labeled' && matches(label));
  const began = latest((label) => statusOfLabel(label) === 'in-progress');
  const agents = agentsOf(labels).map((name) => {
    const event = latest((label) => sameLabel(label, agentLabel(name)));
    // A label that was set when the issue was created may have no event.
    return { name: name.toLowerCase(), id: event?.id ?? 0, ms: parseIso(event?.at ?? '') ?? 0 };
  });
  const startMs = parseIso(began?.at ?? '') ?? 0;
  const since = agents.filter(({ ms }) => ms >= startMs - SAME_REQUEST_MS);
  const [first] = (since.length > 0 ? since : agents).sort((a, b) => a.id - b.id);
  return first?.name ?? null;
}

function taken({ number, labels }: HostIssue, holder: string | null): StewardError {
  const name = agentsOf(labels).find((agent) => agent.toLowerCase() === holder) ?? holder;
  const state = name === null ? 'already in progress but has no Agent label' : `claimed by ${name}`;
  return conflict(`#${number} is ${state}.`, 'Choose another issue: `steward work ready`.');
}
