import { join } from 'node:path';

import type { Machine } from '../../config/user-area';
import { StewardError, toStewardError, undefinedIf } from '../../errors';
import { ensureFolder } from '../../platform/files/folder';
import { appendLog } from '../../platform/files/journal';
import { parseIso, toIso } from '../../platform/time/clock';
import { artifactPath, writeIssue } from '../../sessions/artifact';
import {
  drain,
  keptIntentions,
  revive,
  spoolStatus,
  type Consumer,
  type DrainResult,
  type Refusal,
} from '../../sessions/spool';
import { type Intention } from '../../sessions/intention';
import type { OpenRepo } from '../deps';
import { readDue } from '../due';
import { setStatus } from '../edit';
import { ensureIssue, type Ensured, type Wanted } from '../ensure';
import { failureOf } from '../host/failure';
import { titleContainsAll, type Issue } from '../issue';
import { captureGate, currentPrivacy, openForWriting, type PrivacyState } from '../privacy';
import { queuedIssue, whileCreating } from './queued';
import { isKind, promptBody, type CaptureKind } from './prompt';
import { planSession, sessionAt, type SessionPlan, type SessionRules } from './session';
import { readReasons, waitReason, writeReasons, type WaitReason } from './waiting';

/**
 * Delivers the spooled captures, and records why the remaining captures are waiting. Calls `onCreated` with
 * each created issue.
 */
export async function drainCaptures(deps: SessionRules, onCreated: (issue: Issue) => void = () => undefined) {
  const { waiting } = deps.work.paths;
  const reasons = readReasons(waiting);
  const before = JSON.stringify([...reasons]);
  const consumer =
    (deliver: (deps: SessionRules, intention: Intention) => Promise<Delivery>): Consumer =>
    async (intention) => {
      const { waits, refused, created } = await deliver(deps, intention);
      if (created !== undefined) onCreated(created);
      if (waits === undefined) reasons.delete(intention.id);
      else reasons.set(intention.id, waits);
      if (refused !== undefined) return { refused };
      return waits === undefined ? 'done' : 'later';
    };
  try {
    return await drain(deps.work, {
      'session-ended': consumer(captureSession),
      'prompt-matched': consumer(capturePrompt),
      'issue-wanted': consumer(createQueued),
    });
  } finally {
    const spooled = new Set(keptIntentions(deps.work.area.spool).map(({ id }) => id));
    for (const id of reasons.keys()) if (!spooled.has(id)) reasons.delete(id);
    if (JSON.stringify([...reasons]) !== before) writeReasons(waiting, reasons);
  }
}

const BUSY_POLL_MS = 200;
const BUSY_TIMEOUT_MS = 60_000;

/** Delivers the spooled captures for `work deliver`. Waits if another process is delivering them. */
export async function deliverCaptures(deps: SessionRules): Promise<DrainResult> {
  const { clock, sleep } = deps.work;
  const until = clock.monotonic() + BUSY_TIMEOUT_MS;
  for (;;) {
    const result = await drainCaptures(deps);
    if (!result.busy || clock.monotonic() > until) return result;
    await sleep(BUSY_POLL_MS);
  }
}

/** Requeues failed captures and delivers the spool, for `work retry`. */
export async function retryCaptures(deps: SessionRules) {
  const retried = await revive(deps.work);
  const { dead, unreadable, deadFolder } = spoolStatus(deps.work.area.spool);
  // A retry skips unreadable entries.
  return { retried, ...(await deliverCaptures(deps)), unreadable: dead + unreadable, deadFolder };
}

export type RetryResult = Awaited<ReturnType<typeof retryCaptures>>;

/** Logs what was left out of a capture, or why the capture failed or was dropped. */
export function logCapture(
  { area, clock }: Pick<Machine, 'area' | 'clock'>,
  what: string,
  detail: Record<string, unknown>,
): void {
  ensureFolder(area.observability);
  const nowMs = clock.now();
  const line = JSON.stringify({ ts: toIso(nowMs), what, ...detail });
  appendLog(join(area.observability, 'work-capture.jsonl'), line, { rotateBytes: 1024 * 1024, nowMs });
}

function folderOf({ state }: SessionRules, { session, slug }: { session: string; slug: string | null }) {
  return Object.values(state().sessions).find(({ sessionIds }) => sessionIds.includes(session))?.slug ?? slug;
}

/** Plans the issue for a session that has ended, using local data only. */
export function sessionEndPlan(
  deps: SessionRules,
  session: { session: string; slug: string | null },
): SessionPlan {
  const slug = folderOf(deps, session);
  const found = slug === null ? undefined : sessionAt(deps.sessions, slug);
  if (found === undefined) return { wanted: null, reason: 'the session has no session file' };
  return planSession(found, deps, 'hook');
}

