import { join } from 'node:path';

import { StewardError, errnoCode, toStewardError } from '../errors';
import { createFile, readBytes } from '../platform/files/atomic-file';
import { ensureFolder, listFolder, lstatOf } from '../platform/files/folder';
import { bodyOf, frontMatter } from '../platform/files/front-matter';
import { isObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { isSlug } from '../sessions/slug';
import { MODEL_TIERS, type ModelTier } from './brief';
import {
  type Approach,
  type Expertise,
  type Personality,
  TRAIT_FAMILIES,
  type TraitFamily,
  traitNamed,
} from './traits';

/** Something that is wrong with a file of the roster, or worth to know (`note`). */
export interface RosterProblem {
  file: string;
  level: 'error' | 'note';
  message: string;
  hint: string;
}

export interface Roster {
  agents: RosterAgent[];
  problems: RosterProblem[];
}

/** The parser of YAML is the configuration's, so that all files of a person are read alike. */
export type ParseYaml = (
  text: string,
) => Promise<{ value: unknown } | { problem: { line: number; column: number; message: string } }>;

export interface RosterDeps {
  /** `agents/` in the user area. */
  folder: string;
  parseYaml: ParseYaml;
}

export interface RosterEntry extends RosterAgent {
  /** What it is, in the person's words: the text below the front matter. */
  persona: string;
}

const MAX_BYTES = 256 * 1024;
const MAX_FILES = 500;

/** Reads the whole roster. A file with an error is left out and told of; the others are unharmed. */
export async function readRoster(deps: RosterDeps): Promise<Roster & { entries: RosterEntry[] }> {
  const problems: RosterProblem[] = [];
  const entries: RosterEntry[] = [];
  const names = rosterFiles(deps.folder);
  if (names.length > MAX_FILES) {
    problems.push(
      problem(
        deps.folder,
        'error',
        `It holds ${names.length} files.`,
        `A roster has ${MAX_FILES} at most; the rest is not read.`,
      ),
    );
  }
  for (const name of names.slice(0, MAX_FILES)) {
    const entry = await readEntry(deps, name, problems);
    if (entry !== undefined) entries.push(entry);
  }
  for (const [first, second] of sameNames(entries)) {
    problems.push(
      problem(
        second.path,
        'error',
        `Its name is ${first.name} as in ${first.slug}.md.`,
        'Give each agent a name of its own.',
      ),
    );
  }
  return { agents: entries.map(withoutPersona), entries, problems };
}

/** The Markdown files of the folder by name; a folder that is a link, or none, is `config`. */
export function rosterFiles(folder: string): string[] {
  const facts = lstatOf(folder);
  if (facts === undefined) return [];
  if (!facts.isFolder) {
    throw new StewardError('config', `${folder} is ${facts.isLink ? 'a symbolic link' : 'not a folder'}.`, {
      hint: 'Put the folder of the roster itself there.',
    });
  }
  return listFolder(folder)
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .sort();
}

/** One agent by slug or name; none, or one whose file is broken, is `not_found` or `config`. */
export async function rosterEntry(deps: RosterDeps, wanted: string): Promise<RosterEntry> {
  const { entries, problems } = await readRoster(deps);
  const text = wanted.trim().toLowerCase();
  const found = entries.find(({ slug, name }) => slug === text || name.toLowerCase() === text);
  if (found !== undefined) return found;
  const broken = problems.find(
    ({ file, level }) => level === 'error' && file === join(deps.folder, `${text}.md`),
  );
  if (broken !== undefined)
    throw new StewardError('config', `${broken.file}: ${broken.message}`, { hint: broken.hint });
  throw new StewardError('not_found', `The roster has no agent ${clean(wanted)}.`, {
    hint:
      entries.length === 0
        ? 'Make one with "steward agents roster new NAME".'
        : `It has: ${entries.map(({ slug }) => slug).join(', ')}.`,
  });
}

async function readEntry(
  deps: RosterDeps,
  file: string,
  problems: RosterProblem[],
): Promise<RosterEntry | undefined> {
  const path = join(deps.folder, file);
  const wrong = (message: string, hint: string): undefined => {
    problems.push(problem(path, 'error', message, hint));
    return undefined;
  };
  const slug = file.replace(/\.md$/, '');
  if (!isSlug(slug))
    return wrong('Its name is no slug.', 'Use small letters, digits, - and _, such as ada.md.');
  const text = readMarkdown(path);
  if (typeof text !== 'string') return wrong(text.problem, text.hint);
  const lines = frontMatter(text);
  if (lines === undefined)
    return wrong(
      'It has no front matter.',
      'Begin it with a line ---, the keys name and role, and a line ---.',
    );
  const parsed = await deps.parseYaml(lines.join('\n'));
  if ('problem' in parsed) {
    const { line, column, message } = parsed.problem;
    return wrong(`Line ${line + 1}, column ${column}: ${message}.`, 'Mend the front matter; it is YAML.');
  }
  if (!isObject(parsed.value))
    return wrong('Its front matter has no keys.', 'Give it at least name and role.');
  const { values, errors, notes } = personaOf(parsed.value);
  problems.push(
    ...notes.map((message) =>
      problem(path, 'note', message, 'Only the voice of the assistant is configured, at da.voices.main.'),
    ),
  );
  const [error] = errors;
  if (error !== undefined) {
    problems.push(
      ...errors.map((message) =>
        problem(path, 'error', message, 'See "steward agents traits", or take the key out.'),
      ),
    );
    return undefined;
  }
  return { slug, path, ...values, name: values.name ?? slug, persona: bodyOf(text).trim() };
}

/** A file of text for people; the reason where it is none. Links are refused, so none leads out of the folder. */
function readMarkdown(path: string): string | { problem: string; hint: string } {
  try {
    if ((lstatOf(path)?.size ?? 0) > MAX_BYTES) {
      return {
        problem: `It has more than ${MAX_BYTES / 1024} KiB.`,
        hint: 'Shorten it: it becomes a part of briefs.',
      };
    }
    const bytes = readBytes(path, { maxBytes: MAX_BYTES });
    if (bytes === undefined) return { problem: 'It is gone.', hint: 'Run the command again.' };
    if (bytes.includes(0)) return { problem: 'It is a binary file.', hint: 'Move it away.' };
    return bytes.toString('utf8');
  } catch (error) {
    if (errnoCode(error) === undefined && !(error instanceof StewardError)) throw error;
    const { message, hint } = toStewardError(error);
    // One file that cannot be read keeps no other from being used.
    const problem = message.replace(`${path} `, 'It ').replace(`: ${path}`, '.');
    return { problem, hint: hint ?? 'Move it away.' };
  }
}

function sameNames(entries: readonly RosterEntry[]): [RosterEntry, RosterEntry][] {
  const seen = new Map<string, RosterEntry>();
  return entries.flatMap((entry) => {
    const key = entry.name.toLowerCase();
    const before = seen.get(key);
    if (before === undefined) seen.set(key, entry);
    return before === undefined ? [] : [[before, entry]];
  });
}

function problem(file: string, level: RosterProblem['level'], message: string, hint: string): RosterProblem {
  return { file, level, message, hint };
}

function withoutPersona(entry: RosterEntry): RosterAgent {
  const { slug, name, role, description, model, expertise, personality, approach, path } = entry;
  return { slug, name, role, description, model, expertise, personality, approach, path };
}

/** A named agent: a persistent identity of the person's own roster (service.md: Agent invocation). */
export interface RosterAgent {
  /** The name of its file without `.md`. */
  slug: string;
  name: string;
  role: string | null;
  description: string | null;
  model: ModelTier | null;
  expertise: Expertise[];
  personality: Personality[];
  approach: Approach[];
  path: string;
}

/** Characters of a name, a role or a description. */
export const MAX_TEXT = 300;

type Persona = Omit<RosterAgent, 'slug' | 'path' | 'name'> & { name: string | null };

/**
 * The keys of a persona. Voice fields are not among them: no code reads the voice of an agent file (service.md:
 * Notification settings), since only the assistant speaks. That they stand there is a note.
 */
export function personaOf(keys: Record<string, unknown>): {
  values: Persona;
  errors: string[];
  notes: string[];
} {
  const errors: string[] = [];
  const text = (key: string): string | null => {
    const value = keys[key];
    if (value === undefined || value === null) return null;
    const found = typeof value === 'string' ? clean(value).trim() : '';
    if (found === '' || found.length > MAX_TEXT)
      errors.push(`${key} is not a text of up to ${MAX_TEXT} characters.`);
    return found;
  };
  const traits = <F extends TraitFamily>(family: F): (typeof TRAIT_FAMILIES)[F][number]['id'][] => {
    const value = keys[family];
    const given =
      typeof value === 'string' ? value.split(',') : value === undefined || value === null ? [] : value;
    if (!Array.isArray(given)) {
      errors.push(`${family} is not a list.`);
      return [];
    }
    return given.flatMap((item) => {
      const trait = typeof item === 'string' ? traitNamed(family, item) : undefined;
      if (trait === undefined)
        errors.push(
          `${family} has ${shown(item)}; the vocabulary is ${TRAIT_FAMILIES[family].map(({ id }) => id).join(', ')}.`,
        );
      return trait === undefined ? [] : [trait.id];
    });
  };
  const model = text('model')?.toLowerCase() ?? null;
  if (model !== null && !MODEL_TIERS.includes(model as ModelTier))
    errors.push(`model is ${shown(model)}; the tiers are ${MODEL_TIERS.join(', ')}.`);
  const values: Persona = {
    name: text('name'),
    role: text('role'),
    description: text('description'),
    model: model as ModelTier | null,
    expertise: traits('expertise'),
    personality: traits('personality'),
    approach: traits('approach'),
  };
  const voices = Object.keys(keys).filter((key) => /^voice/i.test(key));
  const notes = voices.map((key) => `${clean(key)} is not read.`);
  return { values, errors, notes };
}

function shown(value: unknown): string {
  return `"${clean(String(typeof value === 'object' ? 'a list or object' : value)).slice(0, 40)}"`;
}

export interface NewAgent {
  slug: string;
  name?: string;
  role: string;
  model?: ModelTier;
  expertise: readonly string[];
  personality: readonly string[];
  approach: readonly string[];
}

/** Writes the file of a new agent for a person to go on with. One that is there is `conflict` and stays. */
export function newRosterAgent(folder: string, agent: NewAgent): { slug: string; path: string } {
  if (!isSlug(agent.slug)) {
    throw new StewardError(
      'usage',
      `${clean(agent.slug).slice(0, 100)} is no name for a file of the roster.`,
      {
        hint: 'Use small letters, digits, - and _, such as ada; --name takes the name as it is written.',
      },
    );
  }
  const name = clean(agent.name ?? agent.slug.charAt(0).toUpperCase() + agent.slug.slice(1)).trim();
  const role = clean(agent.role).trim();
  for (const [flag, text] of [
    ['--name', name],
    ['--role', role],
  ] as const) {
    if (text === '' || text.length > MAX_TEXT) {
      throw new StewardError('usage', `${flag} is not a text of up to ${MAX_TEXT} characters.`, {
        hint: 'Give a shorter one.',
      });
    }
  }
  const list = (key: TraitFamily): string[] =>
    agent[key].length === 0 ? [] : [`${key}: [${agent[key].join(', ')}]`];
  const text = [
    '---',
    `name: ${JSON.stringify(name)}`,
    `role: ${JSON.stringify(role)}`,
    ...(agent.model === undefined ? [] : [`model: ${agent.model}`]),
    ...list('expertise'),
    ...list('personality'),
    ...list('approach'),
    '---',
    '',
    `${name} is a ${role}.`,
    '',
    'Write here who this is: what they have seen, what they care about, how they talk. It goes into every brief.',
    '',
  ].join('\n');
  const path = join(folder, `${agent.slug}.md`);
  ensureFolder(folder);
  if (!createFile(path, text)) {
    throw new StewardError('conflict', `The roster has an agent ${agent.slug} already.`, {
      hint: `Edit ${path}, or take another name.`,
    });
  }
  return { slug: agent.slug, path };
}
