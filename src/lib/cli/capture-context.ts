import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { toIso } from '../platform/clock';
import { appendLog } from '../platform/log';
import { ensureFolder } from '../platform/folder';
import type { HeardPrompt } from '../assistant/hook-event';
import { lookOf } from '../platform/stat';
import { artifactPath } from '../sessions/artifact';
import { isRestrictedWork } from '../sessions/restricted-work';
import type { SessionsState } from '../sessions/session';
import { revive, type DrainResult, type SpoolDeps } from '../sessions/spool';
import { currentSessions } from '../sessions/state';
import { makeTitle } from '../work/issue';
import { readCache } from '../work/cache';
import { readLedger } from '../work/ledger';
import { identityKey } from '../work/issue';
import { promptWanted, sessionEndPlan, type CaptureDeps, type SessionEndPlan } from '../work/capture/deliver';
import { drainCaptures } from '../work/capture/drain';
import { captureKey } from '../work/capture/seen';
import type { UndoDeps } from '../work/capture/undo';
import { privacyState } from '../work/privacy';
import { heardMatches, heardWhole, markRestricted, promptsSeen } from './capture-hook';
import type { Context } from './context';
import { openSessions } from './sessions-context';
import { openWork, type WorkContext } from './work-context';

/**
 * What captures are delivered with: work, the sessions, and a log that names what was left out.
 *
 * @param seen the state of the sessions, where it was read for all of them
 */
export async function captureDeps(
  context: Context,
  work: WorkContext,
  seen: () => SessionsState | undefined = () => undefined,
): Promise<CaptureDeps> {
  const sessions = await openSessions(context);
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
      value: restrictedWork(context, sessions.sessions, () => seen() ?? currentSessions(sessions)),
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
  state: () => SessionsState,
): CaptureDeps['isRestrictedWork'] {
  return ({ slug, artifact }) => {
    const path = artifactPath(folder, slug);
    const atMs = lookOf(path, clock.now())?.mtimeMs;
    if (atMs === undefined || !isRestrictedWork(state(), { slug, artifact, atMs })) return false;
    markRestricted(dirname(path));
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
    matches: wanted.map(({ text, identity, kind, due, labels, body }, index) => ({
      kind: matches[index]?.kind ?? '',
      title: makeTitle(kind, text, identity),
      due: due ?? null,
      labels,
      ...(setting === 'whole' ? { body } : {}),
    })),
  };
}

/** `hook session-end --dry-run`: by what is known on this machine; nobody is asked. */
export async function planSessionEnd(
  context: Context,
  session: { session: string; slug: string | null },
): Promise<SessionEndPlan> {
  const none = (reason: string): SessionEndPlan => ({ action: 'none', reason, title: null, labels: [] });
  const work = await openWork(context);
  const config = work.deps.workRepo();
  const state = privacyState(config, context.clock.now());
  if (state === 'setup') return none('no work repository is set up');
  if (state === 'off') return none('work tracking is switched off (WORK.enabled is false)');
  if (state !== 'fresh' && state !== 'due')
    return none(
      state === 'expired'
        ? 'it is too long ago that the repository was seen to be private'
        : 'the repository is not verified to be private',
    );
  const plan = sessionEndPlan(await captureDeps(context, work), session);
  if (plan.wanted === null) return none(plan.reason);
  const repo = config.repo;
  if (repo === undefined) throw new StewardError('internal', 'A verified repository has a name.');
  const { wanted, status } = plan;
  const key = identityKey(wanted.identity);
  const number = readLedger(work.deps.ledger, repo).entries.get(key)?.number ?? wanted.known;
  const there = readCache(work.deps.paths.cache, repo).issues.find(
    (issue) => issue.number === number || issue.identity === key,
  );
  if (there === undefined && typeof number !== 'number')
    return {
      action: 'create',
      reason: null,
      title: makeTitle(wanted.kind, wanted.text, wanted.identity),
      labels: [...wanted.labels],
    };
  const title = there?.title ?? makeTitle(wanted.kind, wanted.text, wanted.identity);
  return { action: 'update', reason: null, title, labels: [`Status:${status}`] };
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
