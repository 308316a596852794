import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { MAX_BRIEFS, MODEL_TIERS, SILENCE } from './brief';
import type { AgentTypes } from './routing';

/** A rule that an invocation breaks. */
export interface Breach {
  /** Which of the invocations, from 1; null: all of them together. */
  invocation: number | null;
  rule: string;
  message: string;
  fix: string;
}

export interface CheckReport {
  ok: boolean;
  invocations: number;
  breaches: Breach[];
}

const RETIRED = new Set(['architect', 'designer', 'engineer']);

/** Names every rule that the invocations break. Pure. */
export function checkInvocations(
  invocations: readonly Invocation[],
  types: AgentTypes,
  named: readonly string[] = [],
): CheckReport {
  const breaches = [
    ...invocations.flatMap((invocation, index) =>
      CHECKS.flatMap((check) => {
        const found = check.breaks(invocation, types, named);
        return found === undefined ? [] : [{ invocation: index + 1, rule: check.rule, ...found }];
      }),
    ),
    ...together(invocations, types),
  ];
  return { ok: breaches.length === 0, invocations: invocations.length, breaches };
}

type Found = Pick<Breach, 'message' | 'fix'> | undefined;

interface Check {
  rule: string;
  breaks: (one: Invocation, types: AgentTypes, named: readonly string[]) => Found;
}

const isManaged = ({ worker }: Invocation): boolean => worker === 'managed';

