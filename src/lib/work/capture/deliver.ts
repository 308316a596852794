import { join } from 'node:path';

import * as v from 'valibot';

import { StewardError, toStewardError } from '../../errors';
import { ensureFolder } from '../../platform/files/folder';
import { appendLog } from '../../platform/files/journal';
import { parseIso, toIso } from '../../platform/time/clock';
import { artifactPath, writeIssue } from '../../sessions/artifact';
import {
  drain,
  keptIntentions,
  leave,
  revive,
  spoolStatus,
  type Consumer,
  type DrainResult,
  type Intention,
  type Refusal,
  type SpoolDeps,
} from '../../sessions/spool';
import type { Open, WorkDeps } from '../deps';
import { readDue } from '../due';
import { ensureIssue, type Wanted } from '../ensure';
import { setStatus } from '../edit';
import { failureOf } from '../host/failure';
import { titleHolds } from '../issue';
import { captureGate, openForWriting, privacyState, type PrivacyState } from '../privacy';
import { isKind, promptBody, type CaptureKind } from './prompt';
import { planSession, sessionAt, type SessionPlan, type SessionRules } from './session';
import { readReasons, waitReason, writeReasons, type WaitReason } from './waiting';

export type CaptureDeps = SessionRules;

export function spoolOf({
  area,
  clock,
  machineId,
}: Pick<WorkDeps, 'area' | 'clock' | 'machineId'>): SpoolDeps {
  return { clock, path: area.spool, locks: area.machine, machineId };
}

/** Delivers what waits in the spool, and notes why what stays there waits. */
export async function drainCaptures(deps: CaptureDeps): Promise<DrainResult> {
  const { waiting } = deps.work.paths;
  const reasons = readReasons(waiting);
  const before = JSON.stringify([...reasons]);
  const consumer =
    (deliver: (deps: CaptureDeps, intention: Intention) => Promise<Delivery>): Consumer =>
    async (intention) => {
      const { why, refused } = await deliver(deps, intention);
      if (why === undefined) reasons.delete(intention.id);
      else reasons.set(intention.id, why);
      if (refused !== undefined) return { refused };
      return why === undefined ? 'done' : 'later';
    };
  try {
    return await drain(spoolOf(deps.work), {
      'session-ended': consumer(captureSession),
      'prompt-matched': consumer(capturePrompt),
      'issue-wanted': consumer(createWanted),
    });
  } finally {
    const kept = new Set(keptIntentions(deps.work.area.spool).map(({ id }) => id));
    for (const id of reasons.keys()) if (!kept.has(id)) reasons.delete(id);
    if (JSON.stringify([...reasons]) !== before) writeReasons(waiting, reasons);
  }
}

const BUSY_LOOK_MS = 200;
const BUSY_MS = 60_000;

/** `work deliver`: drains the spool; where another process is at it, once more when that has ended. */
export async function deliverCaptures(deps: CaptureDeps): Promise<DrainResult> {
  const { clock, sleep } = deps.work;
  const until = clock.monotonic() + BUSY_MS;
  for (;;) {
    const result = await drainCaptures(deps);
    if (!result.busy || clock.monotonic() > until) return result;
    await sleep(BUSY_LOOK_MS);
  }
}

export interface RetryResult extends DrainResult {
  retried: number;
  /** Entries that cannot be read: they stay where they are. */
  unreadable: number;
  deadFolder: string;
}

/** `work retry`: takes what was given up into the spool again, and drains it. */
export async function retryCaptures(deps: CaptureDeps): Promise<RetryResult> {
  const retried = await revive(spoolOf(deps.work));
  // What can be read has been taken out by now.
  const { dead, unreadable, deadFolder } = spoolStatus(deps.work.area.spool);
  return { retried, ...(await deliverCaptures(deps)), unreadable: dead + unreadable, deadFolder };
}

/** Names in the log what was left out, and what was dropped and why. */
export function reportCapture(
  { area, clock }: Pick<WorkDeps, 'area' | 'clock'>,
  what: string,
  detail: Record<string, unknown>,
): void {
  ensureFolder(area.observability);
  const nowMs = clock.now();
  const line = JSON.stringify({ ts: toIso(nowMs), what, ...detail });
  appendLog(join(area.observability, 'work-capture.jsonl'), line, { rotateBytes: 1024 * 1024, nowMs });
}

/** The name of the folder that the session has now. */
function folderOf({ state }: CaptureDeps, { session, slug }: { session: string; slug: string | null }) {
  return Object.values(state().sessions).find(({ sessionIds }) => sessionIds.includes(session))?.slug ?? slug;
}

/** What the session-end hook would do for a session, by what is known on this machine. */
export function sessionEndPlan(
  deps: CaptureDeps,
  session: { session: string; slug: string | null },
): SessionPlan {
  const slug = folderOf(deps, session);
  const found = slug === null ? undefined : sessionAt(deps.sessions, slug);
  if (found === undefined) return { wanted: null, reason: 'the session has no artifact' };
  return planSession(found, deps, 'hook');
}

/** The issue of a matched prompt. A time is read as it was meant when it was said. */
export async function promptWanted(
  { kind, text, key, prompt }: { kind: CaptureKind; text: string; key: string; prompt?: string },
  said: { atMs: number; zone: string },
): Promise<Wanted> {
  const due = kind === 'reminder' ? await dueOf(text, said) : { text, dueMs: undefined };
  const title = due.text === '' ? text : due.text;
  return {
    identity: { kind: 'id', value: key },
    kind,
    text: title,
    body: promptBody(prompt ?? (titleHolds(kind, title, text) ? undefined : text)),
    labels: [`Type:${kind}`, 'Status:queued'],
    ...(due.dueMs === undefined ? {} : { due: toIso(due.dueMs) }),
  };
}

