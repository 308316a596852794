import { StewardError } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { clean } from '../../platform/terminal/terminal';

/** An event of a session's log as the service sends it; the set of types is open (service.md: Events). */
export interface ManagedEvent extends Record<string, unknown> {
  type: string;
  /** Empty where the service gave none: echoes of interrupts can lack it. */
  id?: string;
}

/** A block of a message. */
export interface TextBlock {
  type: 'text';
  text: string;
}

/** What a client may send (service.md: Managed-agent resources). */
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

/** The event in a parsed value; undefined when it is none. */
export function asEvent(value: unknown): ManagedEvent | undefined {
  return isObject(value) && typeof value['type'] === 'string' ? (value as ManagedEvent) : undefined;
}

/**
 * What tells an event from every other of its log. One without an id is known by what stands before it, since the
 * order of the log is the same each time it is read.
 */
export function eventKey(event: ManagedEvent, before: string): string {
  return hasId(event) ? event.id : `${before}\n${event.type}`;
}

export function hasId(event: ManagedEvent): event is ManagedEvent & { id: string } {
  return typeof event.id === 'string' && event.id !== '';
}

/** A member that is a text; undefined when it is missing or of another type. */
export function textOf(value: unknown, name: string): string | undefined {
  const found = isObject(value) ? value[name] : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** The texts of a content list, one after the other. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => textOf(block, 'text') ?? '').join('');
}

export function textBlocks(text: string): TextBlock[] {
  return [{ type: 'text', text }];
}

const GRAMMAR = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/i;

/** May it become a part of an address and the name of a file? */
export function isId(text: string): boolean {
  return GRAMMAR.test(text) && !DEVICE.test(text);
}

/** An id that a person typed; one that is none is `usage`. */
export function checkedId(text: string, what: string): string {
  if (isId(text)) return text;
  throw new StewardError('usage', `"${clean(text).slice(0, 80)}" is not the id of ${what}.`, {
    hint: 'An id has letters, digits, _ and -; the list commands show them.',
  });
}
