// The content of a day's timeline: the rows, the items that can be selected in them, and the table.

import { minutes } from './format.js';
import { KINDS } from './kinds.js';

/** @typedef {import('../../src/lib/daemon/day-route').DayDocument} DayDocument */
/**
 * Times are seconds since the start of the day.
 * @typedef {object} Item
 * @property {number} at
 * @property {number} end
 * @property {string} row
 * @property {string} text what happened, without the time
 * @property {string} [app] for a visit to an application
 * @property {string} [repo]
 */
/** @typedef {{ id: string, label: string, boxes: [at: number, end: number, state: string][] }} Row */
/** @typedef {{ id: string, label: string, rows: Row[], items: Item[], machine?: string | undefined }} Group */
/** @typedef {Omit<NonNullable<DayDocument['others']>[number], 'id' | 'name'>} Timeline */

/** A session, and whether it is waiting now. @typedef {DayDocument['sessions'][number] & { isWaiting?: boolean }} Session */

const SESSION_ROWS = 6;
/** The label for each session state; `past` states are waits that are over. @type {Readonly<Record<string, string>>} */
export const STATES = { w: 'working', y: 'waiting', r: 'your turn', pastY: 'waited', pastR: 'was your turn' };
/** Consecutive visits shorter than this share one table row. */
const SHORT_SEC = 300;

/** Returns the groups of rows, machine by machine. Each group is one tab stop. @param {DayDocument} day @returns {Group[]} */
export function groupsOf(day) {
  const { others = [], machines = [] } = day;
  const here = machines.find(({ id }) => others.every((one) => one.id !== id));
  const name = others.length === 0 ? undefined : (here?.name ?? 'this machine');
  const used = others.map((one) => ({ name: one.name, spans: one.spans }));
  return [
    ...machineGroups(day, '', name, used),
    ...others.flatMap((one, i) => {
      const rest = [{ name: name ?? '', spans: day.spans }, ...used.slice(0, i), ...used.slice(i + 1)];
      return machineGroups({ ...one, closed: [] }, `${one.id}-`, one.name, rest);
    }),
  ];
}

/** The spans of another machine. @typedef {{ name: string, spans: Timeline['spans'] }} Used */

/** Returns when another machine was in use at the same time. @param {Timeline} timeline @param {Used[]} others @returns {Item[]} */
function overlaps({ spans }, others) {
  const own = boxesOf(spans);
  return others.flatMap(({ name, spans: other }) =>
    boxesOf(other).flatMap(([from, to]) =>
      own.flatMap(([at, end]) => {
        const [start, stop] = [Math.max(at, from), Math.min(end, to)];
        if (start >= stop) return [];
        return [{ at: start, end: stop, row: 'overlap', text: `also in use: ${name}` }];
      }),
    ),
  );
}

/** @param {Timeline['spans']} spans */
function boxesOf(spans) {
  return joined(
    spans.map(([at, length]) => ({ at, end: at + length, row: '', text: '' })),
    '',
  );
}

/**
 * Returns the groups of one machine, the first with its name. The ids of their rows begin with `prefix`.
 * @param {Timeline & Pick<DayDocument, 'closed'>} timeline @param {string} prefix @param {string | undefined} machine
 * @param {Used[]} others
 * @returns {Group[]}
 */
function machineGroups(timeline, prefix, machine, others) {
  const groups = [applications(timeline, overlaps(timeline, others)), commits(timeline), sessions(timeline)];
  return groups
    .filter(({ items }) => items.length > 0)
    .map(({ id, label, rows, items }, i) => ({
      id: `${prefix}${id}`,
      label: machine === undefined ? label : `${label} on ${machine}`,
      rows: rows.map((row) => ({ ...row, id: `${prefix}${row.id}` })),
      items: items.map((item) => ({ ...item, row: `${prefix}${item.row}` })),
      machine: i === 0 ? machine : undefined,
    }));
}

/** @param {Timeline} day @param {Item[]} shared when another machine was in use too @returns {Group} */
function applications({ spans, apps, repos, away }, shared) {
  const seen = spans.map(([at, length, app, repo]) => {
    const [name, kind] = apps[app] ?? ['unknown', 'neutral'];
    const [folder, where] = repo === undefined ? [undefined, ''] : [repos[repo], ` · ${repos[repo]}`];
    return { at, end: at + length, row: kind, text: `${name}${where} · ${kind}`, app: name, repo: folder };
  });
  const gone = away.map(([at, length, reason]) => ({
    at,
    end: at + length,
    row: 'away',
    text: `away (${reason})`,
  }));
  const rows = [
    ...KINDS,
    ...(away.length === 0 ? [] : ['away']),
    ...(shared.length === 0 ? [] : ['overlap']),
  ];
  const items = inOrder([...seen, ...gone, ...shared]);
  return {
    id: 'apps',
    label: 'Applications',
    rows: rows.map((row) => ({
      id: row,
      label: row,
      boxes: joined(
        items.filter((item) => item.row === row),
        row,
      ),
    })),
    items,
  };
}

