import { StewardError } from '../errors';
import { readText } from '../platform/atomic-file';
import { clean } from '../platform/terminal';
import { readCache, writeCache, type CachePaths } from './cache';
import type { Host, HostLabel } from './host';
import { FLAGS, sameLabel } from './label';

const MAX_BYTES = 256 * 1024;

/** The labels of labels.yml (service.md: Label taxonomy). No file, or one that is wrong, is `config`. */
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

export interface SeedPlan {
  create: HostLabel[];
  /** Those of labels.yml that the repository has in another colour or with another description. */
  update: HostLabel[];
  /** Names that are as they should be. */
  unchanged: string[];
}

/** What seeding has to do: it adds and mends its own, and never deletes (service.md: seeding is additive). */
export function planSeed(wanted: readonly HostLabel[], existing: readonly HostLabel[]): SeedPlan {
  const plan: SeedPlan = { create: [], update: [], unchanged: [] };
  for (const label of wanted) {
    const there = existing.find(({ name }) => sameLabel(name, label.name));
    if (there === undefined) plan.create.push(label);
    else if (there.color.toLowerCase() !== label.color || there.description !== label.description)
      plan.update.push({ ...label, name: there.name });
    else plan.unchanged.push(there.name);
  }
  return plan;
}

export interface SeedResult {
  repo: string;
  dryRun: boolean;
  created: string[];
  updated: string[];
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
  const plan = planSeed(wanted, existing.unchanged ? [] : existing.value);
  const of = plan.create.length + plan.update.length;
  let done = 0;
  if (!options.dryRun) {
    for (const label of plan.create) {
      options.onLabel?.(label.name, (done += 1), of);
      await host.createLabel(repo, label);
    }
    for (const { name, ...rest } of plan.update) {
      options.onLabel?.(name, (done += 1), of);
      await host.updateLabel(repo, name, rest);
    }
  }
  return {
    repo,
    dryRun: options.dryRun,
    created: plan.create.map(({ name }) => name),
    updated: plan.update.map(({ name }) => name),
    unchanged: plan.unchanged.length,
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
 * The labels that the repository has, in its own spelling, and the names of those that it lacks (service.md:
 * Errors). A repository without any of ours is `config`: no issue goes there without labels.
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
