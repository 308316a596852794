import { toStewardError } from '../errors';
import { writeToTerminal } from '../platform/process/own-terminal';
import { clean } from '../platform/terminal/terminal';
import { artifactPath } from '../sessions/artifact';
import { PHASES, tabTitle } from '../sessions/phases';
import type { Session, SessionsState } from '../sessions/session';
import { leave, sweep, type EndOfTurn, type IntentionKind } from '../sessions/spool';
import { storedSession, updateSessions } from '../sessions/state';
import { unseenArtifact, type UnseenArtifact } from '../sessions/unseen-artifact';
import { appendWorkEvent, type WorkEvent } from '../sessions/work-events';
import { titleSequence, type HookAnswer, type HookInput, type HookVerb } from './claude-code';
import { isTurn, tried, triedLater, type HookDeps, type Troubles } from './hook-event';

/** The assistant waits for its hooks: busy for longer, and the next hook brings the events into the state. */
const WAIT_MS = 400;

/** An event that is in the log, and what is to follow it. */
export interface Noted {
  verb: HookVerb;
  input: HookInput;
  event: WorkEvent;
  /** What is left in the spool for other parts; undefined: nothing. */
  leaves: IntentionKind | undefined;
  /** Is the state to be brought up to date? */
  updates: boolean;
}

/**
 * What follows an event that is more than a line of the log: something left in the spool, the state brought up to
 * date, the tab set. Each is done whatever becomes of the others. Apart from `hook.ts`, because most calls, one before and
 * one after each tool, do without. Gives what the assistant is to read.
 */
export async function followUp(
  deps: HookDeps,
  troubles: Troubles,
  noted: Noted,
): Promise<Pick<HookAnswer, 'title' | 'context'>> {
  const { verb, input, event, leaves } = noted;
  // The end of a turn does not come again; the state comes with the next hook.
  const placed = async (slug: string | null): Promise<void> => {
    if (verb === 'session-end' || verb === 'stop' || event.artifact === true)
      await triedLater(troubles, () => deps.onPlace?.({ slug, cwd: input.cwd }));
  };
  await placed(event.slug);
  if (leaves !== undefined) await triedLater(troubles, () => leaveFor(deps, leaves, input, event));
  const found = noted.updates ? await updated(deps, troubles, event) : undefined;
  if (found !== undefined && found.slug !== event.slug) await placed(found.slug);
  const answer = tried(troubles, () => ({
    title: setTab(deps, input, event, found),
    context: contextOf(deps, event, found),
  }));
  if (isTurn(verb)) tried(troubles, () => sweep({ clock: deps.clock, path: deps.spool }));
  return answer ?? { title: undefined, context: undefined };
}

/** The session as the state has it now; undefined when it cannot be told. */
async function updated(deps: HookDeps, troubles: Troubles, event: WorkEvent): Promise<Session | undefined> {
  try {
    const first = await updateSessions(deps, WAIT_MS, [event.session], (state, isKnown) => {
      const own = sessionOf(state, event.session);
      const ends = event.type === 'stop' || event.type === 'session-end';
      const unseen =
        ends && own !== undefined
          ? tried(troubles, () => unseenArtifact(deps, state, own, isKnown))
          : undefined;
      return { own, unseen };
    });
    if (first.unseen === undefined) return first.own;
    appendWorkEvent(deps.workEvents, ofArtifact(event, first.unseen));
    return await updateSessions(deps, WAIT_MS, [event.session], (state) => sessionOf(state, event.session));
  } catch (error) {
    troubles.first ??= toStewardError(error);
    return undefined;
  }
}

function sessionOf(state: SessionsState, id: string): Session | undefined {
  return Object.values(state.sessions).find(({ sessionIds }) => sessionIds.includes(id));
}

/** The log has to tell it, too: the state is made of nothing else. */
function ofArtifact(event: WorkEvent, { slug, phase }: UnseenArtifact): WorkEvent {
  return { ...event, slug, artifact: true, ...(phase === null ? {} : { phase }) };
}

/**
 * Sets the tab where the phase may have changed: on the terminal that the session began on, unless the assistant
 * does it, which then gets the title.
 */
function setTab(
  deps: HookDeps,
  input: HookInput,
  event: WorkEvent,
  session: Session | undefined,
): string | undefined {
  if (!deps.tab || event.type === 'session-end') return undefined;
  const phase = session?.phase ?? event.phase;
  if (phase === undefined || event.agent !== undefined) return undefined;
  const title = tabTitle(phase);
  if (input.takesSequence) return title;
  const live = session ?? storedSession(deps.path, event.session);
  const { tty, pid, started } = live?.terminal ?? {};
  if (live?.machine === deps.machineId && typeof tty === 'string' && typeof pid === 'number') {
    writeToTerminal({ tty, pid, started: started ?? '' }, titleSequence(title));
  }
  return undefined;
}

/** Where the session's artifact belongs, for the model; only where a person has asked for it. */
function contextOf(deps: HookDeps, event: WorkEvent, found: Session | undefined): string | undefined {
  const slug = found?.slug ?? event.slug;
  if (!deps.tellAssistant || event.type !== 'session-start' || slug === null) return undefined;
  const phases = PHASES.filter(({ order }) => order > 0).map(({ id }) => id);
  return (
    `This session's record, if you keep one, is ${clean(artifactPath(deps.sessions, slug))}: Markdown that begins with ` +
    `front matter (between two lines of ---) with the keys task, project, effort and phase (${phases.join(', ')}).`
  );
}

async function leaveFor(
  deps: HookDeps,
  kind: IntentionKind,
  input: HookInput,
  event: WorkEvent,
): Promise<void> {
  const ended = kind === 'turn-ended' ? await endOfTurn(deps, input.lastMessage) : undefined;
  leave(
    { clock: deps.clock, machineId: deps.machineId, path: deps.spool },
    {
      kind,
      session: event.session,
      slug: event.slug,
      transcript: storedPath(input.transcript),
      ...(kind === 'attention' && event.reason !== undefined ? { reason: event.reason } : {}),
      ...(ended === undefined ? {} : { ended }),
    },
  );
}

/** How the message that ended a turn says that it ended; undefined where the transcript has to be asked. */
async function endOfTurn(deps: HookDeps, message: string | undefined): Promise<EndOfTurn | undefined> {
  if (message === undefined || deps.completionLine === undefined) return undefined;
  return { line: (await deps.completionLine(message)) ?? null, isError: /^API Error\b/.test(message) };
}

/** A path is kept as it came, or not at all. */
function storedPath(text: string | undefined): string | null {
  return text === undefined || text.length > 4096 || /[\u0000-\u001f\u007f]/.test(text) ? null : text;
}
