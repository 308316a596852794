// The lists on the day page: what is running, what was done and what is next.

import { brief, command, external, folded, h, hint, isVisible, middle, show, wholeAt } from './dom.js';
import { dayOf, minutes, grouped, moment, plural } from './format.js';
import { goButtons } from './waiting-list.js';
import { plainTitle } from './work-rows.js';

/** @typedef {import('../../src/lib/sessions/rows').SessionRow} SessionRow */
/** @typedef {import('../../src/lib/work/board').Item} Item */
/** @typedef {import('../../src/lib/work/board').BoardView} Board */
/** @typedef {import('../../src/lib/daemon/day-route').DayDocument} DayDocument */

/** The command that sets up a repository for issues. */
export const SET_UP_WORK = 'steward work setup OWNER/REPO --create';
const SHOWN = 8;
const OVER = ['ended', 'crashed'];
const RUNNING_SHOWN = 3;
/** The longest name of a session. */
const NAME = 100;
const PRIORITIES = ['P0', 'P1', 'P2', 'P3'];

/** The displayed name of each session, by slug. @typedef {Map<string, string>} Names */

/**
 * Returns a name for each session: its given name, or else the title of its issue, its task or its first prompt. Sessions
 * that would look the same get the end of their slugs.
 * @param {SessionRow[]} sessions @param {Board | undefined} board @returns {Names}
 */
export function namesOf(sessions, board) {
  const issues = new Map((board?.items ?? []).map(({ number, title }) => [number, plainTitle(title)]));
  const looks = sessions.map((session) => {
    const { givenName, github_issue: issue, task, title, name } = session;
    const all = [givenName, issues.get(issue ?? 0), task, title, name];
    const text = cut(all.find((one) => one && isVisible(one)) ?? session.slug);
    // Past sessions are shown with their time.
    const time = OVER.includes(session.status) ? session.updatedAt.slice(0, 16) : '';
    return { text, slug: session.slug, key: `${text} ${placeOf(session)} ${time}` };
  });
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { key } of looks) counts.set(key, (counts.get(key) ?? 0) + 1);
  return new Map(
    looks.map(({ text, slug, key }) => [slug, counts.get(key) === 1 ? text : `${text} (${slug.slice(-4)})`]),
  );
}

/** Cuts a name that would fill a row. @param {string} text */
function cut(text) {
  return text.length > NAME ? `${text.slice(0, wholeAt(text, NAME - 1)).trimEnd()}…` : text;
}

/** @param {Pick<SessionRow, 'repo' | 'branch'> & { elsewhere?: SessionRow['elsewhere'] }} place */
export function placeOf({ repo, branch, elsewhere }) {
  return [elsewhere?.machine, repo, branch].filter(Boolean).join(' · ');
}

/** Says how old the news of another machine is. @param {string} iso @param {number} now */
export function newsAge(iso, now) {
  const sec = Math.max(0, Math.round((now - Date.parse(iso)) / 1000));
  return sec < 60 ? `${sec} s ago` : `${minutes(Math.floor(sec / 60))} ago`;
}

/** Returns what a session is waiting for, and for how long. @param {SessionRow} session @param {number} now @param {boolean} isLost */
export function requestOf({ waitingFor, waitingSince }, now, isLost) {
  const request = isLost ? waitingFor?.replace(/^asks/, 'asked') : waitingFor;
  return [brief(request ?? 'your turn'), ` · ${sinceText(waitingSince, now)}`];
}

/** @param {string | null} iso @param {number} now */
export function sinceText(iso, now) {
  return iso === null ? '' : minutes(Math.max(0, now - Date.parse(iso)) / 60_000);
}

/**
 * @param {Element} place @param {SessionRow[] | undefined} sessions @param {boolean} hasHooks @param {Names} names
 * @param {number} now @param {string} [lost]
 */
