import { StewardError } from '../errors';
import { definedOnly } from '../platform/files/json-object';
import { isWaiting } from '../sessions/requests';
import { ASSISTANT_IDS, CLAUDE_CODE, sessionKey } from '../sessions/session-key';
import type { IntentionKind } from '../sessions/intention';
import { appendWorkEvent, storedId, WORK_EVENTS_FOLD_BYTES, type WorkEvent } from '../sessions/work-events';
import { hookAnswer, HOOK_VERBS, readHookJson, type HookVerb } from './payload';
import {
  eventOf,
  isTurn,
  tried,
  triedLater,
  type HeardPrompt,
  type HookDeps,
  type ParsedCall,
  type Troubles,
} from './hook-event';

export interface HookCall {
  verb: string;
  /** The assistant given in the registered command. Default: Claude Code. */
  assistant?: string | undefined;
  bytes: Buffer;
  /** Whether stdin was truncated because it was too long or not closed in time. */
  cut: boolean;
}

/** The kind of task that each hook adds to the spool. */
const TASKS: Readonly<Partial<Record<HookVerb, IntentionKind>>> = {
  stop: 'turn-ended',
  'session-end': 'session-ended',
  'subagent-stop': 'agent-ended',
  notification: 'attention',
};

function saveFailedText({ message, hint }: StewardError): string {
  return `steward could not save the request in this prompt: ${[message, hint ?? []].flat().join(' ')}`;
}

function taskOf({ verb, input }: ParsedCall, event: WorkEvent): IntentionKind | undefined {
  if (event.asks !== undefined) return 'attention';
  if (verb === 'notification' && !isWaiting(event.reason)) return undefined;
  return input.event === 'Interrupt' ? undefined : TASKS[verb];
}

/**
 * Appends the event to the log. If necessary, also queues a task and updates the state. A failed step doesn't
 * stop the others. Throws `usage` for an unknown verb or invalid stdin.
 */
export async function runHook(deps: HookDeps, call: HookCall) {
  const parsed = parseCall(deps, call);
  const { verb, session, assistant } = parsed;
  const troubles: Troubles = { first: undefined };
  const { event, isNamed, heard: input, hides } = eventOf(deps, troubles, parsed);
  const size = tried(troubles, () => appendWorkEvent(deps.area.workEvents, event)) ?? 0;
  if (hides !== undefined)
    await triedLater(troubles, async () => (await import('./hide')).hide(deps, event, hides));
  const task = taskOf(parsed, event);
  const updates = isTurn(verb) || isNamed || size >= WORK_EVENTS_FOLD_BYTES;
  const isMore = task !== undefined || updates || event.artifact === true;
  const follows = isMore
    ? await (await import('./follow-up')).followUp(deps, troubles, { verb, input, event, task, updates })
    : undefined;
  const prompt = userPrompt({ ...parsed, input }, event.slug);
  const message = await triedLater(
    troubles,
    () => (prompt === undefined ? undefined : deps.onPrompt?.(prompt)),
    saveFailedText,
  );
  return {
    output: hookAnswer(assistant, { title: follows?.title, context: follows?.context, message }),
    session,
    ...definedOnly({ tool: event.tool, agent: event.agent }),
    left: task ?? null,
    trouble: troubles.first,
  };
}

/** Returns the event and task that `runHook` would record. */
export function planHook(deps: HookDeps, call: HookCall) {
  const parsed = parseCall(deps, call);
  const { event } = eventOf(deps, { first: undefined }, parsed);
  return { event, leaves: taskOf(parsed, event) ?? null };
}

/** Returns the user's prompt; undefined for other hooks, a subagent's prompt and a restricted session. */
export function promptOf(deps: HookDeps, call: HookCall): HeardPrompt | undefined {
  const parsed = parseCall(deps, call);
  const { event, heard } = eventOf(deps, { first: undefined }, parsed);
  return userPrompt({ ...parsed, input: heard }, event.slug);
}

function userPrompt({ verb, input, session }: ParsedCall, slug: string | null): HeardPrompt | undefined {
  if (verb !== 'prompt' || input.agent !== undefined || input.prompt === undefined) return undefined;
  return { text: input.prompt, session, slug };
}

function oneOf<T extends string>(what: string, word: string, known: readonly T[]): T {
  const found = known.find((one) => one === word);
  if (found !== undefined) return found;
  throw new StewardError('usage', `Unknown ${what} "${word}".`, { hint: `Use one of: ${known.join(', ')}.` });
}

function parseCall(deps: Pick<HookDeps, 'env'>, call: HookCall): ParsedCall {
  const verb = oneOf('hook', call.verb, HOOK_VERBS);
  const named = oneOf('assistant', call.assistant ?? CLAUDE_CODE, ASSISTANT_IDS);
  const read = readHookJson(call.bytes, call.cut, deps.env);
  const session = 'problem' in read ? undefined : storedId(read.input.session);
  if ('problem' in read || session === undefined) {
    const problem = 'problem' in read ? read.problem : 'the hook JSON has no session_id';
    throw new StewardError('usage', `${problem[0]?.toUpperCase()}${problem.slice(1)}.`, {
      hint: 'Assistants pass the hook JSON on stdin. `steward hooks status` shows the registered hooks.',
    });
  }
  const { input } = read;
  const assistant = input.assistant ?? named;
  const isClaude = assistant === CLAUDE_CODE;
  // Qwen Code also sends this event with the results of tools, which have no text.
  const isResult = assistant === 'qwen' && verb === 'prompt' && input.prompt === undefined;
  return {
    verb: isResult ? 'tool' : verb,
    // Transcripts and terminal sequences are supported only for Claude Code.
    input: isClaude
      ? input
      : {
          ...input,
          transcript: undefined,
          log: assistant === 'codex' ? input.log : undefined,
          takesSequence: false,
        },
    session: sessionKey(assistant, session),
    assistant,
  };
}
