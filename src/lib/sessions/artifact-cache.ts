import { dirname } from 'node:path';

import { StewardError, errnoCode } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject, parseObject } from '../platform/files/json-object';
import type { Look } from '../platform/files/stat';
import { artifactOf, type Artifact } from './artifact';

/** Artifacts that were read before, so that a thousand which did not change are not opened again. */
export interface ArtifactCache {
  /** As `artifactOf` gives it; `look` is that of its file, taken just now. */
  artifact: (slug: string, look: Look) => Artifact | undefined;
  /** Writes what was read since, without the sessions that are not among these any more. */
  keep: (slugs: ReadonlySet<string>) => void;
}

interface Entry {
  mark: string;
  artifact: Artifact;
}

const MAX_BYTES = 32 * 1024 * 1024;
/** File systems keep times to two seconds at worst: what is younger may change again and show the same time. */
const SETTLED_MS = 2000;

/**
 * Artifacts known by device, inode, size and both dates of their files. One that changed a moment ago is read and not
 * kept. A file of the cache that is missing, broken, of another folder or of another version is an empty one, and one
 * that cannot be written makes the next look slower: nothing else comes of it.
 *
 * @param at the file of the cache, of this machine; the folder of the sessions; which steward reads them
 */
export function artifactCache(at: { path: string; sessions: string; version: string }): ArtifactCache {
  const of = `${at.version} ${at.sessions}`;
  const entries = readEntries(at.path, of);
  let isNew = false;
  return {
    artifact(slug, look) {
      const known = entries.get(slug);
      if (known?.mark === look.mark) return known.artifact;
      if (entries.delete(slug)) isNew = true;
      const artifact = artifactOf(at.sessions, slug);
      // The look is older than the reading: what was changed in between has another mark by now.
      if (artifact !== undefined && Math.abs(look.nowMs - look.changedMs) > SETTLED_MS) {
        entries.set(slug, { mark: look.mark, artifact });
        isNew = true;
      }
      return artifact;
    },
    keep(slugs) {
      for (const slug of [...entries.keys()]) if (!slugs.has(slug) && entries.delete(slug)) isNew = true;
      if (isNew) write(at.path, `${JSON.stringify({ of, entries: Object.fromEntries(entries) })}\n`);
      isNew = false;
    },
  };
}

function readEntries(path: string, of: string): Map<string, Entry> {
  const stored = parseObject(readOrNothing(path));
  const entries = new Map<string, Entry>();
  if (stored?.['of'] !== of || !isObject(stored['entries'])) return entries;
  for (const [slug, entry] of Object.entries(stored['entries'])) if (isEntry(entry)) entries.set(slug, entry);
  return entries;
}

function readOrNothing(path: string): string {
  try {
    return readText(path, { maxBytes: MAX_BYTES }) ?? '';
  } catch (error) {
    if (!isOfTheDisk(error)) throw error;
    return '';
  }
}

function write(path: string, text: string): void {
  try {
    ensureFolder(dirname(path));
    replaceFile(path, text, { sync: false });
  } catch (error) {
    if (!isOfTheDisk(error)) throw error;
  }
}

/** A link in its place, a folder that cannot be written, a full disk. */
function isOfTheDisk(error: unknown): boolean {
  return error instanceof StewardError ? error.kind !== 'internal' : errnoCode(error) !== undefined;
}

function isEntry(value: unknown): value is Entry {
  if (!isObject(value) || typeof value['mark'] !== 'string' || !isObject(value['artifact'])) return false;
  const { mode, github_issue: issue, ...texts } = value['artifact'];
  const isMode = mode === 'algorithm' || mode === 'native';
  const isIssue = issue === null || (typeof issue === 'number' && issue > 0);
  const isText = (key: string): boolean => texts[key] === null || typeof texts[key] === 'string';
  return isMode && isIssue && TEXTS.every(isText);
}

const TEXTS: readonly Exclude<keyof Artifact, 'mode' | 'github_issue'>[] = [
  'session',
  'slug',
  'task',
  'project',
  'effort',
  'phase',
  'progress',
  'github_issue_url',
];