async function dueOf(
  text: string,
  { atMs, zone }: { atMs: number; zone: string },
): ReturnType<typeof readDue> {
  try {
    return await readDue(text, { nowMs: atMs, zone });
  } catch (error) {
    // A time that was over when it was said: the words stay, and it is a reminder without a time.
    if (error instanceof StewardError && error.kind === 'usage') return { text, dueMs: undefined };
    throw error;
  }
}

/**
 * A session's end from the spool: creates its issue, or sets the Status of the one that it has, and writes number and
 * address back into the artifact.
 */
async function captureSession(deps: CaptureDeps, intention: Intention): Promise<Delivery> {
  const plan = sessionEndPlan(deps, intention);
  if (plan.wanted === null) return {};
  const { wanted, status } = plan;
  const slug = folderOf(deps, intention) ?? wanted.identity.value;
  const { why } = await sent(deps, slug, async (open) => {
    const { action, issue, missingLabels } = await ensureIssue(open, wanted);
    const edited = action === 'found' ? await setStatus(open, { number: issue.number, status }) : undefined;
    writeBack(deps, slug, issue);
    const labels = [...missingLabels, ...(edited?.missingLabels ?? [])];
    if (labels.length > 0) reportCapture(deps.work, 'labels-missing', { slug, labels });
  });
  // One that is refused is not lost: its artifact stays, and a later sweep finds it.
  return why === undefined ? {} : { why };
}

const WRITE_ATTEMPTS = 3;

/** Writes number and address into the artifact. An editor may write it at the same moment: then once more. */
export function writeBack(
  { sessions }: Pick<CaptureDeps, 'sessions'>,
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

/** A matched prompt from the spool becomes exactly one issue. */
async function capturePrompt(deps: CaptureDeps, { capture, at }: Intention): Promise<Delivery> {
  if (capture === undefined || !isKind(capture.kind))
    return { refused: 'it holds no capture of a known kind' };
  const { kind, text, key, prompt } = capture;
  const { clock, timezone, config } = deps.work;
  // A person who takes the setting back while a prompt waits does not want it sent any more.
  const whole = prompt !== undefined && config.CAPTURE_PROMPT === 'whole' ? { prompt } : {};
  const said = { atMs: parseIso(at) ?? clock.now(), zone: timezone };
  const wanted = await promptWanted({ kind, text, key, ...whole }, said);
  return sent(deps, key, async (open) => {
    const { issue, missingLabels } = await ensureIssue(open, wanted);
    if (missingLabels.length > 0)
      reportCapture(deps.work, 'labels-missing', { issue: issue.number, labels: missingLabels });
  });
}

/** Leaves an issue that could not be created now to be created later, exactly once. */
export function queueIssue(work: WorkDeps, wanted: Wanted): void {
  const stored: Record<string, unknown> = { ...wanted };
  leave(spoolOf(work), { kind: 'issue-wanted', session: '', slug: null, transcript: null, wanted: stored });
}

const WANTED = v.object({
  identity: v.object({ kind: v.literal('id'), value: v.string() }),
  kind: v.nullable(v.literal('reminder')),
  text: v.string(),
  body: v.string(),
  labels: v.array(v.string()),
  due: v.optional(v.string()),
});

/** An issue that `work add` or `work remind` queued. */
async function createWanted(deps: CaptureDeps, { wanted: stored }: Intention): Promise<Delivery> {
  const parsed = v.safeParse(WANTED, stored);
  if (!parsed.success) return { refused: 'it holds no issue' };
  const { due, ...wanted } = parsed.output;
  return sent(deps, wanted.identity.value, async (open) => {
    await ensureIssue(open, { ...wanted, ...(due === undefined ? {} : { due }) });
  });
}

/** What became of a capture; `why` it waits, where it could not be sent, or why it never will be. */
interface Delivery extends Partial<Refusal> {
  why?: WaitReason;
}

/** Why a capture is not sent, by the state of the repository. */
function refusal(state: PrivacyState): Refusal {
  if (state === 'setup') return { refused: 'no work repository is set up' };
  if (state === 'off') return { refused: 'work tracking is switched off' };
  return { refused: 'the work repository is not private' };
}

/**
 * Does it where the repository is private and can be reached; refuses it where it is known not to be; else it waits.
 * What the service refuses for good is thrown, and counts as an attempt.
 */
async function sent(
  { work }: CaptureDeps,
  what: string,
  send: (open: Open) => Promise<void>,
): Promise<Delivery> {
  const stateNow = (): PrivacyState => privacyState(work.workRepo(), work.clock.now());
  const { gate, error: trouble } = await captureGate(work);
  if (gate === 'spool') return { why: trouble === undefined ? 'unverified' : waitReason(trouble) };
  if (gate === 'drop') {
    reportCapture(work, 'capture-dropped', { of: what, why: stateNow() });
    return refusal(stateNow());
  }
  let open: Open | undefined;
  try {
    open = await openForWriting(work);
    await send(open);
    return {};
  } catch (error) {
    const known = toStewardError(error);
    if (known.kind === 'internal' || known.kind === 'canceled') throw error;
    reportCapture(work, 'capture-failed', { of: what, kind: known.kind, message: known.message });
    if (stateNow() === 'public') return refusal('public');
    if (failureOf(error)?.reason === 'rejected') throw error;
    return { why: open !== undefined && known.kind === 'config' ? 'no-labels' : waitReason(known) };
  }
}
