import { listOf, nullable, oneOf, shape, where, isText, type ShapeOf } from '../platform/files/shape';
import { clean, truncated } from '../platform/terminal/terminal';
import { isIso } from '../platform/time/clock';

export type HostIssue = Omit<Issue, 'identity' | 'due'> & { body: string };

/** A cached issue. Contains the fields from the body's marker, but not the body itself. */
const FIELDS = {
  number: (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0,
  title: isCleanText,
  url: where(isCleanText, (value) => /^https?:\/\/\S+$/.test(value)),
  state: oneOf(['open', 'closed']),
  stateReason: nullable(isCleanText),
  labels: listOf(isCleanText),
  createdAt: isIso,
  updatedAt: isIso,
  closedAt: nullable(isIso),
  /** The identity, such as `slug=fix-login`; `null` if a person created the issue. */
  identity: nullable(isCleanText),
  /** When the reminder is due, as ISO 8601 in UTC. */
  due: nullable(isIso),
};
const { number, title, url, updatedAt } = FIELDS;
/** A cached pull request that you are asked to review. */
const REVIEW = { repo: isCleanText, number, title, url, updatedAt };

export type Issue = ShapeOf<typeof FIELDS>;
export type Review = ShapeOf<typeof REVIEW>;
export const isIssue = shape(FIELDS);
export const isReview = shape(REVIEW);

function isCleanText(value: unknown): value is string {
  return isText(value) && clean(value) === value;
}

export function toIssue(issue: HostIssue): Issue {
  const { body, ...rest } = issue;
  const marker = parseBody(body);
  return { ...rest, identity: marker.identity ?? parseTitle(issue.title).identity, due: marker.due };
}

/** Identifies what an issue is about. Captures with the same identity share one issue. */
export interface Identity {
  kind: 'slug' | 'goal' | 'project' | 'id';
  value: string;
}

/** Title prefixes, by origin. */
export const PREFIXES = {
  core: 'Core',
  native: 'Native',
  reminder: 'Reminder',
  research: 'Research',
  queue: 'Queue',
  sweep: 'Sweep',
  'project-check': 'Project-Check',
  goal: 'Goal',
} as const;
export type TitleKind = keyof typeof PREFIXES;

/** GitHub's limits, in UTF-16 code units. */
export const MAX_TITLE = 256;
export const MAX_BODY = 65_536;
const MAX_IDENTITY = 120;

/** Formats an identity, such as `slug=fix-login`. */
export function identityKey({ kind, value }: Identity): string {
  return `${kind}=${normalValue(value)}`;
}

/** Returns the slug from an issue's identity, or null if the identity is missing or isn't a slug. */
export function slugOf({ identity }: Pick<Issue, 'identity'>): string | null {
  return identity?.startsWith('slug=') === true ? identity.slice('slug='.length) : null;
}

/** Converts a value to one line and replaces brackets, which would end the identity in a title. */
function normalValue(value: string): string {
  const line = clean(wellFormed(value)).replaceAll('[', '(').replaceAll(']', ')').replace(/\s+/g, ' ').trim();
  return clean(truncated(line, MAX_IDENTITY));
}

/**
 * Builds a title such as `[Core] TASK [slug:SLUG]`. Truncates only the text. Omits an identity of kind `id`.
 */
export function makeTitle(kind: TitleKind | null, text: string, identity: Identity): string {
  const prefix = kind === null ? '' : `[${PREFIXES[kind]}] `;
  const suffix = identity.kind === 'id' ? '' : ` [${identity.kind}:${normalValue(identity.value)}]`;
  const line = wellFormed(clean(text)).replace(/\s+/g, ' ').trim();
  const room = MAX_TITLE - prefix.length - suffix.length;
  return `${prefix}${truncated(line === '' ? 'untitled' : line, room)}${suffix}`;
}

/** Returns whether a title built from `text` contains everything that the user typed. */
export function titleContainsAll(kind: TitleKind | null, text: string, typed: string): boolean {
  const normal = (all: string): string => all.replace(/\s+/g, ' ').trim();
  return normal(text) === normal(typed) && !makeTitle(kind, text, { kind: 'id', value: '' }).endsWith('…');
}

export function parseTitle(title: string) {
  const { kind, text, mark } = titleParts(title);
  return { kind, text, identity: mark === null ? null : identityKey(mark) };
}

/** Returns the text of a title. Lists need no more, and reading the identity takes longer. */
export const titleText = (title: string): string => titleParts(title).text;

function titleParts(title: string) {
  const prefix = /^\[([A-Za-z-]+)\] /.exec(title);
  const kind = KIND_OF.get(prefix?.[1] ?? '') ?? null;
  const rest = kind === null ? title : title.slice(prefix?.[0].length);
  const found = /(?:^| )\[(slug|goal|project):([^[\]]+)\]$/.exec(rest);
  const mark = found && ({ kind: found[1], value: found[2] } as Identity);
  return { kind, text: rest.slice(0, found?.index), mark };
}

/** Replaces a title's text but keeps its prefix and identity. */
export function withTitle(title: string, text: string): string {
  const { kind, identity } = parseTitle(title);
  const [mark = 'id', value = ''] = identity?.split(/=(.*)/s) ?? [];
  return makeTitle(kind, text, { kind: mark as Identity['kind'], value });
}

const KIND_OF: ReadonlyMap<string, TitleKind> = new Map(
  Object.entries(PREFIXES).map(([kind, prefix]) => [prefix, kind as TitleKind]),
);

/**
 * Builds a body that ends with the hidden marker `<!-- steward slug=SLUG -->`. Escapes other markers and
 * truncates only the text.
 */
export function makeBody(text: string, identity: Identity, { due }: { due?: string | undefined } = {}) {
  const pair = `${identity.kind}=${encode(normalValue(identity.value))}`;
  return withMarker(text, markerOf(due === undefined ? [pair] : [pair, `due=${encode(due)}`]));
}

const MARKER_START = '<!-- steward ';
const MARKER_END = ' -->';
const PAIR = /^[a-z]+=[^\s<>]*$/;

function markerOf(pairs: readonly string[]): string {
  return MARKER_START + pairs.join(' ') + MARKER_END;
}

/**
 * Finds the last marker in a body. Searches line by line, because a regular expression would take quadratic
 * time.
 */
function lastMarker(body: string): { start: number; end: number; pairs: string[] } | undefined {
  let end = body.length;
  while (end >= 0) {
    const start = end === 0 ? 0 : body.lastIndexOf('\n', end - 1) + 1;
    const line = body.slice(start, end).trimEnd();
    if (line.startsWith(MARKER_START) && line.endsWith(MARKER_END)) {
      const pairs = line.slice(MARKER_START.length, -MARKER_END.length).split(' ');
      if (pairs.every((pair) => PAIR.test(pair))) return { start, end: start + line.length, pairs };
    }
    end = start - 1;
  }
  return undefined;
}

/** Matches the visible line that shows when a reminder is due. */
const DUE_LINE = /^Due .*\d\d:\d\d \([^()\n]*\)\.[^\S\n]*$/m;

/** Formats `Due Fri 20 Nov 2026, 09:00 (Europe/Berlin).` */
export function dueLine(day: string, time: string, zone: string): string {
  return `Due ${day}, ${time} (${zone}).`;
}

/** Sets the due time in the last marker and in the due line. Leaves the rest of the body unchanged. */
export function withDue(body: string, due: string, line: string): string {
  const pair = `due=${encode(due)}`;
  const marker = lastMarker(body);
  const withLine = (text: string): string => text.replace(DUE_LINE, () => line);
  if (marker === undefined)
    return [withLine(body).trimEnd(), markerOf([pair])].filter((part) => part !== '').join('\n\n');
  const pairs = [...marker.pairs.filter((other) => !other.startsWith('due=')), pair];
  return withLine(body.slice(0, marker.start)) + markerOf(pairs) + body.slice(marker.end);
}

/** Replaces a body's text but keeps its last marker. */
export function withText(body: string, text: string): string {
  const marker = lastMarker(body);
  return withMarker(text, marker === undefined ? '' : body.slice(marker.start, marker.end));
}

function withMarker(text: string, marker: string): string {
  const defused = wellFormed(text).replaceAll('<!--', '<!\u2010-').trimEnd();
  const fitted = truncated(defused, MAX_BODY - marker.length - 2);
  return [fitted, marker].filter((part) => part !== '').join('\n\n');
}

export function parseBody(body: string): { identity: string | null; due: string | null } {
  const pairs = new Map(
    (lastMarker(body.slice(-MAX_BODY))?.pairs ?? []).map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), decode(pair.slice(at + 1))];
    }),
  );
  const kind = (['slug', 'goal', 'project', 'id'] as const).find((name) => pairs.has(name));
  const due = pairs.get('due') ?? '';
  return {
    identity: kind === undefined ? null : identityKey({ kind, value: pairs.get(kind) ?? '' }),
    due: isIso(due) ? due : null,
  };
}

/** Replaces lone surrogates, which GitHub rejects. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Percent-encodes only the characters that would end the value or the marker. */
function encode(value: string): string {
  return value.replace(/[%\s<>]/g, encodeURIComponent).replaceAll('--', '-%2D');
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch (error) {
    if (error instanceof URIError) return value;
    throw error;
  }
}
