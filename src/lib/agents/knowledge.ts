import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';

import { errnoCode, StewardError, toStewardError } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import { listFolder, lstatOf } from '../platform/files/folder';
import { bodyOf, frontMatter, listValue, scalar } from '../platform/files/yaml';
import { readHead } from '../platform/files/jsonl';
import { byCodeUnits } from '../platform/files/short-hash';
import { clean } from '../platform/terminal/terminal';

/** The four entity types of the archive; a topic is a tag. */
export const KNOWLEDGE_TYPES = ['people', 'companies', 'ideas', 'research'] as const;
export type KnowledgeType = (typeof KNOWLEDGE_TYPES)[number];

/** One entry that was found. */
export interface KnowledgeHit {
  /** `people/ada-lovelace`: what `show` takes. */
  id: string;
  type: KnowledgeType;
  title: string;
  tags: string[];
  /** The first line of the body that has a word of the query; null where only title or tags have it. */
  excerpt: string | null;
}

export interface KnowledgeResult {
  results: KnowledgeHit[];
  /** Entries that match, shown or not. */
  total: number;
  /** Files that were looked at. */
  scanned: number;
  /** Files that are no text, links, or cannot be read; at most 20 are named. */
  skipped: { count: number; files: { file: string; reason: string }[] };
}

export interface KnowledgeQuery {
  /** Words that all have to be there, in any case, with or without accents; none: every entry. */
  text: string;
  type?: KnowledgeType;
  /** A topic; compared whole. */
  tag?: string;
  /** 1 to `MAX_RESULTS`. */
  limit: number;
}

export interface KnowledgeEntry extends Omit<KnowledgeHit, 'excerpt'> {
  path: string;
  body: string;
}

export const MAX_RESULTS = 500;
/** So much of each file is searched; an entry is a page, not a book. */
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

/** Searches the archive. Reads only; bounded in files, bytes and results. */
export function searchKnowledge(folder: string, query: KnowledgeQuery): KnowledgeResult {
  const words = folded(query.text).match(/\S+/g) ?? [];
  const tag = query.tag === undefined ? undefined : folded(query.tag).trim();
  const skipped: KnowledgeResult['skipped'] = { count: 0, files: [] };
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
  return { results, total: found.length, scanned, skipped };
}

/** One entry by its id, its name, or the beginning of just one; none is `not_found`, several `usage`. */
export function showKnowledge(folder: string, wanted: string): KnowledgeEntry {
  const [first = '', second, ...rest] = wanted.replace(/\.md$/i, '').split('/');
  const isId = second !== undefined && rest.length === 0;
  const type = isId ? KNOWLEDGE_TYPES.find((one) => one === first.toLowerCase()) : undefined;
  // Found in the listing, never made into a path: a name with .. names nothing.
  const name = folded(type === undefined ? wanted.replace(/\.md$/i, '') : (second ?? '')).trim();
  const files = [...filesOf(folder, type, () => undefined)];
  const exact = files.filter((file) => folded(file.name) === name);
  const isExact = exact.length > 0 || name === '';
  const alike = isExact ? exact : files.filter((file) => folded(file.name).startsWith(name));
  const [only] = alike;
  if (only === undefined) {
    throw new StewardError('not_found', `The archive has no entry ${clean(wanted).slice(0, 100)}.`, {
      hint: 'Look for it with "steward agents knowledge search WORDS".',
    });
  }
  if (alike.length > 1) {
    throw new StewardError('usage', `${alike.length} entries are called so.`, {
      hint: `Write one of them whole, such as ${idOf(only)}.`,
    });
  }
  const { path } = only;
  const size = lstatOf(path)?.size ?? 0;
  if (size > SHOW_BYTES) {
    throw new StewardError('config', `${path} has ${Math.ceil(size / 2 ** 20)} MiB: it is no page.`, {
      hint: `Split it: an entry has up to ${SHOW_BYTES / 2 ** 20} MiB.`,
    });
  }
  const text = textOf(readBytes(path));
  if (text === undefined) {
    throw new StewardError('config', `${path} is no text in UTF-8.`, {
      hint: 'Save it as UTF-8, or move it away.',
    });
  }
  return { id: idOf(only), type: only.type, ...headOf(only, text), path, body: bodyOf(text).trim() };
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
      skip(place, facts.isLink ? 'it is a symbolic link' : 'it is not a folder');
      continue;
    }
    for (const name of listFolder(place).sort()) {
      if (!name.endsWith('.md') || name.startsWith('.')) continue;
      count += 1;
      if (count > MAX_FILES) {
        skip(place, `only the first ${MAX_FILES} files of the archive are read`);
        return;
      }
      yield { type, name: name.replace(/\.md$/, ''), path: join(place, name) };
    }
  }
}

/** The beginning of an entry; undefined of one that is skipped. */
function readStart(path: string, skip: (file: string, reason: string) => void): string | undefined {
  let reason: string;
  try {
    const bytes = readHead(path, SEARCH_BYTES);
    const text = textOf(bytes);
    if (text !== undefined) return text;
    reason = bytes === undefined ? 'it is gone' : 'it is no text in UTF-8';
  } catch (error) {
    const code = errnoCode(error);
    if (code === undefined && !(error instanceof StewardError)) throw error;
    const message = toStewardError(error).message.replace(`${path} is`, 'it is').replace(/\.$/, '');
    reason = code === undefined ? message : `it cannot be read (${code})`;
  }
  skip(path, reason);
  return undefined;
}

/** Undefined for what is no text. A character that was cut at the end of what was read is left out. */
function textOf(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined || bytes.includes(0)) return undefined;
  for (let cut = 0; cut <= 3 && cut <= bytes.length; cut += 1) {
    const part = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(part)) return part.toString('utf8');
  }
  return undefined;
}

function matchOf(
  file: File,
  text: string,
  words: readonly string[],
  tag: string | undefined,
): { hit: KnowledgeHit; rank: number } | undefined {
  const { title, tags } = headOf(file, text);
  if (tag !== undefined && !tags.some((one) => folded(one) === tag)) return undefined;
  const head = folded(`${file.name} ${title} ${tags.join(' ')}`);
  const inHead = words.filter((word) => head.includes(word)).length;
  const body = bodyOf(text);
  const whole = folded(body);
  if (!words.every((word) => head.includes(word) || whole.includes(word))) return undefined;
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
  return { title, tags: [...new Set(tags.map((one) => clean(one.replace(/^#/, '')).slice(0, 60)))] };
}

function excerptOf(body: string, words: readonly string[]): string | null {
  if (words.length === 0) return null;
  const line = body.split('\n').find((one) => words.some((word) => folded(one).includes(word)));
  if (line === undefined) return null;
  const text = clean(line).trim();
  const at = Math.max(0, folded(text).indexOf(words.find((word) => folded(text).includes(word)) ?? '') - 40);
  const part = text.slice(at, at + MAX_EXCERPT);
  return `${at > 0 ? '…' : ''}${part.trim()}${at + MAX_EXCERPT < text.length ? '…' : ''}`;
}

/** As a person compares: no case, no accents. */
function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

function idOf({ type, name }: File): string {
  return `${type}/${name}`;
}