export function showRunning(place, sessions, hasHooks, names, now, lost) {
  if (sessions === undefined) return show(place);
  const working = sessions.filter(({ status }) => status === 'working');
  if (sessions.length === 0 && !lost)
    return show(
      place,
      hasHooks
        ? h('p.muted', 'No assistant session is running. The next one appears here when it starts.')
        : hint('No assistant session is running. To see them here, run:', 'steward install hooks'),
    );
  show(
    place,
    working.length === 0
      ? h('p.muted', `No assistant session ${lost ? 'was' : 'is'} working.`)
      : folded(
          working.map((session) => {
            const { slug, activity, assistant, startedAt } = session;
            const phase = session.phase === 'native' ? null : session.phase;
            const facts = [placeOf(session), assistant, phase];
            const since = [activity, sinceText(startedAt, now)];
            return h(
              'li',
              { 'data-key': slug },
              h('b.name', h('a', { href: `/sessions#${slug}` }, names.get(slug))),
              h('span.muted', since.filter(Boolean).join(' · ')),
              middle(facts.filter(Boolean).join(' · ')),
              goButtons(session),
            );
          }),
          RUNNING_SHOWN,
          list,
        ),
  );
}

/**
 * Shows the day's commits and closed issues, latest first.
 * @param {Element} place @param {DayDocument} day @param {(at: number) => string} clock
 * @param {number} count how many commits the record has @param {string[]} only the names of the filter
 */
export function showDone(place, { commits, others = [], closed, watched }, clock, count, only) {
  // Several machines can have the same commit, and publish no hash.
  const all = new Map(
    [
      ...others.flatMap((one) => one.commits.map((commit) => ({ ...commit, machine: one.name }))),
      ...commits.map((commit) => ({ ...commit, machine: '' })),
    ].map((one) => [`${one.at} ${one.repo} ${one.subject}`, one]),
  );
  const rows = [
    ...[...all.values()].map(({ at, repo, sha, subject, machine }) => ({
      at,
      key: `${repo} ${sha || `${at} ${subject}`}`,
      where: repo,
      text: subject || `commit${machine && ` on ${machine}`}`,
    })),
    ...closed.map(({ at, number, title }) => ({
      at,
      key: `#${number}`,
      where: `#${number}`,
      text: `closed: ${title}`,
    })),
  ].sort((a, b) => b.at - a.at);
  const nodes = rows.map(({ at, key, where, text }) =>
    h(
      'li',
      { 'data-key': key, title: key },
      h('span.muted', clock(at)),
      h('span.muted.repo', { title: where }, where),
      h('span.name', text),
    ),
  );
  if (rows.length > 0)
    return show(
      place,
      folded(nodes, SHOWN, (part) => h('ul.done', part), 'earlier'),
    );
  if (count > 0) return show(place, h('p.muted', `${plural(count, 'commit')}; the details were deleted.`));
  if (only.length > 0) return show(place, h('p.muted', `No commits match ${only.join(' · ')}.`));
  const where = watched === 1 ? 'the watched repository' : `the ${watched} watched repositories`;
  if (watched > 0) return show(place, h('p.muted', `No commits in ${where}.`));
  show(place, hint('No commits. To watch repositories, run:', 'steward config add sense.repos ~/src/app'));
}

/** @param {Element[]} rows */
export function list(rows) {
  return h('ul.rows', { 'data-rows': true }, rows);
}

/** Returns when an issue is due, or what is known of it besides its title. @param {Pick<Item, 'number' | 'title' | 'lane' | 'due'>} item @param {number} now */
function stateOf({ number, title, lane, due }, now) {
  if (due !== null) return `due ${moment(Date.parse(due), now)}`;
  if (lane === 'In-Progress') return 'in progress';
  return ['', `#${number}`].includes(plainTitle(title)) ? 'queued' : `#${number}`;
}

