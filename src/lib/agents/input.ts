import { StewardError } from '../errors';
import { isObject, parseObject } from '../platform/files/json-object';
import { namedFile } from '../platform/files/system-files';
import { readStdin, type StdinRead } from '../platform/process/stdin';
import { clean } from '../platform/terminal/terminal';
import { findSession } from '../sessions/find';
import { idOfKey } from '../sessions/session-key';
import { currentSessions, type SessionsDeps } from '../sessions/state';
import { MAX_BRIEFS } from './brief';
import { parseInvocations, type Invocation } from './check';

const MAX_BYTES = 8 * 1024 * 1024;
/**
 * Timeouts for reading hook JSON. Shorter than for piped input, because assistants write to stdin
 * immediately.
 */
const HOOK = { firstByteMs: 10_000, endMs: 30_000, keepBytes: MAX_BYTES };
const PIPE = { firstByteMs: 600_000, endMs: 600_000, keepBytes: MAX_BYTES };

/** Returns up to 8 MiB of stdin, or '' if stdin is a terminal. */
async function stdinText(limits: typeof HOOK): Promise<{ text: string; end: StdinRead['end'] }> {
  const { bytes, end } = await readStdin(
    limits,
    (seen) => limits === HOOK && seen[0] === 0x7b && parseObject(seen.toString('utf8').trim()) !== undefined,
  );
  return { text: bytes.toString('utf8').replace(/^\ufeff/, ''), end };
}

async function wholeStdin(): Promise<string> {
  const { text, end } = await stdinText(HOOK);
  if (end === 'large') throw tooLarge();
  return text;
}

function tooLarge(): StewardError {
  return new StewardError('usage', 'stdin exceeds 8 MiB.', { hint: 'Pipe in less text.' });
}

/** Returns the request from the argument, or from stdin as plain text or hook JSON. */
export async function requestOf(given: string | undefined): Promise<{ request: string; fromHook: boolean }> {
  if (given !== undefined && given !== '-') return { request: nonEmpty(given), fromHook: false };
  const { text, end } = await stdinText(HOOK);
  if (end === 'large') {
    // Don't fail here: exit code 2 from a hook makes the assistant discard the prompt.
    if (/^\s*\{[^]{0,4000}"hook_event_name"/.test(text)) return { request: '', fromHook: true };
    throw tooLarge();
  }
  const { hook_event_name: event, prompt } = parseObject(text.trim()) ?? {};
  if (typeof event === 'string') return { request: typeof prompt === 'string' ? prompt : '', fromHook: true };
  return { request: nonEmpty(typeof prompt === 'string' ? prompt : text), fromHook: false };
}

function nonEmpty(request: string): string {
  if (request.trim() !== '') return request;
  throw new StewardError('usage', 'The request is empty.', {
    hint: 'Pass the request in quotes or on stdin.',
  });
}

/** Reads planned invocations from a file, or from stdin for `-`. */
export async function plannedInvocations(file: string): Promise<Invocation[]> {
  if (file === '-') return parseInvocations(await wholeStdin());
  return parseInvocations(namedFile(file, { maxBytes: MAX_BYTES, instead: 'use - for stdin' }));
}

/** Returns the session id from the hook JSON on stdin. */
async function sessionOfHook(): Promise<string> {
  const id = parseObject((await wholeStdin()).trim())?.['session_id'];
  if (typeof id === 'string' && id !== '') return id;
  throw new StewardError('usage', 'stdin has no hook JSON with a session_id.', {
    hint: 'Use - only in a hook. Otherwise, pass a session id from "steward sessions".',
  });
}

/** Returns a session's slug. `wanted` is the slug, the assistant's session id, or `-` for hook JSON on stdin. */
export async function sessionToWatch(deps: SessionsDeps, wanted: string): Promise<string> {
  const name = wanted === '-' ? await sessionOfHook() : wanted;
  const state = currentSessions(deps);
  const byId = Object.values(state.sessions).filter(({ sessionIds }) =>
    sessionIds.some((id) => id === name || idOfKey(id) === name),
  );
  const newest = byId.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0];
  return (newest ?? findSession(state, name, deps.clock.now())).slug;
}

const EFFORTS: readonly string[] = ['standard', 'extended', 'advanced', 'deep', 'comprehensive'];

/** Parses `E3`, `e3` or `advanced` as 3. Throws `usage` for anything else. */
export function parseEffort(text: string): number {
  const effort = text.trim().toLowerCase();
  const level = Number(/^e([1-5])$/.exec(effort)?.[1] ?? EFFORTS.indexOf(effort) + 1);
  if (level > 0) return level;
  throw new StewardError('usage', `Invalid --effort "${clean(text).slice(0, 40)}".`, {
    hint: `Use E1 to E5, or ${EFFORTS.join(', ')}.`,
  });
}

/** Parses an integer from 1 to `MAX_BRIEFS`. Throws `usage` for anything else. */
export function parseCount(text: string): number {
  const count = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= MAX_BRIEFS) return count;
  throw new StewardError('usage', `Invalid --count "${clean(text).slice(0, 40)}".`, {
    hint: `Use an integer from 1 to ${MAX_BRIEFS}.`,
  });
}

/** Resolves an argument: literal text, `@FILE`, or `@-` for stdin. */
export async function textOrFile(value: string): Promise<string> {
  if (!value.startsWith('@')) return value;
  const path = value.slice(1);
  if (path !== '-') return namedFile(path, { maxBytes: MAX_BYTES, instead: 'use @- or - for stdin' });
  const { text, end } = await stdinText(PIPE);
  if (end === 'end') return text;
  const reason =
    end === 'terminal' ? 'stdin is a terminal' : 'the input exceeds 8 MiB or did not end in time';
  throw new StewardError('usage', `Cannot read stdin (@-): ${reason}.`, { hint: 'Pipe the text to stdin.' });
}

/** Resolves a message argument. Throws `usage` if the message is empty. */
export async function messageOf(value: string): Promise<string> {
  const text = await textOrFile(value);
  if (text.trim() !== '') return text;
  throw new StewardError('usage', 'The message is empty.', {
    hint: 'Pass the message in quotes, as @FILE, or as @- for stdin.',
  });
}

/** Parses a YAML or JSON file; returns {} if no path is given. Throws `usage` if the file is invalid. */
export async function definitionFile(path: string | undefined): Promise<Record<string, unknown>> {
  if (path === undefined) return {};
  const { parseYaml } = await import('../platform/files/yaml-document');
  const parsed = await parseYaml(await textOrFile(`@${path}`));
  if ('problem' in parsed) {
    const { line, column, message } = parsed.problem;
    throw new StewardError('usage', `${clean(path)}, line ${line}, column ${column}: ${message}.`, {
      hint: 'Correct the file.',
    });
  }
  if (isObject(parsed.value)) return parsed.value;
  throw new StewardError('usage', `${clean(path)} is not a mapping of keys to values.`, {
    hint: 'Add keys such as name and model.',
  });
}
