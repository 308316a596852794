export const ASSISTANT_IDS = ['claude-code', 'codex', 'copilot', 'opencode', 'qwen', 'cursor'] as const;
export type AssistantId = (typeof ASSISTANT_IDS)[number];

/**
 * The default assistant of stored events and sessions. Earlier versions supported only Claude Code and stored
 * no assistant.
 */
export const CLAUDE_CODE = 'claude-code';

/**
 * Returns a session's key: the session id, prefixed with the assistant's name unless that is Claude Code. The
 * prefix prevents collisions between assistants.
 */
export function sessionKey(assistant: string | undefined, id: string): string {
  return assistant === undefined || assistant === CLAUDE_CODE ? id : `${assistant}:${id}`;
}

export function assistantOfKey(key: string): AssistantId {
  return ASSISTANT_IDS.find((id) => id !== CLAUDE_CODE && key.startsWith(`${id}:`)) ?? CLAUDE_CODE;
}

/** Extracts the assistant's own session id from a session key. */
export function idOfKey(key: string): string {
  const end = key.indexOf(':');
  return (ASSISTANT_IDS as readonly string[]).includes(key.slice(0, end)) ? key.slice(end + 1) : key;
}
