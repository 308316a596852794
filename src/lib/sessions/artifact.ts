import { isUtf8 } from 'node:buffer';
import { basename, dirname, join, resolve } from 'node:path';

import { StewardError, orElse } from '../errors';
import { readBytes, readText, replaceFile } from '../platform/files/atomic-file';
import { lstatOf } from '../platform/files/folder';
import { frontMatter, scalar } from '../platform/files/yaml';
import { readHead } from '../platform/files/jsonl';
import { stampOf, targetOf } from '../platform/files/stat';
import { clean } from '../platform/terminal/terminal';
import { phaseNamed } from './phases';
import { isRestricted } from './restricted';
import { isNameless, isSlug } from './slug';

export const ARTIFACT_NAME = 'ISA.md';
const MAX_BYTES = 16 * 1024 * 1024;
/** The front matter must be within this many bytes at the start of the file. */
const HEAD_BYTES = 16 * 1024;
const MAX_TEXT = 300;

export function artifactPath(sessions: string, slug: string): string {
  return join(sessions, slug, ARTIFACT_NAME);
}

/**
 * Returns the slug of the session file at a path. Returns undefined if the path isn't a session file, or if
 * the session folder is a symbolic link.
 */
export function slugOfArtifact(sessions: string, path: string): string | undefined {
  if (path.includes('\0')) return undefined;
  const whole = resolve(path);
  const folder = dirname(whole);
  const slug = basename(folder);
  if (basename(whole) !== ARTIFACT_NAME || !isSlug(slug)) return undefined;
  const isThere = sameFolder(dirname(folder), sessions) && lstatOf(folder)?.isLink !== true;
  return isThere ? slug : undefined;
}

function sameFolder(a: string, b: string): boolean {
  if (resolve(a) === resolve(b)) return true;
  const id = targetOf(a)?.id;
  return id !== undefined && id === targetOf(b)?.id;
}

/**
 * Reads a session file by slug. Returns undefined if it is missing, restricted or unreadable, so that one bad
 * file doesn't hide other sessions.
 */
export function artifactOf(sessions: string, slug: string): Artifact | undefined {
  const path = artifactPath(sessions, slug);
  return orElse(undefined, () => {
    const isReal = lstatOf(dirname(path))?.isFolder === true && lstatOf(path)?.isFile === true;
    const isOpen = isReal && !isNameless(slug) && !isRestricted(dirname(path));
    return isOpen ? readArtifact(path) : undefined;
  });
}

/** Reads a session file; returns undefined if the file is missing or has no front matter. */
export function readArtifact(path: string) {
  const head = readHead(path, HEAD_BYTES)?.toString('utf8');
  const lines = head === undefined ? undefined : frontMatter(head);
  if (lines === undefined) return undefined;
  const values = new Map(
    lines.map((line) => KEY.exec(line)).flatMap((m) => (m === null ? [] : [[m[1] as string, m[2] ?? '']])),
  );
  const text = (key: string): string | null => {
    const found = clean(scalar(values.get(key) ?? '')).slice(0, MAX_TEXT);
    return found === '' ? null : found;
  };
  const issue = Number(text('github_issue') ?? Number.NaN);
  const slug = text('slug');
  return {
    session: text('session'),
    slug: slug !== null && isSlug(slug) ? slug : null,
    task: text('task'),
    project: text('project'),
    mode: text('mode')?.toLowerCase() === 'native' ? ('native' as const) : ('algorithm' as const),
    effort: text('effort'),
    /** The phase; null if missing or unknown. */
    phase: phaseNamed(text('phase') ?? '')?.id ?? null,
    progress: text('progress'),
    github_issue: Number.isSafeInteger(issue) && issue > 0 ? issue : null,
    github_issue_url: text('github_issue_url'),
  };
}

/** The front matter of a session file. */
export type Artifact = NonNullable<ReturnType<typeof readArtifact>>;

const KEY = /^([a-z_]+)[ \t]*:(?:[ \t](.*))?$/;

export interface IssueLink {
  github_issue: number;
  github_issue_url: string;
}

