import { dirname } from 'node:path';

import type { UserConfig } from '../../config/schema';
import { StewardError, toStewardError } from '../../errors';
import { replaceFile } from '../../platform/files/atomic-file';
import { listFolder } from '../../platform/files/folder';
import { stampOf } from '../../platform/files/stat';
import { parseIso, toIso } from '../../platform/time/clock';
import { ARTIFACT_NAME, type Artifact, artifactOf, artifactPath, writeIssue } from '../../sessions/artifact';
import {
  type Capture,
  type DrainResult,
  type Intention,
  type Refusal,
  type SpoolDeps,
  drain,
  keptIntentions,
} from '../../sessions/spool';
import { readDue } from '../due';
import { setStatus } from '../edit';
import { type EnsureDeps, type Wanted, ensureIssue } from '../ensure';
import { failureOf } from '../host/failure';
import { titleHolds } from '../issue';
import { type PrivacyState, captureGate, openForWriting, privacyState } from '../privacy';
import { isRestricted } from '../redact';
import { type CaptureKind, promptBody } from './prompt';
import { type CapturedSession, type SessionPlan, type SessionRules, planSession } from './session-end';
import { type WaitReason, readReasons, waitReason } from './waiting';

export interface CaptureDeps extends EnsureDeps {
  daName: string;
  timezone: UserConfig['timezone'];
  /** `work/waiting.json` */
  waiting: string;
  /** The folder of the artifacts. */
  sessions: string;
  /** The slug that a session of the assistant's has now; undefined of an unknown one. */
  slugOf: (session: string) => string | undefined;
  isRestrictedWork: SessionRules['isRestrictedWork'];
  phaseOf: SessionRules['phaseOf'];
  /** Told by name of labels that the repository lacks, and of what was dropped and why. */
  report: (what: string, detail: Record<string, unknown>) => void;
}

/** `hook session-end --dry-run`: what would become of the session's issue. */
export interface SessionEndPlan {
  action: 'create' | 'update' | 'none';
  /** Why; null where something would be done. */
  reason: string | null;
  title: string | null;
  labels: string[];
}

/** The session as its folder shows it; undefined without an artifact. */
export function sessionAt(sessions: string, slug: string): CapturedSession | undefined {
  const artifact = artifactOf(sessions, slug);
  return artifact === undefined ? undefined : sessionWith(sessions, slug, artifact);
}

/**
 * The session with an artifact that was read already.
 *
 * @param restricted as of `isRestricted`, for many sessions of one moment
 */
export function sessionWith(
  sessions: string,
  slug: string,
  artifact: Artifact,
  restricted?: Map<string, boolean>,
): CapturedSession {
  const folder = dirname(artifactPath(sessions, slug));
  // Most of a thousand sessions have their issue, and nobody asks these of them.
  return {
    slug,
    artifact,
    get hasOthers() {
      return hasOthers(folder);
    },
    get restricted() {
      return isRestricted(folder, restricted);
    },
  };
}

function hasOthers(folder: string): boolean {
  return listFolder(folder).some(
    (name) =>
      name !== ARTIFACT_NAME &&
      !name.startsWith('.') &&
      !name.endsWith('.tmp') &&
      (stampOf(`${folder}/${name}`)?.kind ?? 'other') !== 'other',
  );
}

/** What the session-end hook would do for a session, by what is known on this machine. */
export function sessionEndPlan(
  deps: Pick<CaptureDeps, 'config' | 'daName' | 'sessions' | 'slugOf' | 'isRestrictedWork' | 'phaseOf'>,
  session: { session: string; slug: string | null },
): SessionPlan {
  const slug = folderOf(deps, session);
  const found = slug === null ? undefined : sessionAt(deps.sessions, slug);
  if (found === undefined) return { wanted: null, reason: 'the session has no artifact' };
  return planSession(found, deps, 'hook');
}

/** The name of the folder that the session has now. */
function folderOf(
  deps: Pick<CaptureDeps, 'slugOf'>,
  session: { session: string; slug: string | null },
): string | null {
  return deps.slugOf(session.session) ?? session.slug;
}

