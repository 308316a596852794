// The home page shows today: what is waiting for you, the timeline, what was done and what is next. /sense?day= shows
// another day, without the parts about the present.

import { isSignedIn, storage } from './daemon.js';
import { DAY_URLS, LATE_URLS } from './day-urls.js';
import { around, byId, command, h, show } from './dom.js';
import {
  zoneWords,
  clock as clockOf,
  dayOf,
  daysBefore,
  isDay,
  longDay,
  grouped,
  minutes,
  noDate,
  ownZone,
  setZone,
  shortDay,
} from './format.js';
import { byKind, daysUpTo, KINDS, showDays } from './kinds.js';
import { onTurn, onWaiting } from './keys.js';
import { follow } from './live.js';
import { drawPanels } from './notes.js';
import { isEmpty, ledgerRows, showApps, showLedger, sum, watchKinds } from './sense-time.js';
import { timeline } from './timeline.js';
import { plainTitle } from './work-rows.js';
import { namesOf, SET_UP_WORK, showDone, showNext, showRunning, showUsage } from './today-lists.js';
import { changes, showWaitingList, watchActs } from './waiting-list.js';

/** @typedef {import('../../src/lib/daemon/day-route').DayDocument} DayDocument */
/** @typedef {import('../../src/lib/sessions/rows').SessionsReport} SessionsReport */
/** @typedef {import('../../src/lib/inbox/row').Inbox} Inbox */
/** @typedef {import('../../src/lib/work/board').BoardView} Board */
/** @typedef {import('../../src/lib/daemon/status').DaemonStatus} Status */
/** @typedef {import('../../src/lib/time/record').RecordDocument} DailyRecord */
/** @typedef {import('../../src/lib/sense/insight-reads').Insight} Insight */
/** @typedef {import('../../src/lib/daemon/usage-route').UsageDocument} Usage */
/** The time when the connection was lost, as text. @typedef {string | undefined} Lost */

/** Stored in the browser once the user has dismissed the setup steps. */
const SETUP_KEY = 'steward-setup-dismissed';
let dismissals = 0;
const given = new URLSearchParams(location.search);
const asked = given.get('day');
/** The application and repository that filter the page. @typedef {{ app?: string | undefined, repo?: string | undefined }} Picked */
/** @type {Picked} */
let picked = {
  app: given.get('app') ?? undefined,
  repo: given.get('repo') ?? undefined,
};
const picture = timeline(byId('timeline'), byId('readout'), byId('timeline-table'), pick);

