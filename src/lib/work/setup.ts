import { dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { createFile, readText } from '../platform/files/atomic-file';
import { ensureFolder, exists } from '../platform/files/folder';
import { readCache } from './cache';
import type { WorkDeps } from './deps';
import type { Host } from './host';
import type { Repository } from './host/github-read';
import { failureOf } from './host/failure';
import { LABEL_SETS, seedLabels, wantedLabels } from './labels';
import { refresh } from './poll';
import { attestation, currentPrivacy, refusePublic, refuseReadOnly, sameRepo } from './privacy';

export type SetupResult = Awaited<ReturnType<typeof setUp>>;

/**
 * Runs `work setup OWNER/REPO`: checks that the repository is private, creates missing files, seeds the
 * labels and fetches the issues. Safe to repeat.
 */
export async function setUp(
  deps: WorkDeps,
  input: { repo: string; create: boolean },
  onStep: (text: string) => void = () => undefined,
) {
  const wanted = parseRepoName(input.repo);
  onStep(`Checking ${wanted}`);
  const host = await deps.host();
  const { found, created } = await findOrCreate(host, wanted, input.create);
  refusePublic(found);
  refuseReadOnly(found);
  ensureFolder(deps.paths.root);
  const files = createFiles(deps);
  const labels = await wantedLabels(deps);
  if (!isCurrent(deps, found)) await deps.choose(found.repo, attestation(deps.clock, found, found.repo));
  onStep('Seeding labels');
  const seeded = await seedLabels(host, found.repo, labels, {
    dryRun: false,
    onLabel: (name, done, of) => onStep(`Seeding labels: ${name} (${done} of ${of})`),
  });
  onStep('Fetching issues');
  const { ok, reason } = await refresh(deps);
  if (!ok) {
    throw new StewardError('unavailable', `Could not fetch the issues. ${reason ?? ''}`.trim(), {
      hint: 'The rest of the setup is complete. Run `steward work board` later.',
    });
  }
  return {
    repo: found.repo,
    url: found.url,
    created,
    files,
    labels: seeded,
    issues: readCache(deps.paths.cache, found.repo).issues.length,
    next: ['steward work board', 'steward work add "Write the release notes"'],
  };
}

function parseRepoName(text: string): string {
  const page = text.trim().replace(/^https:\/\/[^/]+\//, '');
  const name = page.replace(/(?:\.git)?\/?$/, '');
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/(?!\.{1,2}$)[\w.-]{1,100}$/.test(name)) return name;
  throw new StewardError('usage', `Invalid repository ${JSON.stringify(text)}.`, {
    hint: 'Write it as OWNER/REPO, such as ann/work.',
  });
}

async function findOrCreate(host: Host, repo: string, create: boolean) {
  try {
    return { found: await host.repository(repo), created: false };
  } catch (error) {
    if (failureOf(error)?.reason !== 'missing') throw error;
    if (create) return { found: await host.createRepository(repo), created: true };
    throw new StewardError('not_found', error instanceof Error ? error.message : String(error), {
      hint: `Add --create to create ${repo}, or check its name and run \`gh auth status\`.`,
      cause: failureOf(error),
    });
  }
}

/** Returns whether the repository is the configured one and was verified recently. */
function isCurrent(deps: WorkDeps, found: Repository): boolean {
  const config = deps.workRepo();
  if (config.repo === undefined || !sameRepo(config.repo, found.repo)) return false;
  return currentPrivacy(deps) === 'fresh' && config.privacy.repoId === found.id;
}

function createFiles({ paths, templates }: WorkDeps): string[] {
  const files: [template: string, path: string][] = [
    [LABEL_SETS.neutral, paths.labels],
    ['README.md', paths.readme],
    ['RESTRICTED.md', paths.restricted],
  ];
  return files.flatMap(([template, path]) => {
    if (exists(path)) return [];
    const text = readText(join(templates, 'work', template));
    if (text === undefined) throw new StewardError('internal', `The template ${template} is missing.`);
    ensureFolder(dirname(path));
    return createFile(path, text) ? [path] : [];
  });
}
