import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

import type { DayDocument } from '../../src/lib/daemon/day-route';
import type { UsageDocument } from '../../src/lib/daemon/usage-route';
import type { DaySession } from '../../src/lib/time/day-sessions';
import type { DaemonStatus } from '../../src/lib/daemon/status';
import { tellStory } from '../../src/lib/demo/story';
import { hourStarts } from '../../src/lib/platform/time/time';
import { type Inbox, orderedRows } from '../../src/lib/inbox/row';
import { issueWaits, waitOf } from '../../src/lib/inbox/waits';
import type { SenseEvent } from '../../src/lib/time/event';
import type { Insight } from '../../src/lib/sense/insight-reads';
import { dayDetail, recent, sources, status, today } from '../../src/lib/sense/read';
import type { Collected, SenseSource } from '../../src/lib/sense/source';
import type { SessionRow, SessionsReport } from '../../src/lib/sessions/rows';
import type { BoardView } from '../../src/lib/work/board';
import type { Answers } from './browser';
import { until as untilHere } from './daemon';
import { type SenseBox, commit, focus, senseBox } from './sense';

/** When the full day of the tests is looked at. */
export const NOW = '2026-11-20T17:41:00Z';

/** What the applications of a working day are, by the hour of the day; two minutes a sample. */
const DAY: Record<number, readonly [app: string, samples: number][]> = {
  8: [['Ghostty', 9], ['Firefox', 6]],
  9: [['Ghostty', 22], ['Slack', 4], ['Code', 4]],
  10: [['Code', 24], ['Firefox', 6]],
  11: [['Code', 12], ['Ghostty', 10], ['Firefox', 5], ['Mail', 3]],
  12: [['Firefox', 9], ['Spotify', 4]],
  13: [['Ghostty', 14], ['Slack', 3], ['Firefox', 8]],
  14: [['Ghostty', 20], ['Finder', 4], ['Code', 6]],
  15: [['Code', 26], ['Firefox', 4]],
  16: [['Ghostty', 12], ['Firefox', 11], ['Zoom', 7]],
  17: [['Mail', 4], ['Ghostty', 9]],
}; // prettier-ignore

/** A user area with the fortnight of the demo's first machine, as captures made it. */
export async function fullBox(timezone = 'UTC', now = NOW): Promise<SenseBox> {
  const box = senseBox(now, timezone);
  const story = tellStory({ seed: 42, nowMs: Date.parse(now), zone: timezone, folder: '/home/ann/src' });
  const days = story.machines[0]?.days ?? [];
  const events = days.flatMap(({ focus: apps, commits, sessions }) => [
    ...apps,
    ...commits,
    ...sessions.map(({ key, repo, fromMs }) => session(new Date(fromMs).toISOString(), key, repo)),
  ]);
  await captureInto(box, events);
  return box;
}

/** One capture that sees these events. */
export async function captureInto(box: SenseBox, events: readonly SenseEvent[]): Promise<void> {
  box.deps.sources = realSources(events);
  await box.capture();
}

/** A working day: less of it on some days, so that they differ. */
export function eventsOf(day: string, timezone: string, seed: number): SenseEvent[] {
  const starts = hourStarts(day, timezone);
  const at = (hour: number, minute: number): string =>
    new Date((starts[hour] ?? 0) + minute * 60_000).toISOString();
  const hours = Object.entries(DAY).filter(([hour]) => (Number(hour) * 7 + seed) % 5 !== 0 || seed === 29);
  const apps = hours.flatMap(([hour, list]) =>
    list
      .flatMap(([app, samples]) => Array.from({ length: samples }, () => app))
      .slice(0, seed === 29 ? 30 : 12 + (seed % 19))
      .map((app, i) => focus(at(Number(hour), i * 2), app)),
  );
  const commits = Array.from({ length: 2 + (seed % 8) }, (_, i) =>
    commit(at(9 + i, 20), i % 3 === 0 ? 'notes' : 'steward', `${day}-${i}`),
  );
  const sessions = Array.from({ length: seed % 4 }, (_, i) => session(at(10 + i, 5), `s${seed}-${i}`));
  return [...apps, ...commits, ...sessions];
}