/** Builds the issue for a request in a prompt. Resolves relative times against the time of the prompt. */
export async function promptWanted(
  { kind, text, key, prompt }: { kind: CaptureKind; text: string; key: string; prompt?: string },
  sent: { atMs: number; zone: string },
): Promise<Wanted> {
  const now = { nowMs: sent.atMs, zone: sent.zone };
  const found = kind === 'reminder' ? await readDue(text, now).catch(undefinedIf('usage')) : undefined;
  const due = found ?? { text, dueMs: undefined };
  const title = due.text === '' ? text : due.text;
  return {
    identity: { kind: 'id', value: key },
    kind,
    text: title,
    body: promptBody(prompt ?? (titleContainsAll(kind, title, text) ? undefined : text)),
    labels: [`Type:${kind}`, 'Status:queued'],
    ...(due.dueMs === undefined ? {} : { due: toIso(due.dueMs) }),
  };
}

/**
 * Creates an ended session's issue, or updates the issue's Status label. Writes the issue's number to the
 * session file.
 */
async function captureSession(deps: SessionRules, intention: Intention): Promise<Delivery> {
  const plan = sessionEndPlan(deps, intention);
  if (plan.wanted === null) return {};
  const { wanted, status } = plan;
  const slug = folderOf(deps, intention) ?? wanted.identity.value;
  const delivery = await send(deps, slug, async (open) => {
    const ensured = await ensureIssue(open, wanted);
    const { action, issue, missingLabels } = ensured;
    const labels =
      action === 'found' ? await setStatus(open, { number: issue.number, status }) : missingLabels;
    writeNumber(deps, slug, issue);
    if (labels.length > 0) logCapture(deps.work, 'labels-missing', { slug, labels });
    return ensured;
  });
  // If delivery is refused, a later sweep creates the issue from the session file.
  return delivery.refused === undefined ? delivery : {};
}

const WRITE_ATTEMPTS = 3;

/**
 * Writes the issue's number and URL to the session file. Retries if an editor changes the file in the
 * meantime.
 */
export function writeNumber(
  { sessions }: Pick<SessionRules, 'sessions'>,
  slug: string,
  { number, url }: { number: number; url: string },
): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      writeIssue(artifactPath(sessions, slug), { github_issue: number, github_issue_url: url });
      return;
    } catch (error) {
      const isBusy = error instanceof StewardError && error.kind === 'conflict';
      if (!isBusy || attempt === WRITE_ATTEMPTS) throw error;
    }
  }
}

async function capturePrompt(deps: SessionRules, { capture, at }: Intention): Promise<Delivery> {
  if (capture === undefined || !isKind(capture.kind)) return { refused: 'unknown capture kind' };
  const { kind, text, key, prompt } = capture;
  const { clock, timezone, config } = deps.work;
  // The `CAPTURE_PROMPT` setting may have changed since the prompt was captured.
  const whole = prompt !== undefined && config.CAPTURE_PROMPT === 'whole' ? { prompt } : {};
  const sent = { atMs: parseIso(at) ?? clock.now(), zone: timezone };
  const wanted = await promptWanted({ kind, text, key, ...whole }, sent);
  return send(deps, key, async (open) => {
    const ensured = await ensureIssue(open, wanted);
    const { issue, missingLabels } = ensured;
    if (missingLabels.length > 0)
      logCapture(deps.work, 'labels-missing', { issue: issue.number, labels: missingLabels });
    return ensured;
  });
}

async function createQueued(deps: SessionRules, intention: Intention): Promise<Delivery> {
  const issue = queuedIssue(intention);
  if (issue === undefined) return { refused: 'malformed issue' };
  const deliver = (): Promise<Delivery> =>
    send(deps, issue.identity.value, (open) => ensureIssue(open, issue));
  const delivered = await whileCreating(deps.work, issue, deliver, 0).catch(undefinedIf('locked'));
  // Without a result, the command that queued the issue is still creating it.
  return delivered ?? { waits: 'untried' };
}

/**
 * The result of a delivery attempt: the issue that it created, why the capture is still waiting, or why it
 * will never be sent.
 */
interface Delivery extends Partial<Refusal> {
  waits?: WaitReason;
  created?: Issue;
}

function refusal(state: PrivacyState): Refusal {
  if (state === 'setup') return { refused: 'work tracking is not set up' };
  if (state === 'off') return { refused: 'work tracking is off' };
  return { refused: 'the work repository is not private' };
}

/**
 * Sends a capture, or returns why the capture must wait or is refused. Throws if the service rejects the
 * capture.
 */
async function send(
  { work }: SessionRules,
  what: string,
  task: (open: OpenRepo) => Promise<Ensured>,
): Promise<Delivery> {
  const { gate, error: trouble } = await captureGate(work);
  if (gate === 'spool') return { waits: trouble === undefined ? 'unverified' : waitReason(trouble) };
  if (gate === 'drop') {
    const state = currentPrivacy(work);
    logCapture(work, 'capture-dropped', { of: what, why: state });
    return refusal(state);
  }
  let open: OpenRepo | undefined;
  try {
    open = await openForWriting(work);
    const { action, issue } = await task(open);
    return action === 'created' ? { created: issue } : {};
  } catch (error) {
    const known = toStewardError(error);
    if (known.kind === 'internal' || known.kind === 'canceled') throw error;
    logCapture(work, 'capture-failed', { of: what, kind: known.kind, message: known.message });
    if (currentPrivacy(work) === 'public') return refusal('public');
    if (failureOf(error)?.reason === 'rejected') throw error;
    return { waits: open !== undefined && known.kind === 'config' ? 'no-labels' : waitReason(known) };
  }
}
