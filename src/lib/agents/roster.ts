import { join } from 'node:path';
import * as v from 'valibot';

import { errnoCode, StewardError, toStewardError } from '../errors';
import { createFile, readBytes } from '../platform/files/atomic-file';
import { ensureFolder, lstatOf } from '../platform/files/folder';
import { bodyOf, frontMatter } from '../platform/files/yaml';
import { isObject } from '../platform/files/json-object';
import { clean } from '../platform/terminal/terminal';
import { isSlug } from '../sessions/slug';
import { MODEL_TIERS, traitIds, withArticle, type ModelTier, type TraitFamily } from './brief';
import { rosterFiles } from './markdown-files';

type Persona = v.InferOutput<typeof PERSONA>;

interface RosterAgent
  extends Omit<Persona, 'name' | TraitFamily>, Readonly<Record<TraitFamily, readonly string[]>> {
  /** File name without `.md`. */
  slug: string;
  name: string;
  path: string;
}

export interface RosterEntry extends RosterAgent {
  /** The text below the front matter, without comments. */
  persona: string;
}

/** A problem in a roster file. At level `note`, the file is still usable. */
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

const MAX_BYTES = 256 * 1024;
const MAX_FILES = 500;
const MAX_TEXT = 300;

/** Reads the whole roster. Reports invalid files and skips them. */
export async function readRoster(folder: string): Promise<Roster & { entries: RosterEntry[] }> {
  const problems: RosterProblem[] = [];
  const entries: RosterEntry[] = [];
  const report = (file: string, message: string, hint: string, level: 'error' | 'note' = 'error'): void => {
    problems.push({ file, level, message, hint });
  };
  const names = rosterFiles(folder);
  if (names.length > MAX_FILES)
    report(folder, `The roster has ${names.length} files.`, `Only the first ${MAX_FILES} are read.`);
  for (const file of names.slice(0, MAX_FILES)) {
    const path = join(folder, file);
    const slug = file.replace(/\.md$/, '');
    try {
      const text = readMarkdown(path, slug);
      const keys = await keysOf(text);
      for (const key of Object.keys(keys).filter((name) => /^voice/i.test(name)))
        report(
          path,
          `${clean(key)} is ignored.`,
          'Only the assistant speaks, with the voice in da.voices.main.',
          'note',
        );
      const parsed = v.safeParse(PERSONA, keys);
      if (parsed.success) {
        const { name, ...facts } = parsed.output;
        entries.push({ slug, name: name ?? slug, ...facts, path, persona: personaText(text) });
      } else
        for (const issue of parsed.issues)
          report(path, describeIssue(issue), 'See "steward agents roster traits".');
    } catch (error) {
      if (errnoCode(error) === undefined && !(error instanceof StewardError)) throw error;
      const { message, hint = 'Move or rename the file.' } = toStewardError(error);
      report(path, message.replace(`${path} `, 'The file ').replace(`: ${path}`, '.'), hint);
    }
  }
  const byName = new Map<string, RosterEntry>();
  for (const entry of entries) {
    const first = byName.get(entry.name.toLowerCase());
    if (first === undefined) byName.set(entry.name.toLowerCase(), entry);
    else report(entry.path, `${first.slug}.md already uses the name ${first.name}.`, 'Choose another name.');
  }
  return { agents: entries.map(({ persona: _, ...agent }) => agent), entries, problems };
}

/**
 * Returns an agent by slug or name. Throws `not_found` if the agent doesn't exist, or `config` if its file is
 * invalid.
 */
export async function rosterEntry(folder: string, wanted: string): Promise<RosterEntry> {
  const { entries, problems } = await readRoster(folder);
  const text = wanted.trim().toLowerCase();
  const found = entries.find(({ slug, name }) => slug === text || name.toLowerCase() === text);
  if (found !== undefined) return found;
  const path = join(folder, `${text}.md`);
  const problem = problems.find(({ file, level }) => level === 'error' && file === path);
  if (problem !== undefined)
    throw new StewardError('config', `${path}: ${problem.message}`, { hint: problem.hint });
  throw new StewardError('not_found', `No agent "${clean(wanted)}" in the roster.`, {
    hint:
      entries.length === 0
        ? 'Create one with "steward agents roster add NAME".'
        : `Use one of ${entries.map(({ slug }) => slug).join(', ')}.`,
  });
}

/** Reads a roster file. Rejects symbolic links, which could point outside the folder. */
function readMarkdown(path: string, slug: string): string {
  if (!isSlug(slug))
    throw invalid(
      'Invalid file name.',
      'Use a name such as ada.md, with only lowercase letters, digits, - and _.',
    );
  if ((lstatOf(path)?.size ?? 0) > MAX_BYTES)
    throw invalid(`The file is larger than ${MAX_BYTES / 1024} KiB.`, 'Shorten the file.');
  const bytes = readBytes(path, { maxBytes: MAX_BYTES });
  if (bytes === undefined) throw invalid('The file was removed.', 'Rerun the command.');
  if (bytes.includes(0)) throw invalid('The file is binary.', 'Move or rename the file.');
  return bytes.toString('utf8');
}