const { refresh, redraw } = follow(
  {
    ...DAY_URLS,
    ...(asked !== null && { day: `${DAY_URLS.day}?day=${encodeURIComponent(asked)}` }),
    ...LATE_URLS,
  },
  (feeds, { now, lostAt }) => {
    const { problem } = feeds.day;
    const minute = `${Math.floor(now / 60_000)} ${lostAt}`;
    const day = /** @type {DayDocument | undefined} */ (feeds.day.data);
    // A past day has the zone in which it was recorded.
    if (day !== undefined) setZone(day.timezone);
    const lost = lostAt === undefined ? undefined : clockOf(lostAt);
    const report = /** @type {SessionsReport | undefined} */ (feeds.sessions.data);
    const status = /** @type {Status | undefined} */ (feeds.status.data);
    const inbox = /** @type {Inbox | undefined} */ (feeds.inbox.data);
    const board = /** @type {Board | undefined} */ (feeds.work.data);
    const recent = /** @type {DailyRecord[] | undefined} */ (feeds.recent.data);
    const slugs = (report?.sessions ?? []).map(({ slug, status }) => status === 'waiting' && slug).join(' ');
    const insight = /** @type {Insight | undefined} */ (feeds.insight.data);
    const hasHooks = moduleOf(status, 'hooks')?.state === 'ok';
    const usage = /** @type {Usage | undefined} */ (feeds.usage.data);
    const capturing = capturingOf(status);
    drawPanels([
      {
        name: 'Sessions',
        feeds: [feeds.sessions, feeds.inbox],
        from: [
          report,
          inbox,
          board,
          day?.day,
          minute,
          isSignedIn(),
          changes,
          hasHooks,
          feeds.sessions.problem,
          feeds.inbox.problem,
        ],
        draw() {
          // Drawn once, with both answers.
          const isReady = [feeds.sessions, feeds.inbox].every(({ data, problem }) => data ?? problem);
          byId('running-section').hidden = !isReady;
          if (!isReady) return;
          showSessions(report, inbox, board, hasHooks, now, lost);
          showUnknown('running', feeds.sessions);
          showUnknown('waiting-list', feeds.inbox);
          if (inbox === undefined) byId('waiting').hidden = false;
        },
      },
      {
        name: 'Day',
        feeds: isMissing(problem) ? [] : [feeds.day],
        from: [
          day,
          board,
          problem,
          minute,
          picked.app,
          picked.repo,
          slugs,
          isSignedIn(),
          innerWidth,
          capturing,
        ],
        draw() {
          if (day !== undefined) showDay(titled(day, report, board), slugs.split(' '), capturing, now, lost);
          else if (isMissing(problem)) showMissing(now, problem);
        },
      },
      {
        name: 'Setup',
        feeds: [],
        from: [day, report, status, board, dismissals],
        draw: () => showSetup(day, report, status, board),
      },
      {
        name: 'Last seven days',
        feeds: [feeds.recent],
        from: [day, recent],
        draw() {
          if (day !== undefined && recent !== undefined)
            showDays(byId('week'), daysUpTo(day.day, 7, [...recent, day.record]), day.damaged);
        },
      },
      {
        name: 'Recent activity',
        feeds: [feeds.insight],
        from: [insight, day?.timezone, minute, feeds.insight.problem],
        draw() {
          showUnknown('flow', feeds.insight);
          if (insight === undefined) return;
          void import('./sense-flow.js').then(({ showFlow }) => showFlow(byId('flow'), insight, now));
        },
      },
      {
        name: 'Usage',
        feeds: [feeds.usage],
        from: [usage, day?.day, feeds.usage.problem],
        draw() {
          showUnknown('usage', feeds.usage);
          if (usage !== undefined) showUsage(byId('usage'), usage, day?.day);
        },
      },
      {
        name: 'Next',
        feeds: [feeds.work],
        from: [board, inbox, day?.timezone, minute, feeds.work.problem],
        draw() {
          showNext(byId('next'), board, inbox?.rows ?? [], now, lost);
          showUnknown('next', feeds.work, 'li');
        },
      },
    ]);
    return asked === null ? 'Today' : day ? shortDay(day.day) : byId('day-title').textContent;
  },
  ['insight', 'recent', 'usage'],
);
onTurn('/');
onWaiting();
for (const id of ['waiting-list', 'running'])
  watchActs(
    byId(id),
    async () => {
      await refresh();
      redraw();
    },
    redraw,
  );
watchKinds(byId('classified'), () => asked ?? undefined, refresh);
if (asked !== null) show(byId('day-title'), asked);

/** Returns whether the daemon has no record for the day in the URL. @param {import('./live.js').Problem | undefined} problem */
function isMissing(problem) {
  return asked !== null && (['not_found', 'usage'].includes(problem?.kind ?? '') || isDamaged(problem));
}

/** Returns whether the day in the URL was recorded, but can't be read. @param {import('./live.js').Problem | undefined} problem */
function isDamaged(problem) {
  return problem?.kind === 'config' && problem.message.includes('not a valid daily record');
}

/** @param {number} now @param {import('./live.js').Problem | undefined} problem */
function showMissing(now, problem) {
  const isBad = isDamaged(problem);
  const why = `Its record can't be read, and no readable event log is left to rebuild it from. ${problem?.message ?? ''}`;
  show(byId('facts'), isBad && h('span', why));
  if (isDay(asked)) showHead(asked, dayOf(now), undefined);
  else show(byId('day-links'), h('a', { href: '/' }, 'Today'));
  const none = isBad
    ? `${longDay(asked ?? '')}: recorded, unreadable`
    : `No record for ${longDay(asked ?? '')}`;
  show(byId('day-title'), isDay(asked) ? none : noDate(asked));
}

/**
 * Names the sessions of a day as in the lists.
 * @param {DayDocument} day @param {SessionsReport | undefined} report @param {Board | undefined} board @returns {DayDocument}
 */
function titled(day, report, board) {
  const names = namesOf(report?.sessions ?? [], board);
  const issues = new Map((board?.items ?? []).map(({ number, title }) => [number, plainTitle(title)]));
  const sessions = day.sessions.map((one) => ({
    ...one,
    title: names.get(one.slug) ?? (issues.get(one.issue ?? 0) || one.title),
  }));
  return { ...day, sessions };
}

