import { StewardError, toStewardError } from '../errors';
import { writeToTerminal } from '../platform/own-terminal';
import { clean } from '../platform/terminal';
import { artifactPath } from '../sessions/artifact';
import { isWaiting } from '../sessions/fold';
import { PHASES, tabTitle } from '../sessions/phases';
import type { Session, SessionsState } from '../sessions/session';
import { leave, sweep, type IntentionKind } from '../sessions/spool';
import { storedSession, updateSessions } from '../sessions/state';
import { unseenArtifact, type UnseenArtifact } from '../sessions/unseen-artifact';
import { appendWorkEvent, storedId, WORK_EVENTS_FOLD_BYTES, type WorkEvent } from '../sessions/work-events';
import {
  hookAnswer,
  HOOK_VERBS,
  readHookJson,
  titleSequence,
  type HookInput,
  type HookVerb,
} from './claude-code';
import { eventOf, tried, type EventDeps, type Troubles } from './hook-event';

export interface HookDeps extends EventDeps {
  /** `state/spool` */
  spool: string;
  /** May the terminal's tab be set? */
  tab: boolean;
  /** Is the model told where the session's artifact belongs? */
  tellAssistant: boolean;
  /** Told of each prompt of a person's; gives what the person is to be told. */
  onPrompt?: (prompt: HeardPrompt) => string | undefined;
  /**
   * Told where a session works as soon as its folder may be there (its artifact was written, a turn or the session
   * ended), before and after its name is settled: one that crashes later has no end.
   */
  onPlace?: (session: { slug: string | null; cwd: string | undefined }) => void;
}

/** A prompt, for whoever looks for something in it. */
export interface HeardPrompt {
  text: string;
  session: string;
  slug: string | null;
  cwd: string | undefined;
}

export interface HookCall {
  verb: string;
  bytes: Buffer;
  /** There was more on stdin than was kept, or its end did not come in time. */
  cut: boolean;
}

export interface HookResult {
  /** What the assistant is to read on stdout; empty as a rule. */
  output: string;
  session: string | null;
  tool?: string;
  agent?: string;
  /** What was left in the spool; null: nothing. */
  left: IntentionKind | null;
  /** The first thing that went wrong; what does not depend on it was done. */
  trouble: StewardError | undefined;
}

/** The assistant waits for its hooks: busy for longer, and the next hook brings the events into the state. */
const WAIT_MS = 400;

/** What a hook leaves for other parts. */
const LEAVES: Readonly<Partial<Record<HookVerb, IntentionKind>>> = {
  stop: 'turn-ended',
  'session-end': 'session-ended',
  'subagent-stop': 'agent-ended',
  notification: 'attention',
};

function leftBy(verb: HookVerb, event: WorkEvent): IntentionKind | undefined {
  return verb === 'notification' && !isWaiting(event.reason) ? undefined : LEAVES[verb];
}

/**
 * What a hook does: one event to the log; what other parts may want to do after a turn or a session is left in the
 * spool; and where a session begins, a turn or a session ends, the state is brought up to date. Each of them is done
 * whatever becomes of the others. `usage` for an unknown verb or a stdin that is none of the assistant's. The caller
 * sees that nothing of it reaches the assistant.
 */
export async function runHook(deps: HookDeps, call: HookCall): Promise<HookResult> {
  const heard = understood(deps, call);
  const { verb, input, session } = heard;
  const troubles: Troubles = { first: undefined };
  const { event, isNamed } = eventOf(deps, troubles, heard);
  const size = tried(troubles, () => appendWorkEvent(deps.workEvents, event)) ?? 0;
  const kind = leftBy(verb, event);
  // The end of a turn does not come again; the state comes with the next hook.
  const placed = (slug: string | null): void => {
    if (verb === 'session-end' || verb === 'stop' || event.artifact === true)
      tried(troubles, () => deps.onPlace?.({ slug, cwd: input.cwd }));
  };
  placed(event.slug);
  if (kind !== undefined) tried(troubles, () => leaveFor(deps, kind, input, event));
  const isTurn = verb === 'session-start' || verb === 'stop' || verb === 'session-end';
  const found =
    isTurn || isNamed || size >= WORK_EVENTS_FOLD_BYTES ? await updated(deps, troubles, event) : undefined;
  if (found !== undefined && found.slug !== event.slug) placed(found.slug);
  const message = tried(troubles, () => heardPrompt(deps, heard, event));
  const output = tried(troubles, () => answerOf(deps, input, event, found, message)) ?? '';
  if (isTurn) tried(troubles, () => sweep({ clock: deps.clock, path: deps.spool }));
  return {
    output,
    session,
    ...(event.tool === undefined ? {} : { tool: event.tool }),
    ...(event.agent === undefined ? {} : { agent: event.agent }),
    left: kind ?? null,
    trouble: troubles.first,
  };
}

