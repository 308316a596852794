// The page /sessions: live and past sessions with their time, tokens, issues and commits. The URL contains the filters
// and the open session.

import { ask, isSignedIn, post, storage } from './daemon.js';
import { around, byId, command, external, h, middle, show } from './dom.js';
import { ago, clock, dayOf, minutes, grouped, moment, plural } from './format.js';
import { onWaiting } from './keys.js';
import { follow } from './live.js';
import { drawPanels } from './notes.js';
import { timeline } from './timeline.js';
import { namesOf, newsAge, placeOf, requestOf } from './today-lists.js';
import { controlsOf, goButtons, isHeld, watchActs } from './waiting-list.js';

/** @typedef {import('../../src/lib/sessions/rows').SessionRow} Row */
/** @typedef {import('../../src/lib/sessions/rows').SessionsReport} Report */
/** @typedef {import('../../src/lib/sessions/figures').SessionFigures} Figures */
/** @typedef {import('../../src/lib/daemon/day-route').DayDocument} Day */

const PAGE = 50;
const GROUPS = /** @type {const} */ ([
  ['◇', 'Waiting', ['waiting']],
  ['●', 'Working', ['working']],
  ['○', 'No signal', ['no-signal']],
  ['▲', 'Ended unexpectedly', ['crashed']],
  ['–', 'Ended', ['ended']],
]);

const form = /** @type {HTMLFormElement} */ (byId('filters'));
const [search, repo, assistant] = /** @type {[HTMLInputElement, HTMLSelectElement, HTMLSelectElement]} */ ([
  ...form.elements,
]);
let shown = PAGE;
/** The result of the last change of each session's name, and the name then. @type {Map<string, string[]>} */
const results = new Map();

/** @type {Row[]} */
let rows = [];
/** @type {import('./today-lists.js').Names} */
let names = new Map();
/** The rows of the inbox, by session. @type {Map<string, import('../../src/lib/inbox/row').InboxRow>} */
let waits = new Map();
/** The group of each session when the page was last drawn, in order. @type {Map<string, string>} */
const placed = new Map();
/** Stored in the browser once the user has dismissed the offer of titles. */
const OFFER_KEY = 'steward-titles-dismissed';

const { redraw, refresh } = follow(
  { report: '/api/sessions?all=1', figures: '/api/sense/sessions', work: '/api/work' },
  ({ report: feed, figures: second, work, inbox }, { now, lostAt }) => {
    const { rows: waiting } = /** @type {import('../../src/lib/inbox/row').Inbox} */ (
      inbox.data ?? { rows: [] }
    );
    waits = new Map(waiting.map((row) => [row.slug ?? '', row]));
    const board = /** @type {import('./today-lists.js').Board | undefined} */ (work.data);
    const report = /** @type {Report | undefined} */ (feed.data);
    const figures = /** @type {Figures[]} */ (second.data ?? []);
    drawPanels([
      {
        name: 'Sessions',
        feeds: [feed, second, inbox],
        from: [{}],
        draw() {
          names = namesOf(report?.sessions ?? [], board);
          if (report !== undefined) draw(report, new Map(figures.map((one) => [one.slug, one])), now, lostAt);
        },
      },
    ]);
  },
  ['work'],
);

