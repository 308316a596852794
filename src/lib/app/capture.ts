import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { parseIso, toIso } from '../platform/time/clock';
import { appendLog } from '../platform/files/log';
import { ensureFolder } from '../platform/files/folder';
import type { HeardPrompt } from '../assistant/hook-event';
import { lookOf } from '../platform/files/stat';
import { artifactPath } from '../sessions/artifact';
import { isRestrictedWork } from '../sessions/unseen-artifact';
import type { SessionsState } from '../sessions/session';
import { revive, type DrainResult, type SpoolDeps } from '../sessions/spool';
import { currentSessions } from '../sessions/state';
import { readCache } from '../work/cache';
import { ofIdentity, wantedTitle, type Wanted } from '../work/ensure';
import { identityKey, type Issue } from '../work/issue';
import { statusEdit } from '../work/label';
import { onlyExisting } from '../work/labels';
import { readLedger } from '../work/ledger';
import {
  promptWanted,
  sessionEndPlan,
  type CaptureDeps,
  type SessionEndPlan,
  drainCaptures,
} from '../work/capture/deliver';
import { captureKey } from '../work/capture/seen';
import { RESTRICTED } from '../work/capture/session-end';
import type { UndoDeps } from '../work/capture/undo';
import { privacyState } from '../work/privacy';
import { heardMatches, heardWhole, markRestricted, promptsSeen } from './capture-hook';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openWork, type WorkContext } from './work';

/**
 * What captures are delivered with: work, the sessions, and a log that names what was left out.
 *
 * @param options.seen the state of the sessions, where it was read for all of them
 * @param options.marks false: a session that is found to be restricted is not marked
 */
export async function captureDeps(
  context: Context,
  work: WorkContext,
  { seen = () => undefined, marks = true }: { seen?: () => SessionsState | undefined; marks?: boolean } = {},
): Promise<CaptureDeps> {
  const sessions = await openSessions(context);
  const state = (): SessionsState => seen() ?? currentSessions(sessions);
  const { area, clock } = context;
  return Object.defineProperties({} as CaptureDeps, {
    ...Object.getOwnPropertyDescriptors(work.deps),
    sessions: { value: sessions.sessions },
    slugOf: {
      value: (id: string) =>
        Object.values(currentSessions(sessions).sessions).find(({ sessionIds }) => sessionIds.includes(id))
          ?.slug,
    },
    isRestrictedWork: {
      value: restrictedWork(context, sessions.sessions, { state, marks }),
    },
    phaseOf: {
      value: ({ slug, artifact }: Parameters<CaptureDeps['phaseOf']>[0]) => {
        const said = state().sessions[slug]?.phaseHistory.at(-1);
        const writtenMs = lookOf(artifactPath(sessions.sessions, slug), clock.now())?.mtimeMs ?? 0;
        const isNewer = said !== undefined && (parseIso(said.at) ?? 0) > writtenMs;
        return said !== undefined && (isNewer || artifact.phase === null) ? said.phase : artifact.phase;
      },
    },
    report: {
      value: (what: string, detail: Record<string, unknown>) => {
        ensureFolder(area.observability);
        const nowMs = clock.now();
        const line = JSON.stringify({ ts: toIso(nowMs), what, ...detail });
        appendLog(join(area.observability, 'work-capture.jsonl'), line, { rotateBytes: 1024 * 1024, nowMs });
      },
    },
  });
}

/**
 * `SessionRules.isRestrictedWork` by the state of the sessions. What is found to be restricted is marked, so that it
 * stays so when the state forgets the session.
 */
function restrictedWork(
  { clock }: Pick<Context, 'clock'>,
  folder: string,
  { state, marks }: { state: () => SessionsState; marks: boolean },
): CaptureDeps['isRestrictedWork'] {
  return ({ slug, artifact }) => {
    const path = artifactPath(folder, slug);
    const atMs = lookOf(path, clock.now())?.mtimeMs;
    if (atMs === undefined || !isRestrictedWork(state(), { slug, artifact, atMs })) return false;
    if (marks) markRestricted(dirname(path));
    return true;
  };
}

/** Does what waits in the spool for the work repository. Before setup nothing waits for it. */
export async function drainWork(context: Context, work: WorkContext): Promise<DrainResult> {
  return drainCaptures(await captureDeps(context, work), spoolDeps(context));
}

export function spoolDeps({ area, clock, machineId }: Context): SpoolDeps {
  return { clock, path: area.spool, locks: area.machine, machineId };
}

/** `work retry`: takes what was given up into the spool again, and drains it. */
export async function retryCaptures(context: Context): Promise<DrainResult & { retried: number }> {
  const retried = await revive(spoolDeps(context));
  return { retried, ...(await deliverCaptures(context)) };
}