/** One entry a rule. */
const CHECKS: readonly Check[] = [
  {
    rule: 'missing-type',
    breaks: (one) => one.subagentType !== null || isManaged(one) || one.worker === 'native' ? undefined : { message: 'It has no subagent_type.', fix: 'Ask "steward agents route" for the type.' },
  },
  {
    rule: 'retired-type',
    breaks: ({ subagentType }, types) => isRetired(subagentType, types) ? { message: `The agent type ${shown(subagentType)} is retired.`, fix: `Use ${types.general} with an inline brief.` } : undefined,
  },
  {
    rule: 'unknown-type',
    breaks: ({ subagentType }, types, named) =>
      subagentType === null || isRetired(subagentType, types) || typesOf(types).includes(subagentType) || named.includes(subagentType.toLowerCase())
        ? undefined
        : { message: `Nobody knows an agent type ${shown(subagentType)}.`, fix: `The types are ${typesOf(types).join(', ')}; agents.types in config.yaml renames them, and "steward agents roster new NAME" adds one of yours.` },
  },
  {
    rule: 'bare-type',
    breaks: (one, types) => {
      if (one.worker !== 'custom' || one.subagentType === null || isRetired(one.subagentType, types)) return undefined;
      if (one.subagentType !== types.general) return { message: `A custom agent is launched as ${shown(one.subagentType)}; a static built-in type is never a custom agent.`, fix: `Launch it as ${types.general} with its own brief.` };
      const missing = BRIEF_PARTS.filter(({ any }) => !any.test(one.prompt)).map(({ part }) => part);
      return missing.length === 0 ? undefined : { message: `Its brief has no ${missing.join(', no ')}.`, fix: 'Let "steward agents brief" write it.' };
    },
  },
  {
    rule: 'missing-tier',
    breaks: ({ model, worker }) => model !== null || worker === 'native' ? undefined : { message: 'It has no model tier.', fix: `Choose ${MODEL_TIERS.join(', ')}.` },
  },
  {
    rule: 'unknown-tier',
    breaks: (one) => one.model === null || one.isCall || isManaged(one) || (MODEL_TIERS as readonly string[]).includes(one.model) ? undefined : { message: `${shown(one.model)} is no model tier.`, fix: `Choose ${MODEL_TIERS.join(', ')}.` },
  },
  {
    rule: 'speaks',
    breaks: ({ prompt }) => {
      const word = speaksIn(prompt);
      return word === undefined ? undefined : { message: `Its prompt lets a subagent speak (${shown(word)}); only the assistant speaks.`, fix: 'Take it out, and let the assistant announce the result.' };
    },
  },
  {
    rule: 'audit-mode',
    breaks: ({ subagentType, prompt }, types) =>
      isBuilder(subagentType, types) && /\baudit\b/i.test(prompt) && !/^MODE: (?:audit|build)\b/.test(prompt)
        ? { message: 'An audit by the builder does not begin with "MODE: audit".', fix: 'Begin its prompt with MODE: audit; it then reads only.' }
        : undefined,
  },
  {
    rule: 'audit-effort',
    breaks: ({ subagentType, prompt, effort }, types) => isBuilder(subagentType, types) && /^MODE: audit\b/.test(prompt) && effort !== null && effort < 4 ? { message: `A cross-vendor audit at effort E${effort}; it is for E4 and E5.`, fix: 'Leave it out.' } : undefined,
  },
  {
    rule: 'managed-short',
    breaks: (one) => isManaged(one) && one.minutes !== null && one.minutes < 30 ? { message: `A managed agent for ${one.minutes} minutes; they are for work of 30 minutes and more.`, fix: 'Do it here, or with a team.' } : undefined,
  },
  {
    rule: 'managed-interactive',
    breaks: (one) => isManaged(one) && (one.interactive || asksPerson(one.prompt)) ? { message: 'A managed agent for interactive work; nobody is there to answer.', fix: 'Do it here, or give it all answers in its prompt.' } : undefined,
  },
  {
    rule: 'managed-context',
    breaks: (one) => isManaged(one) && (one.needsContext || needsLocal(one.prompt)) ? { message: 'A managed agent for work that needs your own context; it sees none of your files and skills.', fix: 'Do it here, or put what it needs into its prompt.' } : undefined,
  },
]; // prettier-ignore
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
const SPEAKS =
  /\/notify\b|\bsteward notify send\b|\bvoice_id\b|\bvoice_enabled["']?\s*:\s*true\b|\b(?:speak|announce|say)(?: [a-z]+){0,4} (?:aloud|out loud)\b|\bannounce(?: [a-z]+){0,3} (?:by|with|in your|via) (?:voice|speech)\b|\bspd-say\b|\bespeak(?:-ng)?\b|\btext-to-speech\b/gi;

/** The first words that let it speak; a prompt may as well forbid it, there or at its end. */
function speaksIn(prompt: string): string | undefined {
  const forbidden = prompt.lastIndexOf(SILENCE);
  for (const found of prompt.matchAll(SPEAKS)) {
    if (found.index < forbidden) continue;
    const before = prompt.slice(Math.max(0, found.index - 40), found.index);
    if (!/\b(?:do not|don't|never|no|without|not)\b[^.!?\n]*$/i.test(before)) return found[0];
  }
  return undefined;
}

function together(invocations: readonly Invocation[], types: AgentTypes): Breach[] {
  const found: Breach[] = [];
  const add = (rule: string, message: string, fix: string): void => {
    found.push({ invocation: null, rule, message, fix });
  };
  const briefs = invocations
    .filter(({ worker, prompt }) => worker === 'custom' && prompt.trim() !== '')
    .map(({ prompt }) => prompt.trim());
  if (new Set(briefs).size < briefs.length)
    add('same-brief', 'Two custom agents have the same brief.', 'Write one distinct brief for each agent.');
  const launched = invocations.filter(({ worker }) => worker !== 'native');
  const isSpotcheck = ({ subagentType, model, prompt }: Invocation): boolean =>
    subagentType === types.general && model === 'fast' && /\bspot-?check|\bconsisten/i.test(prompt);
  if (launched.length > 1 && !launched.some(isSpotcheck))
    add(
      'missing-spotcheck',
      'Nobody checks the outputs of this parallel work against each other.',
      `Launch one more agent after it: ${types.general}, fast tier, that verifies consistency.`,
    );
  if (launched.length > MAX_BRIEFS + 1)
    add('fan-out', `${launched.length} agents are launched at once.`, `Launch ${MAX_BRIEFS} at most.`);
  return found;
}

function isRetired(type: string | null, types: AgentTypes): boolean {
  return type !== null && RETIRED.has(type.toLowerCase()) && !typesOf(types).includes(type);
}

/** False where another type goes by the same name. */
function isBuilder(type: string | null, types: AgentTypes): boolean {
  return type === types.builder && typesOf(types).filter((name) => name === type).length === 1;
}

function typesOf(types: AgentTypes): string[] {
  return [types.general, types.explore, types.plan, types.builder, types.toolGuide, ...types.researchers];
}

function shown(text: string | null): string {
  return `"${clean(text ?? '').slice(0, 60)}"`;
}

/** A planned launch of an agent, as far as its fields are known. */
export interface Invocation {
  subagentType: string | null;
  prompt: string;
  model: string | null;
  worker: string | null;
  /** How long it is expected to take; null where nobody said. */
  minutes: number | null;
  interactive: boolean;
  needsContext: boolean;
  /** 1 to 5; null where nobody said. */
  effort: number | null;
  /** What the assistant's own tool is about to be called with: models then go by the assistant's names. */
  isCall: boolean;
}

const MAX_INVOCATIONS = 1000;

/**
 * Reads planned invocations: an object, an array of them, `{"invocations": […]}`, one JSON object a line, a hook's
 * JSON with `tool_input`, or what `agents route` and `agents brief` print. What is none of these is `usage`.
 */
export function parseInvocations(text: string): Invocation[] {
  const values = listOf(valuesIn(text));
  if (values.length === 0) throw unreadable('There is no planned invocation in it.');
  if (values.length > MAX_INVOCATIONS)
    throw unreadable(`It has ${values.length} invocations; ${MAX_INVOCATIONS} are read at most.`);
  return values.map((value, index) => {
    if (!isObject(value)) throw unreadable(`Invocation ${index + 1} is no JSON object.`);
    const call = isObject(value['tool_input']) ? value['tool_input'] : undefined;
    return { ...invocationOf(call ?? value), isCall: call !== undefined };
  });
}

function valuesIn(text: string): unknown {
  const bare = text.replace(/^\ufeff/, '').trim();
  if (bare === '') return [];
  try {
    return JSON.parse(bare);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const lines = bare.split('\n').filter((line) => line.trim() !== '');
    if (lines.length < 2) throw unreadable('It is no JSON.', error);
    return lines.map((line, index) => lineValue(line, index));
  }
}

function lineValue(line: string, index: number): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError)
      throw unreadable(`It is no JSON, and neither is line ${index + 1} by itself.`, error);
    throw error;
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

function invocationOf(value: Record<string, unknown>): Omit<Invocation, 'isCall'> {
  const text = (...keys: string[]): string | null => {
    const found = keys.map((key) => value[key]).find((one) => one !== undefined && one !== null);
    return typeof found === 'string' ? found : null;
  };
  const minutes = value['minutes'] ?? value['estimatedMinutes'] ?? value['estimated_minutes'];
  const effort = /^e?([1-5])$/i.exec(String(value['effort'] ?? ''))?.[1];
  return {
    subagentType: text('subagent_type', 'subagentType'),
    prompt: text('prompt', 'brief') ?? '',
    model: text('model'),
    worker: value['custom'] === true ? 'custom' : (text('worker', 'kind')?.toLowerCase() ?? null),
    minutes: typeof minutes === 'number' && Number.isFinite(minutes) ? minutes : null,
    interactive: value['interactive'] === true,
    needsContext: value['needsContext'] === true || value['needs_context'] === true,
    effort: effort === undefined ? null : Number(effort),
  };
}

function unreadable(message: string, cause?: unknown): StewardError {
  return new StewardError('usage', message, {
    hint: 'Give planned invocations as JSON, such as {"subagent_type": "general-purpose", "model": "fast", "prompt": "…"}.',
    cause,
  });
}