function session(ts: string, id: string, repo = 'steward'): SenseEvent {
  return {
    ts,
    type: 'agent-session',
    source: 'agentSession',
    repo,
    detail: { session: id, events: 12 },
  };
}

/** The three sources with their own words, over the given events. */
export function realSources(
  events: readonly SenseEvent[],
  states: Partial<Record<string, Pick<Collected, 'state' | 'reason'>>> = {},
): SenseSource[] {
  const make = (id: SenseSource['id'], label: string, description: string): SenseSource => ({
    id,
    label,
    description,
    collect: ({ cursor }) => {
      const own = events.filter((event) => event.source === id);
      const from = typeof cursor === 'number' ? cursor : 0;
      return Promise.resolve({ events: own.slice(from), cursor: own.length, state: 'ok', ...states[id] });
    },
  });
  return [
    make('appFocus', 'Applications', 'Which application is in front, by name only: never a window title.'),
    make('git', 'Git', 'Commits in the local branches of the repositories you name.'),
    make(
      'agentSession',
      'Assistant sessions',
      'Which assistant sessions were active, by id and repository; nothing of what was said.',
    ),
  ];
}

/** What the daemon answers, by the functions that it calls. */
export function senseAnswers(box: SenseBox, insight: unknown = INSIGHT): Answers {
  const answers: Answers = {
    '/api/sense/today': () => ({ body: today(box.deps).record }),
    '/api/sense/recent': (url) => {
      const to = url?.searchParams.get('to') ?? undefined;
      const records = recent(box.deps, 30, to === undefined ? {} : { to });
      if (url?.searchParams.get('fields') !== 'totals') return { body: records };
      return { body: records.map(({ commits, ...record }) => ({ ...record, commits: commits.count })) };
    },
    '/api/sense/sources': () => ({ body: sources(box.deps) }),
    '/api/sense/status': () => ({ body: status(box.deps, null) }),
    '/api/sense/insight': () => ({ body: insight }),
    '/api/usage': () => ({ body: NO_USAGE }),
    '/api/day': (url) => ({ body: dayDocument(box, url?.searchParams.get('day') ?? undefined) }),
    '/api/sessions': () => ({ body: SESSIONS }),
    '/api/status': () => ({ body: STATUS }),
    '/api/work': () => ({ body: NO_BOARD }),
    '/api/inbox': () => ({ body: inboxOf(answers) }),
  };
  return answers;
}

const NO_USAGE: UsageDocument = {
  rows: [],
  total: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: null, unpriced: 0 },
  limits: [],
};

/** The inbox of what the other answers show: waiting sessions, due issues and failed deliveries. */
function inboxOf(answers: Answers): Inbox {
  const bodyOf = <T>(path: string): Partial<T> => answers[path]!().body as Partial<T>;
  const { sessions = [] } = bodyOf<SessionsReport>('/api/sessions');
  const { items = [] } = bodyOf<BoardView>('/api/work');
  const { outbox } = bodyOf<DaemonStatus>('/api/status');
  const waiting = sessions.filter(({ status }) => status === 'waiting');
  const waits = [
    ...waiting.map(({ slug, name, task, title, repo, branch, waitingFor, waitingSince, go }) => {
      const kind = waitingFor === null ? 'turn' : 'permission';
      const since = waitingSince ?? NOW;
      const about = { id: slug, slug, name, kind, title: task ?? title, since, repo, branch, go } as const;
      return waitOf({
        ...about,
        why: waitingFor ?? 'turn finished',
        blocks: waitingFor !== null,
        canEnd: waitingFor === null,
      });
    }),
    ...issueWaits(items, Date.parse(NOW)),
    ...Array.from({ length: outbox?.failed ?? 0 }, (_, i) => {
      const about = { id: `d${i}`, name: `notice-d${i}`, title: 'Deployed', why: 'not delivered' } as const;
      return waitOf({ ...about, kind: 'delivery', since: NOW, go: 'steward notify history', canEnd: true });
    }),
  ];
  const rows = orderedRows(waits, Date.parse(NOW));
  return { rows, count: rows.length, snoozed: 0, timezone: 'UTC', asOf: {} };
}

