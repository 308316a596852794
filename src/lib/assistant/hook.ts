import { StewardError } from '../errors';
import { definedOnly } from '../platform/files/json-object';
import { isWaiting } from '../sessions/fold';
import type { IntentionKind } from '../sessions/spool';
import { appendWorkEvent, storedId, WORK_EVENTS_FOLD_BYTES, type WorkEvent } from '../sessions/work-events';
import { hookAnswer, HOOK_VERBS, readHookJson, type HookInput, type HookVerb } from './claude-code';
import {
  eventOf,
  isTurn,
  tried,
  triedLater,
  type HeardPrompt,
  type HookDeps,
  type Troubles,
} from './hook-event';

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

/** What a hook leaves for other parts. */
const LEAVES: Readonly<Partial<Record<HookVerb, IntentionKind>>> = {
  stop: 'turn-ended',
  'session-end': 'session-ended',
  'subagent-stop': 'agent-ended',
  notification: 'attention',
};

/** What the person reads when a prompt could not be looked at, or kept. */
function notKept({ message, hint }: StewardError): string {
  return `steward did not keep what this prompt asks for: ${[message, hint ?? []].flat().join(' ')}`;
}

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
  const leaves = leftBy(verb, event);
  const updates = isTurn(verb) || isNamed || size >= WORK_EVENTS_FOLD_BYTES;
  const isMore = leaves !== undefined || updates || event.artifact === true;
  const follows = isMore
    ? await (await import('./follow-up')).followUp(deps, troubles, { verb, input, event, leaves, updates })
    : undefined;
  const prompt = heardPrompt(heard, event.slug);
  const message = await triedLater(
    troubles,
    () => (prompt === undefined ? undefined : deps.onPrompt?.(prompt)),
    notKept,
  );
  return {
    output: hookAnswer({ title: follows?.title, context: follows?.context, message }),
    session,
    ...definedOnly({ tool: event.tool, agent: event.agent }),
    left: leaves ?? null,
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
  return heardPrompt(understood(deps, call), null);
}

interface Understood {
  verb: HookVerb;
  input: HookInput;
  session: string;
}

function heardPrompt({ verb, input, session }: Understood, slug: string | null): HeardPrompt | undefined {
  if (verb !== 'prompt' || input.agent !== undefined || input.prompt === undefined) return undefined;
  return { text: input.prompt, session, slug, cwd: input.cwd };
}

function understood(deps: Pick<HookDeps, 'env'>, call: HookCall): Understood {
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
