import * as v from 'valibot';

import { parseIso } from '../platform/time/clock';
import { clean } from '../platform/terminal/terminal';
import type { HostIssue } from './host';

/** A text that needs no cleaning, and a time in ISO-8601. */
const Clean = v.pipe(
  v.string(),
  v.check((text) => clean(text) === text),
);
export const Time = v.pipe(v.string(), v.check(isTime));

/** An issue as it is stored. Its body is not kept; what steward wrote into its marker is. */
export const StoredIssue = v.object({
  number: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  title: Clean,
  url: v.pipe(Clean, v.regex(/^https?:\/\/\S+$/)),
  state: v.picklist(['open', 'closed']),
  stateReason: v.nullable(Clean),
  labels: v.array(Clean),
  createdAt: Time,
  updatedAt: Time,
  closedAt: v.nullable(Time),
  /** `slug=fix-login`, `goal=G1`, …: whose issue it is; null of one that a person made. */
  identity: v.nullable(Clean),
  /** When a reminder is due, ISO-8601 UTC. */
  due: v.nullable(Time),
});
export type Issue = v.InferOutput<typeof StoredIssue>;

function isTime(text: string): boolean {
  return parseIso(text) !== undefined;
}

/** What is kept of an issue. */
export function keptIssue(issue: HostIssue): Issue {
  const { body, ...rest } = issue;
  const marker = parseBody(body);
  return { ...rest, identity: marker.identity ?? parseTitle(issue.title).identity, due: marker.due };
}

/** What an issue stands for; two captures of the same identity are one issue. */
export interface Identity {
  kind: 'slug' | 'goal' | 'project' | 'id';
  value: string;
}

/** Title prefixes by where an issue comes from. */
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

/** What the service takes. */
export const MAX_TITLE = 256;
export const MAX_BODY = 65_536;
const MAX_IDENTITY = 120;

/** The identity as one text, the same whatever odd characters the value has. */
export function identityKey({ kind, value }: Identity): string {
  return `${kind}=${normalValue(value)}`;
}

/** The slug of an issue's identity; null of another identity, or none. */
export function slugOf({ identity }: Pick<Issue, 'identity'>): string | null {
  return identity?.startsWith('slug=') === true ? identity.slice('slug='.length) : null;
}

/** One line, no brackets (they end it in a title), not too long. */
function normalValue(value: string): string {
  const line = clean(wellFormed(value)).replaceAll('[', '(').replaceAll(']', ')').replace(/\s+/g, ' ').trim();
  return clean(cut(line, MAX_IDENTITY));
}

/** `[Core] TASK [slug:SLUG]`; of `id` the title tells nothing. A long text is cut; prefix and identity stay. */
export function makeTitle(kind: TitleKind | null, text: string, identity: Identity): string {
  const before = kind === null ? '' : `[${PREFIXES[kind]}] `;
  const after = identity.kind === 'id' ? '' : ` [${identity.kind}:${normalValue(identity.value)}]`;
  const line = wellFormed(clean(text)).replace(/\s+/g, ' ').trim();
  const room = MAX_TITLE - before.length - after.length;
  return `${before}${cut(line === '' ? 'untitled' : line, room)}${after}`;
}

/** Does the title of a text still hold all of what was typed? */
export function titleHolds(kind: TitleKind | null, text: string, typed: string): boolean {
  const line = (all: string): string => all.replace(/\s+/g, ' ').trim();
  return line(text) === line(typed) && !makeTitle(kind, text, { kind: 'id', value: '' }).endsWith('…');
}

/** `text` is without prefix and identity; `identity` is as `identityKey` gives it. */
export interface ParsedTitle {
  kind: TitleKind | null;
  text: string;
  identity: string | null;
}

