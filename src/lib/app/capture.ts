import type { HeardPrompt } from '../assistant/hook-event';
import { parseProjects } from '../goals/record';
import { readText } from '../platform/files/atomic-file';
import { expandHome, processHost } from '../platform/files/paths';
import type { SessionsState } from '../sessions/session';
import type { DrainResult } from '../sessions/spool';
import { currentSessions } from '../sessions/state';
import {
  deliverCaptures,
  drainCaptures,
  retryCaptures,
  type CaptureDeps,
  type RetryResult,
} from '../work/capture/deliver';
import { planPrompt, planSessionEnd, type PromptPlan, type SessionEndPlan } from '../work/capture/plan';
import { evidenceOn, type Evidence } from '../work/tidy';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openWork, type WorkContext } from './work';

/**
 * What captures are delivered with: work and the sessions.
 *
 * @param options.seen the state of the sessions, where it was read for all of them
 */
export async function captureDeps(
  context: Context,
  work: WorkContext,
  { seen = () => undefined, marks = true }: { seen?: () => SessionsState | undefined; marks?: boolean } = {},
): Promise<CaptureDeps> {
  const sessions = await openSessions(context);
  const state = (): SessionsState => seen() ?? currentSessions(sessions);
  return { work: work.deps, sessions: sessions.sessions, state, marks };
}

/** Does what waits in the spool for the work repository. Before setup nothing waits for it. */
export async function drainWork(context: Context, work: WorkContext): Promise<DrainResult> {
  return drainCaptures(await captureDeps(context, work));
}

/** `work deliver` */
export async function deliverNow(context: Context): Promise<DrainResult> {
  return deliverCaptures(await captureDeps(context, await openWork(context)));
}

/** `work retry` */
export async function retryNow(context: Context): Promise<RetryResult> {
  return retryCaptures(await captureDeps(context, await openWork(context)));
}

/** `hook prompt --dry-run` */
export async function planOfPrompt(context: Context, prompt: HeardPrompt | undefined): Promise<PromptPlan> {
  return planPrompt((await openWork(context)).deps, prompt);
}

/** `hook session-end --dry-run`: nothing is marked. */
export async function planOfSessionEnd(
  context: Context,
  session: { session: string; slug: string | null; restricted?: true },
): Promise<SessionEndPlan> {
  return planSessionEnd(await captureDeps(context, await openWork(context), { marks: false }), session);
}

/** What shows that something was done: the sessions, and the repositories that are watched or tracked. */
export async function evidenceHere(context: Context, work: WorkContext): Promise<Evidence> {
  const sessions = await openSessions(context);
  const { config } = await context.loadConfig();
  const tracked = parseProjects(readText(work.user.paths.projects, { followLink: true }) ?? '');
  const repos = [...config.sense.repos, ...tracked.map(({ path }) => expandHome(path, processHost().home))];
  return evidenceOn(work.deps.git, {
    sessions: sessions.sessions,
    state: currentSessions(sessions),
    repos,
  });
}
