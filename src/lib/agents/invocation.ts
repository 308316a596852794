import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';

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
