import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { createFile, readText } from '../platform/files/atomic-file';
import { ensureFolder, exists } from '../platform/files/folder';
import { readCache } from './cache';
import type { WorkDeps } from './deps';
import type { Host, Repository } from './host';
import { failureOf } from './host/failure';
import { LABEL_SETS, seedLabels, wantedLabels, type SeedResult } from './labels';
import { refresh } from './poll';
import { attestation, privacyState, refusePublic, refuseUnusable, sameRepo } from './privacy';

export interface SetupResult {
  repo: string;
  url: string;
  /** The repository was made now. */
  created: boolean;
  /** Files that were written now. */
  files: string[];
  labels: SeedResult;
  issues: number;
  next: string[];
}

/**
 * `work setup OWNER/REPO`: looks that the repository is private (anything else is refused and nothing is written),
 * writes the attestation and the files of the work folder that are not there, seeds the labels and fetches. Run twice
 * it changes nothing. `onStep` is told what is done, for a person who watches.
 */
export async function setUp(
  deps: WorkDeps,
  input: { repo: string; create: boolean },
  onStep: (text: string) => void = () => undefined,
): Promise<SetupResult> {
  const wanted = checkedName(input.repo);
  onStep(`Looking at ${wanted}`);
  const host = await deps.host();
  const { found, created } = await findOrMake(host, wanted, input.create);
  refusePublic(found);
  refuseUnusable(found);
  ensureFolder(deps.paths.root);
  const files = writeFiles(deps);
  const labels = await wantedLabels(deps);
  if (!isChosen(deps, found)) await deps.choose(found.repo, attestation(deps.clock, found, found.repo));
  onStep('Seeding labels');
  const seeded = await seedLabels(host, found.repo, labels, {
    dryRun: false,
    onLabel: (name, done, of) => onStep(`Seeding labels: ${name} (${done} of ${of})`),
  });
  onStep('Reading the issues');
  const { ok, reason } = await refresh(deps);
  if (!ok) {
    throw new StewardError('unavailable', `The issues could not be read. ${reason ?? ''}`.trim(), {
      hint: 'All else is done; run `steward work board` later.',
    });
  }
  return {
    repo: found.repo,
    url: found.url,
    created,
    files,
    labels: seeded,
    issues: readCache(deps.paths.cache, found.repo).issues.length,
    next: ['steward work board', 'steward work add "what is to be done"'],
  };
}

/** The name from a name or from the address of its page. */
function checkedName(text: string): string {
  const page = text.trim().replace(/^https:\/\/[^/]+\//, '');
  const name = page.replace(/(?:\.git)?\/?$/, '');
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(name)) return name;
  throw new StewardError('usage', `Invalid repository ${JSON.stringify(text)}.`, {
    hint: 'Write it as OWNER/REPO, such as ann/work.',
  });
}

async function findOrMake(
  host: Host,
  repo: string,
  create: boolean,
): Promise<{ found: Repository; created: boolean }> {
  try {
    return { found: await host.repository(repo), created: false };
  } catch (error) {
    if (failureOf(error)?.reason !== 'missing') throw error;
    if (create) return { found: await host.createRepository(repo), created: true };
    throw new StewardError('not_found', error instanceof Error ? error.message : String(error), {
      hint: `Add --create to make ${repo} as a private repository, or check the spelling and \`gh auth status\`.`,
      cause: failureOf(error),
    });
  }
}

/** Is this very repository the configured one, verified not long ago? */
function isChosen(deps: WorkDeps, found: Repository): boolean {
  const config = deps.workRepo();
  if (config.repo === undefined || !sameRepo(config.repo, found.repo)) return false;
  return privacyState(config, deps.clock.now()) === 'fresh' && config.privacy.repoId === found.id;
}

/** Each file that is not there yet; what a person has changed stays. */
function writeFiles({ paths, templates }: WorkDeps): string[] {
  const from: [template: string, path: string][] = [
    [LABEL_SETS.neutral, paths.labels],
    ['config.yaml', paths.config],
    ['README.md', paths.readme],
    ['RESTRICTED.md', paths.restricted],
  ];
  return from.flatMap(([template, path]) => {
    if (exists(path)) return [];
    const text = readText(join(templates, 'work', template));
    if (text === undefined) throw new StewardError('internal', `The template ${template} is missing.`);
    ensureFolder(dirname(path));
    return createFile(path, text) ? [path] : [];
  });
}