/**
 * @param {SessionsReport | undefined} report @param {Inbox | undefined} inbox @param {Board | undefined} board
 * @param {boolean} hasHooks @param {number} now @param {Lost} lost
 */
function showSessions(report, inbox, board, hasHooks, now, lost) {
  const names = namesOf(report?.sessions ?? [], board);
  const count = showWaitingList(byId('waiting-list'), inbox?.rows ?? [], names, now, lost);
  byId('waiting').hidden = count === 0 && byId('did').textContent === '';
  show(byId('waiting-title'), lost ? `Waiting at ${lost}` : 'Waiting for you');
  show(byId('running-title'), lost ? `Working at ${lost}` : 'Working now');
  showRunning(byId('running'), report?.sessions, hasHooks, names, now, lost);
}

/** Says that a panel could not be read. @param {string} id @param {import('./live.js').Feed} feed @param {string} [tag] */
function showUnknown(id, { data, problem }, tag = 'p') {
  if (data === undefined && problem) show(byId(id), h(`${tag}.muted`, 'Unknown.'));
}

/** @param {Status | undefined} status @param {string} id */
function moduleOf(status, id) {
  return status?.modules.find((one) => one.id === id);
}

/** Returns whether applications are captured, and when next; undefined if they are not. @param {Status | undefined} status */
function capturingOf(status) {
  if (status === undefined || moduleOf(status, 'sense')?.state === 'off') return undefined;
  const at = Date.parse(status.jobs.find(({ id }) => id === 'capture')?.nextRun ?? '');
  return at > 0 ? `The next capture is at ${clockOf(at)}.` : '';
}

/**
 * @param {DayDocument} day @param {string[]} waiting the sessions waiting for you @param {string | undefined} capturing
 * @param {number} now @param {Lost} lost
 */
function showDay(day, waiting, capturing, now, lost) {
  const { record, timezone, startMs } = day;
  const today = dayOf(now);
  const isToday = day.day === today;
  const clock = (/** @type {number} */ at) => clockOf(startMs + at * 1000);
  showHead(day.day, today, timezone, (day.others ?? []).length > 0);
  const { app, repo } = picked;
  const names = [app, repo].filter((name) => name !== undefined);
  const only = names.join(' · ');
  const counted = day.machines?.filter((one) => one.minutes) ?? [];
  const time = byKind(record);
  const tracked = isToday ? (lost ? ` tracked until ${lost}` : ' tracked so far') : ' tracked';
  const machines = counted.length > 1 ? ` on ${counted.length} machines` : '';
  const until = isToday ? Math.round((now - startMs) / 1000) : undefined;
  const rank = (/** @type {{ isWaiting: boolean }} */ { isWaiting }) => Number(!isWaiting);
  const sessions = day.sessions
    .map((session) => ({ ...session, isWaiting: isToday && waiting.includes(session.slug) }))
    .sort((a, b) => rank(a) - rank(b));
  const shown = filtered({ ...day, sessions }, picked);
  const apps = repo === undefined ? record.apps.filter((one) => app === undefined || one.app === app) : appsIn(record, repo, app); // prettier-ignore
  const own = app === undefined ? timeIn(record, repo) : sum(apps.map((one) => one.minutes));
  const commits = commitsIn(record, repo);
  show(
    byId('facts'),
    record.totalMinutes === null
      ? h('span', 'Time not recorded')
      : h(
          'span',
          h('b.large', minutes(only === '' ? record.totalMinutes : own)),
          only === '' ? `${tracked}${machines}` : ` ${app === undefined ? 'in' : 'with'} ${only}`,
        ),
    record.totalMinutes !== null &&
      only === '' &&
      KINDS.map((kind) => h('span', h('b', minutes(time[kind])), ` ${kind}`)),
    h('span', h('b', grouped(commits)), commits === 1 ? ' commit' : ' commits'),
    shown.closed.length > 0 && h('span', h('b', grouped(shown.closed.length)), ' closed'),
    only !== '' &&
      record.totalMinutes !== null &&
      h('span.muted', `of ${minutes(record.totalMinutes)}${tracked}${machines}`),
  );
  const isNone = shown.spans.length === 0 && day.spans.length > 0;
  const rest = isNone ? `No time matches ${only}.` : summary(day, isToday, clock, lost, capturing);
  picture.draw(shown, { until, rest, clock });
  show(byId('picked'), only !== '' && h('button.more', `Only ${only} ×`));
  for (const id of ['flow-section', 'usage-section', 'week-section']) byId(id).hidden = !isToday;
  showLists({ ...shown, record: { ...record, apps } }, names, isToday, clock, capturing, lost);
}

