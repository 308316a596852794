import type { ProcessMark } from '../platform/process/ancestor';
import { addId, MAX_AGENTS, recordArtifactPhase, type Session, type SessionsState } from './session';
import { makeSlug } from './slug';
import type { WorkEvent } from './work-events';

export interface Folder {
  /** Brings one event into the state. Events are taken in the order of the log, whatever their times say. */
  take: (event: WorkEvent) => void;
  /** Slugs of the sessions that something happened in. */
  touched: ReadonlySet<string>;
}

export interface FoldDeps {
  /** The local day of a time, `2026-11-20`; asked for only where a session began unseen. */
  dayOf: (ms: number) => string;
}

/** A folder of events into `state`, which it changes. */
export function folder(state: SessionsState, deps: FoldDeps): Folder {
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
    // The end of a session that nobody has seen begin says nothing.
    if (found === undefined && event.type === 'session-end') return;
    const before = found ?? begin(state, event, deps);
    const session = event.artifact === true && event.slug !== null ? bind(state, before, event) : before;
    if (before.restricted === true) session.restricted = true;
    bySession.set(event.session, session);
    addId(session, event.session);
    apply(session, event);
    noteWait(session, event.ts);
    touched.add(session.slug);
  };
  return { take, touched };
}

function begin(state: SessionsState, event: WorkEvent, deps: FoldDeps): Session {
  const made =
    event.slug !== null && event.artifact !== true
      ? event.slug
      : makeSlug(deps.dayOf(Date.parse(event.ts)), event.repo ?? '', event.session);
  const known = state.sessions[made];
  if (known !== undefined) return known;
  const session = newSession(made, event);
  state.sessions[made] = session;
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
    waitingFor: null,
    askedBy: null,
    turnAt: null,
    agents: [],
    phaseHistory: [{ phase: 'native', at: event.ts, source: 'hook' }],
    github_issue: null,
    github_issue_url: null,
    terminal: null,
    machine: event.machine ?? null,
  };
}

/** The assistant wrote an artifact: from then on its session is the one of that slug. */
function bind(state: SessionsState, before: Session, event: WorkEvent): Session {
  const slug = event.slug as string;
  if (before.slug === slug) return before;
  before.sessionIds = before.sessionIds.filter((id) => id !== event.session);
  const isLeft = before.sessionIds.length === 0;
  // A session that had no artifact and now has one is the same session under its artifact's name.
  const moves = isLeft && before.artifact === null;
  if (moves) delete state.sessions[before.slug];
  else if (isLeft) before.activity = 'ended';
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
  session.repo = event.repo ?? session.repo;
  session.machine = event.machine ?? session.machine;
  session.terminal = event.terminal ?? session.terminal;
  delete session.lost;
  if (event.process !== undefined) noteProcess(session, event.type, event.process);
  if (event.branch !== undefined) session.branch = event.branch;
  if (event.worktree !== undefined) session.worktree = event.worktree;
  if (event.model !== undefined) session.model = event.model;
  if (event.assistant !== undefined) session.assistant = event.assistant;
  if (event.artifact === true) session.mode = 'algorithm';
  if (event.restricted === true) session.restricted = true;
  if (event.phase !== undefined) recordArtifactPhase(session, event.phase, event.ts);
  const agent = event.agent;
  switch (event.type) {
    case 'session-start':
      // A compaction happens in the middle of work, with subagents that go on.
      if (event.reason === 'compact') return;
      session.agents = [];
      turn(session, 'waiting');
      return;
    case 'stop':
      turn(session, 'waiting');
      return;
    case 'session-end':
      session.agents = [];
      turn(session, 'ended');
      return;
    case 'notification':
      if (isWaiting(event.reason)) ask(session, event);
      return;
    case 'subagent-start':
      if (agent !== undefined) {
        session.agents = [...session.agents.filter((id) => id !== agent), agent].slice(-MAX_AGENTS);
      }
      return;
    case 'subagent-stop':
      session.agents = session.agents.filter((id) => id !== agent);
      if (agent !== undefined) answered(session, agent);
      return;
    case 'prompt':
      session.turnAt = event.ts;
      delete session.tool;
      turn(session, 'working');
      return;
    case 'tool-before':
    case 'tool-after':
    case 'tool-failed':
      answered(session, agent);
      // A subagent's work says nothing of the main turn, which may be over.
      if (agent !== undefined) return;
      session.activity = 'working';
      if (event.tool !== undefined) session.tool = event.tool;
  }
}

/** A prompt from another process than the start was handed on by a process that ends with each hook. */
function noteProcess(session: Session, type: WorkEvent['type'], process: ProcessMark): void {
  const known = session.process;
  if (type === 'session-start' || known === undefined) session.process = process;
  else if (known?.pid !== process.pid || known.started !== process.started) session.process = null;
}

/** Somebody asks a person for something: a subagent, or the main turn, which then does nothing else. */
function ask(session: Session, { agent, reason, tool }: WorkEvent): void {
  // The assistant tells of one permission twice: when it is asked for, and when nobody has answered yet.
  if (agent === undefined) {
    if (session.askedBy !== null && session.waitingFor === reason) return;
    turn(session, 'waiting');
    session.waitingFor = reason ?? null;
  } else {
    session.waitingFor = reason ?? 'notification';
    session.askedBy = agent;
  }
  if (tool !== undefined) session.askedTool = tool;
}

/** Whoever asked goes on: it was answered. The others may have gone on all the time. */
function answered(session: Session, agent: string | undefined): void {
  if (session.askedBy !== (agent ?? null)) return;
  session.waitingFor = null;
  session.askedBy = null;
  delete session.askedTool;
}

/** A turn of the person or of the assistant: what was asked for before is over. */
function turn(session: Session, activity: Session['activity']): void {
  session.activity = activity;
  session.waitingFor = null;
  session.askedBy = null;
  delete session.askedTool;
}

/** A wait lasts until the session goes on, whatever else it is told of meanwhile. */
function noteWait(session: Session, at: string): void {
  if (session.activity === 'waiting' || session.waitingFor !== null) session.waitingSince ??= at;
  else delete session.waitingSince;
}

/** Notices that need nobody. One without a type, of an older assistant, is about a person who is needed. */
const NOTICES: readonly string[] = ['auth_success', 'elicitation_complete', 'elicitation_response'];

export function isWaiting(reason: string | undefined): boolean {
  return reason === undefined || !NOTICES.includes(reason);
}
