import { join } from 'node:path';

import * as v from 'valibot';

import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { clean } from '../platform/terminal/terminal';
import { readCache, writeCache } from './cache';
import type { OpenRepo, WorkDeps } from './deps';
import type { Host } from './host';
import type { HostLabel } from './host/github-read';
import { agentLabel, agentName, canTakeLabel, FLAGS, hasLabel, sameLabel } from './label';

const MAX_BYTES = 256 * 1024;
const SEED = 'Run `steward work labels seed`.';

/** The label sets and their template files. Setup writes the neutral set to labels.yml. */
export const LABEL_SETS = { neutral: 'labels.yml', original: 'labels-original.yml' } as const;

/**
 * Returns the labels that a repository should have, from labels.yml, the chosen set and the configuration.
 */
export async function wantedLabels(
  deps: Pick<WorkDeps, 'paths' | 'templates' | 'daName' | 'agents' | 'config'>,
  set?: keyof typeof LABEL_SETS,
): Promise<HostLabel[]> {
  const assistant = agentName(deps.daName);
  const all = [
    ...(await readLabels(deps.paths.labels)),
    ...(set === undefined ? [] : await readLabels(join(deps.templates, 'work', LABEL_SETS[set]))),
    ...deps.agents.map((name) => labelOfAgent(agentName(name))),
    { name: canTakeLabel(assistant), color: 'c2e0c6', description: `Ready for ${assistant} to claim` },
    ...Object.values(deps.config.PROJECT_PROPERTY).map((property) => ({
      name: `Property:${property.toLowerCase()}`,
      color: '006b75',
      description: 'Defined in WORK.PROJECT_PROPERTY',
    })),
  ];
  return all.filter(({ name }, index) => all.findIndex((label) => sameLabel(label.name, name)) === index);
}

export function labelOfAgent(name: string): HostLabel {
  return { name: agentLabel(name), color: '0052cc', description: `${name} is working on this issue` };
}

/** Reads labels from a file. Throws `config` if the file is missing or invalid. */
export async function readLabels(path: string): Promise<HostLabel[]> {
  const text = readText(path, { maxBytes: MAX_BYTES });
  if (text !== undefined) return parseLabels(text, path);
  throw new StewardError('config', `${path} does not exist.`, {
    hint: 'Run `steward work setup OWNER/REPO` to create it.',
  });
}

const NAME = 'must be 1 to 50 characters without a comma';
const COLOR = 'must be six hex digits in quotes';
const DESCRIPTION = 'must be at most 100 characters';
const missing = ({ received }: v.BaseIssue<unknown>): string =>
  received === 'undefined' ? 'is missing' : 'must be a map';
const LabelFile = v.object(
  {
    labels: v.array(
      v.object(
        {
          name: v.pipe(v.string(NAME), v.regex(/^[^\s,](?:[^,\n]{0,48}[^\s,])?$/, NAME)),
          color: v.pipe(v.string(COLOR), v.regex(/^[0-9a-f]{6}$/i, COLOR), v.toLowerCase()),
          description: v.pipe(v.string(DESCRIPTION), v.maxLength(100, DESCRIPTION)),
        },
        missing,
      ),
      'must be a list',
    ),
  },
  missing,
);

export async function parseLabels(text: string, path: string): Promise<HostLabel[]> {
  const { parseYaml } = await import('../platform/files/yaml-document');
  const document = await parseYaml(text);
  if ('problem' in document) {
    const { line, column, message } = document.problem;
    throw invalid(path, [`line ${line}, column ${column}: ${message}`]);
  }
  const parsed = v.safeParse(LabelFile, document.value);
  if (!parsed.success)
    throw invalid(
      path,
      parsed.issues.map((issue) => `${v.getDotPath(issue) ?? 'The file'} ${issue.message}`),
    );
  const { labels } = parsed.output;
  const names = labels.map(({ name }) => name);
  const twice = names.filter((name, index) => hasLabel(names.slice(0, index), name));
  if (twice.length > 0) throw invalid(path, [`duplicate labels (ignoring case): ${twice.join(', ')}`]);
  return labels;
}

function invalid(path: string, problems: readonly string[]): StewardError {
  const lines = problems.map((problem) => `  ${clean(problem)}`).join('\n');
  return new StewardError('config', `Invalid labels in ${path}:\n${lines}`, {
    hint: 'Correct the file; nothing was changed.',
  });
}

export function lackingLabels(wanted: readonly HostLabel[], existing: readonly string[]): HostLabel[] {
  return wanted.filter(({ name }) => !hasLabel(existing, name));
}

export type SeedResult = Awaited<ReturnType<typeof seedLabels>>;

export async function seedLabels(
  host: Host,
  repo: string,
  wanted: readonly HostLabel[],
  options: { dryRun: boolean; onLabel?: (name: string, done: number, of: number) => void },
) {
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

/** Returns the names of the repository's labels, from the cache if GitHub reports no change. */
export async function labelNames({ deps, host, repo }: OpenRepo): Promise<string[]> {
  const { labels } = readCache(deps.paths.cache, repo);
  const cached = labels?.tokenHash === host.tokenHash ? labels : null;
  const found = await host.labels(repo, cached === null || cached.etag === null ? {} : { etag: cached.etag });
  if (found.unchanged) return cached?.names ?? [];
  const names = found.value.map(({ name }) => name);
  // Read the cache again, because another process may have updated it during the request.
  writeCache(deps.paths.cache, {
    ...readCache(deps.paths.cache, repo),
    labels: { names, etag: found.etag, tokenHash: host.tokenHash },
  });
  return names;
}

/**
 * Splits labels into existing and missing labels. Returns existing labels in the repository's spelling.
 * Throws `config` if the repository has none of steward's labels.
 */
export function existingLabels(wanted: readonly string[], existing: readonly string[], repo: string) {
  if (!existing.some(isOurs)) {
    throw new StewardError('config', `${repo} has none of the labels that work tracking needs.`, {
      hint: SEED,
    });
  }
  const names = [...new Set(wanted)];
  return {
    labels: names.flatMap((name) => existing.find((label) => sameLabel(label, name)) ?? []),
    missing: names.filter((name) => !hasLabel(existing, name)),
  };
}

export function labelMissing(repo: string, labels: readonly string[]): StewardError {
  return new StewardError('config', `${repo} has no label ${labels.join(', ')}.`, { hint: SEED });
}

function isOurs(label: string): boolean {
  return /^(?:type|status|priority|property|agent):/i.test(label) || hasLabel(FLAGS, label);
}