export function parseTitle(title: string): ParsedTitle {
  const prefix = /^\[([A-Za-z-]+)\] /.exec(title);
  const kind = KIND_OF.get(prefix?.[1] ?? '') ?? null;
  const rest = kind === null ? title : title.slice(prefix?.[0].length);
  const mark = /(?:^| )\[(slug|goal|project):([^[\]]+)\]$/.exec(rest);
  if (mark === null) return { kind, text: rest, identity: null };
  const identity = identityKey({ kind: mark[1] as Identity['kind'], value: mark[2] as string });
  return { kind, text: rest.slice(0, mark.index), identity };
}

/** The title with another text; its prefix and its identity stay. */
export function withTitle(title: string, text: string): string {
  const { kind, identity } = parseTitle(title);
  const [mark = 'id', value = ''] = identity?.split(/=(.*)/s) ?? [];
  return makeTitle(kind, text, { kind: mark as Identity['kind'], value });
}

const KIND_OF: ReadonlyMap<string, TitleKind> = new Map(
  Object.entries(PREFIXES).map(([kind, prefix]) => [prefix, kind as TitleKind]),
);

/**
 * A body that ends with the hidden marker `<!-- steward slug=SLUG -->`. What in the text looks like a marker is
 * made harmless; a text that is too long is cut, the marker never.
 *
 * @param data.due ISO-8601 UTC
 */
export function makeBody(text: string, identity: Identity, data: { due?: string } = {}): string {
  const own = `${identity.kind}=${encode(normalValue(identity.value))}`;
  return withMarker(text, markerOf(data.due === undefined ? [own] : [own, `due=${encode(data.due)}`]));
}

const MARKER_START = '<!-- steward ';
const MARKER_END = ' -->';
const PAIR = /^[a-z]+=[^\s<>]*$/;

function markerOf(pairs: readonly string[]): string {
  return MARKER_START + pairs.join(' ') + MARKER_END;
}

/** The last line of a body that is a marker: where it begins and ends, and what it says. */
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

/** The line in which a reminder says its time to people. */
const DUE_LINE = /^Due .*\d\d:\d\d \([^()\n]*\)\.[^\S\n]*$/m;

/** The line of a body for people: `Due Fri 20 Nov 2026, 09:00 (Europe/Berlin).` */
export function dueLine(day: string, time: string, zone: string): string {
  return `Due ${day}, ${time} (${zone}).`;
}

/**
 * The body with another time in its last marker, and in the line that says it to people where there is one; every
 * other byte stays. A body without a marker gets one.
 */
export function withDue(body: string, due: string, line: string): string {
  const pair = `due=${encode(due)}`;
  const found = lastMarker(body);
  const said = (text: string): string => text.replace(DUE_LINE, () => line);
  if (found === undefined)
    return [said(body).trimEnd(), markerOf([pair])].filter((part) => part !== '').join('\n\n');
  const marker = markerOf([...found.pairs.filter((one) => !one.startsWith('due=')), pair]);
  return said(body.slice(0, found.start)) + marker + body.slice(found.end);
}

/** The body with another text; its last marker stays. */
export function withText(body: string, text: string): string {
  const found = lastMarker(body);
  return withMarker(text, found === undefined ? '' : body.slice(found.start, found.end));
}

function withMarker(text: string, marker: string): string {
  const harmless = wellFormed(text).replaceAll('<!--', '<!\u2010-').trimEnd();
  const kept = cut(harmless, MAX_BODY - marker.length - 2);
  return [kept, marker].filter((part) => part !== '').join('\n\n');
}

/** What the last marker of a body says; nothing of a body without one. */
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
    due: isTime(due) ? due : null,
  };
}

/** Halves of characters have no place in a request. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** A value as it is, but for what would end the marker or the value: white space, `<`, `>`, `--`, and the `%` of these. */
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

/** At most so many UTF-16 units, as the service counts; a character is never cut in two. */
function cut(text: string, units: number): string {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 2);
  const end = last >= 0xd800 && last <= 0xdbff ? units - 2 : units - 1;
  return `${text.slice(0, Math.max(0, end)).trimEnd()}…`;
}
