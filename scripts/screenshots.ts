// npm run screenshots: the pages of the documentation, as Chromium shows them, with the figures of a made-up week.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

import type { DayDocument } from '../src/lib/app/day';
import type { DayLedger } from '../src/lib/time/ledger/model';
import { recent, today } from '../src/lib/sense/read';
import { recordDocument, type DailyRecord } from '../src/lib/time/record';
import { boardView, type BoardView } from '../src/lib/work/board';
import type { Issue } from '../src/lib/work/issue';
import { launchBrowser, servePages } from '../test/helpers/browser';
import {
  dayDocument,
  fullBox,
  NOW,
  senseAnswers,
  HAS_DATA,
  openPage,
  until,
  waitForText,
} from '../test/helpers/dashboard';

const FOLDER = join(__dirname, '..', 'docs', 'images');
const MAX_BYTES = 150_000;

const VIEWS: Readonly<Record<string, { width: number; height: number }>> = {
  today: { width: 1120, height: 920 },
  sense: { width: 1160, height: 760 },
};

async function main(): Promise<void> {
  const box = await fullBox();
  const board = makeBoard();
  const served = await servePages({
    ...senseAnswers(box),
    '/api/day': () => ({ body: makeDay(dayDocument(box)) }),
    '/api/sense/today': () => ({ body: makeRecord(today(box.deps).record) }),
    '/api/sense/recent': () => ({ body: recent(box.deps, 30).map(makeRecord) }),
    '/api/work': () => ({ body: board }),
    '/api/work/status': () => ({ body: { waiting: [] } }),
  });
  served.offerStream();
  const browser = await launchBrowser();
  try {
    for (const scheme of ['light', 'dark'] as const) {
      await shoot(browser, served.url, 'today', scheme, "document.querySelector('#timeline svg')");
      await shoot(browser, served.url, 'sense', scheme, HAS_DATA);
      await shoot(browser, served.url, 'work', scheme, "document.querySelector('main a')");
    }
  } finally {
    await browser.close();
    await served.close();
    box.remove();
  }
}

