// Formats numbers and local times, with the same short units as the commands.

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAY_MS = 86_400_000;

/** Formats whole minutes: `3 h 02 m`, `46 m`. @param {number} value */
export function minutes(value) {
  const whole = Math.round(value);
  const hours = Math.floor(whole / 60);
  const rest = whole % 60;
  return hours === 0 ? `${rest} m` : `${hours} h ${String(rest).padStart(2, '0')} m`;
}

/** Formats `2026-11-20` as `Fri 20 Nov 2026`. @param {string} day */
export function longDay(day) {
  return `${shortDay(day)} ${day.slice(0, 4)}`;
}

/** Formats a date as `Fri 20 Nov`. @param {string} day */
export function shortDay(day) {
  const at = new Date(`${day}T00:00:00Z`);
  return `${WEEKDAYS[at.getUTCDay()]} ${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
}

/** Returns the day `count` days earlier. @param {string} day @param {number} count */
export function daysBefore(day, count) {
  return new Date(Date.parse(`${day}T00:00:00Z`) - count * DAY_MS).toISOString().slice(0, 10);
}

/** Returns whether the text is a date such as `2026-11-20`. @param {string | null} text @returns {text is string} */
export function isDay(text) {
  return (
    /^\d{4}-\d\d-\d\d$/.test(text ?? '') && Date.parse(`${text}`) > 0 && daysBefore(`${text}`, 0) === text
  );
}

/** @param {string | null} text */
export function noDate(text) {
  return `"${text}" isn't a date. Use 2026-11-20.`;
}

/** Formats a number as `2,400`. @param {number} value */
export function grouped(value) {
  // The browser's formatter is slow to create, and small numbers don't need it.
  return Math.abs(value) < 1000 ? String(value) : value.toLocaleString('en');
}

/** The default time zone; undefined for the browser's. @type {string | undefined} */
let home;

/** @param {string | undefined} zone */
export function setZone(zone) {
  home = zone === ownZone() ? undefined : zone;
}

/** Returns the browser's time zone. Its formatter is slow to create, so pages call this while they wait for data. */
export function ownZone() {
  return formatter(undefined).resolvedOptions().timeZone;
}

/** Formats a time as `09:42`, by default in the page's time zone. @param {number} ms @param {string} [zone] */
export function clock(ms, zone) {
  return wall(ms, zone).slice(11, 16);
}

/** Formats a date as `2026-11-20`. @param {number} ms @param {string} [zone] */
export function dayOf(ms, zone) {
  return wall(ms, zone).slice(0, 10);
}

/** Formats `14:02` for today, otherwise `Thu 19 Nov 14:02`. @param {number} ms @param {number} now @param {string} [zone] */
export function moment(ms, now, zone) {
  const day = dayOf(ms, zone);
  return day === dayOf(now, zone) ? clock(ms, zone) : `${shortDay(day)} ${clock(ms, zone)}`;
}

/** Names a time zone in words on a day, such as `Central European Standard Time`. @param {string} zone @param {string} day */
export function zoneWords(zone, day) {
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'long' });
    const words = format.formatToParts(Date.parse(`${day}T12:00:00Z`));
    return words.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
  } catch {
    return zone;
  }
}

/** Cached formatters by zone; creating one is slow. @type {Map<string | undefined, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {string | undefined} zone */
function formatter(zone) {
  const format = formats.get(zone) ?? formatOf(zone);
  formats.set(zone, format);
  return format;
}

/** @param {number} ms @param {string} [zone] */
function wall(ms, zone = home) {
  const parts = formatter(zone).formatToParts(ms);
  const found = Object.fromEntries(parts.map(({ type, value }) => [type, value]));
  return `${found.year}-${found.month}-${found.day}T${found.hour}:${found.minute}`;
}

/** @param {string} [zone] */
function formatOf(zone) {
  /** @type {Intl.DateTimeFormatOptions} */
  const parts = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  };
  try {
    return new Intl.DateTimeFormat('en-CA', { ...parts, timeZone: zone });
  } catch {
    // The zone is unknown; use the browser's.
    return new Intl.DateTimeFormat('en-CA', parts);
  }
}

/** Formats `just now`, `2 min ago`, `3 h ago`, `4 days ago`, `2 years ago`. A future time is `just now`. @param {number} ms @param {number} now */
export function ago(ms, now) {
  const min = Math.floor((now - ms) / 60_000);
  if (min < 1) return 'just now';
  if (min < 60) return `${min} min ago`;
  const hours = Math.floor(min / 60);
  const days = Math.floor(hours / 24);
  if (days >= 365) return `${plural(Math.floor(days / 365), 'year')} ago`;
  return hours < 48 ? `${hours} h ago` : `${days} days ago`;
}

/** Formats `2 min`, `90 s`, `24 h`. @param {number} seconds */
export function span(seconds) {
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/** Formats `1 commit`, `2 commits`. @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Converts shares to whole percentages that add up to 100, by the largest remainder method. @param {readonly number[]} shares */
export function percents(shares) {
  const sum = shares.reduce((a, b) => a + b, 0);
  if (!(sum > 0)) return shares.map(() => 0);
  const exact = shares.map((share) => (share / sum) * 100);
  const whole = exact.map(Math.floor);
  let left = 100 - whole.reduce((a, b) => a + b, 0);
  const order = exact.map((_, i) => i).sort((a, b) => ((exact[b] ?? 0) % 1) - ((exact[a] ?? 0) % 1) || a - b);
  for (const i of order) {
    if (left <= 0) break;
    whole[i] = (whole[i] ?? 0) + 1;
    left -= 1;
  }
  return whole;
}
