import type { UserConfig } from '../config/schema';
import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { readOnlyAudit } from './audit';
import { MAX_BRIEFS, MODEL_TIERS, SILENCE, taskIn } from './brief';
import { readRequest } from './text';

/** The names that your assistant uses for agent types (`agents.types`). */
export type AgentTypes = UserConfig['agents']['types'];

export type CheckReport = ReturnType<typeof checkInvocations>;

type Found = readonly [rule: string, message: string, fix: string];

/** Checks planned agent launches against every rule. */
export function checkInvocations(
  invocations: readonly Invocation[],
  types: AgentTypes,
  named: readonly string[] = [],
) {
  const own = invocations.flatMap((invocation, index) =>
    [
      ...launchBreaches(invocation, types, named),
      ...promptBreaches(invocation, types),
      ...managedBreaches(invocation),
    ].map((breach) => [index + 1, ...breach] as const),
  );
  const all = [...own, ...[...batchBreaches(invocations, types)].map((breach) => [null, ...breach] as const)];
  const breaches = all.map(([invocation, rule, message, fix]) => ({ invocation, rule, message, fix }));
  return { ok: breaches.length === 0, invocations: invocations.length, breaches };
}

const RETIRED = new Set(['architect', 'designer', 'engineer']);

function* launchBreaches(
  invocation: Invocation,
  types: AgentTypes,
  named: readonly string[],
): Generator<Found> {
  const { subagentType: type, model, worker, prompt, isCall } = invocation;
  const isManaged = worker === 'managed';
  const all = typesOf(types);
  const isRetired = type !== null && RETIRED.has(type.toLowerCase()) && !all.includes(type);
  if (type === null) {
    if (!isManaged && worker !== 'native')
      yield ['missing-type', 'subagent_type is missing.', 'Get the type from "steward agents route".'];
  } else if (isRetired) {
    yield ['retired-type', `The agent type ${quoted(type)} is retired.`, `Use ${types.general} with an inline brief.`];
  } else if (!all.includes(type) && !named.includes(type.toLowerCase())) {
    yield ['unknown-type', `Unknown agent type ${quoted(type)}.`, `Use one of ${all.join(', ')} (agents.types in config.yaml), or add a named agent: steward agents roster add NAME`];
  }
  if (worker === 'custom' && type !== null && !isRetired) {
    const missing = BRIEF_PARTS.filter(({ any }) => !any.test(prompt)).map(({ part }) => part);
    if (type !== types.general)
      yield ['bare-type', `A custom agent must not be launched as ${quoted(type)}.`, `Launch the agent as ${types.general} with its own brief.`];
    else if (missing.length > 0)
      yield ['bare-type', `The brief has no ${missing.join(', no ')}.`, 'Create a brief with "steward agents brief".'];
  }
  const fix = `Use ${MODEL_TIERS.join(', ')}.`;
  if (model === null) {
    if (worker !== 'native') yield ['missing-tier', 'The model tier is missing.', fix];
  } else if (!isCall && !isManaged && !(MODEL_TIERS as readonly string[]).includes(model))
    yield ['unknown-tier', `Unknown model tier ${quoted(model)}.`, fix];
} // prettier-ignore

function* promptBreaches({ subagentType, prompt, effort }: Invocation, types: AgentTypes): Generator<Found> {
  const speech = speechIn(prompt);
  if (speech !== undefined) {
    const message = `The prompt lets a subagent speak (${quoted(speech)}); only the assistant may speak.`;
    yield ['speaks', message, 'Remove this text, and let the assistant announce the result.'];
  }
  // If two agent types share the builder's name, it is unclear which of them a call is for.
  const isBuilder = typesOf(types).filter((name) => name === types.builder).length === 1;
  if (subagentType !== types.builder || !isBuilder) return;
  const isBuild = /^MODE: build\b/.test(prompt);
  const isAudit = isBuild
    ? readOnlyAudit(readRequest(taskIn(prompt)), types.builder).hit !== undefined
    : /\baudit\b/i.test(prompt);
  if (isAudit && !/^MODE: audit\b/.test(prompt))
    yield ['audit-mode', `An audit's prompt must begin with "MODE: audit".`, 'Add "MODE: audit" so that the builder runs read-only.'];
  if (/^MODE: audit\b/.test(prompt) && effort !== null && effort < 4)
    yield ['audit-effort', `A cross-vendor audit requires effort E4 or E5, not E${effort}.`, 'Omit the audit.'];
} // prettier-ignore