async function shoot(
  browser: Browser,
  url: string,
  name: string,
  scheme: 'light' | 'dark',
  isThere: string,
): Promise<void> {
  const { page, close } = await openPage(browser, `${url}/${name === 'today' ? '' : name}`, {
    colorScheme: scheme,
    reducedMotion: 'reduce',
    viewport: VIEWS[name] ?? { width: 1280, height: 600 },
  });
  // Signs in, as `steward open` does.
  await page.evaluate("localStorage.setItem('steward-secret', 'x'.repeat(43))");
  await page.reload();
  await until(page, isThere);
  await waitForText(page, '#link', /^● live$/);
  const path = join(FOLDER, `${name}-${scheme}.png`);
  await take(page, path);
  await close();
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; ${MAX_BYTES} at most.`);
  console.log(`docs/images/${name}-${scheme}.png  ${Math.round(size / 1024)} KiB`);
}

async function take(page: Page, path: string): Promise<void> {
  await page.screenshot({ path, animations: 'disabled', caret: 'hide', scale: 'css' });
}

/** Days before the moment of the pictures, title, labels. */
const ISSUES: readonly [days: number, title: string, labels: readonly string[], closed?: true][] = [
  [0, 'Write the release notes', ['Status:ready', 'Priority:P1', 'Property:open-source', 'Type:feature']],
  [0, '[Reminder] Call Ann about the invoice', ['Status:queued', 'Type:reminder', 'Property:life', 'reminder']],
  [1, '[Research] Prices of solar panels', ['Status:queued', 'Type:research', 'Property:life']],
  [2, 'Newsletter 42: what changed in autumn', ['Status:queued', 'Priority:P2', 'Property:newsletter']],
  [6, '[Project-Check] website has had no commit in 14 days', ['Status:needs-triage', 'Type:project', 'Property:website', 'auto-sweep']],
  [3, 'Move the shop to the new payment form', ['Status:blocked', 'Priority:P1', 'Property:consulting']],
  [0, '[Core] Fix the login', ['Status:in-progress', 'Priority:P1', 'Property:website', 'Agent:kai', 'core-sync', 'Type:feature']],
  [8, 'Search is slow on long lists', ['Status:in-progress', 'Priority:P2', 'Property:website', 'Agent:nova', 'stale']],
  [0, '[Core] Show the day on a phone', ['Status:in-review', 'Priority:P3', 'Property:open-source', 'Agent:nova', 'core-sync']],
  [1, '[Native] Sort the photographs of the summer', ['Status:done', 'Property:life', 'auto-native'], true],
  [2, 'Answer the letters of the week', ['Status:done', 'Property:community'], true],
]; // prettier-ignore

const SUBJECTS = [
  'Fix the login when the session has expired',
  'Say why a source is not captured',
  'Test the day with 25 hours',
  'Show the price with its tax',
  'Add a form for the newsletter',
  'Retry a payment that timed out',
  'Load the photos of a list lazily',
];

const CAPTURED_SINCE = '2026-11-07';

/** The record with repositories and agents that somebody could have had; the days before a fortnight are backfilled. */
function makeRecord(record: DailyRecord): DailyRecord {
  const { ledger, creationMinutes, totalMinutes } = record;
  if (ledger === undefined) return record;
  const row = { app: 'Code', branch: null, session: null, assistant: null };
  const agent = (repo: string, share: number): DayLedger['agents'][number] => ({
    ...{ session: repo, assistant: 'claude-code', repo, branch: null },
    cells: {
      working: { desk: Math.round(creationMinutes * share) },
      waiting: {
        desk: Math.round(creationMinutes * share * 0.2),
        away: Math.round(creationMinutes * share * 0.1),
      },
    },
  });
  const agents = [agent('steward', 0.6), agent('website', 0.3)];
  const total = (state: 'working' | 'waiting', place: 'desk' | 'away'): number =>
    agents.reduce((sum, { cells }) => sum + (cells[state]?.[place] ?? 0), 0);
  const cells = {
    working: { desk: total('working', 'desk') },
    waiting: { desk: total('waiting', 'desk'), away: total('waiting', 'away') },
  };
  if (record.date < CAPTURED_SINCE) {
    const none = { totalMinutes: 0, creationMinutes: 0, consumptionMinutes: 0, neutralMinutes: 0 };
    return {
      ...record,
      ...none,
      backfilled: true,
      apps: [],
      ledger: { ...ledger, attention: [], agents, cells },
    };
  }
  const attention = [
    { ...row, repo: 'steward', minutes: Math.round(creationMinutes * 0.6) },
    { ...row, repo: 'website', minutes: Math.round(creationMinutes * 0.3) },
    { ...row, repo: null, minutes: totalMinutes - Math.round(creationMinutes * 0.9) },
  ];
  return { ...record, ledger: { ...ledger, attention, agents, cells } };
}

/** The day with commits that somebody could have made. */
function makeDay(day: DayDocument): DayDocument {
  const commits = day.commits.map((commit, i) => ({
    ...commit,
    subject: SUBJECTS[i % SUBJECTS.length] ?? '',
  }));
  return { ...day, commits, record: recordDocument(makeRecord(day.record as DailyRecord)) };
}

/** The board of the pictures, by the function that the daemon calls. */
function makeBoard(): BoardView {
  const at = (days: number): string =>
    new Date(Date.parse(NOW) - days * 86_400_000 - 5_400_000).toISOString();
  const issues = ISSUES.map(([days, title, labels, closed], index): Issue => ({
    number: 31 + index,
    title,
    identity: null,
    due: null,
    url: `https://github.com/ann/work/issues/${31 + index}`,
    state: closed === true ? 'closed' : 'open',
    stateReason: closed === true ? 'completed' : null,
    labels: [...labels],
    createdAt: at(days + 2),
    updatedAt: at(days),
    closedAt: closed === true ? at(days) : null,
  }));
  const board = boardView({
    clock: { now: () => Date.parse(NOW), monotonic: () => 0 },
    paths: { cache: '/nonexistent/cache.json', poll: '/nonexistent/poll.json' },
    config: {
      KANBAN_COLUMNS: ['Queued', 'Blocked', 'In-Progress', 'In-Review', 'Complete'],
      POLL_INTERVAL_SECONDS: 60,
      CAPTURE_NATIVE: true,
      CAPTURE_SWEEP: true,
      CAPTURE_PROMPT: 'line',
      PROJECT_PROPERTY: {},
    },
    workRepo: () => ({
      repo: 'ann/work',
      enabled: true,
      privacy: {
        verifiedPrivate: true,
        visibility: 'private',
        verifiedAt: at(0),
        ttlHours: 24,
        repo: 'ann/work',
        repoId: 1,
      },
    }),
    cache: () => ({
      repo: 'ann/work',
      issues,
      malformed: 0,
      since: null,
      fullAt: null,
      etag: null,
      labels: null,
    }),
  } as unknown as Parameters<typeof boardView>[0]);
  return {
    ...board,
    lastFetch: new Date(Date.parse(NOW) - 20_000).toISOString(),
    stale: false,
    staleReason: null,
  };
}

void main();