/** What `/api/day` answers; by default for today, with the sessions below. */
export function dayDocument({ deps }: SenseBox, day?: string): DayDocument {
  const { record, notSeen, raw, timeline, startMs } = dayDetail(deps, day ?? today(deps).record.date);
  const { date, timezone, final } = record;
  return {
    ...{ day: date, timezone, startMs, final, record, notSeen, raw, ...timeline },
    sessions: DAY_SESSIONS,
    closed: [{ number: 57, title: 'Write the newsletter of December', at: 56_400 }],
    watched: deps.config.repos.length,
  };
}

const DAY_SESSIONS: DaySession[] = [
  { slug: 'autumn', title: 'A landing page for the autumn campaign', repo: 'website', branch: 'autumn', issue: 57, parts: [[50_400, 4320, 'w'], [54_720, 1440, 'y'], [56_160, 5400, 'w'], [61_560, 2100, 'r']] },
  { slug: 'fix-login', title: 'Fix the login when the session has expired', repo: 'steward', branch: 'main', issue: 12, parts: [[32_760, 2880, 'w'], [35_640, 1440, 'y'], [62_000, 1600, 'w']] },
]; // prettier-ignore

/** A session as the list shows it: one that works on `steward`, unless told. */
export function sessionRow(more: Partial<SessionRow> = {}): SessionRow {
  return {
    ...{ slug: 'fix-login', name: 'fix-login', task: 'Fix the login when the session has expired' },
    ...{ project: null, repo: 'steward', branch: 'main', worktree: null, mode: null, phase: 'execute' },
    ...{ startedAt: '2026-11-20T17:00:00Z', updatedAt: '2026-11-20T17:40:00Z', sessionIds: ['s1'] },
    ...{ artifact: null, github_issue: 12, github_issue_url: null, status: 'working' },
    ...{ assistant: 'Claude Code', model: null, activity: 'editing', waitingFor: null, waitingSince: null },
    ...{ title: null, place: null, pid: 1, subagents: 0, go: 'steward go fix-login' },
    ...more,
  } as SessionRow;
}

const SESSIONS: SessionsReport = {
  sessions: [
    sessionRow({ slug: 'shop', name: 'shop', task: null, repo: 'shop', status: 'waiting', waitingSince: '2026-11-20T16:11:00Z', go: 'steward go shop' }),
    sessionRow({ slug: 'autumn', task: 'A landing page for the autumn campaign', repo: 'website', branch: 'autumn', status: 'waiting', waitingFor: 'asks to run Bash', waitingSince: '2026-11-20T17:35:00Z', go: 'steward go autumn' }),
    sessionRow(),
  ],
  working: 1,
  waiting: 2,
  crashed: 0,
  spool: { waiting: 0, unreadable: 0, dead: 0, deadFolder: '', oldest: null },
}; // prettier-ignore

export const NO_BOARD: BoardView = {
  config: { repo: null, columns: ['Queued', 'Blocked', 'In-Progress', 'In-Review', 'Complete'], pollIntervalSeconds: 60 },
  columns: {},
  items: [],
  lastFetch: null,
  stale: false,
  staleReason: null,
  setupRequired: true,
  steps: ['steward work setup OWNER/REPO --create'],
}; // prettier-ignore

export const INSIGHT: Insight = {
  available: true,
  stale: false,
  date: '2026-11-20',
  narrative:
    'Mostly terminal work and code in steward, with its commits about the daily record; mail and chat came in between, and a call in the late afternoon.',
  contentTypes: [
    { label: 'Source code', share: 0.52, evidence: 'Ghostty, Code, 6 commits in steward' },
    { label: 'Web reading', share: 0.21, evidence: 'Firefox' },
    { label: 'Messages and mail', share: 0.13, evidence: 'Slack, Mail' },
    { label: 'Meetings', share: 0.1, evidence: 'Zoom' },
    { label: 'Music', share: 0.04, evidence: 'Spotify' },
  ],
  since: '2026-11-20T16:00:12Z',
  generatedAt: '2026-11-20T17:00:40Z',
  model: 'fast',
};

