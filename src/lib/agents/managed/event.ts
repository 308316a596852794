import { StewardError } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { clean } from '../../platform/terminal/terminal';

/** An event from the service. The service may add new types. */
export interface ManagedEvent extends Record<string, unknown> {
  type: string;
  id?: string;
}

interface TextBlock {
  type: 'text';
  text: string;
}

/** An event that a client may send. */
export type SentEvent =
  | { type: 'user.message'; content: TextBlock[] }
  | { type: 'user.interrupt' }
  | { type: 'user.tool_confirmation'; tool_use_id: string; result: 'allow' | 'deny'; deny_message?: string }
  | {
      type: 'user.custom_tool_result';
      custom_tool_use_id: string;
      content: TextBlock[];
      is_error?: boolean;
    };

export function asEvent(value: unknown): ManagedEvent | undefined {
  return isObject(value) && typeof value['type'] === 'string' ? (value as ManagedEvent) : undefined;
}

/** Returns an event's id. If the event has no id, returns a key derived from the previous event's key. */
export function eventKey(event: ManagedEvent, before: string): string {
  return hasId(event) ? event.id : `${before}\n${event.type}`;
}

export function hasId(event: ManagedEvent): event is ManagedEvent & { id: string } {
  return typeof event.id === 'string' && event.id !== '';
}

export function idOf(event: ManagedEvent | undefined): string | undefined {
  return event !== undefined && hasId(event) ? event.id : undefined;
}

export function textField(value: unknown, name: string): string | undefined {
  const found = isObject(value) ? value[name] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** Concatenates the text blocks of a message's content. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => textField(block, 'text') ?? '').join('');
}

export function textBlocks(text: string): TextBlock[] {
  return [{ type: 'text', text }];
}

/** Returns the id of the tool use that an event responds to. */
export function targetOf(event: unknown): string | undefined {
  return textField(event, 'tool_use_id') ?? textField(event, 'custom_tool_use_id');
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

/** Returns whether an id is safe in a URL and a file name. */
export function isId(text: string): boolean {
  return ID.test(text) && !DEVICE.test(text);
}

/** Validates and returns a session id that the user typed. Throws `usage` if it is invalid. */
export function checkedId(text: string): string {
  if (isId(text)) return text;
  throw new StewardError('usage', `"${clean(text).slice(0, 80)}" is not a valid id for a session.`, {
    hint: 'Use only letters, digits, _ and -. The list commands show valid ids.',
  });
}
