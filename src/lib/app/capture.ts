import type { HeardPrompt } from '../assistant/hook-event';
import type { SessionsState } from '../sessions/session';
import type { DrainResult } from '../sessions/spool';
import { currentSessions } from '../sessions/state';
import { deliverCaptures, drainCaptures, retryCaptures, type RetryResult } from '../work/capture/deliver';
import type { SessionRules } from '../work/capture/session';
import { planPrompt, planSessionEnd, type PromptPlan, type SessionEndPlan } from '../work/capture/plan';
import { evidenceOn, type Evidence } from '../work/tidy';
import type { Context } from './context';
import { knownRepos, openRestricted } from './restricted';
import { openSessions } from './sessions';
import { openWork, type WorkContext } from './work';

/** @param options.seen the session state, if the caller has already read it and marked restricted sessions */
export async function captureDeps(
  context: Context,
  work: WorkContext,
  { seen = () => undefined, marks = true }: { seen?: () => SessionsState | undefined; marks?: boolean } = {},
): Promise<SessionRules> {
  const sessions = await openSessions(context);
  const { markAll } = openRestricted(context, (await context.loadConfig()).config);
  const state = (): SessionsState => seen() ?? markAll(currentSessions(sessions));
  return { work: work.deps, sessions: sessions.sessions, state, marks };
}

export async function drainWork(context: Context, work: WorkContext): Promise<DrainResult> {
  return drainCaptures(await captureDeps(context, work));
}

export async function deliverNow(context: Context): Promise<DrainResult> {
  return deliverCaptures(await captureDeps(context, await openWork(context)));
}

export async function retryNow(context: Context): Promise<RetryResult> {
  return retryCaptures(await captureDeps(context, await openWork(context)));
}

export async function planOfPrompt(context: Context, prompt: HeardPrompt | undefined): Promise<PromptPlan> {
  return planPrompt((await openWork(context)).deps, await openSessions(context), prompt);
}

/** Returns what the session-end hook would capture, without marking the session as restricted. */
export async function planOfSessionEnd(
  context: Context,
  session: { session: string; slug: string | null; restricted?: true },
): Promise<SessionEndPlan> {
  return planSessionEnd(await captureDeps(context, await openWork(context), { marks: false }), session);
}

/** Returns functions that find evidence on this machine: in sessions, and in watched or tracked repositories. */
export async function evidenceHere(context: Context, work: WorkContext): Promise<Evidence> {
  const sessions = await openSessions(context);
  const { config } = await context.loadConfig();
  return evidenceOn(work.deps.git, {
    sessions: sessions.sessions,
    state: openRestricted(context, config).markAll(currentSessions(sessions)),
    repos: knownRepos(config),
  });
}
