import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';

import { errnoCode, StewardError, toStewardError } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import { lstatOf } from '../platform/files/folder';
import { bodyOf, frontMatter, listValue, scalar } from '../platform/files/yaml';
import { readHead } from '../platform/files/jsonl';
import { byCodeUnits } from '../platform/files/short-hash';
import { clean } from '../platform/terminal/terminal';
import { markdownFiles } from './markdown-files';

/** Entry types, each with its own folder. */
export const KNOWLEDGE_TYPES = ['people', 'companies', 'ideas', 'research'] as const;
export type KnowledgeType = (typeof KNOWLEDGE_TYPES)[number];

type KnowledgeHit = NonNullable<ReturnType<typeof matchOf>>['hit'];

export interface KnowledgeQuery {
  /** Search terms that must all match, ignoring case and accents. An empty string matches every entry. */
  text: string;
  type?: KnowledgeType;
  /** A tag that entries must have, ignoring case and accents. */
  tag?: string;
  /** Maximum number of results, 1 to `MAX_RESULTS`. */
  limit: number;
}

export interface KnowledgeEntry extends Omit<KnowledgeHit, 'excerpt'> {
  path: string;
  body: string;
}

export const MAX_RESULTS = 500;
const SEARCH_BYTES = 128 * 1024;
const SHOW_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 50_000;
const MAX_EXCERPT = 160;
const MAX_NAMED = 20;

interface File {
  type: KnowledgeType;
  name: string;
  path: string;
}

/** Searches the knowledge archive. Results that match by name, title or tag come first. */
export function searchKnowledge(folder: string, query: KnowledgeQuery) {
  const words = folded(query.text).match(/\S+/g) ?? [];
  const tag = query.tag === undefined ? undefined : folded(query.tag).trim();
  /** Symbolic links, and unreadable or binary files. `files` lists at most 20. */
  const skipped = { count: 0, files: [] as { file: string; reason: string }[] };
  const skip = (file: string, reason: string): void => {
    skipped.count += 1;
    if (skipped.files.length < MAX_NAMED) skipped.files.push({ file: clean(file), reason });
  };
  const found: { hit: KnowledgeHit; rank: number }[] = [];
  let scanned = 0;
  for (const file of filesOf(folder, query.type, skip)) {
    scanned += 1;
    const text = readStart(file.path, skip);
    const match = text === undefined ? undefined : matchOf(file, text, words, tag);
    if (match !== undefined) found.push(match);
  }
  found.sort((a, b) => a.rank - b.rank || byCodeUnits(a.hit.id, b.hit.id));
  const results = found.slice(0, query.limit).map(({ hit }) => hit);
  // `total` is the number of matches before the limit is applied.
  return { results, total: found.length, scanned, skipped };
}

export type KnowledgeResult = ReturnType<typeof searchKnowledge>;

/**
 * Returns an entry by id, name or unique prefix. Throws `not_found` if no entry matches, or `usage` if
 * several match.
 */
export function showKnowledge(folder: string, wanted: string): KnowledgeEntry {
  const [first = '', second, ...rest] = wanted.replace(/\.md$/i, '').split('/');
  const isId = second !== undefined && rest.length === 0;
  const type = isId ? KNOWLEDGE_TYPES.find((known) => known === first.toLowerCase()) : undefined;
  // Compare the name with the folder's file names, because a path built from the name could point outside the
  // folder.
  const name = folded(type === undefined ? wanted.replace(/\.md$/i, '') : (second ?? '')).trim();
  const files = [...filesOf(folder, type, () => undefined)];
  const exact = files.filter((file) => folded(file.name) === name);
  const isExact = exact.length > 0 || name === '';
  const matches = isExact ? exact : files.filter((file) => folded(file.name).startsWith(name));
  const [match] = matches;
  if (match === undefined) {
    throw new StewardError('not_found', `No entry "${clean(wanted).slice(0, 100)}" in the archive.`, {
      hint: 'Search with "steward agents knowledge search WORDS".',
    });
  }
  if (matches.length > 1) {
    throw new StewardError('usage', `${matches.length} entries match "${clean(wanted).slice(0, 100)}".`, {
      hint: `Use the full id, such as ${idOf(match)}.`,
    });
  }
  const { path } = match;
  const size = lstatOf(path)?.size ?? 0;
  if (size > SHOW_BYTES) {
    throw new StewardError('config', `${path} is too large (${Math.ceil(size / 2 ** 20)} MiB).`, {
      hint: `Split the file; the limit is ${SHOW_BYTES / 2 ** 20} MiB.`,
    });
  }
  const text = decoded(readBytes(path));
  if (text === undefined) {
    throw new StewardError('config', `${path} is not UTF-8 text.`, {
      hint: 'Save the file as UTF-8.',
    });
  }
  return { id: idOf(match), type: match.type, ...headOf(match, text), path, body: bodyOf(text).trim() };
}

