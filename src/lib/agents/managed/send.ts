import { StewardError } from '../../errors';
import { clean } from '../../platform/terminal/terminal';
import { pagesOf } from './client';
import { hasId, targetOf, textBlocks, type ManagedEvent, type SentEvent } from './event';
import { failureOf, mayHaveLanded, once, repeated } from './failure';
import { sendMessage, type SendDeps, type Sent } from './outbox';
import { openHistory } from './reader';
import { openTurn, type ToolUse } from './turn';
import { pendingLines } from './view';

/** Who may do what, said before: names of tools (`bash`, `server.tool`), ids of tool uses, or `all`. */
export interface Policy {
  allow: readonly string[];
  deny: readonly string[];
}

/** The answers that a policy gives; a tool in both lists is denied. What it does not mention is left out. */
export function answersBy({ allow, deny }: Policy, pending: readonly ToolUse[]): SentEvent[] {
  const named = (list: readonly string[], { name, id }: ToolUse): boolean =>
    list.includes(id) || (name !== '' && list.includes(name));
  return pending.flatMap((use): SentEvent[] => {
    if (use.kind === 'custom') return [];
    if (named(deny, use)) return [confirmation(use.id, 'deny')];
    if (named(allow, use)) return [confirmation(use.id, 'allow')];
    if (deny.includes('all')) return [confirmation(use.id, 'deny')];
    return allow.includes('all') ? [confirmation(use.id, 'allow')] : [];
  });
}

export function confirmation(id: string, result: 'allow' | 'deny'): SentEvent {
  return { type: 'user.tool_confirmation', tool_use_id: id, result };
}

/** TEXT or `@FILE` of a flag as its text. */
type ReadText = (value: string) => Promise<string>;

/** `ID=TEXT` or `ID=@FILE` as the result of a custom tool; anything else is `usage`. */
async function toolResult(flag: string, isError: boolean, read: ReadText): Promise<SentEvent> {
  const at = flag.indexOf('=');
  if (at < 1) {
    throw new StewardError('usage', `"${clean(flag).slice(0, 80)}" does not say which tool use it answers.`, {
      hint: 'Write --tool-result ID=TEXT or --tool-result ID=@FILE.',
    });
  }
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: flag.slice(0, at),
    content: textBlocks(await read(flag.slice(at + 1))),
    ...(isError ? { is_error: true } : {}),
  };
}

export interface SendInput {
  session: string;
  message?: string | undefined;
  toolResults: readonly string[];
  areErrors: boolean;
  policy: Policy;
  read: ReadText;
}

export interface SendResult {
  session: string;
  /** Ids of the events that the service took, where it tells them. */
  sent: string[];
}

/** Sends what was given, once: tool results and confirmations first, since a message may wait for them. */
export async function sendInput(deps: SendDeps, input: SendInput): Promise<SendResult> {
  const { session, message, policy } = input;
  const results = await Promise.all(
    input.toolResults.map((flag) => toolResult(flag, input.areErrors, input.read)),
  );
  const confirms = policy.allow.length + policy.deny.length > 0;
  if (message === undefined && results.length === 0 && !confirms) {
    throw new StewardError('usage', 'There is nothing to send.', {
      hint: 'Give a message, --tool-result ID=@FILE, --allow or --deny.',
    });
  }
  const pending = confirms ? await pendingOf(deps, session) : [];
  const answers = [...results, ...answersBy(policy, pending)];
  const taken = await sendAnswers(deps, session, answers);
  const sent = taken.filter(hasId).map(({ id }) => id);
  if (message === undefined) {
    if (answers.length > 0) return { session, sent };
    throw new StewardError('conflict', 'The session waits for nothing that --allow or --deny name.', {
      hint: `steward agents managed show ${session} says what it waits for.`,
    });
  }
  const { id } = await sendOrSay(deps, session, message);
  return { session, sent: id === undefined ? sent : [...sent, id] };
}

/** Sends a message; where the service refuses it because the session waits for answers, says which. */
export async function sendOrSay(deps: SendDeps, session: string, message: string): Promise<Sent> {
  try {
    return await sendMessage(deps, session, message);
  } catch (error) {
    if (failureOf(error)?.status !== 400) throw error;
    const waiting = await pendingOf(deps, session);
    if (waiting.length === 0) throw error;
    const count = waiting.length === 1 ? 'an answer' : `${waiting.length} answers`;
    throw new StewardError('conflict', `The message was not sent: the agent waits for ${count} first.`, {
      hint: `Answer it, then send the message again:\n${pendingLines(session, waiting).join('\n')}`,
      cause: error,
    });
  }
}

/** What a session waits for, from its history. */
export async function pendingOf(deps: SendDeps, session: string): Promise<ToolUse[]> {
  const turn = openTurn();
  const history = openHistory(deps.client, session);
  await repeated(deps, () =>
    history.read((events) => {
      for (const { event } of events) turn.add(event);
      return Promise.resolve();
    }),
  );
  return turn.pending();
}

/**
 * Sends answers, each once: each names its tool use, so those that have arrived are known. If a killed process sent
 * some of them, the service refuses all of them, and the rest is sent again.
 */
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
        const found = await arrived(deps, session, answers);
        return found.length === answers.length ? found : undefined;
      },
      (error) => mayHaveLanded(error) || isRefused(error),
    );
  } catch (error) {
    if (!isRefused(error)) throw error;
    const found = await repeated(deps, () => arrived(deps, session, answers));
    if (found.length === 0) throw error;
    const targets = new Set(found.map(targetOf));
    const rest = answers.filter((answer) => !targets.has(targetOf(answer)));
    return [...found, ...(await sendAnswers(deps, session, rest))];
  }
}

/** Those of the answers that the session's log has; it is read from its end. */
async function arrived(
  { client }: SendDeps,
  session: string,
  answers: readonly SentEvent[],
): Promise<ManagedEvent[]> {
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

/** A second interrupt does no harm, so it is simply repeated. */
export async function sendInterrupt(deps: SendDeps, session: string): Promise<ManagedEvent[]> {
  return repeated(deps, () => deps.client.send(session, [{ type: 'user.interrupt' }]));
}