/**
 * Shows the lists below the timeline.
 * @param {DayDocument} day what is picked of it @param {string[]} names what is picked @param {boolean} isToday
 * @param {(at: number) => string} clock @param {string | undefined} capturing @param {Lost} lost
 */
function showLists(day, names, isToday, clock, capturing, lost) {
  const { record, watched } = day;
  const { repo } = picked;
  const next = isToday && !lost ? capturing : '';
  const noApps =
    names.length > 0
      ? h('p.muted', `No applications match ${names.join(' · ')}.`)
      : capturing === undefined
        ? undefined
        : h('p.muted', `No applications were recorded${isToday ? ' yet' : ''}. ${next}`);
  showApps(byId('apps'), [record], noApps);
  const none = watched > 0 && h('p.muted', `No time in repositories${isToday ? ' yet' : ''}.`);
  showLedger(byId('ledger'), [record], { picked: repo, none });
  showDone(byId('done'), day, clock, commitsIn(record, repo), names);
}

/** Returns your minutes in a repository, or all. @param {DailyRecord} record @param {string | undefined} repo */
function timeIn(record, repo) {
  return ledgerRows([record]).find(([name]) => name === repo)?.[1][0] ?? 0;
}

/** Returns how many commits a repository has, or all have. @param {DailyRecord} record @param {string | undefined} repo */
function commitsIn({ commits }, repo) {
  if (repo === undefined) return commits.count;
  return commits.repos.find((one) => one.repo === repo)?.commits ?? 0;
}

/**
 * Returns the applications of a repository, all or one. The record counts time that several machines share once.
 * @param {DailyRecord} record @param {string} repo @param {string | undefined} only @returns {DailyRecord['apps']}
 */
function appsIn({ apps, ledger }, repo, only) {
  return (ledger?.attention ?? [])
    .filter((one) => one.repo === repo && (only === undefined || one.app === only))
    .map(({ app, minutes: own }) => {
      const { kind = 'neutral' } = apps.find((one) => one.app === app) ?? {};
      return { app, kind, minutes: own };
    });
}

/** Returns the part of a day that belongs to what is picked. @param {DayDocument} day @param {Picked} picked @returns {DayDocument} */
function filtered(day, { app, repo }) {
  if (app === undefined && repo === undefined) return day;
  const isHere = (/** @type {{ repo: string | null }} */ one) => repo === undefined || one.repo === repo;
  const partOf = (/** @type {import('./timeline-items.js').Timeline} */ machine) => ({
    spans: machine.spans.filter(
      ([, , name, folder]) =>
        (app === undefined || machine.apps[name]?.[0] === app) &&
        (repo === undefined || (folder !== undefined && machine.repos[folder] === repo)),
    ),
    commits: machine.commits.filter(isHere),
    sessions: machine.sessions.filter(isHere),
  });
  const others = day.others?.map((one) => ({ ...one, ...partOf(one) })) ?? [];
  return { ...day, ...partOf(day), others, closed: repo === undefined ? day.closed : [] };
}

/**
 * Shows the page for one application or repository, or for all. The address keeps the choice, and the place that was
 * pressed stays where it is.
 * @param {Picked} [choice] @param {Element} [pressed]
 */
function pick({ app, repo } = {}, pressed = undefined) {
  picked = { app, repo };
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(picked))
    if (value === undefined) address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  history.replaceState(null, '', address);
  const top = pressed?.getBoundingClientRect().top ?? 0;
  redraw();
  // The page draws before this frame.
  if (pressed) requestAnimationFrame(() => scrollBy(0, pressed.getBoundingClientRect().top - top));
}
byId('picked').addEventListener('click', () => {
  // The button goes, so the focus moves on to what it filtered.
  const next = byId('timeline').querySelector('[role=slider]');
  if (next instanceof HTMLElement) next.focus({ preventScroll: true });
  pick();
});
byId('ledger').addEventListener('click', (event) => {
  const repo = around(event, '[data-repo]')?.dataset.repo;
  if (repo !== undefined) pick({ repo: repo === picked.repo ? undefined : repo }, byId('ledger'));
});

