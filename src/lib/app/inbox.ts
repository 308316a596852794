import { join } from 'node:path';

import * as v from 'valibot';

import { sessionLogPath } from '../agents/managed/session-log';
import { localSessions } from '../agents/managed/sessions';
import { waitingHosted } from '../agents/managed/waiting';
import { waitingHooks } from '../assistant/registered';
import { configPaths } from '../config/files';
import type { Route } from '../daemon/route';
import { writeRoute } from '../daemon/write-route';
import { askOf, askWaits, decisionFor, type GivenAnswer, withAsks } from '../inbox/answer';
import { answerAsk, waitingAsks } from '../inbox/asks';
import { checkEnd, findRow } from '../inbox/find';
import { checkSnooze, mark, readMarks, snoozedOf, unmarked } from '../inbox/marks';
import { type Inbox, type InboxRow, orderedRows, type InboxWait } from '../inbox/row';
import { elsewhereWaits, issueWaits, sessionWaits, waitOf } from '../inbox/waits';
import { budgetStates } from '../usage/budgets';
import { readAt } from '../usage/collect';
import { crossedBudgets } from '../usage/limits';
import { undelivered } from '../notify/history';
import { deadFolder } from '../notify/outbox';
import { readInstallManifest } from '../platform/files/install-manifest';
import { parseIso, toIso } from '../platform/time/clock';
import { currentSessions } from '../sessions/state';
import type { WorkDeps } from '../work/deps';
import { readWhen } from '../work/due';
import { parseTitle } from '../work/issue';
import { labelReader } from '../work/label';
import { staleness } from '../work/poll';
import { currentPrivacy } from '../work/privacy';
import { storedReviews } from '../work/reviews';
import { installerDeps, zonedNow, type Context } from './context';
import { openElsewhere, openKnown } from './elsewhere';
import { openRunning, openSessions } from './sessions';
import { withTurnSigns } from '../sessions/turn-signs';
import { openUsage } from './usage';
import { openWork } from './work';

interface Waits {
  waits: InboxWait[];
  /** When reminders are due. */
  dues: (string | null)[];
  asOf: Inbox['asOf'];
}

/** Returns everything that waits for you, or only what you snoozed, or both, from stored state alone. */
export async function openInbox(
  context: Context,
  which: 'listed' | 'snoozed' | 'all' = 'listed',
): Promise<Inbox> {
  const { nowMs, zone: timezone } = await zonedNow(context);
  const deps = await openSessions(context);
  // Without a daemon, only the assistant's log says that you refused a request with Esc.
  const { sessions } = withTurnSigns(deps, () => openRunning(context, deps));
  const own = withAsks(sessionWaits(Object.values(sessions), nowMs), waitingAsks(context));
  const others = await openOtherWaits(context, new Map(own.map(({ id, name }) => [id, name])));
  const all = [...own, ...others.waits];
  const marks = readMarks(context.area.inbox);
  const snoozed = snoozedOf(all, marks, nowMs);
  const listed = which === 'snoozed' ? [] : unmarked(all, marks, nowMs);
  const rows = orderedRows(which === 'listed' ? listed : [...listed, ...snoozed], nowMs);
  return {
    rows,
    count: rows.length,
    snoozed: snoozed.length,
    timezone,
    asOf: { sessions: toIso(nowMs), ...others.asOf },
  };
}

const COUNT_VALID_MS = 60_000;

/** Returns how many waits that aren't sessions are listed, since when, and until when that is valid if no file changes. */
export async function openOtherCount(context: Context) {
  const { area, clock } = context;
  const nowMs = clock.now();
  const marks = readMarks(area.inbox);
  const { waits, dues } = await openOtherWaits(context, new Map());
  const times = [...dues, ...Object.values(marks)].map((at) => parseIso(at ?? '') ?? 0);
  const untilMs = Math.min(nowMs + COUNT_VALID_MS, ...times.filter((ms) => ms > nowMs));
  const shown = unmarked(waits, marks, nowMs);
  const [othersSince = null] = shown.map(({ since }) => since).sort();
  return { others: shown.length, othersSince, untilMs };
}

/** Returns the files on which the waits depend. */
export function openInboxFiles({ area }: Context): string[] {
  const { work, managed, installManifest } = area;
  return [
    ...configPaths(area),
    ...[work.cache, work.reviews, area.inbox, area.asks, area.spool, deadFolder(area), area.notifyLog],
    ...[join(area.machine, 'usage'), join(area.machine, 'hosts')],
    ...[managed, ...localSessions(managed).map((id) => sessionLogPath(managed, id))],
    ...[installManifest, ...readInstallManifest(installManifest).map(({ path }) => path)],
  ];
}

/**
 * Returns the waits that aren't sessions of this machine, the due times of the reminders, and when each source was
 * last read.
 */
