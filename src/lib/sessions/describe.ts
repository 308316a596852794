import data from '../../../templates/data/assistants.json';
import { forShell } from '../platform/process/spawn';
import { clean } from '../platform/terminal/terminal';
import { comingTime } from '../platform/time/clock';
import { isNameless } from './slug';
import { type Session, statusOf } from './session';

/**
 * Returns a session's given name, or a label such as `shop·login`; null if it has neither a name nor a
 * repository, and isn't restricted.
 */
export function labelOf(session: Session): string | null {
  const { givenName, repo, branch, worktree } = session;
  if (givenName !== undefined) return givenName;
  if (repo === null) return isNameless(session.slug) ? 'restricted session' : null;
  const where = branch ?? worktree;
  return where === null || where === undefined ? clean(repo) : clean(`${repo}·${where}`);
}

/** Returns a session's label with the end of its slug in parentheses, such as `shop·login (3f9a)`. */
export function distinctNameOf(session: Session): string {
  return `${labelOf(session) ?? session.slug} (${session.slug.slice(-4)})`;
}

/** Returns a name for each slug. If sessions share a label, the end of the slug makes their names unique. */
export function namesOf(sessions: readonly Session[]): ReadonlyMap<string, string> {
  const labels = sessions.map((session) => labelOf(session) ?? session.slug);
  return new Map(
    sessions.map((session, index) => {
      const { slug } = session;
      const label = labels[index] as string;
      const isShared = label !== slug && labels.indexOf(label) !== labels.lastIndexOf(label);
      return [slug, isShared ? distinctNameOf(session) : label];
    }),
  );
}

/** Returns the command that shows a session's terminal; null without one. */
export function goTo({ terminal }: Session, name: string): string | null {
  return terminal === null ? null : `steward go ${forShell(name)}`;
}

/** Returns what a session is doing, or null if it isn't working. */
export function activityOf(session: Session, nowMs: number): string | null {
  if (statusOf(session, nowMs) !== 'working') return null;
  return session.tool === undefined ? 'thinking' : toolWords(session.tool);
}

export function requestOf(session: Session, nowMs: number): string | null {
  if (statusOf(session, nowMs) !== 'waiting') return null;
  const [oldest] = session.requests;
  if (oldest === undefined && session.failure !== undefined) return failureWords(session.failure, nowMs);
  return requestWords(oldest?.reason ?? undefined, oldest?.tool ?? undefined);
}

/**
 * Describes a request from the assistant, such as `asks to run Bash`. Returns null for an unknown request.
 */
export function requestWords(reason: string | undefined, tool: string | undefined): string | null {
  if (QUESTIONS.includes(tool ?? '') || reason === 'elicitation_dialog') return 'asks you a question';
  if (tool === 'ExitPlanMode' || tool === 'exit_plan_mode') return 'has a plan for you to approve';
  if (tool !== undefined) return `asks to run ${nameOfTool(tool)}`;
  if (reason === 'permission_prompt') return 'asks for permission';
  return reason === 'agent_needs_input' ? 'asks for your input' : null;
}

/** Describes the error that ended a turn, such as `stopped: rate limit until 18:00`. Omits a time that has passed. */
export function failureWords({ reason, until }: NonNullable<Session['failure']>, nowMs: number): string {
  const words = `stopped: ${FAILURES[reason] ?? 'error'}`;
  const untilMs = Date.parse(until ?? '');
  return untilMs > nowMs ? `${words} until ${comingTime(untilMs, nowMs)}` : words;
}

const ACTIVITIES: Readonly<Record<string, readonly string[]>> = data.activities;
const FAILURES: Readonly<Record<string, string>> = data.failures;

const QUESTIONS: readonly string[] = [
  'AskUserQuestion',
  'ask_user_question',
  'question',
  'request_user_input',
];

function toolWords(tool: string): string {
  const known = Object.entries(ACTIVITIES).find(([, tools]) => tools.includes(tool.toLowerCase()))?.[0];
  return known ?? `using ${nameOfTool(tool)}`;
}

function nameOfTool(tool: string): string {
  return clean(tool.replace(/^mcp__/, '').replace('__', ' '));
}