/** @param {string} shown @param {string} today @param {string | undefined} timezone @param {boolean} [isMerged] */
function showHead(shown, today, timezone, isMerged = false) {
  const isOwn = timezone === ownZone();
  const zone = (isOwn && !isMerged) || timezone === undefined ? undefined : zoneWords(timezone, shown);
  show(byId('day-title'), longDay(shown));
  const before = daysBefore(shown, 1);
  const after = daysBefore(shown, -1);
  show(
    byId('day-links'),
    h('a', { href: `/sense?day=${before}`, rel: 'prev', 'data-key': 'before' }, `‹ ${shortDay(before)}`),
    shown < today &&
      h(
        'a',
        { href: after === today ? '/' : `/sense?day=${after}`, rel: 'next', 'data-key': 'after' },
        `${shortDay(after)} ›`,
      ),
    shown !== today && after !== today && h('a', { href: '/', 'data-key': 'today' }, 'Today'),
    h('a', { href: `/sense?to=${shown}`, 'data-key': 'week' }, 'Week'),
    zone && h('span.muted', { 'data-key': 'zone' }, zone),
  );
}

/** Returns the text shown while nothing in the timeline is selected. @param {DayDocument} day @param {boolean} isToday @param {(at: number) => string} clock @param {Lost} lost @param {string} [capturing] */
function summary({ spans, others, notSeen, raw, record }, isToday, clock, lost, capturing = '') {
  if (!raw && record.totalMinutes) return 'The event log of this day was deleted; the totals remain.';
  const first = spans[0];
  if (first === undefined && (others ?? []).some((one) => one.spans.length > 0))
    return 'Nothing was recorded on this machine.';
  if (first === undefined) {
    if (isToday) return `No captures yet today. ${capturing}`.trim();
    return isEmpty(record) ? 'Nothing was recorded on this day.' : 'No application time was captured.';
  }
  const all = [...spans, ...(others ?? []).flatMap((one) => one.spans)];
  const start = Math.min(...all.map(([at]) => at));
  const end = Math.max(...all.map(([at, length]) => at + length));
  const away = notSeen.idleMinutes > 0 ? ` · away ${minutes(notSeen.idleMinutes)}` : '';
  return `${clock(start)} to ${isToday ? (lost ?? 'now') : clock(end)}${away}`;
}

/**
 * Shows the setup steps, in order, until all are done or the list is dismissed.
 * @param {DayDocument | undefined} day @param {SessionsReport | undefined} report
 * @param {Status | undefined} status @param {Board | undefined} board
 */
function showSetup(day, report, status, board) {
  const sense = moduleOf(status, 'sense');
  // Where a source can't see anything, capturing is set up all the same.
  const isSetUp = sense?.state !== 'off';
  const isSeen = !sense || sense.state === 'ok';
  const isNew = day !== undefined && isEmpty(day.record) && !isSeen && asked === null;
  byId('day').hidden = day === undefined || isNew;
  byId('facts').hidden = isNew;
  byId('now').hidden = isNew || asked !== null;
  const hasHooks = moduleOf(status, 'hooks')?.state === 'ok' || (report?.sessions.length ?? 0) > 0;
  /** @type {[string, string, boolean][]} */
  const steps = [
    ['Start capturing', sense?.fix ?? 'steward up', isSetUp],
    ["Show your assistant's sessions", 'steward install hooks', hasHooks],
    ['Track your tasks', SET_UP_WORK, board?.setupRequired === false],
  ];
  const isKnown = day && report && status && board && asked === null;
  const isOpen = steps.some(([, , done]) => !done) && (storage()?.getItem(SETUP_KEY) ?? null) === null;
  show(
    byId('empty'),
    (isNew || (isKnown && isOpen)) &&
      h(
        'div.empty',
        isNew
          ? h('p', h('b', 'Nothing recorded yet.'), ' This page updates automatically.')
          : h('p', h('b', 'Set up'), ' ', h('button.copy', { id: 'dismiss-setup' }, 'Dismiss')),
        isNew && isSetUp && h('p.attention', `${sense?.found} `, sense?.fix && command(sense.fix)),
        h(
          'ol.steps.numbered',
          steps.map(([text, fix, done]) => h('li', `${text}${done ? ' ✓ ' : ': '}`, !done && command(fix))),
        ),
      ),
  );
}
byId('empty').addEventListener('click', (event) => {
  if (!around(event, '#dismiss-setup')) return;
  storage()?.setItem(SETUP_KEY, 'yes');
  dismissals += 1;
  redraw();
});
