import type { AssistantId } from '../sessions/session-key';

export const REPOSITORY = 'ann/work';
export const PERSON = { name: 'Ann', email: 'ann@example.org' };

interface DemoRepository {
  branches: readonly string[];
  /** The first lines of the prompts that begin sessions. */
  tasks: readonly string[];
  commits: readonly string[];
}

export const REPOSITORIES: Readonly<Record<string, DemoRepository>> = {
  website: {
    branches: ['main', 'checkout', 'phone-layout'],
    tasks: [
      'Fix the login when the session has expired',
      'Show the price with its tax',
      'Make the order list load faster',
      'Draw the calendar on a phone',
      'Add a form for the newsletter',
    ],
    commits: [
      'Fix the login when the session has expired',
      'Show the price with its tax',
      'Load the photos of a list lazily',
      'Test the calendar with 25 hours',
      'Add a form for the newsletter',
      'Remove the old payment form',
      'Keep the filter after going back',
    ],
  },
  payments: {
    branches: ['main', 'retry', 'refunds'],
    tasks: [
      'Retry a payment that timed out',
      'Why are refunds rounded down?',
      'Write tests for partial refunds',
      'Upgrade the bank client to version 4',
    ],
    commits: [
      'Retry a payment that timed out',
      'Round refunds to the nearest cent',
      'Test refunds in three currencies',
      'Log the bank reference of a failure',
      'Upgrade the bank client',
      'Name the currency in every error',
    ],
  },
  notes: {
    branches: ['main'],
    tasks: ['Outline the talk about small teams', 'Check the links of the handbook'],
    commits: ['Outline the talk', 'Fix broken links in the handbook', 'Add the minutes of the meeting'],
  },
};

export const ASSISTANTS: readonly { id: AssistantId; model: string }[] = [
  { id: 'claude-code', model: 'claude-sonnet-4-5' },
  { id: 'codex', model: 'gpt-5-codex' },
  { id: 'opencode', model: 'qwen3-coder' },
  { id: 'copilot', model: 'gpt-5' },
];

export const GOALS = `# Goals

## Active Goals

- **G1**: Release the new checkout
  repos: website, payments
- **G2**: Give the talk in December
  repos: notes
`;

interface DemoIssue {
  /** Days since the last change. */
  days: number;
  title: string;
  labels: readonly string[];
  closed?: true;
  /** Hours until the reminder is due. */
  dueHours?: number;
}

export const ISSUES: readonly DemoIssue[] = [
  {
    days: 0,
    title: 'Write the release notes of the checkout',
    labels: ['Status:ready', 'Priority:P1', 'Property:website', 'Type:feature'],
  },
  {
    days: 1,
    title: 'Refund in the currency of the order',
    labels: ['Status:ready', 'Priority:P2', 'Property:payments', 'Type:bug'],
  },
  {
    days: 0,
    title: '[Reminder] Call the bank about test accounts',
    labels: ['Status:queued', 'Type:reminder', 'Property:payments', 'reminder'],
    dueHours: 20,
  },
  {
    days: 2,
    title: '[Research] Prices of font licences',
    labels: ['Status:queued', 'Type:research', 'Property:website'],
  },
  {
    days: 6,
    title: '[Project-Check] handbook has had no commit in 14 days',
    labels: ['Status:needs-triage', 'Type:project', 'Property:notes', 'auto-sweep'],
  },
  {
    days: 3,
    title: 'Move the shop to the new payment form',
    labels: ['Status:blocked', 'Priority:P1', 'Property:payments'],
  },
  {
    days: 0,
    title: '[Core] Fix the login when the session has expired',
    labels: ['Status:in-progress', 'Priority:P1', 'Property:website', 'Agent:ann', 'Type:feature'],
  },
  {
    days: 8,
    title: 'Search is slow on long lists',
    labels: ['Status:in-progress', 'Priority:P2', 'Property:website', 'Agent:nova', 'stale'],
  },
  {
    days: 0,
    title: '[Core] Show the calendar on a phone',
    labels: ['Status:in-review', 'Priority:P3', 'Property:website', 'Agent:nova'],
  },
  {
    days: 1,
    title: 'Round refunds to the nearest cent',
    labels: ['Status:done', 'Property:payments'],
    closed: true,
  },
  {
    days: 3,
    title: 'Answer the questions of the workshop',
    labels: ['Status:done', 'Property:notes'],
    closed: true,
  },
];
