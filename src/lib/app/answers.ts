import { claudeAnswers } from '../assistant/claude-code';
import { codexAnswers } from '../assistant/codex';
import { installHooks } from '../assistant/install';
import { hooksFinding, registeredAssistants } from '../assistant/registered';
import { setConfig } from '../config/set';
import { acceptRequest } from '../notify/accept';
import { answerAsk, answerTo, type Ask, openAsk, renewAsk, takeAnswer } from '../inbox/asks';
import { StewardError } from '../errors';
import { cleanLine, cleanLines } from '../platform/terminal/terminal';
import { aborted, wait } from '../platform/time/wait';
import { type Context, installerDeps } from './context';
import { openNotify } from './notify';
import { presenceOf } from './triggers';

interface AskMe {
  question?: string | undefined;
  options?: readonly string[] | undefined;
  urgent?: boolean | undefined;
  /** The id of an earlier call that returned without an answer. */
  id?: string | undefined;
}

/** Shorter than the time that MCP clients wait for a tool. */
const WAIT_MS = 50_000;
const POLL_MS = 500;
/** A question whose agent has not asked again for this long is no longer listed. */
const PATIENCE_MS = 10 * 60_000;
const MAX_QUESTION = 300;

/** Puts a question into the inbox, notifies you, and waits for your answer. `signal` ends the wait. */
export async function openAskMe(
  context: Context,
  asked: AskMe,
  { signal, waitMs = WAIT_MS }: { signal: AbortSignal; waitMs?: number },
): Promise<object> {
  const { clock } = context;
  const { question, id } = asked;
  if ((id === undefined) === (question === undefined))
    throw new StewardError('usage', 'Pass a question, or the id of an earlier one.', {
      hint: 'Arguments: question, options and urgent; or id.',
    });
  const untilMs = clock.now() + waitMs + PATIENCE_MS;
  const ask =
    question === undefined
      ? await renewAsk(context, id ?? '', untilMs)
      : await newQuestion(context, question, asked, untilMs);
  const endMs = clock.monotonic() + waitMs;
  const stopped = aborted(signal);
  for (;;) {
    const decision = answerTo(context, ask);
    if (decision?.behavior === 'allow') return { answer: decision.texts[0] };
    if (decision !== undefined) return { declined: true, reason: decision.texts[0] ?? null };
    if (signal.aborted || clock.monotonic() >= endMs) break;
    await Promise.race([wait(POLL_MS), stopped]);
  }
  return { waiting: true, id: ask.id, next: `Still waiting. Call ask_me again with the id ${ask.id}.` };
}

async function newQuestion(
  context: Context,
  question: string,
  { options = [], urgent = false }: AskMe,
  untilMs: number,
): Promise<Ask> {
  const text = cleanLines(question);
  const ask = await openAsk(context, {
    kind: 'ask',
    tool: 'ask_me',
    input: text,
    questions: [{ text, options: options.map((option) => cleanLine(option, MAX_QUESTION)) }],
    canAllow: true,
    isHeld: false,
    untilMs,
  });
  const [notify, presence] = [await openNotify(context), await presenceOf(context, undefined)];
  await acceptRequest(notify.deps, {
    event: 'attention',
    source: 'da',
    voiceEnabled: true,
    tags: [],
    dedupe: `ask:${ask.id}`,
    thread: ask.id,
    message: `An agent asks: ${cleanLine(text, MAX_QUESTION)}`,
    ...(urgent ? { priority: 5 } : {}),
    ...(presence === 'away' || presence === 'desk' ? { reach: presence } : {}),
  });
  notify.deliverLater();
  return ask;
}

/** Registers the hooks, turns answers on, and tests them with a request that it denies itself: `test` is then `deny`. */
export async function openAnswersSetup(context: Context) {
  const deps = installerDeps(context);
  const isRegistered = registeredAssistants(deps).some(({ id }) => id === codexAnswers.id);
  const hooks = [];
  for (const assistant of isRegistered ? [claudeAnswers, codexAnswers] : [claudeAnswers]) {
    const { settings, added } = await installHooks(deps, { assistant, dryRun: false });
    const then = added.length === 0 ? null : (assistant.pending ?? null);
    const events = assistant.hooks.map(({ event }) => event);
    hooks.push({ assistant: assistant.title, settings, events, then });
  }
  await setConfig(context, { key: 'notifications.answers.enabled', value: 'true', dryRun: false });
  const ask = await openAsk(context, {
    kind: 'permission',
    tool: 'test',
    input: '{}',
    isHeld: true,
    untilMs: context.clock.now() + 60_000,
  });
  const deny = { behavior: 'deny', texts: [], forSession: false } as const;
  await answerAsk(context, ask.id, () => deny, 'answers setup');
  const decision = await takeAnswer(context, ask);
  const { state, found, fix = '' } = hooksFinding(deps);
  return {
    enabled: true,
    hooks,
    /** Why nothing is held although answers are on, and the command that changes that; null if it is. */
    missing: state === 'ok' ? null : { found, fix },
    test: decision?.behavior ?? 'failed',
    presence: await presenceOf(context, undefined),
  };
}
