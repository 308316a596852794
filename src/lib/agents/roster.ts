import { join } from 'node:path';

import { errnoCode, StewardError, toStewardError } from '../errors';
import { createFile, readBytes } from '../platform/files/atomic-file';
import { ensureFolder, listFolder, lstatOf } from '../platform/files/folder';
import { bodyOf, frontMatter } from '../platform/files/yaml';
import { isObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { isSlug } from '../sessions/slug';
import { MODEL_TIERS, withArticle, type ModelTier, traitIds, type TraitFamily } from './brief';

/** A named agent: a persistent identity of the person's own roster. */
export interface RosterAgent {
  /** The name of its file without `.md`. */
  slug: string;
  name: string;
  role: string | null;
  description: string | null;
  model: ModelTier | null;
  expertise: string[];
  personality: string[];
  approach: string[];
  path: string;
}

export interface RosterEntry extends RosterAgent {
  /** The person's own words: the text below the front matter, without comments. */
  persona: string;
}

/** Something that is wrong with a file of the roster, or worth knowing (`note`). */
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

/** The configuration's YAML parser, so that all files of a person are read alike. */
export type ParseYaml = (
  text: string,
) => Promise<{ value: unknown } | { problem: { line: number; column: number; message: string } }>;

export interface RosterDeps {
  /** `agents/` in the user area. */
  folder: string;
  parseYaml: ParseYaml;
}

const MAX_BYTES = 256 * 1024;
const MAX_FILES = 500;
/** Characters of a name, a role or a description. */
const MAX_TEXT = 300;

/** Reads the whole roster. A file with an error is left out and reported; the others are unharmed. */
export async function readRoster(deps: RosterDeps): Promise<Roster & { entries: RosterEntry[] }> {
  const problems: RosterProblem[] = [];
  const entries: RosterEntry[] = [];
  const report = (file: string, message: string, hint: string, level: 'error' | 'note' = 'error'): void => {
    problems.push({ file, level, message, hint });
  };
  const names = rosterFiles(deps.folder);
  if (names.length > MAX_FILES) {
    const hint = `A roster has ${MAX_FILES} at most; the rest is not read.`;
    report(deps.folder, `It holds ${names.length} files.`, hint);
  }
  for (const file of names.slice(0, MAX_FILES)) {
    const path = join(deps.folder, file);
    const slug = file.replace(/\.md$/, '');
    try {
      const text = readMarkdown(path, slug);
      const { values, errors, notes } = personaOf(await keysOf(deps, text));
      for (const note of notes)
        report(path, note, 'Only the voice of the assistant is configured, at da.voices.main.', 'note');
      for (const error of errors) report(path, error, 'See "steward agents traits", or take the key out.');
      if (errors.length === 0)
        entries.push({ slug, path, ...values, name: values.name ?? slug, persona: personaText(text) });
    } catch (error) {
      if (errnoCode(error) === undefined && !(error instanceof StewardError)) throw error;
      // One file that cannot be read keeps no other from being used.
      const { message, hint = 'Move it away.' } = toStewardError(error);
      report(path, message.replace(`${path} `, 'It ').replace(`: ${path}`, '.'), hint);
    }
  }
  const bySpelling = new Map<string, RosterEntry>();
  for (const entry of entries) {
    const first = bySpelling.get(entry.name.toLowerCase());
    if (first === undefined) bySpelling.set(entry.name.toLowerCase(), entry);
    else {
      const message = `Its name is ${first.name} as in ${first.slug}.md.`;
      report(entry.path, message, 'Give each agent a name of its own.');
    }
  }
  return { agents: entries.map(({ persona: _, ...agent }) => agent), entries, problems };
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

/** One agent by slug or name; an unknown one is `not_found`, one whose file is broken is `config`. */
export async function rosterEntry(deps: RosterDeps, wanted: string): Promise<RosterEntry> {
  const { entries, problems } = await readRoster(deps);
  const text = wanted.trim().toLowerCase();
  const found = entries.find(({ slug, name }) => slug === text || name.toLowerCase() === text);
  if (found !== undefined) return found;
  const path = join(deps.folder, `${text}.md`);
  const broken = problems.find(({ file, level }) => level === 'error' && file === path);
  if (broken !== undefined)
    throw new StewardError('config', `${path}: ${broken.message}`, { hint: broken.hint });
  throw new StewardError('not_found', `The roster has no agent ${clean(wanted)}.`, {
    hint:
      entries.length === 0
        ? 'Make one with "steward agents roster new NAME".'
        : `It has: ${entries.map(({ slug }) => slug).join(', ')}.`,
  });
}

/** The text of a file of the roster. Links are refused, so none leads out of the folder. */
function readMarkdown(path: string, slug: string): string {
  if (!isSlug(slug))
    throw wrong('Its name is no slug.', 'Use small letters, digits, - and _, such as ada.md.');
  if ((lstatOf(path)?.size ?? 0) > MAX_BYTES) {
    const message = `It has more than ${MAX_BYTES / 1024} KiB.`;
    throw wrong(message, 'Shorten it: it becomes a part of briefs.');
  }
  const bytes = readBytes(path, { maxBytes: MAX_BYTES });
  if (bytes === undefined) throw wrong('It is gone.', 'Run the command again.');
  if (bytes.includes(0)) throw wrong('It is a binary file.', 'Move it away.');
  return bytes.toString('utf8');
}

/** The keys of a file's front matter. */
async function keysOf({ parseYaml }: RosterDeps, text: string): Promise<Record<string, unknown>> {
  const lines = frontMatter(text);
  if (lines === undefined) {
    const hint = 'Begin it with a line ---, the keys name and role, and a line ---.';
    throw wrong('It has no front matter.', hint);
  }
  const parsed = await parseYaml(lines.join('\n'));
  if ('problem' in parsed) {
    const { line, column, message } = parsed.problem;
    throw wrong(`Line ${line + 1}, column ${column}: ${message}.`, 'Correct the front matter; it is YAML.');
  }
  if (isObject(parsed.value)) return parsed.value;
  throw wrong('Its front matter has no keys.', 'Give it at least name and role.');
}

function wrong(message: string, hint: string): StewardError {
  return new StewardError('config', message, { hint });
}

/** What a new file says to its author; files of earlier versions have it as a line of their text. */
const INVITATION =
  'Write here who this is: what they have seen, what they care about, how they talk. It goes into every brief.';

function personaText(text: string): string {
  return bodyOf(text)
    .replace(/<!--[^]*?(?:-->|$)/g, '')
    .replace(INVITATION, '')
    .trim();
}

/** The keys of a persona. Voice fields are not read, since only the assistant speaks; that they are there is a note. */
function personaOf(keys: Record<string, unknown>) {
  const errors: string[] = [];
  const text = (key: string): string | null => {
    const value = keys[key];
    if (value === undefined || value === null) return null;
    const found = typeof value === 'string' ? clean(value).trim() : '';
    if (found === '' || found.length > MAX_TEXT)
      errors.push(`${key} is not a text of up to ${MAX_TEXT} characters.`);
    return found;
  };
  const traits = (family: TraitFamily): string[] => {
    const value = keys[family] ?? [];
    const given: unknown = typeof value === 'string' ? value.split(',') : value;
    if (!Array.isArray(given)) {
      errors.push(`${family} is not a list.`);
      return [];
    }
    const known = traitIds(family);
    return given.flatMap((item: unknown) => {
      const id = typeof item === 'string' ? item.trim().toLowerCase() : '';
      if (known.includes(id)) return [id];
      errors.push(`${family} has ${shown(item)}; the vocabulary is ${known.join(', ')}.`);
      return [];
    });
  };
  const model = text('model')?.toLowerCase() ?? null;
  if (model !== null && !MODEL_TIERS.includes(model as ModelTier))
    errors.push(`model is ${shown(model)}; the tiers are ${MODEL_TIERS.join(', ')}.`);
  const values = {
    name: text('name'),
    role: text('role'),
    description: text('description'),
    model: model as ModelTier | null,
    expertise: traits('expertise'),
    personality: traits('personality'),
    approach: traits('approach'),
  };
  const voices = Object.keys(keys).filter((key) => /^voice/i.test(key));
  return { values, errors, notes: voices.map((key) => `${clean(key)} is not read.`) };
}

function shown(value: unknown): string {
  return `"${clean(typeof value === 'object' ? 'a list or object' : String(value)).slice(0, 40)}"`;
}

export interface NewAgent {
  slug: string;
  name?: string | undefined;
  role: string;
  model?: ModelTier | undefined;
  expertise: readonly string[];
  personality: readonly string[];
  approach: readonly string[];
}

/** Writes the file of a new agent for a person to go on with. One that is there is `conflict` and stays. */
export function newRosterAgent(folder: string, agent: NewAgent): { slug: string; path: string } {
  const { slug, model } = agent;
  if (!isSlug(slug)) {
    const message = `${clean(slug).slice(0, 100)} is no name for a file of the roster.`;
    throw new StewardError('usage', message, {
      hint: 'Use small letters, digits, - and _, such as ada; --name takes the name as it is written.',
    });
  }
  const checked = (flag: string, value: string): string => {
    const text = clean(value).trim();
    if (text !== '' && text.length <= MAX_TEXT) return text;
    throw new StewardError('usage', `${flag} is not a text of up to ${MAX_TEXT} characters.`, {
      hint: 'Give a shorter one.',
    });
  };
  const name = checked('--name', agent.name ?? slug.charAt(0).toUpperCase() + slug.slice(1));
  const role = checked('--role', agent.role);
  const traits = (['expertise', 'personality', 'approach'] as const).flatMap((family) =>
    agent[family].length === 0 ? [] : [`${family}: [${agent[family].join(', ')}]`],
  );
  const head = [`name: ${JSON.stringify(name)}`, `role: ${JSON.stringify(role)}`, ...(model === undefined ? [] : [`model: ${model}`]), ...traits]; // prettier-ignore
  const body = [`${name} is ${withArticle(role)}.`, '', `<!-- ${INVITATION} -->`, ''];
  const path = join(folder, `${slug}.md`);
  ensureFolder(folder);
  if (!createFile(path, ['---', ...head, '---', '', ...body].join('\n'))) {
    throw new StewardError('conflict', `The roster has an agent ${slug} already.`, {
      hint: `Edit ${path}, or take another name.`,
    });
  }
  return { slug, path };
}
