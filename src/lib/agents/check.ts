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

type Found = readonly [rule: string, message: string, fix: string];

/** Names every rule that the invocations break. Pure. */
export function checkInvocations(
  invocations: readonly Invocation[],
  types: AgentTypes,
  named: readonly string[] = [],
): CheckReport {
  const found = invocations.flatMap((one, index) =>
    [...launchBreaches(one, types, named), ...promptBreaches(one, types), ...managedBreaches(one)].map(
      (breach) => [index + 1, ...breach] as const,
    ),
  );
  const all = [...found, ...together(invocations, types).map((breach) => [null, ...breach] as const)];
  const breaches = all.map(([invocation, rule, message, fix]) => ({ invocation, rule, message, fix }));
  return { ok: breaches.length === 0, invocations: invocations.length, breaches };
}

/** What it is launched as: its type and model tier. */
function* launchBreaches(one: Invocation, types: AgentTypes, named: readonly string[]): Generator<Found> {
  const { subagentType: type, model, worker } = one;
  const isManaged = worker === 'managed';
  const all = typesOf(types);
  const isRetired = type !== null && RETIRED.has(type.toLowerCase()) && !all.includes(type);
  if (type === null) {
    if (!isManaged && worker !== 'native')
      yield ['missing-type', 'It has no subagent_type.', 'Ask "steward agents route" for the type.'];
  } else if (isRetired) {
    const fix = `Use ${types.general} with an inline brief.`;
    yield ['retired-type', `The agent type ${shown(type)} is retired.`, fix];
  } else if (!all.includes(type) && !named.includes(type.toLowerCase())) {
    const fix = `The types are ${all.join(', ')}; agents.types in config.yaml renames them, and "steward agents roster new NAME" adds one of yours.`;
    yield ['unknown-type', `Nobody knows an agent type ${shown(type)}.`, fix];
  }
  if (worker === 'custom' && type !== null && !isRetired) {
    const missing = BRIEF_PARTS.filter(({ any }) => !any.test(one.prompt)).map(({ part }) => part);
    if (type !== types.general) {
      const message = `A custom agent is launched as ${shown(type)}; a static built-in type is never a custom agent.`;
      yield ['bare-type', message, `Launch it as ${types.general} with its own brief.`];
    } else if (missing.length > 0) {
      const message = `Its brief has no ${missing.join(', no ')}.`;
      yield ['bare-type', message, 'Let "steward agents brief" write it.'];
    }
  }
  const fix = `Choose ${MODEL_TIERS.join(', ')}.`;
  if (model === null) {
    if (worker !== 'native') yield ['missing-tier', 'It has no model tier.', fix];
  } else if (!one.isCall && !isManaged && !(MODEL_TIERS as readonly string[]).includes(model))
    yield ['unknown-tier', `${shown(model)} is no model tier.`, fix];
}

/** What it is told: no speech, and the mode of the builder. */
function* promptBreaches({ subagentType, prompt, effort }: Invocation, types: AgentTypes): Generator<Found> {
  const word = speaksIn(prompt);
  if (word !== undefined) {
    const message = `Its prompt lets a subagent speak (${shown(word)}); only the assistant speaks.`;
    yield ['speaks', message, 'Take it out, and let the assistant announce the result.'];
  }
  // Another type may go by the same name.
  const isBuilder = typesOf(types).filter((name) => name === types.builder).length === 1;
  if (subagentType !== types.builder || !isBuilder) return;
  if (/\baudit\b/i.test(prompt) && !/^MODE: (?:audit|build)\b/.test(prompt)) {
    const message = 'An audit by the builder does not begin with "MODE: audit".';
    yield ['audit-mode', message, 'Begin its prompt with MODE: audit; it then reads only.'];
  }
  if (/^MODE: audit\b/.test(prompt) && effort !== null && effort < 4) {
    const message = `A cross-vendor audit at effort E${effort}; it is for E4 and E5.`;
    yield ['audit-effort', message, 'Leave it out.'];
  }
}

/** What a managed agent is for. */
function* managedBreaches(one: Invocation): Generator<Found> {
  if (one.worker !== 'managed') return;
  if (one.minutes !== null && one.minutes < 30) {
    const message = `A managed agent for ${one.minutes} minutes; they are for work of 30 minutes and more.`;
    yield ['managed-short', message, 'Do it here, or with a team.'];
  }
  if (one.interactive || asksPerson(one.prompt)) {
    const message = 'A managed agent for interactive work; nobody is there to answer.';
    yield ['managed-interactive', message, 'Do it here, or give it all answers in its prompt.'];
  }
  if (one.needsContext || needsLocal(one.prompt)) {
    const message =
      'A managed agent for work that needs your own context; it sees none of your files and skills.';
    yield ['managed-context', message, 'Do it here, or put what it needs into its prompt.'];
  }
}

function together(invocations: readonly Invocation[], types: AgentTypes): Found[] {
  const found: Found[] = [];
  const briefs = invocations
    .filter(({ worker, prompt }) => worker === 'custom' && prompt.trim() !== '')
    .map(({ prompt }) => prompt.trim());
  if (new Set(briefs).size < briefs.length)
    found.push([
      'same-brief',
      'Two custom agents have the same brief.',
      'Write one distinct brief for each agent.',
    ]);
  const launched = invocations.filter(({ worker }) => worker !== 'native');
  const isSpotcheck = ({ subagentType, model, prompt }: Invocation): boolean =>
    subagentType === types.general && model === 'fast' && /\bspot-?check|\bconsisten/i.test(prompt);
  if (launched.length > 1 && !launched.some(isSpotcheck)) {
    const message = 'Nobody checks the outputs of this parallel work against each other.';
    const fix = `Launch one more agent after it: ${types.general}, fast tier, that verifies consistency.`;
    found.push(['missing-spotcheck', message, fix]);
  }
  if (launched.length > MAX_BRIEFS + 1)
    found.push([
      'fan-out',
      `${launched.length} agents are launched at once.`,
      `Launch ${MAX_BRIEFS} at most.`,
    ]);
  return found;
}

const RETIRED = new Set(['architect', 'designer', 'engineer']);

function typesOf(types: AgentTypes): string[] {
  return [types.general, types.explore, types.plan, types.builder, types.toolGuide, ...types.researchers];
}

function shown(text: string): string {
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
  const lines = bare.split('\n').filter((line) => line.trim() !== '');
  try {
    return JSON.parse(bare);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (lines.length < 2) throw unreadable('It is no JSON.', error);
  }
  return lines.map((line, index): unknown => {
    try {
      return JSON.parse(line);
    } catch (error) {
      throw unreadable(`It is no JSON, and neither is line ${index + 1} by itself.`, error);
    }
  });
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