async function keysOf(text: string): Promise<Record<string, unknown>> {
  const lines = frontMatter(text);
  if (lines === undefined)
    throw invalid(
      'The file has no front matter.',
      'Start the file with the keys "name" and "role" between two "---" lines.',
    );
  const { parseYaml } = await import('../platform/files/yaml-document');
  const parsed = await parseYaml(lines.join('\n'));
  if ('problem' in parsed) {
    const { line, column, message } = parsed.problem;
    throw invalid(`Line ${line + 1}, column ${column}: ${message}.`, 'Correct the front matter.');
  }
  if (isObject(parsed.value)) return parsed.value;
  throw invalid('The front matter has no keys.', 'Add at least "name" and "role".');
}

function invalid(message: string, hint: string): StewardError {
  return new StewardError('config', message, { hint });
}

/** Placeholder text in new roster files. */
const INVITATION =
  'Describe this person here: their background, what they care about, how they talk. Every brief includes this text.';

function personaText(text: string): string {
  return bodyOf(text)
    .replace(/<!--[^]*?(?:-->|$)/g, '')
    .trim();
}

const TEXT = v.nullish(v.pipe(v.string(), v.transform(cleaned), v.minLength(1), v.maxLength(MAX_TEXT)), null);
const MODEL = v.nullish(v.pipe(v.string(), v.trim(), v.toLowerCase(), v.picklist(MODEL_TIERS)), null);

function traits(family: TraitFamily) {
  const id = v.pipe(v.string(), v.trim(), v.toLowerCase(), v.picklist(traitIds(family)));
  const list = v.pipe(
    v.union([v.array(v.unknown()), v.string()]),
    v.transform((given): unknown[] => (typeof given === 'string' ? given.split(',') : given)),
    v.array(id),
  );
  return v.nullish(list, []);
}

const PERSONA = v.object({
  name: TEXT,
  role: TEXT,
  description: TEXT,
  model: MODEL,
  expertise: traits('expertise'),
  personality: traits('personality'),
  approach: traits('approach'),
});

function cleaned(text: string): string {
  return clean(text).trim();
}

function describeIssue({ path, input }: v.InferIssue<typeof PERSONA>): string {
  const [key, item] = (path ?? []).map((step) => step.key);
  if (key === 'model') return `Invalid model ${quoted(input)}; use ${MODEL_TIERS.join(', ')}.`;
  if (key !== 'expertise' && key !== 'personality' && key !== 'approach')
    return `${String(key)} must be text of 1 to ${MAX_TEXT} characters.`;
  return item === undefined
    ? `${key} must be a list.`
    : `Invalid ${key} ${quoted(input)}; use ${traitIds(key).join(', ')}.`;
}

function quoted(value: unknown): string {
  return `"${clean(typeof value === 'object' ? 'a list or object' : String(value)).slice(0, 40)}"`;
}

interface NewAgent extends Pick<RosterAgent, 'slug' | TraitFamily> {
  name?: string | undefined;
  role: string;
  model?: ModelTier | undefined;
}

/** Writes the file for a new agent. Throws `conflict` if the file already exists. */
export function newRosterAgent(folder: string, agent: NewAgent): { slug: string; path: string } {
  const { slug, model } = agent;
  if (!isSlug(slug)) {
    throw new StewardError('usage', `Invalid file name "${clean(slug).slice(0, 100)}".`, {
      hint: 'Use lowercase letters, digits, - and _; --name sets the display name.',
    });
  }
  const checked = (flag: string, value: string): string => {
    const text = cleaned(value);
    if (text !== '' && text.length <= MAX_TEXT) return text;
    throw new StewardError('usage', `${flag} must have 1 to ${MAX_TEXT} characters.`, {
      hint: 'Use a different value.',
    });
  };
  const name = checked('--name', agent.name ?? slug.charAt(0).toUpperCase() + slug.slice(1));
  const role = checked('--role', agent.role);
  const families = (['expertise', 'personality', 'approach'] as const).flatMap((family) =>
    agent[family].length === 0 ? [] : [`${family}: [${agent[family].join(', ')}]`],
  );
  const head = [`name: ${JSON.stringify(name)}`, `role: ${JSON.stringify(role)}`, ...(model === undefined ? [] : [`model: ${model}`]), ...families]; // prettier-ignore
  const body = [`${name} is ${withArticle(role)}.`, '', `<!-- ${INVITATION} -->`, ''];
  const path = join(folder, `${slug}.md`);
  ensureFolder(folder);
  if (createFile(path, ['---', ...head, '---', '', ...body].join('\n'))) return { slug, path };
  throw new StewardError('conflict', `The roster already has an agent named ${slug}.`, {
    hint: `Edit ${path}, or choose another name.`,
  });
}
