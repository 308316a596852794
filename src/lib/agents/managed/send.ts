import { StewardError } from '../../errors';
import { plural } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import { pagesOf } from './client';
import { hasId, targetOf, textBlocks, type ManagedEvent, type SentEvent } from './event';
import { failureOf, isNotServed, mayHaveSideEffects, once, repeated } from './failure';
import { sendMessage, type SendDeps, type SentMessage } from './outbox';
import { openHistory, readHistory } from './reader';
import { addEvent, newTurn, pendingTools, type ToolUse } from './turn';
import { pendingLines } from './view';

/** Permissions decided in advance, by tool name (`bash`, `server.tool`), tool-use id, or `all`. */
export interface Policy {
  allow: readonly string[];
  deny: readonly string[];
}

/**
 * Returns a policy's responses to pending tool uses. `deny` overrides `allow`; unlisted tools get no
 * response.
 */
export function answersBy({ allow, deny }: Policy, pending: readonly ToolUse[]): SentEvent[] {
  const lists = (list: readonly string[], { name, id }: ToolUse): boolean =>
    list.includes(id) || (name !== '' && list.includes(name));
  return pending.flatMap((use): SentEvent[] => {
    if (use.kind === 'custom') return [];
    if (lists(deny, use)) return [confirmation(use.id, 'deny')];
    if (lists(allow, use)) return [confirmation(use.id, 'allow')];
    if (deny.includes('all')) return [confirmation(use.id, 'deny')];
    return allow.includes('all') ? [confirmation(use.id, 'allow')] : [];
  });
}

export function confirmation(id: string, result: 'allow' | 'deny'): SentEvent {
  return { type: 'user.tool_confirmation', tool_use_id: id, result };
}

type ReadText = (value: string) => Promise<string>;

/** Parses `ID=TEXT` or `ID=@FILE` as a custom tool's result. */
async function toolResult(flag: string, isError: boolean, read: ReadText): Promise<SentEvent> {
  const at = flag.indexOf('=');
  if (at < 1) {
    throw new StewardError('usage', `Invalid --tool-result "${clean(flag).slice(0, 80)}".`, {
      hint: 'Use ID=TEXT or ID=@FILE.',
    });
  }
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: flag.slice(0, at),
    content: textBlocks(await read(flag.slice(at + 1))),
    ...(isError ? { is_error: true } : {}),
  };
}

interface SendInput {
  session: string;
  message?: string | undefined;
  toolResults: readonly string[];
  areErrors: boolean;
  policy: Policy;
  read: ReadText;
}

export type SendResult = Awaited<ReturnType<typeof sendInput>>;

/** Sends the input exactly once. Sends tool results and permissions before the message. */
export async function sendInput(deps: SendDeps, input: SendInput) {
  const { session, message, policy } = input;
  const results = await Promise.all(
    input.toolResults.map((flag) => toolResult(flag, input.areErrors, input.read)),
  );
  const hasPolicy = policy.allow.length + policy.deny.length > 0;
  if (message === undefined && results.length === 0 && !hasPolicy) {
    throw new StewardError('usage', 'Nothing to send.', {
      hint: 'Pass a message, --tool-result ID=@FILE, --allow or --deny.',
    });
  }
  const pending = hasPolicy ? await pendingOf(deps, session) : [];
  const answers = [...results, ...answersBy(policy, pending)];
  const sent = (await sendAnswers(deps, session, answers)).filter(hasId).map(({ id }) => id);
  if (message !== undefined) {
    const { id } = await sendOrExplain(deps, session, message);
    return { session, sent: id === undefined ? sent : [...sent, id] };
  }
  if (answers.length > 0) return { session, sent };
  throw new StewardError('conflict', 'No pending question matches --allow or --deny.', {
    hint: `List the pending questions: steward agents managed show ${session}`,
  });
}

/** Sends a message. If tool uses are pending, throws an error that lists them. */
export async function sendOrExplain(deps: SendDeps, session: string, message: string): Promise<SentMessage> {
  try {
    return await sendMessage(deps, session, message);
  } catch (error) {
    if (failureOf(error)?.status !== 400) throw error;
    const waiting = await pendingOf(deps, session);
    if (waiting.length === 0) throw error;
    const count = waiting.length === 1 ? 'an answer' : plural(waiting.length, 'answer');
    throw new StewardError('conflict', `Message not sent: the agent is waiting for ${count}.`, {
      hint: `Send the message again after answering the agent:\n${pendingLines(session, waiting).join('\n')}`,
      cause: error,
    });
  }
}

/** Returns the tool uses awaiting a response, based on the session's history. */
export async function pendingOf(deps: SendDeps, session: string): Promise<ToolUse[]> {
  const turn = newTurn();
  const history = openHistory(deps.client, session);
  await repeated(deps, () =>
    readHistory(history, (events) => {
      for (const { event } of events) addEvent(turn, event);
    }),
  ).catch((error: unknown) => {
    if (!isNotServed(error)) throw error;
  });
  return pendingTools(turn);
}

/** Sends each response exactly once. Skips responses that an interrupted run has already sent. */
export async function sendAnswers(
  deps: SendDeps,
  session: string,
  answers: readonly SentEvent[],
): Promise<ManagedEvent[]> {
  if (answers.length === 0) return [];
  const isRefused = (error: unknown): boolean => failureOf(error)?.status === 400;
  try {
    return await once(
      deps,
      () => deps.client.send(session, answers),
      async () => {
        const found = await findArrived(deps, session, answers);
        return found.length === answers.length ? found : undefined;
      },
      (error) => mayHaveSideEffects(error) || isRefused(error),
    );
  } catch (error) {
    if (!isRefused(error)) throw error;
    const found = await repeated(deps, () => findArrived(deps, session, answers));
    if (found.length === 0) throw error;
    const targets = new Set(found.map(targetOf));
    const rest = answers.filter((answer) => !targets.has(targetOf(answer)));
    return [...found, ...(await sendAnswers(deps, session, rest))];
  }
}

/** Returns the responses that the session already contains. Reads the latest events first. */
async function findArrived({ client }: SendDeps, session: string, answers: readonly SentEvent[]) {
  const types = ['user.tool_confirmation', 'user.custom_tool_result'];
  const wanted = new Set(answers.map(targetOf));
  const found = new Map<string | undefined, ManagedEvent>();
  const query = { types, order: 'desc', limit: 100 } as const;
  for await (const events of pagesOf((page) => client.events(session, { ...query, page }))) {
    for (const event of events) if (wanted.has(targetOf(event))) found.set(targetOf(event), event);
    if (found.size === wanted.size) break;
  }
  return [...found.values()];
}

/** Interrupts the session. Retrying is safe, because a second interrupt has no effect. */
export async function sendInterrupt(deps: SendDeps, session: string): Promise<ManagedEvent[]> {
  return repeated(deps, () => deps.client.send(session, [{ type: 'user.interrupt' }]));
}