function* managedBreaches(invocation: Invocation): Generator<Found> {
  const { worker, minutes, interactive, needsContext, prompt } = invocation;
  if (worker !== 'managed') return;
  if (minutes !== null && minutes < 30)
    yield ['managed-short', `Hosted agents are for work that takes at least 30 minutes, not ${minutes}.`, 'Do the work in this session, or use an agent team.'];
  if (interactive || asksPerson(prompt))
    yield ['managed-interactive', 'A hosted agent cannot ask questions.', 'Do the work in this session, or put all answers into the prompt.'];
  if (needsContext || needsLocal(prompt))
    yield ['managed-context', 'A hosted agent cannot read your files or skills.', 'Do the work in this session, or put the context into the prompt.'];
} // prettier-ignore

function* batchBreaches(invocations: readonly Invocation[], types: AgentTypes): Generator<Found> {
  const briefs = invocations
    .filter(({ worker, prompt }) => worker === 'custom' && prompt.trim() !== '')
    .map(({ prompt }) => prompt.trim());
  if (new Set(briefs).size < briefs.length)
    yield ['same-brief', 'Two custom agents have the same brief.', 'Give each agent its own brief.'];
  const launched = invocations.filter(({ worker }) => worker !== 'native');
  const isSpotcheck = ({ subagentType, model, prompt }: Invocation): boolean =>
    subagentType === types.general && model === 'fast' && /\bspot-?check|\bconsisten/i.test(prompt);
  if (launched.length > 1 && !launched.some(isSpotcheck))
    yield ['missing-spotcheck', 'Parallel agents need a spotcheck of their outputs.', `Launch a ${types.general} agent (fast tier) afterward to compare the outputs.`];
  if (launched.length > MAX_BRIEFS + 1)
    yield ['fan-out', `Too many agents: ${launched.length} at once.`, `Launch at most ${MAX_BRIEFS}.`];
} // prettier-ignore

function typesOf(types: AgentTypes): string[] {
  return [types.general, types.explore, types.plan, types.builder, types.toolGuide, ...types.researchers];
}

function quoted(text: string): string {
  return `"${clean(text).slice(0, 60)}"`;
}