/** What `runHook` would do, and nothing of it done. */
export function planHook(deps: HookDeps, call: HookCall): HookPlan {
  const heard = understood(deps, call);
  const { event } = eventOf(deps, { first: undefined }, heard);
  return { event, leaves: leftBy(heard.verb, event) ?? null };
}

export interface HookPlan {
  event: WorkEvent;
  leaves: IntentionKind | null;
}

/** The prompt of a call that is one, of the person's and not of a subagent's; undefined of every other call. */
export function promptOf(deps: Pick<HookDeps, 'env'>, call: HookCall): HeardPrompt | undefined {
  const { verb, input, session } = understood(deps, call);
  if (verb !== 'prompt' || input.agent !== undefined || input.prompt === undefined) return undefined;
  return { text: input.prompt, session, slug: null, cwd: input.cwd };
}

function heardPrompt(
  deps: HookDeps,
  { verb, input, session }: { verb: HookVerb; input: HookInput; session: string },
  event: WorkEvent,
): string | undefined {
  if (verb !== 'prompt' || input.agent !== undefined || input.prompt === undefined) return undefined;
  return deps.onPrompt?.({ text: input.prompt, session, slug: event.slug, cwd: input.cwd });
}

function understood(
  deps: Pick<HookDeps, 'env'>,
  call: HookCall,
): { verb: HookVerb; input: HookInput; session: string } {
  const verb = HOOK_VERBS.find((known) => known === call.verb);
  if (verb === undefined) {
    throw new StewardError('usage', `There is no hook "${call.verb}".`, {
      hint: `The hooks are ${HOOK_VERBS.join(', ')}.`,
    });
  }
  const read = readHookJson(call.bytes, call.cut, deps.env);
  const session = 'problem' in read ? undefined : storedId(read.input.session);
  if ('problem' in read || session === undefined) {
    const problem = 'problem' in read ? read.problem : 'the hook JSON has no session_id';
    throw new StewardError('usage', `${problem[0]?.toUpperCase()}${problem.slice(1)}.`, {
      hint: 'Hooks are called by the assistant, with its hook JSON on stdin; `steward hooks status` shows what is registered.',
    });
  }
  return { verb, input: read.input, session };
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

/** What the assistant is to read. */
function answerOf(
  deps: HookDeps,
  input: HookInput,
  event: WorkEvent,
  found: Session | undefined,
  message: string | undefined,
): string {
  const title = setTab(deps, input, event, found);
  return hookAnswer({ title, context: contextOf(deps, event, found), message });
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
  const live = session ?? storedSession(deps.livePath, event.session);
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

function leaveFor(deps: HookDeps, kind: IntentionKind, input: HookInput, event: WorkEvent): void {
  leave(
    { clock: deps.clock, machineId: deps.machineId, path: deps.spool },
    {
      kind,
      session: event.session,
      slug: event.slug,
      transcript: storedPath(input.transcript),
      ...(kind === 'attention' && event.reason !== undefined ? { reason: event.reason } : {}),
    },
  );
}

/** A path is kept as it came, or not at all. */
function storedPath(text: string | undefined): string | null {
  return text === undefined || text.length > 4096 || /[\u0000-\u001f\u007f]/.test(text) ? null : text;
}
