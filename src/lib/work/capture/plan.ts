import { StewardError } from '../../errors';
import { readCache } from '../cache';
import { isNameless } from '../../sessions/slug';
import type { WorkDeps } from '../deps';
import { ofIdentity, readLedger, wantedTitle, type Wanted } from '../ensure';
import { identityKey, type Issue } from '../issue';
import { statusEdit, type IssueStatus } from '../label';
import { existingLabels } from '../labels';
import { privacyState } from '../privacy';
import { promptWanted, sessionEndPlan } from './deliver';
import { requestsIn, wholePromptIf, type CapturedPrompt } from './hook';
import { captureKey } from './keys';
import type { SessionRules } from './session';

export async function planPrompt(
  { clock, timezone, config }: Pick<WorkDeps, 'clock' | 'timezone' | 'config'>,
  prompt: CapturedPrompt | undefined,
) {
  if (prompt === undefined) return { matches: [] };
  const now = { atMs: clock.now(), zone: timezone };
  const whole = wholePromptIf(config.CAPTURE_PROMPT, prompt);
  const plans = requestsIn(prompt.text).map(async (request) => {
    const key = captureKey(prompt.session, request.kind, request.text);
    const wanted = await promptWanted({ ...request, ...whole, key }, now);
    return {
      kind: request.kind,
      title: wantedTitle(wanted),
      due: wanted.due ?? null,
      labels: wanted.labels,
      ...(config.CAPTURE_PROMPT === 'whole' ? { body: wanted.body } : {}),
    };
  });
  return { matches: await Promise.all(plans) };
}

/** The output of `hook session-end --dry-run`. */
export interface SessionEndPlan {
  action: 'create' | 'update' | 'none';
  /** Why the action is `none`, why the capture must wait, or why `labels` may be incomplete. */
  reason: string | null;
  title: string | null;
  labels: string[];
}

const none = (reason: string): SessionEndPlan => ({ action: 'none', reason, title: null, labels: [] });

/** Plans the capture of an ended session, using local data only. */
export function planSessionEnd(deps: SessionRules, session: { session: string; slug: string | null }) {
  const { workRepo, clock } = deps.work;
  const { repo } = workRepo();
  const state = privacyState(workRepo(), clock.now());
  if (repo === undefined) return none('work tracking is not set up');
  if (state === 'off') return none('work tracking is off (WORK.enabled is false)');
  if (state === 'public' || state === 'unverified')
    return none('the repository has not been verified as private');
  if (isNameless(session.slug ?? '')) return none('the session is restricted');
  const plan = sessionEndPlan(deps, session);
  if (plan.wanted === null) return none(plan.reason);
  const expired = state === 'expired' ? 'waiting until the repository is verified as private again' : null;
  try {
    const found = issuePlan(deps.work, repo, plan);
    return found.action === 'none' ? found : { ...found, reason: expired ?? found.reason };
  } catch (error) {
    // If the repository lacks steward's labels, the capture must wait.
    if (error instanceof StewardError && error.kind === 'config') return none(error.message);
    throw error;
  }
}

function issuePlan(
  { paths }: WorkDeps,
  repo: string,
  { wanted, status }: { wanted: Wanted; status: IssueStatus },
): SessionEndPlan {
  const cache = readCache(paths.cache, repo);
  const existing = (labels: readonly string[]): string[] =>
    cache.labels === null ? [...labels] : existingLabels(labels, cache.labels.names, repo).labels;
  const reason =
    cache.labels === null ? `the labels of ${repo} are not fetched yet; missing ones are left out` : null;
  const issue = knownIssue(paths.ledger, repo, cache.issues, wanted);
  if (issue === undefined)
    return { action: 'create', reason, title: wantedTitle(wanted), labels: existing(wanted.labels) };
  if (issue.state === 'closed') return none('the issue is closed');
  const { add, remove } = statusEdit(issue.labels, status);
  if (add.length + remove.length === 0) return none('the issue already has this Status');
  if (existing(add).length < add.length) return none(`${repo} has no label ${add.join(', ')}`);
  return { action: 'update', reason, title: issue.title, labels: existing([`Status:${status}`]) };
}

/** Finds the session's issue in local data. An issue that isn't cached counts as open. */
function knownIssue(
  ledger: string,
  repo: string,
  issues: readonly Issue[],
  wanted: Wanted,
): Pick<Issue, 'state' | 'labels' | 'title'> | undefined {
  const key = identityKey(wanted.identity);
  for (const number of [readLedger(ledger, repo).get(key)?.number, wanted.known]) {
    if (number === undefined || number === null) continue;
    const issue = issues.find((each) => each.number === number);
    if (issue === undefined) return { state: 'open', labels: [], title: wantedTitle(wanted) };
    if (issue.identity === null || issue.identity === key) return issue;
  }
  return ofIdentity(issues, key);
}
