import { StewardError } from '../errors';
import { parseObject } from '../platform/files/json-object';
import { namedFile } from '../platform/files/system-files';
import { readStdin, type StdinRead } from '../platform/process/stdin';
import { clean } from '../platform/terminal/terminal';
import { MAX_BRIEFS } from './brief';
import { parseInvocations, type Invocation } from './check';
import type { ParseYaml } from './roster';

const MAX_BYTES = 8 * 1024 * 1024;
/** What a person pipes in may take its time; an assistant writes its JSON at once. */
const SOON = { firstByteMs: 10_000, endMs: 30_000, keepBytes: MAX_BYTES };
const LATE = { firstByteMs: 600_000, endMs: 600_000, keepBytes: MAX_BYTES };

/** The first 8 MiB of stdin; a terminal gives nothing. */
async function stdinText(bounds: typeof SOON): Promise<{ text: string; end: StdinRead['end'] }> {
  const { bytes, end } = await readStdin(
    bounds,
    (seen) => bounds === SOON && seen[0] === 0x7b && parseObject(seen.toString('utf8').trim()) !== undefined,
  );
  return { text: bytes.toString('utf8').replace(/^\ufeff/, ''), end };
}

/** All of stdin; more than 8 MiB is `usage`. */
async function wholeStdin(): Promise<string> {
  const { text, end } = await stdinText(SOON);
  if (end === 'large') throw tooLarge();
  return text;
}

function tooLarge(): StewardError {
  return new StewardError('usage', 'There is more than 8 MiB on stdin.', { hint: 'Give less of it.' });
}

/** The request: the argument, else stdin, where an assistant gives its hook JSON and others a text. */
export async function requestOf(given: string | undefined): Promise<{ request: string; fromHook: boolean }> {
  if (given !== undefined && given !== '-') return { request: nonEmpty(given), fromHook: false };
  const { text, end } = await stdinText(SOON);
  if (end === 'large') {
    // Exit code 2 would make the assistant throw the prompt away.
    if (/^\s*\{[^]{0,4000}"hook_event_name"/.test(text)) return { request: '', fromHook: true };
    throw tooLarge();
  }
  const { hook_event_name: event, prompt } = parseObject(text.trim()) ?? {};
  // A hook must not fail for an empty prompt either.
  if (typeof event === 'string') return { request: typeof prompt === 'string' ? prompt : '', fromHook: true };
  return { request: nonEmpty(typeof prompt === 'string' ? prompt : text), fromHook: false };
}

function nonEmpty(request: string): string {
  if (request.trim() !== '') return request;
  throw new StewardError('usage', 'There is no request.', {
    hint: 'Give it in quotes, such as "research the history of tea", or on stdin.',
  });
}

/** The planned invocations of a file, or of stdin for `-`. */
export async function plannedInvocations(path: string): Promise<Invocation[]> {
  if (path === '-') return parseInvocations(await wholeStdin());
  return parseInvocations(namedFile(path, { maxBytes: MAX_BYTES, instead: '- stands for stdin' }));
}

/** The assistant's id of the session in the hook JSON on stdin. */
export async function sessionOfHook(): Promise<string> {
  const id = parseObject((await wholeStdin()).trim())?.['session_id'];
  if (typeof id === 'string' && id !== '') return id;
  throw new StewardError('usage', 'There is no hook JSON with a session_id on stdin.', {
    hint: 'Let the assistant call it as a hook, or name a session of "steward sessions".',
  });
}

const EFFORTS: readonly string[] = ['standard', 'extended', 'advanced', 'deep', 'comprehensive'];

/** `E3`, `e3` or `advanced` as 3; anything else is `usage`. */
export function parseEffort(text: string): number {
  const said = text.trim().toLowerCase();
  const level = Number(/^e([1-5])$/.exec(said)?.[1] ?? EFFORTS.indexOf(said) + 1);
  if (level > 0) return level;
  throw new StewardError('usage', `--effort ${clean(text).slice(0, 40)} is no effort.`, {
    hint: `Use E1 to E5, or ${EFFORTS.join(', ')}.`,
  });
}

/** 1 to as many as one request may launch. */
export function parseCount(text: string): number {
  const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= MAX_BRIEFS) return count;
  throw new StewardError('usage', `--count ${clean(text).slice(0, 40)} is no number of agents.`, {
    hint: `Use a whole number from 1 to ${MAX_BRIEFS}.`,
  });
}

/** TEXT, `@FILE`, or `@-` for stdin. */
export async function textOrFile(value: string): Promise<string> {
  if (!value.startsWith('@')) return value;
  const path = value.slice(1);
  if (path !== '-') return namedFile(path, { maxBytes: MAX_BYTES, instead: '@- or - stands for stdin' });
  const { text, end } = await stdinText(LATE);
  if (end === 'end') return text;
  const why = end === 'terminal' ? 'stdin is a terminal' : 'stdin gave too much, or did not end';
  throw new StewardError('usage', `@- reads stdin, and ${why}.`, { hint: 'Pipe the text in.' });
}

/** A message to an agent; an empty one is `usage`. */
export async function messageOf(value: string): Promise<string> {
  const text = await textOrFile(value);
  if (text.trim() !== '') return text;
  throw new StewardError('usage', 'There is no message.', {
    hint: 'Say in quotes what the agent is to do, or give @FILE, or @- for stdin.',
  });
}

/** The mapping in a YAML (or JSON) file; none without a path. A mistake in it is `usage`, with its place. */
export async function definitionFile(
  path: string | undefined,
  parseYaml: ParseYaml,
): Promise<Record<string, unknown>> {
  if (path === undefined) return {};
  const parsed = await parseYaml(await textOrFile(`@${path}`));
  if ('problem' in parsed) {
    const { line, column, message } = parsed.problem;
    throw new StewardError('usage', `${clean(path)}, line ${line}, column ${column}: ${message}.`, {
      hint: 'Correct the file.',
    });
  }
  const { value } = parsed;
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new StewardError('usage', `${clean(path)} holds no mapping of keys and values.`, {
    hint: 'Write keys such as name: and model: into it.',
  });
}