/** @param {Report} report @param {Map<string, Figures>} figures @param {number} now @param {number | undefined} lostAt */
function draw(report, figures, now, lostAt) {
  const { sessions, waiting, working } = report;
  rows = sessions;
  options(
    repo,
    'All repositories',
    sessions.map((row) => row.repo),
  );
  options(
    assistant,
    'All assistants',
    sessions.map((row) => row.assistant),
  );
  const ended = sessions.filter(
    ({ status, updatedAt }) => status === 'ended' && dayOf(Date.parse(updatedAt)) === dayOf(now),
  );
  show(
    byId('facts'),
    `${grouped(waiting)} waiting · ${grouped(working)} working · ${grouped(ended.length)} ended today`,
    lostAt ? ` at ${clock(lostAt)}` : '',
  );
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = sessions.filter((row) => {
    const text = `${names.get(row.slug)} ${placeOf(row)} ${row.slug} #${row.github_issue}`.toLowerCase();
    return (
      [row.repo ?? '', ''].includes(repo.value) &&
      [row.assistant, ''].includes(assistant.value) &&
      words.every((word) => text.includes(word))
    );
  });
  // Under the pointer, sessions keep their groups and places.
  const before = new Map(isHeld ? placed : []);
  placed.clear();
  const places = [...before.keys()];
  const groups = GROUPS.map(([mark, name, states]) => {
    const own = found.filter(({ slug, status }) =>
      before.has(slug) ? before.get(slug) === name : states.some((state) => state === status),
    );
    if (name === 'Waiting') own.sort(byNeed);
    if (isHeld) own.sort((a, b) => rankIn(places, a) - rankIn(places, b));
    for (const { slug } of own) placed.set(slug, name);
    return { mark, name, own };
  });
  show(
    byId('groups'),
    sessions.length === 0 &&
      h(
        'div.empty',
        h('p', 'No sessions yet. Each appears here when it starts, if hooks are installed: '),
        command('steward install hooks'),
      ),
    sessions.length > 0 && found.length === 0 && h('p.muted', 'No sessions match.'),
    found.length > 0 && offer(sessions),
    groups.map(({ mark, name, own }) => {
      const count = Math.max(shown, own.findIndex(({ slug }) => slug === hash()) + 1);
      const rest = own.length - count;
      return (
        own.length > 0 &&
        h(
          'section',
          { 'data-key': name },
          h(
            'h2',
            h('span', { 'aria-hidden': 'true' }, `${mark} `),
            `${name} `,
            h('span.muted', grouped(own.length)),
          ),
          h(
            'ul.rows.sessions',
            { 'data-rows': true },
            own.slice(0, count).map((row) => item(row, figures.get(row.slug), now, !!lostAt)),
          ),
          rest > 0 &&
            h('button.more', { id: 'more' }, `Show ${Math.min(PAGE, rest)} more (${grouped(rest)} left)`),
        )
      );
    }),
  );
  const all = /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll('details[open]'));
  for (const details of all) showStory(details);
  /** @type {HTMLDetailsElement | null} */
  const details = document.querySelector(`[data-slug="${CSS.escape(hash())}"]`);
  if (details === null || opened === hash()) return;
  opened = hash();
  details.open = true;
  details.scrollIntoView({ block: 'center' });
}

/** Offers titles, if no session has one, until the offer is dismissed. @param {Row[]} sessions */
function offer(sessions) {
  if (sessions.some(({ title }) => title !== null) || storage()?.getItem(OFFER_KEY)) return null;
  return h(
    'p.muted.small',
    { 'data-key': 'offer' },
    'To name sessions by the first line of their first prompt, run: ',
    command('steward config set sessions.titles true'),
    ' ',
    h('button.copy', { id: 'dismiss-offer' }, 'Dismiss'),
  );
}

/** The most recently opened session. @type {string | undefined} */
let opened;

function hash() {
  return location.hash.slice(1);
}

/** @param {HTMLSelectElement} select @param {string} all @param {(string | null)[]} values */
function options(select, all, values) {
  const wanted = new URLSearchParams(location.search).get(select.name) ?? '';
  const names = [...new Set([...values, wanted])].filter((value) => value).sort();
  show(
    select,
    h('option', { value: '' }, all),
    names.map((name) => h('option', { value: name }, name)),
  );
  select.value = wanted;
}

/** @param {Row} row @param {Figures | undefined} figures @param {number} now @param {boolean} isLost */
function item(row, figures, now, isLost) {
  const { slug, status, activity, updatedAt, phase, subagents } = row;
  const isWaiting = status === 'waiting';
  const wait = isWaiting ? waits.get(slug) : undefined;
  const why = isWaiting
    ? requestOf(row, now, isLost)
    : status === 'working'
      ? (subagents > 0 && plural(subagents, 'subagent')) || (isLost ? 'was working' : (activity ?? 'working'))
      : status === 'no-signal'
        ? `no signal for ${ago(Date.parse(updatedAt), now).replace(' ago', '')}`
        : moment(Date.parse(updatedAt), now);
  return h(
    'li',
    { 'data-key': slug },
    h(
      'details',
      { 'data-slug': slug },
      h(
        'summary',
        h('b.name', names.get(slug)),
        middle([placeOf(row), phase === 'native' ? '' : phase].filter(Boolean).join(' · ')),
        h(isWaiting ? 'span.attention' : 'span.muted', why),
        h(
          'span.muted.figure',
          figures ? spent(figures) : row.elsewhere ? `as of ${newsAge(row.elsewhere.asOf, now)}` : '',
        ),
      ),
      story(row, figures),
    ),
    wait ? controlsOf(wait) : row.go && goButtons(row),
  );
}