/** Returns whether somebody else has claimed an issue. @param {Item} item @param {Board | undefined} board */
function isTaken({ agents = [] }, board) {
  // Without a name in the settings, you claim issues by your login, which usually owns the repository.
  const own = [board?.config.you, board?.config.repo?.split('/')[0]?.toLowerCase()];
  return agents.length > 0 && !agents.some((agent) => own.includes(agent.toLowerCase()));
}

/**
 * Shows what you can do now: the issues that are due today, in progress or queued, and last what is due tomorrow, without
 * those that wait for you already.
 * @param {Element} place @param {Board | undefined} board @param {{ id: string }[]} waits @param {number} now
 * @param {string} [lost]
 */
export function showNext(place, board, waits, now, lost) {
  const waiting = new Set(waits.map(({ id }) => id));
  const isToday = (/** @type {string} */ due) => dayOf(Date.parse(due)) === dayOf(now);
  const rankOf = (/** @type {Item} */ { due, lane, priority }) => {
    // A deadline counts less than 10, so that the earliest comes first.
    if (due !== null) return (isToday(due) ? 0 : 100) + Date.parse(due) / 1e14;
    const level = PRIORITIES.indexOf(priority ?? '');
    return (lane === 'In-Progress' ? 10 : 20) + (level === -1 ? PRIORITIES.length : level);
  };
  const isNext = (/** @type {Item} */ { number, state, lane, due }) => {
    if (state !== 'open' || waiting.has(`#${number}`)) return false;
    if (due !== null) return Date.parse(due) > now && Date.parse(due) < now + 86_400_000;
    return lane === 'In-Progress' || lane === 'Queued';
  };
  const all = (board?.items ?? []).filter(isNext);
  const next = all
    .filter((item) => !isTaken(item, board))
    .sort((a, b) => rankOf(a) - rankOf(b) || a.number - b.number);
  const taken = all.length - next.length;
  const rest = [
    next.length > SHOWN && `${grouped(next.length - SHOWN)} more`,
    taken > 0 && `${grouped(taken)} claimed by others`,
  ].filter(Boolean);
  show(
    place,
    board?.setupRequired
      ? h('li.muted', 'To track your tasks, run: ', command(SET_UP_WORK))
      : board !== undefined &&
          next.length === 0 &&
          h(
            'li.muted',
            `Nothing${taken > 0 ? ' unclaimed' : ''} ${lost ? 'was' : 'is'} due, in progress or queued.`,
          ),
    next
      .slice(0, SHOWN)
      .map(({ number, title, url, priority, lane, due }) =>
        h(
          'li',
          { 'data-key': String(number), class: 'issue' },
          h('span.muted', priority ?? ''),
          h('a', external(url), plainTitle(title) || `#${number}`),
          h('span.muted', stateOf({ number, title, lane, due }, now)),
        ),
      ),
    rest.length > 0 && h('li.muted', { 'data-key': 'rest' }, h('a', { href: '/work' }, rest.join(' · '))),
  );
}

/** Shows what today and the last seven days cost, and the limits and budgets. @param {Element} place @param {import('../../src/lib/daemon/usage-route').UsageDocument} usage @param {string | undefined} today */
export function showUsage(place, { rows, total, limits }, today) {
  const own = rows.find(({ key }) => key === today);
  show(
    place,
    rows.length === 0 && h('p.muted', 'No usage in the last 7 days.'),
    rows.length > 0 && h('p', `${own ? costOf(own) : 'nothing'} today · ${costOf(total)} in the last 7 days`),
    limits.map(({ text }) => h('p.muted', text)),
  );
}

/** Returns the cost, or the tokens if no price is known. @param {import('../../src/lib/daemon/usage-route').UsageDocument['total'] | import('../../src/lib/daemon/usage-route').UsageDocument['rows'][number]} usage */
function costOf({ cost, input, output, ...more }) {
  if (cost === null) return `${grouped(input + output)} tokens`;
  return `${'unpriced' in more && more.unpriced > 0 ? 'at least ' : ''}$${cost.toFixed(2)}`;
}
