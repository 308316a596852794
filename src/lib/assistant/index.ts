import { StewardError } from '../errors';
import { CLAUDE_CODE } from '../sessions/session-key';
import type { Assistant } from './assistant';
import { claudeCode } from './claude-code';
import { codex } from './codex';
import { copilot } from './copilot';
import { cursor } from './cursor';
import { opencode } from './opencode';
import { qwen } from './qwen';

export const ASSISTANTS: readonly Assistant[] = [claudeCode, codex, copilot, opencode, qwen, cursor];

/** Parses a list of assistants, such as `codex,copilot` or `all`. Throws `usage` for an unknown assistant. */
export function assistantsIn(list: string): readonly Assistant[] {
  const names = [...new Set(list.split(',').map((name) => name.trim()))];
  if (names.includes('all')) return ASSISTANTS;
  return names.map((name) => {
    const found = ASSISTANTS.find(({ id }) => id === name);
    if (found !== undefined) return found;
    const known = ASSISTANTS.map(({ id }) => id).join(', ');
    throw new StewardError('usage', `Unknown assistant "${name}".`, {
      hint: `Use "all", or one or more of: ${known}.`,
    });
  });
}

/**
 * Returns the title of the session's assistant if running sessions use different assistants; undefined
 * otherwise.
 */
export function titleAmong(
  { assistant: own = CLAUDE_CODE }: { assistant?: string },
  running: readonly { assistant?: string }[],
): string | undefined {
  const isMixed = running.some(({ assistant = CLAUDE_CODE }) => assistant !== own);
  return isMixed ? ASSISTANTS.find(({ id }) => id === own)?.title : undefined;
}
