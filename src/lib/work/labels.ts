import { join } from 'node:path';

import type { WorkConfig } from '../config/schema';
import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { clean } from '../platform/terminal/terminal';
import { readCache, writeCache, type CachePaths } from './cache';
import type { Host, HostLabel } from './host';
import { agentLabel, agentName, canTakeLabel, FLAGS, sameLabel } from './label';

const MAX_BYTES = 256 * 1024;

/** The shipped label sets, and their templates. `setup` writes the neutral one as labels.yml. */
export const LABEL_SETS = { neutral: 'labels.yml', original: 'labels-original.yml' } as const;

export interface WantedLabelsDeps {
  area: { labels: string };
  /** The folder of the templates that the package brings. */
  templates: string;
  daName: string;
  /** Who may work on issues: the DA, the principal and the agents of the roster. */
  agents: readonly string[];
  config: Pick<WorkConfig, 'PROJECT_PROPERTY'>;
}

/** What a repository should have: labels.yml, a chosen set, and what follows from the configuration. */
export async function wantedLabels(
  deps: WantedLabelsDeps,
  set?: keyof typeof LABEL_SETS,
): Promise<HostLabel[]> {
  const chosen = set === undefined ? [] : await readLabels(join(deps.templates, 'work', LABEL_SETS[set]));
  const da = agentName(deps.daName);
  const all = [
    ...(await readLabels(deps.area.labels)),
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
  if (text === undefined) {
    throw new StewardError('config', `${path} is not there.`, {
      hint: 'Run `steward work setup OWNER/REPO`, which writes it.',
    });
  }
  return parseLabels(text, path);
}

export async function parseLabels(text: string, path: string): Promise<HostLabel[]> {
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    const [said = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw wrong(path, [clean(said)]);
  }
  const list = (content as { labels?: unknown } | null)?.labels;
  if (!Array.isArray(list)) throw wrong(path, ['expected a list called labels']);
  const problems: string[] = [];
  const labels = (list as unknown[]).flatMap((entry, index) => {
    const problem = problemOf(entry);
    if (problem !== undefined) problems.push(`labels[${index}]: ${problem}`);
    return problem === undefined ? [asLabel(entry as HostLabel)] : [];
  });
  labels.forEach((label, index) => {
    if (labels.findIndex(({ name }) => sameLabel(name, label.name)) !== index) {
      problems.push(`${clean(label.name)} stands there twice (case does not count)`);
    }
  });
  if (problems.length > 0) throw wrong(path, problems);
  return labels;
}

function asLabel({ name, color, description }: HostLabel): HostLabel {
  return { name, color: color.toLowerCase(), description };
}

/** What the service takes: names to 50 characters without commas, colours of six digits, texts to 100. */
function problemOf(entry: unknown): string | undefined {
  const { name, color, description } = (entry ?? {}) as Record<string, unknown>;
  if (
    typeof name !== 'string' ||
    name.trim() !== name ||
    name === '' ||
    name.length > 50 ||
    /[,\n]/.test(name)
  ) {
    return 'name has to be a text of 1 to 50 characters without a comma';
  }
  if (typeof color !== 'string' || !/^[0-9a-f]{6}$/i.test(color)) {
    return `color of ${clean(name)} has to be six hex digits in quotes`;
  }
  if (typeof description !== 'string' || description.length > 100) {
    return `description of ${clean(name)} has to be a text of at most 100 characters`;
  }
  return undefined;
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
  return {
    repo,
    dryRun: options.dryRun,
    created: lacking.map(({ name }) => name),
    unchanged: wanted.length - lacking.length,
  };
}

/** The names of the repository's labels; one 304 where they are as they were. */
export async function labelNames(deps: { paths: CachePaths }, host: Host, repo: string): Promise<string[]> {
  const cache = readCache(deps.paths.cache, repo);
  const kept = cache.labels?.tokenHash === host.tokenHash ? cache.labels : null;
  const found = await host.labels(repo, kept?.etag === null || kept === null ? {} : { etag: kept.etag });
  if (found.unchanged) return kept?.names ?? [];
  const names = found.value.map(({ name }) => name);
  const labels = { names, etag: found.etag, tokenHash: host.tokenHash };
  // Read again: somebody else may have brought it up to date in the meantime.
  writeCache(deps.paths.cache, { ...readCache(deps.paths.cache, repo), labels });
  return names;
}

/**
 * The labels that the repository has, in its own spelling, and the names of those that it lacks. A repository without any of ours is `config`: no issue goes there without labels.
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
  const labels: string[] = [];
  const missing: string[] = [];
  for (const name of new Set(wanted)) {
    const there = existing.find((label) => sameLabel(label, name));
    if (there === undefined) missing.push(name);
    else labels.push(there);
  }
  return { labels, missing };
}

function isOurs(label: string): boolean {
  return (
    /^(?:type|status|priority|property|agent):/i.test(label) || FLAGS.some((flag) => sameLabel(flag, label))
  );
}
