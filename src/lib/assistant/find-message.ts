import { isObject, objectsIn, textOf } from '../platform/files/json-object';
import { fileOf, WRITERS } from './payload';

/** What you or an assistant wrote, or the path of a file that the assistant edited. */
export interface SpokenMessage {
  by: 'you' | 'assistant';
  text: string;
}

const PATCHED = /\*\*\* (?:Add|Update|Delete) File: ((?:(?!\\n)[^\n])+)/g;
/** What Codex adds to a conversation in your name. */
const ADDED = /^(?:<[a-z_]+>|# AGENTS\.md)/;

/**
 * Returns the message in an entry of Claude Code, Qwen Code, Codex or Copilot, or the paths of the files that it
 * edits, one a line.
 */
export function messageIn(entry: Record<string, unknown>, files: boolean): SpokenMessage | undefined {
  const { type, payload, data, message, isMeta, isCompactSummary, isSidechain } = entry;
  if (isObject(payload)) return codexMessage(payload, files);
  if (isObject(data)) {
    const edited = editedBy({ name: data['toolName'], input: data['arguments'] });
    return spoken(type === 'user.message' ? 'user' : '', files ? edited : textOf(data['content']));
  }
  if ((type !== 'user' && type !== 'assistant') || !isObject(message)) return undefined;
  if (isMeta === true || isCompactSummary === true) return undefined;
  const content = message['content'] ?? message['parts'];
  const edited = objectsIn(content).map(editedBy).join('\n');
  return spoken(isSidechain === true ? '' : type, files ? edited : textIn(content));
}

function codexMessage(payload: Record<string, unknown>, files: boolean): SpokenMessage | undefined {
  const { type, role, content, input, arguments: call } = payload;
  const patch = textOf(input) ?? textOf(call) ?? '';
  if (files) return spoken('', [...patch.matchAll(PATCHED)].map(([, path]) => path).join('\n'));
  const text = textIn(content);
  if (type !== 'message' || (role !== 'user' && role !== 'assistant')) return undefined;
  return role === 'user' && ADDED.test(text) ? undefined : spoken(role, text);
}

export function spoken(role: string | undefined, text = ''): SpokenMessage {
  return { by: role === 'user' ? 'you' : 'assistant', text };
}

/** Returns the file that a tool call writes. Qwen Code has the call in a field of the part. */
export function editedBy(part: Record<string, unknown>): string | undefined {
  const { name, input, args } = isObject(part['functionCall']) ? part['functionCall'] : part;
  return typeof name === 'string' && WRITERS.has(name) ? fileOf(input ?? args) : undefined;
}

/** Returns the text of a message's content, without what the model thought. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = objectsIn(content).filter(
    ({ text, thought }) => typeof text === 'string' && thought !== true,
  );
  return parts.map(({ text }) => text).join('\n');
}
