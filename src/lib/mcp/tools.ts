import { recordDocument } from '../time/record';
import type { Context } from '../app/context';
import { openInbox } from '../app/inbox';
import { openNotify } from '../app/notify';
import { openReport } from '../app/report';
import { openSense } from '../app/sense';
import { openSessions } from '../app/sessions';
import { sessionsNow } from '../sessions/turn-signs';
import { openWork } from '../app/work';
import { StewardError } from '../errors';
import { EVENT_NAMES, SOURCES } from '../notify/events';
import { sendNotification } from '../notify/send';
import { blocksOf } from '../report/blocks';
import { reportMarkdown } from '../report/view';
import { recent, today } from '../sense/read';
import { spoolStatus } from '../sessions/spool';
import { sessionsReport } from '../sessions/rows';
import { closeIssue, showIssue } from '../work/actions';
import { createOrQueue, newIssue, newReminder, type AddInput, type ReminderInput } from '../work/add';
import { checkFilter, currentBoard, filterItems, readyItems, type BoardView, type Filter, type Item } from '../work/board'; // prettier-ignore
import { claimIssue } from '../work/claim';
import { canTakeLabel, PRIORITIES, STATUSES } from '../work/label';
import { notSetUp } from '../work/privacy';
import { zonedNow } from '../app/context';
import { readPeriod } from '../platform/time/period';

/** An MCP tool. steward checks the input against the JSON Schema before calling `run`. */
export interface McpTool {
  name: string;
  description: string;
  input: InputSchema;
  /** `signal` aborts when the connection ends. */
  run: (context: Context, input: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>;
}

interface InputSchema {
  [key: string]: unknown;
  type: 'object';
  properties: Record<string, object>;
  required: string[];
  additionalProperties: false;
}

/** Builds a tool's input schema. A trailing `!` marks a required field. */
function inputOf(fields: Readonly<Record<string, object>>): InputSchema {
  const named = Object.entries(fields).map(([name, schema]) => [name.replace(/!$/, ''), schema] as const);
  const required = Object.keys(fields).filter((name) => name.endsWith('!')).map((name) => name.slice(0, -1)); // prettier-ignore
  return { type: 'object', properties: Object.fromEntries(named), required, additionalProperties: false };
}

const text = (description: string, maxLength = 1000): object => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
});
const integer = (description: string, minimum: number, maximum: number): object => ({
  type: 'integer',
  minimum,
  maximum,
  description,
});
const oneOf = (description: string, values: readonly string[]): object => ({
  type: 'string',
  enum: [...values],
  description,
});

const issueNumber = integer('Issue number.', 1, 999_999_999);
const priority = oneOf('P0 is the most urgent.', PRIORITIES);
const status = oneOf('Status of the issue.', STATUSES);
const LIMIT = 20;
const limitField = integer(`Maximum number of issues (default: ${LIMIT}).`, 1, 200);

export const READ_TOOLS: readonly McpTool[] = [
  {
    name: 'today',
    description: "Today's record so far: minutes by application and hour, commits, sessions, and gaps.",
    input: inputOf({}),
    async run(context) {
      const { record, notSeen } = today((await openSense(context)).deps);
      return { record: recordDocument(record), notSeen };
    },
  },
  {
    name: 'recent',
    description: 'The most recent daily records, newest first.',
    input: inputOf({ days: integer('Number of records (default: 7).', 1, 366) }),
    async run(context, { days = 7 }) {
      return recent((await openSense(context)).deps, Number(days)).map(recordDocument);
    },
  },
  {
    name: 'standup',
    description: 'Work done in a period, as Markdown: issues, sessions, commits, time, and gaps in the data.',
    input: inputOf({
      of: text(
        'Period, such as "yesterday", "last week", "2026-11-01..2026-11-07" (default: since yesterday).',
      ),
      repo: text('Only this repository.'),
    }),
    async run(context, { of = 'since yesterday', repo }) {
      const period = await readPeriod(String(of), await zonedNow(context));
      const only = repo === undefined ? undefined : String(repo);
      const report = await openReport(context, period, { repo: only, evidence: false, reminders: false });
      return reportMarkdown(blocksOf(report, 'Standup'));
    },
  },
  {
    name: 'sessions',
    description: 'Running assistant sessions; sessions waiting for the user come first.',
    input: inputOf({
      all: { type: 'boolean', description: 'Include sessions that ended or crashed.' },
    }),
    async run(context, { all }) {
      const deps = await openSessions(context);
      const options = { nowMs: deps.clock.now(), all: all === true };
      return sessionsReport(sessionsNow(deps), spoolStatus(context.area.spool), options);
    },
  },
  {
    name: 'inbox',
    description:
      'Everything that waits for the user, what blocks an agent first, with the age of each source.',
    input: inputOf({}),
    run: (context) => openInbox(context),
  },
  {
    name: 'ready',
    description: 'The ready and queued issues that an agent can take next, in order. Excludes reminders.',
    input: inputOf({ limit: limitField }),
    async run(context, { limit = LIMIT }) {
      const work = await openWork(context);
      const board = await boardOf(work);
      return listed(board, readyItems(board.items, canTakeLabel(work.deps.daName)), Number(limit));
    },
  },
  {
    name: 'list_issues',
    description: 'The issues that match every filter, most urgent first.',
    input: inputOf({
      state: oneOf('State (default: open).', ['open', 'closed', 'all']),
      lane: text('Lane, such as In-Progress.', 40),
      status,
      type: text('Type label, such as reminder.', 40),
      priority,
      property: text('Property label, such as website.', 40),
      agent: text('Name of an agent.', 40),
      search: text('Words in the title.'),
      limit: limitField,
    }),
    async run(context, { limit = LIMIT, ...filter }) {
      const board = await boardOf(await openWork(context));
      checkFilter(filter as Filter, board);
      return listed(board, filterItems(board.items, filter as Filter), Number(limit));
    },
  },
  {
    name: 'show_issue',
    description: 'One issue with its description and comments.',
    input: inputOf({ 'number!': issueNumber }),
    async run(context, { number }) {
      return showIssue((await openWork(context)).deps, Number(number));
    },
  },
];

