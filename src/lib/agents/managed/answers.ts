import { StewardError } from '../../errors';
import { clean } from '../../platform/terminal/terminal';
import { textBlocks, type SentEvent } from './event';
import type { ToolUse } from './turn';

/** Who may do what, said before: names of tools (`bash`, `server.tool`), ids of tool uses, or `all`. */
export interface Policy {
  allow: readonly string[];
  deny: readonly string[];
}

/** The answers that a policy gives; a tool in both lists is denied. What it says nothing of is left out. */
export function answersBy({ allow, deny }: Policy, pending: readonly ToolUse[]): SentEvent[] {
  const named = (list: readonly string[], { name, id }: ToolUse): boolean =>
    list.some((entry) => entry === id || (name !== '' && entry === name));
  return pending.flatMap((use): SentEvent[] => {
    if (use.kind === 'custom') return [];
    if (named(deny, use)) return [confirmation(use.id, 'deny')];
    if (named(allow, use)) return [confirmation(use.id, 'allow')];
    if (deny.includes('all')) return [confirmation(use.id, 'deny')];
    return allow.includes('all') ? [confirmation(use.id, 'allow')] : [];
  });
}

export function confirmation(id: string, result: 'allow' | 'deny', why?: string): SentEvent {
  return {
    type: 'user.tool_confirmation',
    tool_use_id: id,
    result,
    ...(why === undefined || result === 'allow' ? {} : { deny_message: why }),
  };
}

/** `ID=TEXT`, `ID=@FILE` (read by `read`) as the result of a custom tool; anything else is `usage`. */
export async function toolResult(
  flag: string,
  isError: boolean,
  read: (value: string) => Promise<string>,
): Promise<SentEvent> {
  const at = flag.indexOf('=');
  if (at < 1) {
    throw new StewardError('usage', `"${clean(flag).slice(0, 80)}" does not say which tool use it answers.`, {
      hint: 'Write --tool-result ID=TEXT or --tool-result ID=@FILE.',
    });
  }
  return {
    type: 'user.custom_tool_result',
    custom_tool_use_id: flag.slice(0, at),
    content: textBlocks(await read(flag.slice(at + 1))),
    ...(isError ? { is_error: true } : {}),
  };
}