const BUSY_LOOK_MS = 200;
const BUSY_MS = 60_000;

/** `work deliver`: drains the spool; where another process is at it, once more when that has ended. */
export async function deliverCaptures(context: Context): Promise<DrainResult> {
  const work = await openWork(context);
  const { clock } = context;
  const until = clock.monotonic() + BUSY_MS;
  for (;;) {
    const result = await drainWork(context, work);
    if (!result.busy || clock.monotonic() > until) return result;
    await work.deps.sleep(BUSY_LOOK_MS);
  }
}

/** `hook prompt --dry-run`. */
export interface PromptPlan {
  /** `body` only where more than the line is kept (WORK.CAPTURE_PROMPT). */
  matches: { kind: string; title: string; due: string | null; labels: readonly string[]; body?: string }[];
}

export async function planPrompt(context: Context, prompt: HeardPrompt | undefined): Promise<PromptPlan> {
  const { config } = await context.loadConfig();
  const said = { atMs: context.clock.now(), zone: config.user.timezone };
  const matches = prompt === undefined ? [] : heardMatches(prompt);
  const setting = config.work.CAPTURE_PROMPT;
  const whole = prompt === undefined ? {} : heardWhole(setting, prompt);
  const wanted = await Promise.all(
    matches.map((match) =>
      promptWanted(
        { ...match, ...whole, key: captureKey(prompt?.session ?? '', match.kind, match.text) },
        said,
      ),
    ),
  );
  return {
    matches: wanted.map((one, index) => ({
      kind: matches[index]?.kind ?? '',
      title: wantedTitle(one),
      due: one.due ?? null,
      labels: one.labels,
      ...(setting === 'whole' ? { body: one.body } : {}),
    })),
  };
}

/** `hook session-end --dry-run`: by what is known on this machine; nobody is asked, and nothing is marked. */
export async function planSessionEnd(
  context: Context,
  session: { session: string; slug: string | null; restricted?: true },
): Promise<SessionEndPlan> {
  const none = (reason: string): SessionEndPlan => ({ action: 'none', reason, title: null, labels: [] });
  const work = await openWork(context);
  const config = work.deps.workRepo();
  const { repo } = config;
  const state = privacyState(config, context.clock.now());
  if (repo === undefined) return none('no work repository is set up');
  if (state === 'off') return none('work tracking is switched off (WORK.enabled is false)');
  if (state === 'public' || state === 'unverified')
    return none('the repository is not verified to be private');
  if (session.restricted === true) return none(RESTRICTED);
  const plan = sessionEndPlan(await captureDeps(context, work, { marks: false }), session);
  if (plan.wanted === null) return none(plan.reason);
  const { wanted, status } = plan;
  const cache = readCache(work.deps.paths.cache, repo);
  const reason = state === 'expired' ? 'once the repository is verified to be private again' : null;
  const there = plannedIssue(work.deps.ledger, repo, cache.issues, wanted);
  const existing = (labels: readonly string[]): string[] =>
    cache.labels === null ? [...labels] : onlyExisting(labels, cache.labels.names, repo).labels;
  try {
    if (there === undefined)
      return { action: 'create', reason, title: wantedTitle(wanted), labels: existing(wanted.labels) };
    if (there.state === 'closed') return none('its issue is closed');
    const { add, remove } = statusEdit(there.labels, status);
    const labels = existing(add);
    if (add.length + remove.length === 0) return none('its issue has this Status already');
    if (labels.length < add.length) return none(`${repo} has no label ${add.join(', ')}`);
    return { action: 'update', reason, title: there.title, labels: existing([`Status:${status}`]) };
  } catch (error) {
    // A repository without labels keeps the capture waiting.
    if (error instanceof StewardError && error.kind === 'config') return none(error.message);
    throw error;
  }
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
  const numbers = [readLedger(ledger, repo).entries.get(key)?.number, wanted.known];
  for (const number of numbers) {
    if (number === undefined || number === null) continue;
    const issue = issues.find((one) => one.number === number);
    if (issue === undefined) return { state: 'open', labels: [], title: wantedTitle(wanted) };
    if (issue.identity === null || issue.identity === key) return issue;
  }
  return ofIdentity(issues, key);
}

/** What `work undo` takes captures back with. */
export function undoDeps(context: Context, work: WorkContext): UndoDeps {
  const more: Pick<UndoDeps, 'spool' | 'seen'> = {
    seen: promptsSeen(context.area),
    get spool() {
      return spoolDeps(context);
    },
  };
  return Object.defineProperties({} as UndoDeps, {
    ...Object.getOwnPropertyDescriptors(work.deps),
    ...Object.getOwnPropertyDescriptors(more),
  });
}