const LOCAL =
  /(?:^|[\s"'`(])(?:~\/|\/(?:home|Users)\/|[A-Z]:\\Users\\)|\bCLAUDE\.md\b|\b(?:my|the principal's) (?:goals?|calendar|notes|memory|skills?|knowledge)\b|\bknowledge archive\b|\buser area\b/i;

const ASKS_PERSON = /\b(?:ask me|ask the (?:user|principal)|interactively?|wait for my)\b/i;

export function asksPerson(prompt: string): boolean {
  return ASKS_PERSON.test(prompt);
}

export function needsLocal(prompt: string): boolean {
  return LOCAL.test(prompt);
}

const BRIEF_PARTS: readonly { part: string; any: RegExp }[] = [
  { part: 'role', any: /\byou are\b|\brole\b|\bact as\b|\bas an? [a-z]/i },
  { part: 'perspective', any: /\bperspective\b|\bpoint of view\b|\bviewpoint\b|\bangle\b|\blens\b|\byou (?:bring|care|look|see)\b/i },
  { part: 'voice', any: /\bvoice\b|\btone\b|\bstyle\b|\bspeak like\b|\bwrite (?:like|in)\b/i },
]; // prettier-ignore
const SPEECH =
  /\/notify\b|\bsteward notify send\b|\bvoice_id\b|\bvoice_enabled["']?\s*:\s*true\b|\b(?:speak|announce|say)(?: [a-z]+){0,4} (?:aloud|out loud)\b|\bannounce(?: [a-z]+){0,3} (?:by|with|in your|via) (?:voice|speech)\b|\bspd-say\b|\bespeak(?:-ng)?\b|\btext-to-speech\b/gi;

/**
 * Returns the first phrase that tells an agent to speak aloud. Ignores negated phrases and any text before
 * the `SILENCE` instruction.
 */
function speechIn(prompt: string): string | undefined {
  const forbidden = prompt.lastIndexOf(SILENCE);
  for (const found of prompt.matchAll(SPEECH)) {
    if (found.index < forbidden) continue;
    const before = prompt.slice(Math.max(0, found.index - 40), found.index);
    if (!/\b(?:do not|don't|never|no|without|not)\b[^.!?\n]*$/i.test(before)) return found[0];
  }
  return undefined;
}

const MAX_INVOCATIONS = 1000;

/**
 * Parses planned invocations. Accepts an object, an array, `{"invocations": […]}`, JSON lines, a hook's JSON
 * with `tool_input`, and the output of `agents route` or `agents brief`. Throws `usage` for anything else.
 */
export function parseInvocations(text: string) {
  const values = listOf(parseJson(text));
  if (values.length === 0) throw unreadable('The input contains no agent invocations.');
  if (values.length > MAX_INVOCATIONS)
    throw unreadable(`Too many invocations: ${values.length}; the limit is ${MAX_INVOCATIONS}.`);
  return values.map((value, index) => {
    if (!isObject(value)) throw unreadable(`Invocation ${index + 1} is not a JSON object.`);
    const call = isObject(value['tool_input']) ? value['tool_input'] : undefined;
    return {
      ...invocationOf(call ?? value),
      /**
       * Whether a PreToolUse hook provided the invocation. If so, `model` is one of the assistant's own model
       * names.
       */
      isCall: call !== undefined,
    };
  });
}

/** A planned agent launch. Unspecified fields are null. */
export type Invocation = ReturnType<typeof parseInvocations>[number];

function parseJson(text: string): unknown {
  const bare = text.replace(/^\ufeff/, '').trim();
  if (bare === '') return [];
  try {
    return JSON.parse(bare);
  } catch (error) {
    const lines = bare.split('\n').filter((line) => line.trim() !== '');
    if (lines.length < 2) throw unreadable('The input is not JSON.', error);
    return lines.map((line, index): unknown => {
      try {
        return JSON.parse(line);
      } catch (cause) {
        throw unreadable(`The input is neither JSON nor JSON lines (see line ${index + 1}).`, cause);
      }
    });
  }
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return [value];
  if (Array.isArray(value['invocations'])) return value['invocations'];
  const briefs = Array.isArray(value['briefs']) ? (value['briefs'] as unknown[]) : [value['brief']];
  if (!briefs.every(isObject)) return [value];
  const spotcheck = value['spotcheck'];
  return [
    ...briefs.map((brief) => ({ worker: value['worker'], ...brief })),
    ...(isObject(spotcheck) ? [spotcheck] : []),
  ];
}

function invocationOf(value: Record<string, unknown>) {
  const text = (...keys: string[]): string | null => {
    const found = keys.map((key) => value[key]).find((given) => given !== undefined && given !== null);
    return typeof found === 'string' ? found : null;
  };
  const minutes = value['minutes'] ?? value['estimatedMinutes'] ?? value['estimated_minutes'];
  const effort = /^e?([1-5])$/i.exec(String(value['effort'] ?? ''))?.[1];
  return {
    subagentType: text('subagent_type', 'subagentType'),
    prompt: text('prompt', 'brief') ?? '',
    model: text('model'),
    worker: value['custom'] === true ? 'custom' : (text('worker', 'kind')?.toLowerCase() ?? null),
    /** Expected duration of the work. */
    minutes: typeof minutes === 'number' && Number.isFinite(minutes) ? minutes : null,
    interactive: value['interactive'] === true,
    needsContext: value['needsContext'] === true || value['needs_context'] === true,
    /** Effort level, 1 to 5. */
    effort: effort === undefined ? null : Number(effort),
  };
}

function unreadable(message: string, cause?: unknown): StewardError {
  return new StewardError('usage', message, {
    hint: 'Pass JSON such as {"subagent_type": "general-purpose", "model": "fast", "prompt": "…"}.',
    cause,
  });
}
