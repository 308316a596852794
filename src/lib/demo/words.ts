import data from '../../../templates/data/demo.json';
import type { AssistantId } from '../sessions/session-key';

export const REPOSITORY = 'ann/work';
export const PERSON = { name: 'Ann', email: 'ann@example.org' };

/** Each repository has its branches, the first lines of the prompts that begin sessions, and its commits. */
export const REPOSITORIES: Readonly<Record<string, typeof data.repositories.website>> = data.repositories;

export const ASSISTANTS: readonly { id: AssistantId; model: string }[] = [
  { id: 'claude-code', model: 'claude-sonnet-4-5' },
  { id: 'codex', model: 'gpt-5-codex' },
  { id: 'opencode', model: 'qwen3-coder' },
  { id: 'copilot', model: 'gpt-5' },
];

/** A question of an agent that can be answered on the pages. */
export const QUESTION = { ...data.question, kind: 'ask', tool: 'ask_me', canAllow: true } as const;

export const GOALS = data.goals.join('\n');

/** `days` since the last change, and `dueHours` until the reminder is due. */
export const ISSUES = data.issues;
