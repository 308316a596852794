import { join } from 'node:path';

import * as v from 'valibot';

import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { clean } from '../platform/terminal/terminal';
import { readCache, writeCache } from './cache';
import type { Open, WorkDeps } from './deps';
import type { Host, HostLabel } from './host';
import { agentLabel, agentName, canTakeLabel, FLAGS, sameLabel } from './label';

const MAX_BYTES = 256 * 1024;

/** The shipped label sets, and their templates. `setup` writes the neutral one as labels.yml. */
export const LABEL_SETS = { neutral: 'labels.yml', original: 'labels-original.yml' } as const;

/** What a repository should have: labels.yml, a chosen set, and what follows from the configuration. */
export async function wantedLabels(
  deps: Pick<WorkDeps, 'paths' | 'templates' | 'daName' | 'agents' | 'config'>,
  set?: keyof typeof LABEL_SETS,
): Promise<HostLabel[]> {
  const chosen = set === undefined ? [] : await readLabels(join(deps.templates, 'work', LABEL_SETS[set]));
  const da = agentName(deps.daName);
  const all = [
    ...(await readLabels(deps.paths.labels)),
    ...chosen,
    ...deps.agents.map((name) => labelOfAgent(agentName(name))),
    { name: canTakeLabel(da), color: 'c2e0c6', description: `${da} should take it next` },
    ...Object.values(deps.config.PROJECT_PROPERTY).map((property) => ({
      name: `Property:${property.toLowerCase()}`,
      color: '006b75',
      description: 'Named in WORK.PROJECT_PROPERTY',
    })),
  ];
  return all.filter(({ name }, index) => all.findIndex((one) => sameLabel(one.name, name)) === index);
}

export function labelOfAgent(name: string): HostLabel {
  return { name: agentLabel(name), color: '0052cc', description: `Worked on by ${name}` };
}

/** The labels of a file. No file, or one that is wrong, is `config`. */
export async function readLabels(path: string): Promise<HostLabel[]> {
  const text = readText(path, { maxBytes: MAX_BYTES });
  if (text !== undefined) return parseLabels(text, path);
  throw new StewardError('config', `${path} is not there.`, {
    hint: 'Run `steward work setup OWNER/REPO`, which writes it.',
  });
}

/** What the service takes. */
const Label = v.object({
  name: v.pipe(
    v.string('name has to be a text'),
    v.check(
      (name) => name === name.trim() && /^[^,\n]{1,50}$/.test(name),
      'name has to be a text of 1 to 50 characters without a comma',
    ),
  ),
  color: v.pipe(
    v.string('color has to be six hex digits in quotes'),
    v.regex(/^[0-9a-f]{6}$/i, 'color has to be six hex digits in quotes'),
    v.toLowerCase(),
  ),
  description: v.pipe(
    v.string('description has to be a text'),
    v.maxLength(100, 'description has to be a text of at most 100 characters'),
  ),
});

export async function parseLabels(text: string, path: string): Promise<HostLabel[]> {
  const { parse } = await import('yaml');
  let list: unknown;
  try {
    list = (parse(text) as { labels?: unknown } | null)?.labels;
  } catch (error) {
    const [said = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw wrong(path, [clean(said)]);
  }
  if (!Array.isArray(list)) throw wrong(path, ['expected a list called labels']);
  const found = (list as unknown[]).map((entry) => v.safeParse(Label, entry));
  const labels = found.flatMap((one) => (one.success ? [one.output] : []));
  const twice = labels.filter(
    ({ name }, index) => labels.findIndex((one) => sameLabel(one.name, name)) !== index,
  );
  const problems = [
    ...found.flatMap((one, index) =>
      one.success ? [] : [`labels[${index}]: ${problemOf(one.issues[0], (list as unknown[])[index])}`],
    ),
    ...twice.map(({ name }) => `${clean(name)} stands there twice (case does not count)`),
  ];
  if (problems.length > 0) throw wrong(path, problems);
  return labels;
}

/** `color of Type:bug has to be …` */
function problemOf({ message, path }: v.BaseIssue<unknown>, entry: unknown): string {
  const name = (entry as Partial<HostLabel> | null)?.name;
  const key = String(path?.[0]?.key ?? '');
  if (key === '' || key === 'name' || typeof name !== 'string')
    return key === '' ? 'name has to be a text of 1 to 50 characters without a comma' : message;
  return message.replace(key, `${key} of ${clean(name)}`);
}

function wrong(path: string, problems: readonly string[]): StewardError {
  return new StewardError('config', `${path}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, {
    hint: 'Correct what is named; nothing was written.',
  });
}

/** The labels that a repository lacks. Seeding only adds: one that is there keeps its colour and description. */
export function lackingLabels(wanted: readonly HostLabel[], existing: readonly string[]): HostLabel[] {
  return wanted.filter(({ name }) => !existing.some((there) => sameLabel(there, name)));
}

export interface SeedResult {
  repo: string;
  dryRun: boolean;
  created: string[];
  unchanged: number;
}

/** Seeds the repository with the labels, one request each; `onLabel` is told before each. */
export async function seedLabels(
  host: Host,
  repo: string,
  wanted: readonly HostLabel[],
  options: { dryRun: boolean; onLabel?: (name: string, done: number, of: number) => void },
): Promise<SeedResult> {
  const existing = await host.labels(repo, {});
  const names = existing.unchanged ? [] : existing.value.map(({ name }) => name);
  const lacking = lackingLabels(wanted, names);
  for (const [index, label] of options.dryRun ? [] : lacking.entries()) {
    options.onLabel?.(label.name, index + 1, lacking.length);
    await host.createLabel(repo, label);
  }
  const created = lacking.map(({ name }) => name);
  return { repo, dryRun: options.dryRun, created, unchanged: wanted.length - lacking.length };
}

/** The names of the repository's labels; one 304 where they are as they were. */
export async function labelNames({ deps, host, repo }: Open): Promise<string[]> {
  const read = () => readCache(deps.paths.cache, repo);
  const { labels } = read();
  const kept = labels?.tokenHash === host.tokenHash ? labels : null;
  const found = await host.labels(repo, kept === null || kept.etag === null ? {} : { etag: kept.etag });
  if (found.unchanged) return kept?.names ?? [];
  const names = found.value.map(({ name }) => name);
  // Read again: somebody else may have brought it up to date in the meantime.
  writeCache(deps.paths.cache, {
    ...read(),
    labels: { names, etag: found.etag, tokenHash: host.tokenHash },
  });
  return names;
}

/**
 * The labels that the repository has, in its own spelling, and the names of those that it lacks. A repository without
 * any of ours is `config`: no issue goes there without labels.
 */
export function onlyExisting(
  wanted: readonly string[],
  existing: readonly string[],
  repo: string,
): { labels: string[]; missing: string[] } {
  if (!existing.some(isOurs)) {
    throw new StewardError('config', `${repo} has none of the labels that work tracking needs.`, {
      hint: 'Run `steward work labels seed`.',
    });
  }
  const found = [...new Set(wanted)].map((name) => ({
    name,
    there: existing.find((label) => sameLabel(label, name)),
  }));
  return {
    labels: found.flatMap(({ there }) => there ?? []),
    missing: found.flatMap(({ name, there }) => (there === undefined ? [name] : [])),
  };
}

function isOurs(label: string): boolean {
  return (
    /^(?:type|status|priority|property|agent):/i.test(label) || FLAGS.some((flag) => sameLabel(flag, label))
  );
}
