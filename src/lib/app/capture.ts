import type { HeardPrompt } from '../assistant/hook-event';
import { readProjects } from '../goals/record';
import { unrestrictedRepos } from '../sessions/restricted';
import type { SessionsState } from '../sessions/session';
import type { DrainResult } from '../sessions/spool';
import { currentSessions } from '../sessions/state';
import { drainCaptures } from '../work/capture/deliver';
import { planPrompt, planSessionEnd } from '../work/capture/plan';
import type { SessionRules } from '../work/capture/session';
import { evidenceOn, type Evidence } from '../work/tidy';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openWork, type WorkContext } from './work';

/** @param seen returns the session state, if the caller has already read it */
export async function captureDeps(
  context: Context,
  work?: WorkContext,
  seen: () => SessionsState | undefined = () => undefined,
): Promise<SessionRules> {
  const sessions = await openSessions(context);
  const state = (): SessionsState => seen() ?? currentSessions(sessions);
  return { work: (work ?? (await openWork(context))).deps, sessions: context.area.sessions, state };
}

export async function drainWork(context: Context, work: WorkContext): Promise<DrainResult> {
  return drainCaptures(await captureDeps(context, work));
}

export async function planOfPrompt(context: Context, prompt: HeardPrompt | undefined) {
  return planPrompt((await openWork(context)).deps, prompt);
}

/** Returns what the session-end hook would capture. */
export async function planOfSessionEnd(context: Context, session: { session: string; slug: string | null }) {
  return planSessionEnd(await captureDeps(context), session);
}

/** Returns functions that find evidence on this machine: in sessions, and in watched or tracked repositories. */
export async function evidenceHere(context: Context, work: WorkContext): Promise<Evidence> {
  const sessions = await openSessions(context);
  const { config } = await context.loadConfig();
  const projects = readProjects(context.area.projects);
  return evidenceOn(work.deps.git, {
    sessions: context.area.sessions,
    state: currentSessions(sessions),
    repos: [...unrestrictedRepos([...config.sense.repos, ...projects.map(({ path }) => path)]).keys()],
  });
}