async function openOtherWaits(context: Context, names: ReadonlyMap<string, string>): Promise<Waits> {
  const { area, clock } = context;
  const now = toIso(clock.now());
  const elsewhere = await openKnown(context);
  const ofWork = workWaits((await openWork(context)).deps);
  const failed = undelivered({ outbox: area.outbox, history: area.notifyLog });
  const asks = waitingAsks(context);
  const { deps: usage } = await openUsage(context);
  const waits = [
    ...ofWork.waits,
    ...elsewhereWaits(elsewhere.rows),
    ...askWaits(asks, names),
    ...failed.map(({ id, at: since, title, text }) => {
      const about = { id, name: `notice-${id.slice(-5)}`, title: title ?? text, since, canEnd: true };
      return waitOf({ ...about, kind: 'delivery', why: 'not delivered', go: 'steward notify history' });
    }),
    ...crossedBudgets(usage.state, await budgetStates(usage)).map(({ id, name, percent, text, since }) =>
      waitOf({
        id,
        name,
        kind: 'budget',
        title: text,
        why: `${percent}% used`,
        since,
        go: 'steward usage --check',
        canEnd: true,
      }),
    ),
    ...waitingHosted(area.managed).map((one) =>
      waitOf({ ...one, name: one.id, kind: 'hosted', title: null, blocks: true }),
    ),
    ...(
      await waitingHooks(installerDeps(context), async () => currentSessions(await openSessions(context)))
    ).map((one) =>
      waitOf({ ...one, name: one.id, kind: 'hooks', why: 'hooks need you', canEnd: one.go === null }),
    ),
  ];
  return {
    waits,
    dues: [...ofWork.dues, ...asks.map(({ until }) => until)],
    asOf: {
      ...elsewhere.asOf,
      ...ofWork.asOf,
      ...(usage.budgets.length === 0 ? {} : { usage: readAt(usage.state) }),
      notifications: now,
      hooks: now,
      'hosted sessions': now,
    },
  };
}

/** Returns the issues, reminders and review requests that wait; none if the repository isn't known to be private. */
function workWaits(deps: WorkDeps): Waits {
  const workRepo = deps.workRepo();
  if (['setup', 'off', 'public'].includes(currentPrivacy(deps))) return { waits: [], dues: [], asOf: {} };
  const nowMs = deps.clock.now();
  const { issues } = deps.cache(workRepo.repo ?? '');
  const factsOf = labelReader();
  const { reviews, at } = storedReviews(deps);
  const waits = [
    ...issueWaits(
      issues.map(({ number, title, url, state, labels, updatedAt, due }) => {
        const { status, priority } = factsOf(labels);
        return { number, title: parseTitle(title).text, url, state, status, priority, updatedAt, due };
      }),
      nowMs,
    ),
    ...reviews.map(({ repo, number, title, url, updatedAt: since }) => {
      const about = { id: `${repo}#${number}`, name: `${repo.replace(/^.*\//, '')}#${number}`, repo };
      const priority = 'P1';
      return waitOf({ ...about, kind: 'review', title, why: 'review requested', url, since, priority });
    }),
  ];
  const dues = issues.map(({ due }) => due);
  return { waits, dues, asOf: { issues: staleness(deps, workRepo).lastFetch, reviews: at } };
}

/**
 * Marks the row with these words as snoozed until a time given in words, or as done; `now` lists it again. Returns
 * the row and the time. Without a time, throws `conflict` if the row ends only when what it waits for happens.
 */
export async function openMark(context: Context, words: string, when?: string) {
  const { area, clock, machineId } = context;
  const isBack = when?.trim() === 'now';
  const row = findRow((await openInbox(context, isBack ? 'snoozed' : 'all')).rows, words, isBack);
  if (when === undefined) checkEnd(row);
  const zoned = await zonedNow(context);
  const untilMs = when === undefined ? null : isBack ? zoned.nowMs : await readWhen(when, zoned);
  if (untilMs !== null) checkSnooze(untilMs, zoned.nowMs);
  await mark({ area, clock, machineId }, [row], untilMs);
  return { row, until: untilMs === null ? null : toIso(untilMs) };
}

/** Answers what a row asks. Throws `conflict` if it has been answered, or can't be answered from elsewhere. */
export async function openAnswer(context: Context, row: InboxRow, given: GivenAnswer, from: string) {
  await answerAsk(context, askOf(row).id, (ask) => decisionFor(ask, given), from);
}

const ANSWER = {
  id: v.pipe(v.string(), v.maxLength(40)),
  answer: v.optional(v.pipe(v.string(), v.maxLength(4000))),
  behavior: v.optional(v.picklist(['allow', 'deny'])),
  forSession: v.optional(v.boolean()),
};

const MARK = {
  id: v.pipe(v.string(), v.maxLength(300)),
  when: v.optional(v.pipe(v.string(), v.maxLength(200))),
};

export function inboxRoutes(context: Context): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/inbox',
      isLive: true,
      async run() {
        await openElsewhere(context);
        return openInbox(context);
      },
    },
    writeRoute('/api/inbox/answer', ANSWER, async ({ id, ...given }) => {
      await answerAsk(context, id, (ask) => decisionFor(ask, given), 'the page');
      return { id };
    }),
    writeRoute('/api/inbox/mark', MARK, async ({ id, when }) => {
      const { row, until } = await openMark(context, id, when);
      return { id: row.id, until };
    }),
  ];
}