/**
 * Writes the issue number and URL to the front matter. Throws `not_found` if the file is missing, or
 * `conflict` if the front matter is invalid or another process changes the file.
 */
export function writeIssue(path: string, link: IssueLink): void {
  if (!Number.isSafeInteger(link.github_issue) || link.github_issue <= 0 || !isPlain(link.github_issue_url)) {
    throw new StewardError('internal', 'Invalid issue number or URL.');
  }
  const before = stampOf(path)?.mark;
  const bytes = readBytes(path, { maxBytes: MAX_BYTES });
  if (bytes === undefined) {
    throw new StewardError('not_found', `Session file ${path} not found.`, {
      hint: 'Run `steward sessions --all` to list the sessions.',
    });
  }
  const changed = isUtf8(bytes) ? withIssue(bytes.toString('latin1'), link) : undefined;
  if (changed === undefined) {
    throw new StewardError('conflict', `${path} does not start with front matter, or is not UTF-8.`, {
      hint: 'Put the keys at the top of the file, between two --- lines.',
    });
  }
  const next = Buffer.from(changed, 'latin1');
  if (next.equals(bytes)) return;
  if (stampOf(path)?.mark !== before) {
    throw new StewardError('conflict', `${path} changed while it was being updated.`, { hint: 'Try again.' });
  }
  replaceFile(path, next);
}

/**
 * Adds the issue to the front matter. `text` must be decoded as Latin-1, so that all other bytes stay
 * unchanged.
 */
function withIssue(text: string, link: IssueLink): string | undefined {
  const lines = text.split('\n');
  const first = (lines[0] ?? '').replace(/^\xef\xbb\xbf/, '').trimEnd();
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (first !== '---' || end === -1) return undefined;
  const added: string[] = [];
  const lineEnd = lines[0]?.endsWith('\r') === true ? '\r' : '';
  for (const [key, value] of Object.entries(link)) {
    const at = lines.findIndex(
      (line, i) => i > 0 && i < end && line.startsWith(key) && KEY.exec(line.trimEnd())?.[1] === key,
    );
    if (at === -1) added.push(`${key}: ${value}${lineEnd}`);
    else lines[at] = withValue(lines[at] as string, value);
  }
  return [...lines.slice(0, end), ...added, ...lines.slice(end)].join('\n');
}

function withValue(line: string, value: string | number): string {
  const at = line.indexOf(':') + 1;
  const quoted = QUOTED.exec(line.slice(at))?.[0].length;
  const rest = quoted === undefined ? line.slice(at).search(BEHIND) : quoted;
  return `${line.slice(0, at)} ${value}${line.slice(at + rest)}`;
}

const QUOTED = /^[ \t]*(?:'(?:[^']|'')*'|"(?:[^"\\]|\\.)*")(?=[ \t]+#|[ \t\r]*$)/;
const BEHIND = /(?<![ \t])[ \t]+#|(?<![ \t])[ \t]*\r?$/;

/** Returns whether YAML parses the unquoted URL as a string. */
function isPlain(url: string): boolean {
  return /^https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]{1,500}$/.test(url);
}

/** A session file's checklist items, such as `- [x] The tests pass`. */
export interface Claims {
  closed: string[];
  /** Number of unchecked items. */
  open: number;
}

/**
 * Returns the checklist items outside of code blocks. Returns undefined if the session file can't be read.
 */
export function claimsOf(sessions: string, slug: string): Claims | undefined {
  if (artifactOf(sessions, slug) === undefined) return undefined;
  const text = readText(artifactPath(sessions, slug), { maxBytes: MAX_BYTES }) ?? '';
  const claims: Claims = { closed: [], open: 0 };
  let isCode = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    const [, mark, claim = ''] = isCode ? [] : (/^\s*[-*+] \[([ xX])\] (.*\S)\s*$/.exec(line) ?? []);
    if (mark === ' ') claims.open += 1;
    else if (mark !== undefined) claims.closed.push(clean(claim).slice(0, MAX_TEXT));
  }
  return claims;
}
