import { type Context, installerDeps } from '../app/context';
import { presenceOf } from '../app/surroundings';
import { claudeAnswers } from '../assistant/claude-code';
import { codexAnswers } from '../assistant/codex';
import { installHooks } from '../assistant/install';
import { hooksFinding, registeredAssistants } from '../assistant/registered';
import { setConfig } from '../config/set';
import { answerAsk, openAsk, takeAnswer } from '../inbox/asks';

/** Registers the hooks, turns answers on, and tests them with a request that it denies itself: `test` is then `deny`. */
export async function setUpAnswers(context: Context) {
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