/** @param {Figures} figures */
function spent({ workingMinutes, tokens }) {
  return [workingMinutes > 0 && `worked ${minutes(workingMinutes)}`, tokens > 0 && `${short(tokens)} tokens`]
    .filter(Boolean)
    .join(' · ');
}

/** Formats `340 k`, `1.2 M`. @param {number} value */
function short(value) {
  if (value < 1e6) return value < 1000 ? String(value) : `${Math.round(value / 1000)} k`;
  return `${(value / 1e6).toFixed(1)} M`;
}

/** @param {Row} row @param {Figures | undefined} figures */
function story(row, figures) {
  const { slug, startedAt, updatedAt, github_issue: issue, github_issue_url: url, artifact } = row;
  const link = external(url);
  const [result, named] = results.get(slug) ?? [];
  const name = row.givenName ?? '';
  const at = (/** @type {string} */ iso) => moment(Date.parse(iso), Date.now());
  /** @type {[string, import('./dom.js').Child | import('./dom.js').Child[]][]} */
  const facts = [
    ['waiting for', row.status === 'waiting' && row.waitingFor],
    [
      'time',
      figures &&
        `working ${minutes(figures.workingMinutes)}, waiting ${minutes(figures.waitingMinutes)}, your turn ${minutes(figures.readyMinutes)} (30 days)`,
    ],
    ['tokens', figures && figures.tokens > 0 && `${grouped(figures.tokens)} (30 days)`],
    ['assistant', [row.assistant, row.model && ` · ${row.model}`]],
    ['active', `${at(startedAt)} to ${at(updatedAt)}`],
    ['issue', issue !== null && h(link.href ? 'a' : 'span', link, `#${issue}`)],
    ['session file', artifact && h('code', artifact)],
    ['slug', h('code', slug)],
  ];
  return h(
    'div.story',
    h('div', { 'data-own': true, 'data-story': slug }),
    h(
      'dl.counts',
      facts.flatMap(([name, value]) => (value ? [h('dt', name), h('dd', value)] : [])),
    ),
    isSignedIn()
      ? h(
          'form',
          { 'data-name': slug },
          h('label', 'Name ', h('input', { name: 'name', maxlength: 80, value: name })),
          h('button.copy', 'save'),
          h('span', { role: 'status' }, named === name && result),
        )
      : h(
          'p.muted',
          'This page is read-only. To rename this session, run: ',
          command('steward open sessions'),
        ),
  );
}

/** Draws the day of an open session, and redraws it after each new event. @param {HTMLDetailsElement} details */
function showStory({ dataset: { slug = '' }, children }) {
  const place = children[1]?.firstElementChild;
  const row = rows.find((one) => one.slug === slug);
  if (!row || !(place instanceof HTMLElement) || place.contains(document.activeElement)) return;
  // The story of a live session ends now.
  const state = `${row.updatedAt} ${row.status === 'ended' || Math.floor(Date.now() / 60_000)}`;
  if (place.hasChildNodes() && drawnAt.get(slug) === state) return;
  drawnAt.set(slug, state);
  void showDay(place, row);
}

/** The state that was drawn, by session. @type {Map<string, string>} */
const drawnAt = new Map();

/** Returns the place of a session; new ones come last. @param {string[]} places @param {Row} row */
function rankIn(places, { slug }) {
  const at = places.indexOf(slug);
  return at === -1 ? places.length : at;
}

/** Sorts questions before ended turns, and longer waits before shorter ones. @param {Row} a @param {Row} b */
function byNeed(a, b) {
  const turns = Number(a.waitingFor === null) - Number(b.waitingFor === null);
  return turns || Date.parse(a.waitingSince ?? '') - Date.parse(b.waitingSince ?? '');
}

