import { clean } from '../platform/terminal/terminal';
import { type Session, statusOf } from './session';

/** What a person calls a session: the name they gave it, else `shop·login`; null outside of a repository. */
export function labelOf(session: Session): string | null {
  const { givenName, repo, branch, worktree } = session;
  if (givenName !== undefined) return givenName;
  if (repo === null) return null;
  const where = branch ?? worktree;
  return where === null || where === undefined ? clean(repo) : clean(`${repo}·${where}`);
}

/** The name of every session, by slug: its label, with the end of its slug where several share one. */
export function namesOf(sessions: readonly Session[]): ReadonlyMap<string, string> {
  const labels = sessions.map((session) => labelOf(session) ?? session.slug);
  return new Map(
    sessions.map(({ slug }, index) => {
      const label = labels[index] as string;
      const isShared = label !== slug && labels.indexOf(label) !== labels.lastIndexOf(label);
      return [slug, isShared ? `${label} (${slug.slice(-4)})` : label];
    }),
  );
}

/** What a working session does now; null for one that does not work. */
export function activityOf(session: Session, nowMs: number): string | null {
  if (statusOf(session, nowMs) !== 'working') return null;
  return session.tool === undefined ? 'thinks' : toolWords(session.tool);
}

/** What a session asks a person for; null when it asks for nothing, and its turn is just over. */
export function requestOf(session: Session, nowMs: number): string | null {
  if (statusOf(session, nowMs) !== 'waiting') return null;
  return requestWords(session.waitingFor ?? undefined, session.askedTool);
}

/** `asks to run Bash`: of a reason of the assistant's and the tool it asks for. */
export function requestWords(reason: string | undefined, tool: string | undefined): string | null {
  if (tool === 'AskUserQuestion' || reason === 'elicitation_dialog') return 'asks a question';
  if (tool === 'ExitPlanMode') return 'asks you to approve its plan';
  if (tool !== undefined) return `asks to run ${nameOfTool(tool)}`;
  if (reason === 'permission_prompt') return 'asks for permission';
  return reason === 'agent_needs_input' ? 'asks for your input' : null;
}

const ACTIVITIES: Readonly<Record<string, readonly string[]>> = {
  edits: ['Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'apply_patch'],
  'runs a command': ['Bash', 'BashOutput', 'KillShell', 'PowerShell'],
  reads: ['Read', 'NotebookRead'],
  searches: ['Grep', 'Glob', 'LS', 'ToolSearch'],
  'searches the web': ['WebFetch', 'WebSearch'],
  delegates: ['Task', 'Agent', 'TaskOutput'],
  plans: ['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'EnterPlanMode', 'ExitPlanMode'],
};

function toolWords(tool: string): string {
  const known = Object.entries(ACTIVITIES).find(([, tools]) => tools.includes(tool))?.[0];
  return known ?? `uses ${nameOfTool(tool)}`;
}

/** `github create_issue` of `mcp__github__create_issue`. */
function nameOfTool(tool: string): string {
  return clean(tool.replace(/^mcp__/, '').replace('__', ' '));
}