/** What `/api/status` answers on a machine where something needs a hand. */
export const STATUS: DaemonStatus = {
  version: '0.1.0',
  pid: 4711,
  uptimeSec: 7800,
  memoryMiB: 61.4,
  startedAt: '2026-11-20T15:31:00Z',
  modules: [
    { id: 'sense', label: 'Sense', state: 'ok', found: '246 events today' },
    { id: 'insight', label: 'Hourly read', state: 'off', found: 'not installed', fix: 'steward install jobs --insight' },
    { id: 'hooks', label: 'Assistant hooks', state: 'warning', found: 'No hook is registered with an assistant.', fix: 'steward install hooks' },
    { id: 'work', label: 'Work', state: 'failed', found: 'The host answers 401.', fix: 'gh auth login' },
  ],
  outbox: { waiting: 2, failed: 1 },
  spool: { waiting: 3, dead: 0, oldest: null },
  jobs: [
    { id: 'capture', everySec: 120, lastRun: '2026-11-20T17:40:00Z', lastOk: true, nextRun: '2026-11-20T17:42:00Z' },
    { id: 'poll', everySec: 60, lastRun: '2026-11-20T17:40:30Z', lastOk: false, reason: 'The host answers 401.', nextRun: '2026-11-20T17:41:30Z' },
  ],
}; // prettier-ignore

export interface OpenOptions extends BrowserContextOptions {
  /** The time that the page believes in, ISO-8601; real time when null. */
  now?: string | null;
}

export interface OpenPage {
  page: Page;
  /** What the page wrote to its console, policy violations and script errors included. */
  console: string[];
  /** Every address that it asked for. */
  requests: string[];
  /** The requests whose answer has not begun. */
  unanswered: Set<unknown>;
  close: () => Promise<void>;
}

/** Opens an address in a fresh profile, and waits until figures are there or said to be missing. */
export async function openPage(browser: Browser, url: string, options: OpenOptions = {}): Promise<OpenPage> {
  const { now = NOW, ...more } = options;
  const context = await browser.newContext({
    viewport: { width: 1200, height: 800 },
    timezoneId: 'UTC',
    ...more,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const console: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => console.push(message.text()));
  page.on('pageerror', (error) => console.push(String(error)));
  const unanswered = new Set<unknown>();
  page.on('request', (request) => {
    requests.push(request.url());
    unanswered.add(request);
  });
  page.on('response', (response) => unanswered.delete(response.request()));
  page.on('requestfailed', (request) => unanswered.delete(request));
  if (now !== null) await page.clock.install({ time: now });
  await page.goto(url);
  await until(
    page,
    "!/…$/.test(document.querySelector('#facts').textContent) || document.querySelector('#notes')?.childNodes.length > 0",
  );
  return { page, console, requests, unanswered, close: () => context.close() };
}

/** The text of an element, its spaces made one. */
export async function textOf(page: Page, selector: string): Promise<string> {
  return ((await page.locator(selector).first().textContent()) ?? '').replace(/\s+/g, ' ').trim();
}

/** Waits until an expression is true in the page, and returns what it is then; the page's policy forbids it to ask itself. */
export async function until(page: Page, expression: string): Promise<unknown> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const value: unknown = await page.evaluate(expression);
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`Not so within a minute: ${expression}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Waits until every request has an answer and the page no longer changes. */
export async function atRest({ page, unanswered }: OpenPage): Promise<void> {
  let last: unknown;
  let same = 0;
  await untilHere('a page at rest', async () => {
    const now = await page.evaluate('document.documentElement.outerHTML + scrollY');
    same = now === last && unanswered.size === 0 ? same + 1 : 0;
    last = now;
    return same === 5;
  });
}

/** Waits until an element's text matches, its spaces made one. */
export async function waitForText(page: Page, selector: string, pattern: RegExp): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const text = await textOf(page, selector);
    if (pattern.test(text)) return;
    if (performance.now() > deadline)
      throw new Error(`${selector} is not ${pattern} within a minute: ${text}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** The cells of a table's body, a list a row. */
export function cellsOf(page: Page, selector: string): Promise<string[][]> {
  return page
    .locator(`${selector} tbody tr`)
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...(row as never as { cells: { textContent: string }[] }).cells].map((cell) => cell.textContent),
      ),
    );
}

