import { join } from 'node:path';

import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { errnoCode } from '../../errors';
import { entriesIn, kindOf, type FolderEntry } from '../../platform/files/stat';
import { ARTIFACT_NAME } from '../../sessions/artifact';

/** Where the parts of another system lie, each by its shape; the nearest first. */
export interface FoundParts {
  /** Folders with `events/<date>.jsonl` or `daily/<date>.json`. */
  sense: string[];
  /** Folders with work_repo.json, or with labels.yml and config.yaml. */
  work: string[];
  pronunciations: string[];
  /** Folders of sessions: each folder in them has an ISA.md. */
  sessions: string[];
  goals: string[];
  projects: string[];
  /** Folders of definitions of agents. */
  agents: string[];
  /** Folders with people, companies, ideas or research. */
  knowledge: string[];
  /** True: a bound was reached, and something further down may have been missed. */
  cut: boolean;
}

const MAX_DEPTH = 6;
const MAX_FOLDERS = 20_000;
const SKIPPED = new Set(['.git', 'node_modules']);

/** Looks through a folder for what can be imported; bounded, links not followed. `except` (the user area) is passed over. */
export function findParts(root: string, except: string): FoundParts {
  const found: FoundParts = {
    sense: [],
    work: [],
    pronunciations: [],
    sessions: [],
    goals: [],
    projects: [],
    agents: [],
    knowledge: [],
    cut: false,
  };
  let level = [root];
  let seen = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      seen += 1;
      if (seen > MAX_FOLDERS || depth > MAX_DEPTH) return { ...found, cut: true };
      const entries = readable(folder);
      const inside = noteFolder(found, folder, entries);
      next.push(...inside.map((name) => join(folder, name)).filter((path) => path !== except));
    }
    level = next;
  }
  return found;
}

/** Notes what a folder is, and says which folders in it may hold something else. */
function noteFolder(found: FoundParts, folder: string, entries: readonly FolderEntry[]): string[] {
  const folders = entries
    .filter(({ name, isFolder }) => isFolder && !SKIPPED.has(name))
    .map(({ name }) => name);
  const files = new Map(
    entries.filter(({ isFolder }) => !isFolder).map(({ name }) => [name.toLowerCase(), name]),
  );
  const at = (name: string): string => join(folder, files.get(name) ?? name);
  const taken = new Set<string>();
  if (isSense(folder, folders)) {
    found.sense.push(folder);
    for (const name of ['events', 'daily', 'insights', 'logs', 'quarantine']) taken.add(name);
  }
  if (files.has('work_repo.json') || (files.has('labels.yml') && files.has('config.yaml'))) {
    found.work.push(folder);
    // Marked as restricted: nothing of it is looked at.
    taken.add('customers');
  }
  if (files.has('pronunciations.json')) found.pronunciations.push(at('pronunciations.json'));
  if (files.has('goals.md')) found.goals.push(at('goals.md'));
  if (files.has('projects.md')) found.projects.push(at('projects.md'));
  const slugs = folders.filter((name) => kindOf(join(folder, name, ARTIFACT_NAME)) === 'file');
  if (slugs.length > 0) {
    found.sessions.push(folder);
    for (const name of slugs) taken.add(name);
  }
  if (
    folders.includes('agents') &&
    readable(join(folder, 'agents')).some(({ name }) => name.endsWith('.md'))
  ) {
    found.agents.push(join(folder, 'agents'));
    taken.add('agents');
  }
  const types = KNOWLEDGE_TYPES.filter((type) => folders.includes(type) && holdsMarkdown(join(folder, type)));
  if (types.length > 0) {
    found.knowledge.push(folder);
    for (const type of types) taken.add(type);
  }
  return folders.filter((name) => !taken.has(name));
}

function isSense(folder: string, folders: readonly string[]): boolean {
  const dated = (name: string, pattern: RegExp): boolean =>
    folders.includes(name) && readable(join(folder, name)).some((entry) => pattern.test(entry.name));
  return dated('events', /^\d{4}-\d\d-\d\d\.jsonl$/) || dated('daily', /^\d{4}-\d\d-\d\d\.json$/);
}

function holdsMarkdown(folder: string): boolean {
  return readable(folder).some(({ name, isFolder }) => !isFolder && name.endsWith('.md'));
}

/** What may not be looked into is no part that this user could import. */
function readable(folder: string): FolderEntry[] {
  try {
    return entriesIn(folder);
  } catch (error) {
    if (errnoCode(error) === 'EACCES' || errnoCode(error) === 'EPERM') return [];
    throw error;
  }
}
