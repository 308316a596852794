import data from '../../../templates/data/demo.json';
import type { AssistantId } from '../sessions/session-key';

export const REPOSITORY = 'ann/work';
export const PERSON = { name: 'Ann', email: 'ann@example.org' };

interface DemoRepository {
  branches: readonly string[];
  /** The first lines of the prompts that begin sessions. */
  tasks: readonly string[];
  commits: readonly string[];
}

export const REPOSITORIES: Readonly<Record<string, DemoRepository>> = data.repositories;

export const ASSISTANTS: readonly { id: AssistantId; model: string }[] = [
  { id: 'claude-code', model: 'claude-sonnet-4-5' },
  { id: 'codex', model: 'gpt-5-codex' },
  { id: 'opencode', model: 'qwen3-coder' },
  { id: 'copilot', model: 'gpt-5' },
];

export const GOALS = data.goals.join('\n');

interface DemoIssue {
  /** Days since the last change. */
  days: number;
  title: string;
  labels: readonly string[];
  closed?: boolean;
  /** Hours until the reminder is due. */
  dueHours?: number;
}

export const ISSUES: readonly DemoIssue[] = data.issues;
