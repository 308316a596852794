import { StewardError } from '../../errors';
import { readCache } from '../cache';
import type { WorkDeps } from '../deps';
import { ofIdentity, readLedger, wantedTitle, type Wanted } from '../ensure';
import { identityKey, type Issue } from '../issue';
import { statusEdit } from '../label';
import { onlyExisting } from '../labels';
import { privacyState } from '../privacy';
import { promptWanted, sessionEndPlan, type CaptureDeps } from './deliver';
import { heardMatches, heardWhole, type Heard } from './hook';
import { captureKey } from './seen';
import { RESTRICTED } from './session';

/** `hook prompt --dry-run`; `body` only where more than the line is kept (WORK.CAPTURE_PROMPT). */
export interface PromptPlan {
  matches: { kind: string; title: string; due: string | null; labels: readonly string[]; body?: string }[];
}

export async function planPrompt(
  { clock, timezone, config }: Pick<WorkDeps, 'clock' | 'timezone' | 'config'>,
  prompt: Heard | undefined,
): Promise<PromptPlan> {
  if (prompt === undefined) return { matches: [] };
  const said = { atMs: clock.now(), zone: timezone };
  const whole = heardWhole(config.CAPTURE_PROMPT, prompt);
  const plans = heardMatches(prompt).map(async (match) => {
    const key = captureKey(prompt.session, match.kind, match.text);
    const wanted = await promptWanted({ ...match, ...whole, key }, said);
    return {
      kind: match.kind,
      title: wantedTitle(wanted),
      due: wanted.due ?? null,
      labels: wanted.labels,
      ...(config.CAPTURE_PROMPT === 'whole' ? { body: wanted.body } : {}),
    };
  });
  return { matches: await Promise.all(plans) };
}

/** `hook session-end --dry-run`: what would become of the session's issue. */
export interface SessionEndPlan {
  action: 'create' | 'update' | 'none';
  /** Why; null where something would be done. */
  reason: string | null;
  title: string | null;
  labels: string[];
}

const none = (reason: string): SessionEndPlan => ({ action: 'none', reason, title: null, labels: [] });

/** By what is known on this machine; nobody is asked. */
export function planSessionEnd(
  deps: CaptureDeps,
  session: { session: string; slug: string | null; restricted?: true },
): SessionEndPlan {
  const { workRepo, clock } = deps.work;
  const { repo } = workRepo();
  const state = privacyState(workRepo(), clock.now());
  if (repo === undefined) return none('no work repository is set up');
  if (state === 'off') return none('work tracking is switched off (WORK.enabled is false)');
  if (state === 'public' || state === 'unverified')
    return none('the repository is not verified to be private');
  if (session.restricted === true) return none(RESTRICTED);
  const plan = sessionEndPlan(deps, session);
  if (plan.wanted === null) return none(plan.reason);
  const reason = state === 'expired' ? 'once the repository is verified to be private again' : null;
  try {
    const found = issuePlan(deps.work, repo, plan);
    return found.action === 'none' ? found : { ...found, reason };
  } catch (error) {
    // A repository without labels keeps the capture waiting.
    if (error instanceof StewardError && error.kind === 'config') return none(error.message);
    throw error;
  }
}

function issuePlan(
  { paths }: WorkDeps,
  repo: string,
  { wanted, status }: { wanted: Wanted; status: Parameters<typeof statusEdit>[1] },
): SessionEndPlan {
  const cache = readCache(paths.cache, repo);
  const existing = (labels: readonly string[]): string[] =>
    cache.labels === null ? [...labels] : onlyExisting(labels, cache.labels.names, repo).labels;
  const there = plannedIssue(paths.ledger, repo, cache.issues, wanted);
  if (there === undefined)
    return { action: 'create', reason: null, title: wantedTitle(wanted), labels: existing(wanted.labels) };
  if (there.state === 'closed') return none('its issue is closed');
  const { add, remove } = statusEdit(there.labels, status);
  if (add.length + remove.length === 0) return none('its issue has this Status already');
  if (existing(add).length < add.length) return none(`${repo} has no label ${add.join(', ')}`);
  return { action: 'update', reason: null, title: there.title, labels: existing([`Status:${status}`]) };
}

type Planned = Pick<Issue, 'state' | 'labels' | 'title'>;

/** The issue that the session has, as it is known here; of one that only its number is known of, an open one. */
function plannedIssue(
  ledger: string,
  repo: string,
  issues: readonly Issue[],
  wanted: Wanted,
): Planned | undefined {
  const key = identityKey(wanted.identity);
  for (const number of [readLedger(ledger, repo).get(key)?.number, wanted.known]) {
    if (number === undefined || number === null) continue;
    const issue = issues.find((one) => one.number === number);
    if (issue === undefined) return { state: 'open', labels: [], title: wantedTitle(wanted) };
    if (issue.identity === null || issue.identity === key) return issue;
  }
  return ofIdentity(issues, key);
}
