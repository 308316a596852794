import DATA from '../../../templates/data/mcp-tools.json';
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

type Run = (context: Context, input: Record<string, unknown>, signal: AbortSignal) => Promise<unknown>;
type Name = keyof typeof DATA;

/** What the fields of mcp-tools.json may be, where they name a list of steward's own words. */
const WORDS = { priorities: PRIORITIES, statuses: STATUSES, events: EVENT_NAMES, sources: SOURCES };

/**
 * Returns an MCP tool. steward checks the input against the JSON Schema before calling `run`, whose signal aborts
 * when the connection ends.
 */
function toolOf([name, run]: [string, Run]) {
  const { description, properties, required } = DATA[name as Name];
  const fields = JSON.stringify(properties, (key, value: unknown) =>
    key === 'enum' && typeof value === 'string' ? WORDS[value as keyof typeof WORDS] : value,
  );
  const input = {
    type: 'object' as const,
    properties: JSON.parse(fields) as Record<string, object>,
    required,
    additionalProperties: false,
  };
  return { name, description, input, run };
}

export type McpTool = ReturnType<typeof toolOf>;

const LIMIT = 20;

const READ: Readonly<Partial<Record<Name, Run>>> = {
  async today(context) {
    const { record, notSeen } = today((await openSense(context)).deps);
    return { record: recordDocument(record), notSeen };
  },
  async recent(context, { days = 7 }) {
    return recent((await openSense(context)).deps, Number(days)).map(recordDocument);
  },
  async standup(context, { of = 'since yesterday', repo }) {
    const period = await readPeriod(String(of), await zonedNow(context));
    const only = repo === undefined ? undefined : String(repo);
    const report = await openReport(context, period, { repo: only, evidence: false, reminders: false });
    return reportMarkdown(blocksOf(report, 'Standup'));
  },
  async sessions(context, { all }) {
    const deps = await openSessions(context);
    const options = { nowMs: deps.clock.now(), all: all === true };
    return sessionsReport(sessionsNow(deps), spoolStatus(context.area.spool), options);
  },
  inbox: (context) => openInbox(context),
  async ready(context, { limit = LIMIT }) {
    const work = await openWork(context);
    const board = await boardOf(work);
    return listed(board, readyItems(board.items, canTakeLabel(work.deps.daName)), Number(limit));
  },
  async list_issues(context, { limit = LIMIT, ...filter }) {
    const board = await boardOf(await openWork(context));
    checkFilter(filter as Filter, board);
    return listed(board, filterItems(board.items, filter as Filter), Number(limit));
  },
  async show_issue(context, { number }) {
    return showIssue((await openWork(context)).deps, Number(number));
  },
};

export const READ_TOOLS: readonly McpTool[] = Object.entries(READ).map(toolOf);

async function boardOf(work: Awaited<ReturnType<typeof openWork>>): Promise<BoardView> {
  const board = await currentBoard(work.deps, { refresh: false });
  if (board.setupRequired) throw notSetUp();
  return board;
}

function listed({ lastFetch, stale, staleReason }: BoardView, items: readonly Item[], limit: number) {
  return { total: items.length, items: items.slice(0, limit), lastFetch, stale, staleReason };
}

const WRITE: Readonly<Partial<Record<Name, Run>>> = {
  async remind(context, input) {
    const { deps } = await openWork(context);
    return createOrQueue(deps, await newReminder(deps, input as unknown as ReminderInput));
  },
  async add_issue(context, input) {
    const { deps } = await openWork(context);
    return createOrQueue(deps, newIssue({ type: 'feature', ...(input as unknown as AddInput) }));
  },
  async claim(context, { number, agent }) {
    const { deps } = await openWork(context);
    return claimIssue(deps, { number: Number(number), agent: String(agent) });
  },
  async close(context, { number, evidence }) {
    // Reject @FILE, which would let a model upload any file. Only the command line accepts this form.
    if (String(evidence).startsWith('@')) {
      throw new StewardError('usage', '"evidence" must not begin with @ and a file name.', {
        hint: 'Pass the evidence as text.',
      });
    }
    const { deps } = await openWork(context);
    return closeIssue(deps, { number: Number(number), evidence: String(evidence) });
  },
  async notify(context, input) {
    return sendNotification(await openNotify(context), input);
  },
  ask_me: async (context, input, signal) => (await import('./ask-me')).askMeNow(context, input, { signal }),
};

/** Tools that are available only with `--write`. */
export const WRITE_TOOLS: readonly McpTool[] = Object.entries(WRITE).map(toolOf);
