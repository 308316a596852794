/** The supported assistants. */
export const ASSISTANT_IDS = ['claude-code', 'codex', 'copilot', 'opencode', 'qwen', 'cursor'] as const;
export type AssistantId = (typeof ASSISTANT_IDS)[number];

/** The assistant of events and sessions that name none: for long, it was the only one. */
export const CLAUDE_CODE = 'claude-code';

/**
 * Returns what a session is known by: the assistant's id, after the assistant's name unless that is Claude Code. So
 * two assistants may use the same id.
 */
export function sessionKey(assistant: string | undefined, id: string): string {
  return assistant === undefined || assistant === CLAUDE_CODE ? id : `${assistant}:${id}`;
}

/** Returns the assistant's id of a session. */
export function idOfKey(key: string): string {
  const end = key.indexOf(':');
  return (ASSISTANT_IDS as readonly string[]).includes(key.slice(0, end)) ? key.slice(end + 1) : key;
}