/** The issue of a matched prompt. A time is read as it was meant when it was said. */
export async function promptWanted(
  capture: { kind: CaptureKind; text: string; key: string; prompt?: string },
  said: { atMs: number; zone: string },
): Promise<Wanted> {
  const { kind, text, key, prompt } = capture;
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

async function dueOf(text: string, said: { atMs: number; zone: string }): ReturnType<typeof readDue> {
  try {
    return await readDue(text, { nowMs: said.atMs, zone: said.zone });
  } catch (error) {
    // A time that was over when it was said: the words stay, and it is a reminder without a time.
    if (error instanceof StewardError && error.kind === 'usage') return { text, dueMs: undefined };
    throw error;
  }
}

/**
 * A session's end from the spool: creates its issue, or sets the Status of the one that it has, and writes number and
 * address back into the artifact (service.md: Work capture rules, 1).
 */
export async function captureSession(deps: CaptureDeps, intention: Intention): Promise<Delivery> {
  const plan = sessionEndPlan(deps, intention);
  if (plan.wanted === null) return {};
  const { wanted, status } = plan;
  const slug = folderOf(deps, intention) ?? wanted.identity.value;
  const { why } = await sent(deps, slug, async (repo) => {
    await syncSession(deps, repo, { wanted, slug }, status);
  });
  // One that is refused is not lost: its artifact stays, and a later sweep finds it.
  return why === undefined ? {} : { why };
}

/** Brings one session to the repository: exactly one issue, its Status, and the two keys in the artifact. */
async function syncSession(
  deps: CaptureDeps,
  repo: string,
  { wanted, slug }: { wanted: Wanted; slug: string },
  status: Parameters<typeof setStatus>[3]['status'],
): Promise<'created' | 'updated' | 'unchanged'> {
  const host = await deps.host();
  const ensured = await ensureIssue(deps, host, repo, wanted);
  const missing = [...ensured.missingLabels];
  let changed = false;
  if (ensured.action === 'found') {
    const edited = await setStatus(deps, host, repo, { number: ensured.issue.number, status });
    missing.push(...edited.missingLabels);
    changed = edited.changed;
  }
  writeBack(deps, slug, ensured.issue);
  if (missing.length > 0) deps.report('labels-missing', { slug, labels: missing });
  return ensured.action === 'created' ? 'created' : changed ? 'updated' : 'unchanged';
}

const WRITE_ATTEMPTS = 3;

/** An editor may write the artifact at the same moment: then once more. */
export function writeBack(
  deps: Pick<CaptureDeps, 'sessions'>,
  slug: string,
  issue: { number: number; url: string },
): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      writeIssue(artifactPath(deps.sessions, slug), {
        github_issue: issue.number,
        github_issue_url: issue.url,
      });
      return;
    } catch (error) {
      const isBusy = error instanceof StewardError && error.kind === 'conflict';
      if (!isBusy || attempt === WRITE_ATTEMPTS) throw error;
    }
  }
}

/** A matched prompt from the spool becomes exactly one issue. */
export async function capturePrompt(deps: CaptureDeps, intention: Intention): Promise<Delivery> {
  const { capture } = intention;
  if (capture === undefined || !isKind(capture)) return { refused: 'it holds no capture of a known kind' };
  const atMs = parseIso(intention.at) ?? deps.clock.now();
  const { prompt, ...line } = capture;
  // Who takes the setting back while a prompt waits does not want it sent any more.
  const isWhole = prompt !== undefined && deps.config.CAPTURE_PROMPT === 'whole';
  const wanted = await promptWanted(isWhole ? { ...line, prompt } : line, { atMs, zone: deps.timezone });
  return sent(deps, capture.key, async (repo) => {
    const ensured = await ensureIssue(deps, await deps.host(), repo, wanted);
    if (ensured.missingLabels.length > 0)
      deps.report('labels-missing', { issue: ensured.issue.number, labels: ensured.missingLabels });
  });
}

function isKind(capture: Capture): capture is Capture & { kind: CaptureKind } {
  return ['reminder', 'research', 'queue'].includes(capture.kind);
}

/** What became of a capture; `why` it waits, where it could not be sent, or why it never will be. */
export interface Delivery extends Partial<Refusal> {
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
  deps: CaptureDeps,
  what: string,
  work: (repo: string) => Promise<void>,
): Promise<Delivery> {
  const stateNow = (): PrivacyState => privacyState(deps.workRepo(), deps.clock.now());
  const { gate, error: trouble } = await captureGate(deps);
  if (gate === 'spool') return { why: trouble === undefined ? 'unverified' : waitReason(trouble) };
  if (gate === 'drop') {
    deps.report('capture-dropped', { what, why: stateNow() });
    return refusal(stateNow());
  }
  let isOpen = false;
  try {
    const repo = await openForWriting(deps);
    isOpen = true;
    await work(repo);
    return {};
  } catch (error) {
    const known = toStewardError(error);
    if (known.kind === 'internal' || known.kind === 'canceled') throw error;
    deps.report('capture-failed', { what, kind: known.kind, message: known.message });
    if (stateNow() === 'public') return refusal('public');
    if (failureOf(error)?.reason === 'rejected') throw error;
    return { why: isOpen && known.kind === 'config' ? 'no-labels' : waitReason(known) };
  }
}

/** Delivers what waits in the spool, and notes why what stays there waits. */
export async function drainCaptures(deps: CaptureDeps, spool: SpoolDeps): Promise<DrainResult> {
  const reasons = readReasons(deps.waiting);
  const before = JSON.stringify([...reasons]);
  const consumer =
    (deliver: typeof captureSession) =>
    async (intention: Intention): Promise<'done' | 'later' | Refusal> => {
      const { why, refused } = await deliver(deps, intention);
      if (why === undefined) reasons.delete(intention.id);
      else reasons.set(intention.id, why);
      if (refused !== undefined) return { refused };
      return why === undefined ? 'done' : 'later';
    };
  try {
    return await drain(spool, {
      'session-ended': consumer(captureSession),
      'prompt-matched': consumer(capturePrompt),
    });
  } finally {
    const kept = new Set(keptIntentions(spool.path).map(({ id }) => id));
    for (const id of reasons.keys()) if (!kept.has(id)) reasons.delete(id);
    if (JSON.stringify([...reasons]) !== before)
      replaceFile(deps.waiting, `${JSON.stringify({ version: 1, reasons: Object.fromEntries(reasons) })}\n`);
  }
}