/** @param {Pick<DayDocument, 'commits' | 'closed'>} day @returns {Group} */
function commits({ commits: list, closed }) {
  const items = inOrder([
    ...list.map(({ at, repo, subject }) => ({ at, end: at, row: 'commits', text: `${repo} · ${subject}` })),
    ...closed.map(({ at, number, title }) => ({
      at,
      end: at,
      row: 'commits',
      text: `closed #${number} · ${title}`,
    })),
  ]);
  return {
    id: 'done',
    label: 'Commits and closed issues',
    rows: [{ id: 'commits', label: 'done', boxes: items.map(({ at }) => [at, at, 'tick']) }],
    items,
  };
}

/** @param {{ sessions: Session[] }} day @returns {Group} */
function sessions({ sessions: list }) {
  const alike = (/** @type {Session} */ one) => list.filter(({ title }) => title === one.title);
  const shown = list.slice(0, SESSION_ROWS).map((session) => {
    const { slug, repo, branch, title } = session;
    const others = alike(session).filter((one) => one.slug !== slug);
    const isTwin = others.some((one) => one.repo === repo && one.branch === branch);
    // A row shows the beginning of its name only.
    const where = others.length > 0 ? [isTwin && slug.slice(-4), branch, repo] : [];
    return { ...session, title: [...where, title].filter(Boolean).join(' · '), parts: partsOf(session) };
  });
  return {
    id: 'sessions',
    label: 'Assistant sessions',
    rows: shown.map(({ slug, title, parts }) => ({
      id: slug,
      label: title,
      boxes: parts.map(([at, length, state]) => [at, at + length, state]),
    })),
    items: inOrder(
      shown.flatMap(({ slug, title, parts }) =>
        parts.map(([at, length, state]) => ({
          at,
          end: at + length,
          row: slug,
          text: `${title} · ${STATES[state]}`,
        })),
      ),
    ),
  };
}

/** Returns the parts with the states that are drawn. @param {Session} session @returns {[at: number, length: number, state: string][]} */
function partsOf({ parts, isWaiting }) {
  return parts.map(([at, length, state], i) => {
    const isNow = state === 'w' || (isWaiting && i === parts.length - 1);
    return [at, length, isNow ? state : `past${state.toUpperCase()}`];
  });
}

/** Joins adjacent items to reduce the number of boxes drawn. @param {Item[]} items @param {string} state @returns {Row['boxes']} */
function joined(items, state) {
  /** @type {Row['boxes']} */
  const boxes = [];
  for (const { at, end } of inOrder(items)) {
    const last = boxes[boxes.length - 1];
    if (last !== undefined && at <= last[1]) last[1] = Math.max(last[1], end);
    else boxes.push([at, end, state]);
  }
  return boxes;
}

/** @param {Item[]} items */
function inOrder(items) {
  return [...items].sort((a, b) => a.at - b.at || a.end - b.end);
}

/**
 * Returns the range of the timeline: from the first hour with an item to `until`, but at least some hours.
 * @param {Group[]} groups @param {DayDocument} day @param {number | undefined} until seconds; undefined if the day is over
 * @param {number} [least] hours
 */
export function rangeOf(groups, { record }, until, least = 8) {
  const length = record.hours.length * 3600;
  const items = groups.flatMap((group) => group.items);
  const end = Math.min(length, Math.max(until ?? 0, ...items.map((item) => item.end)));
  const first = Math.min(end, ...items.map(({ at }) => at));
  const from = Math.max(0, Math.min(Math.floor(first / 3600) * 3600, length - least * 3600));
  return { from, to: Math.max(end, from + least * 3600) };
}

/** Formats `10:24 to 10:52 · Firefox · consumption · 28 m`. @param {Item} item @param {(at: number) => string} clock */
export function itemText({ at, end, text }, clock) {
  return end === at
    ? `${clock(at)} · ${text}`
    : `${clock(at)} to ${clock(end)} · ${text} · ${lengthOf(end - at)}`;
}

/** Returns the rows of the table, with short visits joined. @param {Group[]} groups @param {(at: number) => string} clock */
export function tableRows(groups, clock) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {Item[]} */
  let short = [];
  const flush = () => {
    const [first] = short;
    if (first !== undefined) {
      const sum = short.reduce((total, { at, end }) => total + end - at, 0);
      const what = short.length === 1 ? first.text : `${short.length} short visits`;
      rows.push([clock(first.at), what, lengthOf(sum)]);
    }
    short = [];
  };
  for (const item of inOrder(groups.flatMap(({ items }) => items))) {
    const length = item.end - item.at;
    if (length > 0 && length < SHORT_SEC) short.push(item);
    else {
      flush();
      rows.push([clock(item.at), item.text, length === 0 ? '' : lengthOf(length)]);
    }
  }
  flush();
  return rows;
}

/** @param {number} seconds */
function lengthOf(seconds) {
  return seconds < 60 ? `${seconds} s` : minutes(seconds / 60);
}