async function boardOf(work: Awaited<ReturnType<typeof openWork>>): Promise<BoardView> {
  const board = await currentBoard(work.deps, { refresh: false });
  if (board.setupRequired) throw notSetUp();
  return board;
}

function listed({ lastFetch, stale, staleReason }: BoardView, items: readonly Item[], limit: number) {
  return { total: items.length, items: items.slice(0, limit), lastFetch, stale, staleReason };
}

const MAX_BODY = 60_000;

/** Tools that are available only with `--write`. */
export const WRITE_TOOLS: readonly McpTool[] = [
  {
    name: 'remind',
    description: 'Add a reminder. The text may contain the time ("call Ann tomorrow at 10").',
    input: inputOf({
      'text!': text('What to be reminded of.'),
      at: text('Time of the reminder, in natural language (default: the time in the text).', 200),
      priority,
    }),
    async run(context, input) {
      const { deps } = await openWork(context);
      return createOrQueue(deps, await newReminder(deps, input as unknown as ReminderInput));
    },
  },
  {
    name: 'add_issue',
    description:
      'Add an issue. Labels that do not exist in the repository are skipped and listed in the result.',
    input: inputOf({
      'title!': text('What to do, in a few words.'),
      body: text('Details, in Markdown.', MAX_BODY),
      type: text('Type label (default: feature).', 40),
      status,
      priority,
      property: text('Property label, such as website.', 40),
      labels: { type: 'array', items: text('A label.', 50), maxItems: 20, description: 'More labels.' },
    }),
    async run(context, input) {
      const { deps } = await openWork(context);
      return createOrQueue(deps, newIssue({ type: 'feature', ...(input as unknown as AddInput) }));
    },
  },
  {
    name: 'claim',
    description: 'Claim an issue for an agent. If two agents try at once, exactly one succeeds.',
    input: inputOf({
      'number!': issueNumber,
      'agent!': text('Agent name, as it appears in the "Agent:" label.', 40),
    }),
    async run(context, { number, agent }) {
      const { deps } = await openWork(context);
      return claimIssue(deps, { number: Number(number), agent: String(agent) });
    },
  },
  {
    name: 'close',
    description: 'Close a finished issue. The evidence is added as its last comment.',
    input: inputOf({
      'number!': issueNumber,
      'evidence!': text('Proof that the work is done: a commit, a link, or test output.', MAX_BODY),
    }),
    async run(context, { number, evidence }) {
      // Reject @FILE, which would let a model upload any file. Only the command line accepts this form.
      if (String(evidence).startsWith('@')) {
        throw new StewardError('usage', '"evidence" must not begin with @ and a file name.', {
          hint: 'Pass the evidence as text.',
        });
      }
      const { deps } = await openWork(context);
      return closeIssue(deps, { number: Number(number), evidence: String(evidence) });
    },
  },
  {
    name: 'notify',
    description: 'Send the user a notification: spoken, shown or pushed, depending on the event.',
    input: inputOf({
      'message!': text('Text of the notification.', 4000),
      title: text('Title of the notification.', 250),
      event: oneOf('Event kind, which determines the channels.', EVENT_NAMES),
      priority: integer('Priority, 1 (lowest) to 5 (ignores quiet hours).', 1, 5),
      source: oneOf('Sender; only messages from `da` are spoken.', SOURCES),
      url: text('URL to open when clicked.', 2000),
      dedupe: text('Key; this message replaces earlier messages with the same key.', 200),
    }),
    async run(context, input) {
      return sendNotification(await openNotify(context), input);
    },
  },
  {
    name: 'ask_me',
    description:
      'Ask the user a question and wait for the answer, up to 50 seconds. If the result has an id instead of an answer, call again with only that id.',
    input: inputOf({
      question: text('What you need to know, with the context to decide it.', 4000),
      options: {
        type: 'array',
        items: text('An answer.', 300),
        maxItems: 20,
        description: 'Answers to choose from.',
      },
      urgent: { type: 'boolean', description: 'Whether to ignore quiet hours (default: false).' },
      id: text('Id of an earlier question that is still waiting.', 40),
    }),
    run: async (context, input, signal) =>
      (await import('../app/answers')).openAskMe(context, input, { signal }),
  },
];
