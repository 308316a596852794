import { definedOnly } from '../platform/files/json-object';
import type { ProcessMark } from '../platform/process/ancestor';
import { isReminder, isWaiting, requestsAfter, type OpenRequest } from './requests';
import { addId, MAX_AGENTS, recordArtifactPhase, type Session, type SessionsState } from './session';
import { isNameless, makeSlug } from './slug';
import { INTERRUPTED, QUESTION_TOOL, type WorkEvent } from './work-events';

export interface FoldDeps {
  /**
   * Returns the local date of a time, such as `2026-11-20`. Used for sessions whose start was not recorded.
   */
  dayOf: (ms: number) => string;
}

/** Returns a `Folder`, which applies events to `state` in place. */
export function folder(state: SessionsState, deps: FoldDeps) {
  const bySession = new Map<string, Session>();
  for (const session of Object.values(state.sessions)) {
    for (const id of session.sessionIds) {
      const known = bySession.get(id);
      if (known === undefined || known.updatedAt <= session.updatedAt) bySession.set(id, session);
    }
  }
  const touched = new Set<string>();
  const take = (event: WorkEvent): void => {
    const found = bySession.get(event.session);
    if (found === undefined && event.type === 'session-end') return;
    if (endsByReason(event) && event.ts < (found?.turnAt ?? '')) return;
    if (found !== undefined && isOver(found, event)) return;
    const before = found ?? begin(state, event, deps);
    const session = named(state, before, event);
    bySession.set(event.session, session);
    addId(session, event.session);
    apply(session, event);
    noteWait(session, event.ts);
    touched.add(session.slug);
  };
  return { take, touched };
}

/** Returns whether the event may come from a log, which is read late, so another turn may have started. */
export function endsByReason({ type, reason }: WorkEvent): boolean {
  return type === 'stop' && reason !== undefined;
}

/** Returns whether the event is a question or answer in a log, which is read late, and the turn has ended meanwhile. */
function isOver({ activity, requests, updatedAt }: Session, { tool, ts }: WorkEvent): boolean {
  return tool === QUESTION_TOOL && activity === 'waiting' && requests.length === 0 && ts <= updatedAt;
}

/** Fills in slugs that are missing from the shim's events, using other events of the same session. */
export function withSlugs(events: readonly WorkEvent[]): WorkEvent[] {
  const slugs = new Map<string, string>();
  for (const { session, slug, artifact } of events) {
    if (slug === null || artifact === true || isNameless(slug) || slugs.has(session)) continue;
    slugs.set(session, slug);
  }
  return events.map((event) => ({ ...event, slug: event.slug ?? slugs.get(event.session) ?? null }));
}

function begin(state: SessionsState, event: WorkEvent, deps: FoldDeps): Session {
  const slug =
    event.slug !== null && event.artifact !== true
      ? event.slug
      : makeSlug(deps.dayOf(Date.parse(event.ts)), event.repo ?? '', event.session);
  const known = state.sessions[slug];
  if (known !== undefined) return known;
  const session = newSession(slug, event);
  state.sessions[slug] = session;
  return session;
}

function newSession(slug: string, event: WorkEvent): Session {
  return {
    slug,
    sessionIds: [],
    mode: 'native',
    task: null,
    project: null,
    effort: null,
    repo: event.repo,
    phase: 'native',
    artifact: null,
    startedAt: event.ts,
    updatedAt: event.ts,
    activity: 'waiting',
    requests: [],
    turnAt: null,
    agents: [],
    phaseHistory: [{ phase: 'native', at: event.ts, source: 'hook' }],
    github_issue: null,
    github_issue_url: null,
    terminal: null,
    machine: event.machine ?? null,
  };
}

/** Returns the session with its new name, if the event gives or takes its name. */
function named(state: SessionsState, before: Session, event: WorkEvent): Session {
  const { slug } = event;
  if (slug === null || isNameless(before.slug)) return before;
  if (isNameless(slug)) return withoutNames(state, before, slug);
  return event.artifact === true ? bind(state, before, event, slug) : before;
}

function withoutNames(state: SessionsState, before: Session, slug: string): Session {
  delete state.sessions[before.slug];
  const session: Session = {
    ...before,
    slug,
    task: null,
    project: null,
    effort: null,
    repo: null,
    artifact: null,
    github_issue: null,
    github_issue_url: null,
  };
  for (const key of ['branch', 'worktree', 'transcript'] as const) delete session[key];
  state.sessions[slug] = session;
  return session;
}

