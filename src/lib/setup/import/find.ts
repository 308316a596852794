import { join } from 'node:path';

import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { errnoCode } from '../../errors';
import { entriesIn, kindOf, type FolderEntry } from '../../platform/files/stat';
import { ARTIFACT_NAME } from '../../sessions/artifact';

/** What a folder of another system can hold, in the order of the import. */
export const PARTS = [
  'sense',
  'work',
  'pronunciations',
  'sessions',
  'goals',
  'projects',
  'agents',
  'knowledge',
] as const;
export type Part = (typeof PARTS)[number];

/** A file, or the folder that holds the part. */
export interface Found {
  part: Part;
  path: string;
}

const MAX_DEPTH = 6;
const MAX_FOLDERS = 20_000;
const SKIPPED = ['.git', 'node_modules'];
const FILES: readonly Part[] = ['pronunciations', 'goals', 'projects'];
const FILE_NAMES: Partial<Record<Part, string>> = {
  pronunciations: 'pronunciations.json',
  goals: 'goals.md',
  projects: 'projects.md',
};

/** Finds the parts below a folder by their shapes, nearest first; `cut` if a bound was reached. Does not follow links. */
export function findParts(root: string, except: string): { parts: Found[]; cut: boolean } {
  const parts: Found[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      seen += 1;
      if (seen > MAX_FOLDERS || depth > MAX_DEPTH) return { parts, cut: true };
      const { found, others } = lookInto(folder);
      parts.push(...found);
      next.push(...others.filter((path) => path !== except));
    }
    level = next;
  }
  return { parts, cut: false };
}

/** The parts that a folder holds, and the folders in it that may hold others. */
function lookInto(folder: string): { found: Found[]; others: string[] } {
  const entries = readable(folder);
  const folders = entries.filter(({ name, isFolder }) => isFolder && !SKIPPED.includes(name));
  const names = folders.map(({ name }) => name);
  const files = new Map(
    entries.filter(({ isFolder }) => !isFolder).map(({ name }) => [name.toLowerCase(), name]),
  );
  const inside = (name: string, pattern: RegExp): boolean =>
    names.includes(name) && readable(join(folder, name)).some((entry) => pattern.test(entry.name));
  const slugs = names.filter((name) => kindOf(join(folder, name, ARTIFACT_NAME)) === 'file');
  const types = KNOWLEDGE_TYPES.filter((type) => inside(type, /\.md$/));
  const found: Found[] = [];
  const taken: string[] = [];
  const note = (is: boolean, part: Part, path: string, ...known: string[]): void => {
    if (!is) return;
    found.push({ part, path });
    taken.push(...known);
  };
  const isSense = inside('events', /^\d{4}-\d\d-\d\d\.jsonl$/) || inside('daily', /^\d{4}-\d\d-\d\d\.json$/);
  note(isSense, 'sense', folder, 'events', 'daily', 'insights', 'logs', 'quarantine');
  const isWork = files.has('work_repo.json') || (files.has('labels.yml') && files.has('config.yaml'));
  // Restricted: nothing of the customers is looked at.
  note(isWork, 'work', folder, 'customers');
  for (const part of FILES) {
    const name = files.get(FILE_NAMES[part] ?? '');
    if (name !== undefined) found.push({ part, path: join(folder, name) });
  }
  note(slugs.length > 0, 'sessions', folder, ...slugs);
  note(inside('agents', /\.md$/), 'agents', join(folder, 'agents'), 'agents');
  note(types.length > 0, 'knowledge', folder, ...types);
  return { found, others: names.filter((name) => !taken.includes(name)).map((name) => join(folder, name)) };
}

/** A folder that this user may not look into holds nothing to import. */
function readable(folder: string): FolderEntry[] {
  try {
    return entriesIn(folder);
  } catch (error) {
    if (errnoCode(error) === 'EACCES' || errnoCode(error) === 'EPERM') return [];
    throw error;
  }
}
