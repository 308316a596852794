import { StewardError } from '../errors';
import { clean } from '../platform/terminal/terminal';
import { parseIso } from '../platform/time/clock';
import { remember } from './cache';
import { alone, type Open, type WorkDeps } from './deps';
import type { HostIssue, LabelEvent } from './host';
import { failureOf } from './host/failure';
import { agentLabel, agentsOf, sameLabel, statusOf, statusOfLabel } from './label';
import { labelNames, labelOfAgent, onlyExisting } from './labels';
import { openForWriting } from './privacy';

export interface ClaimResult {
  number: number;
  title: string;
  url: string;
  agent: string;
  /** It was the agent's before. */
  already: boolean;
  labels: string[];
}

const IN_PROGRESS = 'Status:in-progress';
/** Events of one request may bear two neighbouring seconds. */
const SAME_REQUEST_MS = 1000;
/** The list of events may lag behind the write. */
const READ_BACKS = [0, 500, 1000, 2000, 4000];
const ANOTHER = 'Take another one: `steward work ready`.';

/**
 * `work claim`: adds Agent:NAME and Status:in-progress in one request, reads back who was first, and only then
 * removes Status:ready and Status:queued. Of two at once the one whose label came first has it; the other takes its
 * own off again and gets `conflict` with the holder's name. Killed in between, the same command run again completes it.
 */
export async function claimIssue(
  deps: WorkDeps,
  { number, agent }: { number: number; agent: string },
): Promise<ClaimResult> {
  if (agent.trim() !== agent || !/^[^,]{1,40}$/.test(agent) || clean(agent) !== agent) {
    throw new StewardError('usage', `Invalid agent name ${JSON.stringify(agent)}.`, {
      hint: 'Write the name behind Agent: in labels.yml: one line, no comma, at most 40 characters.',
    });
  }
  const open = await openForWriting(deps);
  const { host, repo } = open;
  // Two processes of one agent on this machine: the second finds it taken, by itself.
  return alone(deps, 'claim', async () => {
    const before = await host.issue(repo, number);
    refuseUnclaimable(before);
    const already = statusOf(before.labels) === 'in-progress';
    if (already) {
      const holder = await holderOf(open, before);
      if (holder !== agent.toLowerCase()) throw taken(before, holder);
    } else {
      const label = agentLabel(agent);
      await ensureLabels(open, agent);
      // An earlier label of this agent (the hook sets the DA's) would not show when it came.
      if (hasLabel(before.labels, label)) await host.removeLabel(repo, number, label);
      await host.addLabels(repo, number, [IN_PROGRESS, label]);
      await winOrLeave(open, number, agent);
    }
    const after = await release(open, number);
    remember(deps, repo, after);
    const { title, url, labels } = after;
    return { number, title, url, agent, already, labels };
  });
}

/** Only what is open and ready, queued or without a Status can be taken; what is in progress has a holder. */
function refuseUnclaimable({ number, state, labels }: HostIssue): void {
  const status = statusOf(labels);
  if (state === 'closed') {
    throw new StewardError('conflict', `#${number} is closed.`, {
      hint: 'Open it again first, or take another one: `steward work ready`.',
    });
  }
  if (status === null || ['ready', 'queued', 'in-progress'].includes(status)) return;
  throw new StewardError(
    'conflict',
    `#${number} is ${status}; only what is ready or queued can be claimed.`,
    {
      hint: 'Set its label to Status:ready first, or take another one: `steward work ready`.',
    },
  );
}

/** An agent that has no label yet gets one; without the Status label there is no claim. */
async function ensureLabels(open: Open, agent: string): Promise<void> {
  const { host, repo } = open;
  const { missing } = onlyExisting([agentLabel(agent), IN_PROGRESS], await labelNames(open), repo);
  if (missing.includes(IN_PROGRESS)) {
    throw new StewardError('config', `${repo} has no label ${IN_PROGRESS}.`, {
      hint: 'Run `steward work labels seed`.',
    });
  }
  if (missing.length === 0) return;
  try {
    await host.createLabel(repo, labelOfAgent(agent));
  } catch (error) {
    // Somebody made it in the same moment.
    if (failureOf(error)?.reason !== 'rejected') throw error;
  }
}

async function winOrLeave({ deps, host, repo }: Open, number: number, agent: string): Promise<void> {
  const label = agentLabel(agent);
  for (const pause of READ_BACKS) {
    if (pause > 0) await deps.sleep(pause);
    const [issue, events] = [await host.issue(repo, number), await host.labelEvents(repo, number)];
    if (!events.some((event) => event.event === 'labeled' && sameLabel(event.label, label))) continue;
    const holder = firstHolder(issue.labels, events);
    if (holder === agent.toLowerCase()) return;
    await host.removeLabel(repo, number, label);
    throw taken(issue, holder);
  }
  await host.removeLabel(repo, number, label);
  throw new StewardError('unavailable', `Nobody can tell yet who has #${number}.`, {
    hint: 'The label was taken off again; try once more in a minute.',
  });
}

/** Whose an issue in progress is, in lower case; null: nobody's by name. One label needs no second question. */
async function holderOf({ host, repo }: Open, issue: HostIssue): Promise<string | null> {
  const agents = agentsOf(issue.labels);
  if (agents.length <= 1) return agents[0]?.toLowerCase() ?? null;
  return firstHolder(issue.labels, await host.labelEvents(repo, issue.number));
}

/**
 * Of the agents on an issue the one whose label came first since it is in progress; where none came since (the hook
 * set its Status), the one that has been there the longest. Lower case; null without any.
 */
export function firstHolder(labels: readonly string[], events: readonly LabelEvent[]): string | null {
  const latest = (wanted: (label: string) => boolean): LabelEvent | undefined =>
    events.findLast(({ event, label }) => event === 'labeled' && wanted(label));
  const began = latest((label) => statusOfLabel(label) === 'in-progress');
  const agents = agentsOf(labels).map((name) => {
    const event = latest((label) => sameLabel(label, agentLabel(name)));
    // Labels that an issue was made with may have no event.
    return { name: name.toLowerCase(), id: event?.id ?? 0, ms: parseIso(event?.at ?? '') ?? 0 };
  });
  const startMs = parseIso(began?.at ?? '') ?? 0;
  const since = agents.filter(
    ({ id, ms }) => began !== undefined && id > 0 && (id > began.id || ms >= startMs - SAME_REQUEST_MS),
  );
  const [first] = (since.length > 0 ? since : agents).sort((a, b) => a.id - b.id);
  return first?.name ?? null;
}

function taken({ number, labels }: HostIssue, holder: string | null): StewardError {
  const name = agentsOf(labels).find((one) => one.toLowerCase() === holder) ?? holder;
  const who = name === null ? 'in progress already, and no Agent label says whose' : `held by ${name}`;
  return new StewardError('conflict', `#${number} is ${who}.`, { hint: ANOTHER });
}

/** Takes off what an issue in progress is no longer; gives it as it is then. */
async function release({ host, repo }: Open, number: number): Promise<HostIssue> {
  const issue = await host.issue(repo, number);
  const over = issue.labels.filter((name) => hasLabel(['Status:ready', 'Status:queued'], name));
  for (const label of over) await host.removeLabel(repo, number, label);
  return over.length === 0 ? issue : host.issue(repo, number);
}

function hasLabel(labels: readonly string[], wanted: string): boolean {
  return labels.some((label) => sameLabel(label, wanted));
}