/** Lets the page ask again, as if its interval had passed. */
export async function nextRound(page: Page, ms = 31_000): Promise<void> {
  await page.clock.fastForward(ms);
}

/** Fails on anything that the page wrote to its console, and on a request to another host. */
export function expectQuiet({ console, requests }: OpenPage, url: string): void {
  expect(console).to.deep.equal([]);
  expect(requests.filter((one) => !one.startsWith(`${url}/`) && !one.startsWith('data:'))).to.deep.equal([]);
}

/**
 * Milliseconds from the navigation to the frame in which an expression is true, each time in a profile of its
 * own with nothing cached; the pages in turns, so that a slow moment meets all of them.
 */
export async function paintTimes(
  browser: Browser,
  pages: readonly { url: string; isThere: string }[],
  rounds: number,
): Promise<number[][]> {
  const times = pages.map((): number[] => []);
  // The first two start processes of the browser.
  for (let round = -2; round < rounds; round += 1) {
    for (const [index, { url, isThere }] of pages.entries()) {
      const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
      const page = await context.newPage();
      await page.addInitScript(notePaint(isThere));
      await page.goto(url);
      const took = (await until(page, 'window.painted')) as number;
      if (round >= 0) times[index]!.push(took);
      await context.close();
    }
  }
  return times;
}

/** A task that is posted in a frame runs when that frame is painted. */
function notePaint(isThere: string): string {
  return `(() => {
    const look = () => {
      if (!(${isThere})) return requestAnimationFrame(look);
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { window.painted = performance.now(); };
      channel.port2.postMessage(0);
    };
    requestAnimationFrame(look);
  })()`;
}

/** The figures of the week and its columns. */
export const HAS_DATA = `document.querySelector('#facts b') && document.querySelector('#days-table rect')`;
/** Counts the lines of the stream, as another tab would receive them. */
export const COUNT_LINES = `window.lines = 0; new BroadcastChannel('steward-stream').onmessage = () => { window.lines += 1; }`;
/** The figures of the first page and its timeline. */
export const HAS_DAY = `document.querySelector('#facts b') && document.querySelector('[role=slider]')`;
/** The milliseconds to draw a timeline of 20 and of 2,000 intervals into the first page, several times each. */
export const DRAW_MANY = `Promise.all([import('/assets/timeline.js'), fetch('/api/day').then((answer) => answer.json())]).then(
  ([{ timeline }, day]) => {
    const [place, readout, table] = ['timeline', 'readout', 'timeline-table'].map((id) => document.getElementById(id));
    const apps = Array.from({ length: 57 }, (_, i) => ['App ' + i, ['creation', 'consumption', 'neutral'][i % 3]]);
    const picture = timeline(place, readout, table);
    const timesOf = (count) => Array.from({ length: 10 }, (_, round) => {
      const spans = Array.from({ length: count }, (_, i) => [i * 40 + round, 36, i % 57]);
      const from = performance.now();
      picture.draw({ ...day, apps, spans }, { until: 80_000, rest: '', clock: String });
      place.getBoundingClientRect();
      return performance.now() - from;
    });
    return [20, 2000].map(timesOf);
  },
)`;
/** A page with one line, for comparison. */
export const BARE = {
  type: 'text/html',
  text: '<!doctype html><title>bare</title><p id="facts"><b>bare</b></p>',
};
