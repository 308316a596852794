import { toStewardError } from '../errors';
import { definedOnly } from '../platform/files/json-object';
import { writeToTerminal } from '../platform/process/own-terminal';
import { clean } from '../platform/terminal/terminal';
import { artifactPath } from '../sessions/artifact';
import { PHASES, tabTitle } from '../sessions/phases';
import type { Session, SessionsState } from '../sessions/session';
import { isNameless } from '../sessions/slug';
import { leave, sweep } from '../sessions/spool';
import type { IntentionKind } from '../sessions/intention';
import { storedSession, updateSessions } from '../sessions/state';
import { unseenArtifact, type UnseenArtifact } from '../sessions/unseen-artifact';
import { appendWorkEvent, storedPath, type WorkEvent } from '../sessions/work-events';
import { isBridged, titleSequence, type HookAnswer, type HookInput, type HookVerb } from './payload';
import { isTurn, tried, triedLater, type HookDeps, type Troubles } from './hook-event';

/** Lock timeout, kept short because the assistant waits for its hooks to finish. */
const WAIT_MS = 400;

/** A logged event and the follow-up work it needs. */
export interface Noted {
  verb: HookVerb;
  input: HookInput;
  event: WorkEvent;
  /** The kind of task to queue in the spool, if any. */
  task: IntentionKind | undefined;
  /** Whether to update the session state. */
  updates: boolean;
}

/**
 * Queues the task, updates the session state, sets the tab title, and returns the response to the assistant.
 */
export async function followUp(
  deps: HookDeps,
  troubles: Troubles,
  noted: Noted,
): Promise<Pick<HookAnswer, 'title' | 'context'>> {
  const { verb, input, event, task } = noted;
  // Queue the task before updating the state. The assistant reports the end of a turn only once, but any
  // later hook can update the state.
  if (task !== undefined) await triedLater(troubles, () => leaveFor(deps, task, input, event));
  const found = noted.updates ? await updated(deps, troubles, event) : undefined;
  // Of the tool events, only those that write a session file may change the phase.
  const mayRetitle = verb !== 'tool' || event.artifact === true;
  const answer = tried(troubles, () => ({
    title: mayRetitle ? setTab(deps, input, event, found) : undefined,
    context: contextOf(deps, event, found),
  }));
  if (isTurn(verb)) tried(troubles, () => sweep(deps));
  return answer ?? { title: undefined, context: undefined };
}

async function updated(deps: HookDeps, troubles: Troubles, event: WorkEvent): Promise<Session | undefined> {
  try {
    const first = await updateSessions(deps, WAIT_MS, [event.session], (state, isKnown) => {
      const own = sessionOf(state, event.session);
      const ends = event.type === 'stop' || event.type === 'session-end';
      const unseen =
        ends && own !== undefined && !isNameless(own.slug)
          ? tried(troubles, () => unseenArtifact(deps.area, state, own, isKnown))
          : undefined;
      return { own, unseen };
    });
    if (first.unseen === undefined) return first.own;
    appendWorkEvent(deps.area.workEvents, ofArtifact(event, first.unseen));
    return await updateSessions(deps, WAIT_MS, [event.session], (state) => sessionOf(state, event.session));
  } catch (error) {
    troubles.first ??= toStewardError(error);
    return undefined;
  }
}

function sessionOf(state: SessionsState, id: string): Session | undefined {
  return Object.values(state.sessions).find(({ sessionIds }) => sessionIds.includes(id));
}

function ofArtifact(event: WorkEvent, { slug, phase }: UnseenArtifact): WorkEvent {
  return { ...event, slug, artifact: true, ...(phase === null ? {} : { phase }) };
}

/** Sets the title of the session's terminal tab, or returns the title for the assistant to set. */
function setTab(deps: HookDeps, input: HookInput, event: WorkEvent, session: Session | undefined) {
  if (!deps.tab || event.type === 'session-end') return undefined;
  const phase = session?.phase ?? event.phase;
  if (phase === undefined || event.agent !== undefined) return undefined;
  const title = tabTitle(phase);
  if (input.takesSequence) return title;
  const live = session ?? storedSession(deps.area.sessionsState, event.session);
  const { tty, pid, started } = live?.terminal ?? {};
  if (live?.machine === deps.machineId && typeof tty === 'string' && typeof pid === 'number') {
    writeToTerminal({ tty, pid, started: started ?? '' }, titleSequence(title));
  }
  return undefined;
}

/** Returns a sentence for the model with the session file's path, if `sessions.tellAssistant` is true. */
function contextOf(deps: HookDeps, event: WorkEvent, found: Session | undefined): string | undefined {
  const slug = found?.slug ?? event.slug;
  if (!deps.tellAssistant || event.type !== 'session-start') return undefined;
  if (slug === null || isNameless(slug)) return undefined;
  const phases = PHASES.filter(({ order }) => order > 0).map(({ id }) => id);
  return (
    `If you write a record of this session, write it to ${clean(artifactPath(deps.area.sessions, slug))}. Start the file with ` +
    `front matter (between two --- lines) that contains the keys task, project, effort and phase (${phases.join(', ')}).`
  );
}

async function leaveFor(deps: HookDeps, kind: IntentionKind, input: HookInput, event: WorkEvent) {
  const ended = kind === 'turn-ended' ? await endOfTurn(deps, event, input.lastMessage) : undefined;
  leave(deps, {
    kind,
    session: event.session,
    slug: event.slug,
    transcript: storedPath(input.transcript) ?? null,
    ...(kind === 'attention' ? { asked: event.ts, ...definedOnly({ reason: event.reason }) } : {}),
    ...definedOnly({ ended, isBridged: isBridged(deps.env) }),
  });
}

/** Returns how the turn ended, based on its last message; undefined if the hook JSON has no message. */
async function endOfTurn(deps: HookDeps, event: WorkEvent, message: string | undefined) {
  if (event.type === 'stop' && event.reason !== undefined) return { line: null, isError: true };
  if (message === undefined || deps.completionLine === undefined) return undefined;
  return { line: (await deps.completionLine(message)) ?? null, isError: /^API Error\b/.test(message) };
}
