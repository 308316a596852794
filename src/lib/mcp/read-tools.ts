import { blocksOf } from '../report/blocks';
import { reportMarkdown } from '../report/view';
import { readPeriod } from '../report/period';
import { recent, today } from '../sense/read';
import { spoolStatus } from '../sessions/spool';
import { currentSessions } from '../sessions/state';
import { sessionsReport } from '../sessions/view';
import { showIssue } from '../work/actions';
import {
  checkFilter,
  currentBoard,
  filterItems,
  readyItems,
  type BoardView,
  type Filter,
  type Item,
} from '../work/board';
import { canTakeLabel } from '../work/label';
import { notSetUp } from '../work/privacy';
import { openReport, reportNow } from '../app/report';
import { openSense } from '../app/sense';
import { openSessions } from '../app/sessions';
import { openWork } from '../app/work';
import { flag, inputOf, issueNumber, oneOf, priority, status, text, whole, type McpTool } from './tool';

const LIMIT = 20;

/** The tools that change nothing. */
export const READ_TOOLS: readonly McpTool[] = [
  {
    name: 'today',
    description:
      "Today's record so far: minutes by application and hour, commits, sessions, and what could not be seen.",
    writes: false,
    input: inputOf({}),
    async run(context) {
      const { deps } = await openSense(context);
      const { record, notSeen } = today(deps);
      return { record, notSeen };
    },
  },
  {
    name: 'recent',
    description: 'The last stored daily records, newest first.',
    writes: false,
    input: inputOf({ days: whole('How many; 7 when left out.', 1, 366) }),
    async run(context, { days = 7 }) {
      const { deps } = await openSense(context);
      return recent(deps, Number(days));
    },
  },
  {
    name: 'standup',
    description:
      'What was done in a period, as Markdown: issues, sessions, commits, time, and what is not known.',
    writes: false,
    input: inputOf({
      since: text('A day such as yesterday, friday or 2026-11-20; yesterday when left out.'),
      until: text('The last day; today when left out.'),
      repo: text('Only this repository.'),
    }),
    async run(context, { since = 'yesterday', until, repo }) {
      const asked = { since: String(since), ...(until === undefined ? {} : { until: String(until) }) };
      const period = await readPeriod(asked, await reportNow(context));
      const only = repo === undefined ? undefined : String(repo);
      const report = await openReport(context, period, { repo: only, evidence: false, reminders: false });
      return reportMarkdown(blocksOf(report, 'Standup'));
    },
  },
  {
    name: 'sessions',
    description: 'The assistant sessions that run now, those that wait for the person first.',
    writes: false,
    input: inputOf({ all: flag('Also those that ended or crashed.') }),
    async run(context, { all }) {
      const deps = await openSessions(context);
      const options = { nowMs: deps.clock.now(), all: all === true };
      return sessionsReport(currentSessions(deps), spoolStatus(context.area.spool), options);
    },
  },
  {
    name: 'ready',
    description:
      'The issues that an agent can take next, in order: open, ready or queued, not blocked, and no reminders.',
    writes: false,
    input: inputOf({ limit: whole(`How many at most; ${LIMIT} when left out.`, 1, 200) }),
    async run(context, { limit = LIMIT }) {
      const work = await openWork(context);
      const board = await boardOf(work);
      const items = readyItems(board.items, canTakeLabel(work.deps.daName));
      return listed(board, items, Number(limit));
    },
  },
  {
    name: 'list_issues',
    description: 'The issues that fit every given filter, the most urgent first.',
    writes: false,
    input: inputOf({
      state: oneOf('open when left out.', ['open', 'closed', 'all']),
      lane: text('Such as In-Progress.', 40),
      status,
      type: text('Such as reminder.', 40),
      priority,
      property: text('Such as website.', 40),
      agent: text('Name of an agent.', 40),
      search: text('Words of the title.'),
      limit: whole(`How many at most; ${LIMIT} when left out.`, 1, 200),
    }),
    async run(context, { limit = LIMIT, ...filter }) {
      const board = await boardOf(await openWork(context));
      checkFilter(filter as Filter, board);
      return listed(board, filterItems(board.items, filter as Filter), Number(limit));
    },
  },
  {
    name: 'show_issue',
    description: 'One issue with its text and comments.',
    writes: false,
    input: inputOf({ 'number!': issueNumber }),
    async run(context, { number }) {
      const { deps } = await openWork(context);
      return showIssue(deps, Number(number));
    },
  },
];

async function boardOf(work: Awaited<ReturnType<typeof openWork>>): Promise<BoardView> {
  const board = await currentBoard(work.deps, { refresh: false });
  if (board.setupRequired) throw notSetUp();
  return board;
}

/** How old it is goes with it, and how many there are in all. */
function listed({ lastFetch, stale, staleReason }: BoardView, items: readonly Item[], limit: number) {
  return { total: items.length, items: items.slice(0, limit), lastFetch, stale, staleReason };
}