function bind(state: SessionsState, before: Session, event: WorkEvent, slug: string): Session {
  if (before.slug === slug) return before;
  before.sessionIds = before.sessionIds.filter((id) => id !== event.session);
  const isEmpty = before.sessionIds.length === 0;
  // A session that gets its first session file takes that file's slug. A session that gets a different
  // session file ends, and a new session with that file's slug starts.
  const moves = isEmpty && before.artifact === null;
  if (moves) delete state.sessions[before.slug];
  else if (isEmpty) before.activity = 'ended';
  const known = state.sessions[slug];
  if (known !== undefined) {
    known.terminal = before.terminal ?? known.terminal;
    return known;
  }
  const session: Session = moves
    ? { ...before, slug }
    : { ...newSession(slug, event), terminal: before.terminal };
  state.sessions[slug] = session;
  return session;
}

function apply(session: Session, event: WorkEvent): void {
  session.updatedAt = event.ts;
  if (!isNameless(session.slug)) applyPlace(session, event);
  session.machine = event.machine ?? session.machine;
  session.terminal = event.terminal ?? session.terminal;
  delete session.lost;
  if (event.process !== undefined) noteProcess(session, event.type, event.process);
  if (event.model !== undefined) session.model = event.model;
  if (event.assistant !== undefined) session.assistant = event.assistant;
  if (event.artifact === true) session.mode = 'algorithm';
  if (event.phase !== undefined) recordArtifactPhase(session, event.phase, event.ts);
  const activity = activityAfter(session.requests, event);
  session.requests = requestsAfter(session.requests, event);
  if (activity !== undefined) session.activity = activity;
  noteFailure(session, event, activity);
  noteAgents(session, event);
  if (event.type === 'prompt') {
    session.turnAt = event.ts;
    delete session.tool;
  } else if (activity === 'working' && event.tool !== undefined) session.tool = event.tool;
}

function applyPlace(session: Session, { repo, branch, worktree, transcript }: WorkEvent): void {
  Object.assign(session, definedOnly({ repo: repo ?? undefined, branch, worktree, transcript }));
}

/** Returns the main agent's new activity; undefined if the event doesn't change it. */
export function activityAfter(requests: readonly OpenRequest[], event: WorkEvent) {
  const { type, agent, reason } = event;
  switch (type) {
    case 'session-start':
      // Compaction happens during a turn, so the turn continues.
      return reason === 'compact' ? undefined : 'waiting';
    case 'stop':
      return 'waiting';
    case 'session-end':
      return 'ended';
    case 'prompt':
      return 'working';
    case 'notification':
      return agent === undefined && isWaiting(reason) && !isReminder(requests, event) ? 'waiting' : undefined;
    case 'tool-before':
    case 'tool-after':
    case 'tool-failed':
      // A subagent may keep working after the main agent's turn has ended.
      return agent === undefined ? 'working' : undefined;
    default:
      return undefined;
  }
}

/** Stores the error that ended the turn. The next event of the main agent removes it. */
function noteFailure(session: Session, event: WorkEvent, activity: Session['activity'] | undefined): void {
  const { type, reason, until = null } = event;
  // A log may report the end of the same turn after its error.
  if (type === 'stop' && reason === INTERRUPTED) return;
  if (type === 'stop' && reason !== undefined) session.failure = { reason, until };
  else if (activity !== undefined && type !== 'notification') delete session.failure;
}

function noteAgents(session: Session, { type, agent, reason, ts }: WorkEvent): void {
  if (session.activity !== 'waiting') delete session.agentsDoneAt;
  const isNew = type === 'session-start' && reason !== 'compact';
  if (isNew || type === 'session-end') session.agents = [];
  if (type !== 'subagent-start' && type !== 'subagent-stop') return;
  const others = session.agents.filter((id) => id !== agent);
  const isLast = type === 'subagent-stop' && others.length === 0 && session.agents.length > 0;
  if (isLast && session.activity === 'waiting') session.agentsDoneAt = ts;
  session.agents =
    type === 'subagent-start' && agent !== undefined ? [...others, agent].slice(-MAX_AGENTS) : others;
}

/**
 * Stores the assistant's process. Stores null if later hooks report a different process, which means that the
 * hooks run in short-lived wrapper processes.
 */
function noteProcess(session: Session, type: WorkEvent['type'], process: ProcessMark): void {
  const known = session.process;
  if (type === 'session-start' || known === undefined || process.isClient === true) session.process = process;
  else if (known?.pid !== process.pid || known.started !== process.started) session.process = null;
}

function noteWait(session: Session, at: string): void {
  if (session.activity === 'waiting' || session.requests.length > 0) session.waitingSince ??= at;
  else delete session.waitingSince;
}