function* filesOf(
  folder: string,
  only: KnowledgeType | undefined,
  skip: (file: string, reason: string) => void,
): Generator<File> {
  let count = 0;
  for (const type of only === undefined ? KNOWLEDGE_TYPES : [only]) {
    const place = join(folder, type);
    const facts = lstatOf(folder)?.isLink === true ? lstatOf(folder) : lstatOf(place);
    if (facts === undefined) continue;
    if (!facts.isFolder) {
      skip(place, facts.isLink ? 'is a symbolic link' : 'is not a folder');
      continue;
    }
    for (const name of markdownFiles(place)) {
      count += 1;
      if (count > MAX_FILES) {
        skip(place, `has more than ${MAX_FILES} files; the rest are skipped`);
        return;
      }
      yield { type, name: name.replace(/\.md$/, ''), path: join(place, name) };
    }
  }
}

/** Returns the start of an entry. Calls `skip` and returns undefined if the entry can't be read. */
function readStart(path: string, skip: (file: string, reason: string) => void): string | undefined {
  let reason: string;
  try {
    const bytes = readHead(path, SEARCH_BYTES);
    const text = decoded(bytes);
    if (text !== undefined) return text;
    reason = bytes === undefined ? 'was removed' : 'is not UTF-8 text';
  } catch (error) {
    const code = errnoCode(error);
    if (code === undefined && !(error instanceof StewardError)) throw error;
    const message = toStewardError(error).message.replace(`${path} is`, 'is').replace(/\.$/, '');
    reason = code === undefined ? message : `cannot be read (${code})`;
  }
  skip(path, reason);
  return undefined;
}

/** Decodes UTF-8, ignoring a truncated last character. Returns undefined for binary or invalid data. */
function decoded(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined || bytes.includes(0)) return undefined;
  for (let cut = 0; cut <= 3 && cut <= bytes.length; cut += 1) {
    const part = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(part)) return part.toString('utf8');
  }
  return undefined;
}

function matchOf(file: File, text: string, words: readonly string[], tag: string | undefined) {
  const { title, tags } = headOf(file, text);
  if (tag !== undefined && !tags.some((name) => folded(name) === tag)) return undefined;
  const head = folded(`${file.name} ${title} ${tags.join(' ')}`);
  const inHead = words.filter((word) => head.includes(word)).length;
  const body = bodyOf(text);
  const whole = folded(body);
  if (!words.every((word) => head.includes(word) || whole.includes(word))) return undefined;
  // `id` is what `show` takes. `excerpt` is the first line with a word; null if only the title or tags match.
  const hit = { id: idOf(file), type: file.type, title, tags, excerpt: excerptOf(body, words) };
  return { hit, rank: inHead === words.length ? 0 : inHead > 0 ? 1 : 2 };
}

function headOf(file: File, text: string): { title: string; tags: string[] } {
  const lines = frontMatter(text) ?? [];
  const titled = lines
    .map((line) => /^(?:title|name)[ \t]*:[ \t](.*)$/.exec(line)?.[1])
    .find((value) => value !== undefined);
  const heading = /^#[ \t](.+)$/m.exec(text.slice(0, 4096))?.[1];
  const title = clean(scalar(titled ?? '') || heading?.trim() || file.name).slice(0, 200);
  const tags = [...listValue(lines, 'tags'), ...listValue(lines, 'topics'), ...listValue(lines, 'topic')];
  return { title, tags: [...new Set(tags.map((name) => clean(name.replace(/^#/, '')).slice(0, 60)))] };
}

function excerptOf(body: string, words: readonly string[]): string | null {
  if (words.length === 0) return null;
  const line = body.split('\n').find((text) => words.some((word) => folded(text).includes(word)));
  if (line === undefined) return null;
  const text = clean(line).trim();
  const at = Math.max(0, folded(text).indexOf(words.find((word) => folded(text).includes(word)) ?? '') - 40);
  const part = text.slice(at, at + MAX_EXCERPT);
  return `${at > 0 ? '…' : ''}${part.trim()}${at + MAX_EXCERPT < text.length ? '…' : ''}`;
}

function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

function idOf({ type, name }: File): string {
  return `${type}/${name}`;
}
