import { join } from 'node:path';

import { StewardError } from '../errors';
import { parseIso } from '../platform/time/clock';
import { withLock } from '../platform/files/lock';
import { clean } from '../platform/terminal/terminal';
import { remember } from './cache';
import type { EnsureDeps } from './ensure';
import type { Host, HostIssue, LabelEvent } from './host';
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

/** `work claim`: the same in the configured repository. */
export async function claimIssue(
  deps: EnsureDeps,
  input: { number: number; agent: string },
): Promise<ClaimResult> {
  if (!isAgentName(input.agent)) {
    throw new StewardError('usage', `${JSON.stringify(input.agent)} is no name of an agent.`, {
      hint: 'Write the name behind Agent: in labels.yml: one line, no comma, at most 40 characters.',
    });
  }
  const repo = await openForWriting(deps);
  return claim(deps, await deps.host(), repo, input);
}

function isAgentName(name: string): boolean {
  return (
    name.trim() === name && name !== '' && name.length <= 40 && clean(name) === name && !name.includes(',')
  );
}

const IN_PROGRESS = 'Status:in-progress';
/** Events of one request may bear two neighbouring seconds. */
const SAME_REQUEST_MS = 1000;
const LOCK_WAIT_MS = 60_000;
/** The list of events may lag behind the write. */
const READ_BACKS = [0, 500, 1000, 2000, 4000];

/**
 * An agent takes an issue (service.md: Work issue status): adds Agent:NAME and Status:in-progress in one request,
 * reads back who was first, and only then removes Status:ready and Status:queued. Of two at once the one whose
 * label came first has it; the other takes its own off again and gets `conflict` with the holder's name.
 * Killed in between, the same command run again completes it.
 */
async function claim(
  deps: EnsureDeps,
  host: Host,
  repo: string,
  input: { number: number; agent: string },
): Promise<ClaimResult> {
  const { clock, machineId } = deps;
  const label = agentLabel(input.agent);
  // Two processes of one agent on this machine: the second finds it taken, by itself.
  return withLock(
    join(deps.locks, 'work-claim.lock'),
    { clock, machineId, waitMs: LOCK_WAIT_MS },
    async () => {
      const before = await host.issue(repo, input.number);
      refuseUnclaimable(before);
      const already = statusOf(before.labels) === 'in-progress';
      if (already) {
        const holder = await holderOf(host, repo, before);
        if (holder !== input.agent.toLowerCase()) throw taken(before, nameOf(before, holder));
      } else {
        await ensureLabels(deps, host, repo, label);
        // An earlier label of this agent (the hook sets the DA's) would not show when it came.
        if (hasLabel(before.labels, label)) await host.removeLabel(repo, input.number, label);
        await host.addLabels(repo, input.number, [IN_PROGRESS, label]);
        await winOrLeave(deps, host, repo, before.number, label);
      }
      const after = await release(host, repo, input.number);
      remember(deps, repo, after);
      const { number, title, url, labels } = after;
      return { number, title, url, agent: input.agent, already, labels };
    },
  );
}

/** Only what is open and ready, queued or without a Status can be taken; what is in progress has a holder. */
function refuseUnclaimable(issue: HostIssue): void {
  const status = statusOf(issue.labels);
  if (issue.state === 'closed') {
    throw new StewardError('conflict', `#${issue.number} is closed.`, {
      hint: 'Open it again first, or take another one: `steward work ready`.',
    });
  }
  if (status === null || status === 'ready' || status === 'queued' || status === 'in-progress') return;
  throw new StewardError(
    'conflict',
    `#${issue.number} is ${status}; only what is ready or queued can be claimed.`,
    {
      hint: 'Set its label to Status:ready first, or take another one: `steward work ready`.',
    },
  );
}

/** An agent that has no label yet gets one; without the Status label there is no claim. */
async function ensureLabels(deps: EnsureDeps, host: Host, repo: string, label: string): Promise<void> {
  const { missing } = onlyExisting([label, IN_PROGRESS], await labelNames(deps, host, repo), repo);
  if (missing.includes(IN_PROGRESS)) {
    throw new StewardError('config', `${repo} has no label ${IN_PROGRESS}.`, {
      hint: 'Run `steward work labels seed`.',
    });
  }
  if (missing.length === 0) return;
  try {
    await host.createLabel(repo, labelOfAgent(label.slice('Agent:'.length)));
  } catch (error) {
    // Somebody made it in the same moment.
    if (failureOf(error)?.reason !== 'rejected') throw error;
  }
}

async function winOrLeave(
  deps: EnsureDeps,
  host: Host,
  repo: string,
  number: number,
  label: string,
): Promise<void> {
  for (const pause of READ_BACKS) {
    if (pause > 0) await deps.sleep(pause);
    const [issue, events] = [await host.issue(repo, number), await host.labelEvents(repo, number)];
    if (!events.some((event) => event.event === 'labeled' && sameLabel(event.label, label))) continue;
    const holder = firstHolder(issue.labels, events);
    if (holder === label.slice('Agent:'.length).toLowerCase()) return;
    await host.removeLabel(repo, number, label);
    throw taken(issue, nameOf(issue, holder));
  }
  await host.removeLabel(repo, number, label);
  throw new StewardError('unavailable', `Nobody can tell yet who has #${number}.`, {
    hint: 'The label was taken off again; try once more in a minute.',
  });
}

/** Whose an issue in progress is, in lower case; null: nobody's by name. One label needs no second question. */
async function holderOf(host: Host, repo: string, issue: HostIssue): Promise<string | null> {
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
    events.filter(({ event, label }) => event === 'labeled' && wanted(label)).at(-1);
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

function nameOf(issue: HostIssue, holder: string | null): string | null {
  return agentsOf(issue.labels).find((name) => name.toLowerCase() === holder) ?? holder;
}

function taken(issue: HostIssue, holder: string | null): StewardError {
  const who = holder === null ? 'in progress already, and no Agent label says whose' : `held by ${holder}`;
  return new StewardError('conflict', `#${issue.number} is ${who}.`, {
    hint: 'Take another one: `steward work ready`.',
  });
}

/** Takes off what an issue in progress is no longer; gives it as it is then. */
async function release(host: Host, repo: string, number: number): Promise<HostIssue> {
  const issue = await host.issue(repo, number);
  const over = issue.labels.filter(
    (name) => sameLabel(name, 'Status:ready') || sameLabel(name, 'Status:queued'),
  );
  for (const label of over) await host.removeLabel(repo, number, label);
  return over.length === 0 ? issue : host.issue(repo, number);
}

function hasLabel(labels: readonly string[], wanted: string): boolean {
  return labels.some((label) => sameLabel(label, wanted));
}