/** Draws a session's last day: when it was working and waiting, and its commits. @param {HTMLElement} place @param {Row} row */
async function showDay(place, row) {
  const isOver = ['ended', 'crashed'].includes(row.status);
  const from = Date.parse(row.startedAt);
  const to = isOver ? Date.parse(row.updatedAt) : Date.now();
  const answer = await ask(`/api/day?day=${dayOf(to)}`, undefined);
  if (!('data' in answer)) return;
  const day = /** @type {Day} */ (answer.data);
  const isOwn = (/** @type {{ at: number }} */ { at }) => {
    const ms = day.startMs + at * 1000;
    return ms >= from - 60_000 && ms <= to + 60_000;
  };
  const { machine } = row.elsewhere ?? {};
  const own = machine === undefined ? [day] : (day.others ?? []).filter(({ name }) => name === machine);
  const commits = own
    .flatMap((one) => one.commits)
    .filter(
      (one) =>
        one.repo === row.repo && (!row.branch || !one.branch || one.branch === row.branch) && isOwn(one),
    );
  const closed = day.closed.filter(({ number }) => number === row.github_issue);
  const isWaiting = row.status === 'waiting';
  const sessions = own
    .flatMap((one) => one.sessions)
    .filter(({ slug }) => slug === row.slug)
    .map((one) => ({ ...one, isWaiting }));
  const [drawn, readout, table] = [h('div.timeline'), h('p.readout', { 'aria-hidden': 'true' }), h('table')];
  const at = (/** @type {number} */ sec) => clock(day.startMs + sec * 1000, day.timezone);
  place.replaceChildren(
    readout,
    drawn,
    h(
      'ul.done',
      commits.map((one) =>
        h('li', h('span.muted', at(one.at)), h('code', one.sha.slice(0, 7)), h('span.name', one.subject)),
      ),
    ),
    commits.length === 0
      ? h('p.muted', `No commits ${from < day.startMs ? 'on the last day of' : 'during'} this session.`)
      : '',
  );
  if (drawn instanceof HTMLElement && readout instanceof HTMLElement && table instanceof HTMLElement)
    timeline(drawn, readout, table).draw(
      { ...day, others: [], spans: [], away: [], commits, closed, sessions },
      { until: isOver ? undefined : (to - day.startMs) / 1000, rest: '', clock: at, least: 1 },
    );
}

onWaiting();
watchActs(byId('groups'), refresh, redraw);
form.addEventListener('submit', (event) => event.preventDefault());
form.addEventListener('input', ({ target }) => {
  const query = new URLSearchParams();
  for (const { name, value } of [search, repo, assistant]) if (value !== '') query.set(name, value);
  const url = `${location.pathname}${query.size > 0 ? `?${query}` : ''}`;
  if (target === search) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  shown = PAGE;
  redraw();
});

function readUrl() {
  search.value = new URLSearchParams(location.search).get('q') ?? '';
  redraw();
}
addEventListener('popstate', readUrl);
readUrl();

byId('groups').addEventListener(
  'toggle',
  (event) => {
    const target = /** @type {HTMLDetailsElement} */ (event.target);
    const { slug = '' } = target.dataset;
    if (target.open) opened = slug;
    if (target.open || hash() === slug)
      history.replaceState(
        null,
        '',
        `${location.pathname}${location.search}${target.open ? `#${slug}` : ''}`,
      );
    if (target.open) showStory(target);
  },
  true,
);
byId('groups').addEventListener('click', (event) => {
  if (around(event, '#dismiss-offer')) {
    storage()?.setItem(OFFER_KEY, 'yes');
    return redraw();
  }
  if (!around(event, '#more')) return;
  shown += PAGE;
  redraw();
});
byId('groups').addEventListener('submit', (event) => {
  const target = /** @type {HTMLFormElement} */ (event.target);
  const session = target.dataset.name;
  if (session === undefined) return;
  event.preventDefault();
  const { value: name = '', defaultValue: before = '' } = target.querySelector('input') ?? {};
  void post('/api/sessions/name', { session, name }).then(({ data, problem }) => {
    results.set(session, problem === undefined ? ['Saved.', data.name ?? ''] : [problem, before]);
    return refresh();
  });
});
