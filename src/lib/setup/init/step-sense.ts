import { join, resolve } from 'node:path';

import { changeConfig } from '../../config/write';
import { StewardError, errnoCode } from '../../errors';
import { gitFolderAt } from '../../platform/files/git-folder';
import { processHost } from '../../platform/files/paths';
import { entriesIn, kindOf } from '../../platform/files/stat';
import { clean } from '../../platform/terminal/terminal';
import type { Clock } from '../../platform/time/clock';
import { SOURCE_IDS, type SourceId } from '../../sense/event';
import { type Setup, type Step, chosenNames, chosenNumbers } from './step';

/** Which repositories are watched for commits. */
export const reposStep: Step = {
  id: 'repos',
  shown({ config }) {
    const { repos } = config().sense;
    return repos.length === 0 ? 'none' : `${repos.length} watched: ${repos.map(clean).join(', ')}`;
  },
  given(setup, flags) {
    if (flags.repo === undefined && flags['repos-below'] === undefined) return undefined;
    const named = (flags.repo ?? []).map(repositoryAt);
    const below = flags['repos-below'] === undefined ? [] : scan(setup, folderAt(flags['repos-below']));
    return () => watch(setup, [...named, ...below]);
  },
  async ask(setup, questions) {
    setup.say('Commits in your repositories are captured: when, and their first line.');
    const answer = await questions.line('Folder to look for repositories in, or none [~]: ');
    if (answer.toLowerCase() === 'none') return undefined;
    const watched = setup.config().sense.repos;
    const found = scan(setup, folderAt(answer === '' ? '~' : answer)).filter(
      (path) => !watched.includes(path),
    );
    if (found.length === 0) {
      setup.say('No repository there that is not watched already.');
      return undefined;
    }
    found.forEach((path, index) => setup.say(`${String(index + 1).padStart(4)}  ${clean(path)}`));
    for (;;) {
      const text = await questions.line('Watch which: all, none, or numbers such as 1 3-5 [all]: ');
      const chosen = chosenNumbers(text === '' ? 'all' : text, found.length);
      if (chosen !== undefined)
        return () =>
          watch(
            setup,
            chosen.map((index) => found[index] as string),
          );
      setup.say(`The numbers are 1 to ${found.length}, apart by spaces or commas; 3-5 is a range.`);
    }
  },
};

/** What is captured. */
export const sourcesStep: Step = {
  id: 'sources',
  shown: ({ config }) => {
    const { enabled, sources } = config().sense;
    const on = SOURCE_IDS.filter((id) => sources[id]);
    return enabled ? on.join(', ') || 'none' : 'switched off: sense.enabled is false';
  },
  given(setup, flags) {
    if (flags.sources === undefined) return undefined;
    const answer = chosenNames(flags.sources, SOURCE_IDS);
    if ('unknown' in answer) throw unknownName('--sources', answer.unknown, SOURCE_IDS);
    return () => setSources(setup, answer.chosen);
  },
  async ask(setup, questions) {
    setup.say(
      'Captured are: appFocus, the name of the application in front (never titles or content); git, new commits; agentSession, which assistant sessions were active.',
    );
    const now = SOURCE_IDS.filter((id) => setup.config().sense.sources[id]);
    const preset = now.length === SOURCE_IDS.length ? 'all' : now.join(' ') || 'none';
    const text = await questions.line(`Capture which: all, none, or some of these [${preset}]: `);
    const answer = chosenNames(text === '' ? preset : text, SOURCE_IDS);
    if ('unknown' in answer) throw unknownName('A source', answer.unknown, SOURCE_IDS);
    return () => setSources(setup, answer.chosen);
  },
};

export function unknownName(what: string, name: string, names: readonly string[]): StewardError {
  return new StewardError('usage', `${what} is one of ${names.join(', ')}, not "${clean(name)}".`, {
    hint: 'Several are apart by commas or spaces; all and none stand for themselves.',
  });
}

async function setSources(setup: Setup, chosen: readonly SourceId[]): Promise<void> {
  await setup.set(Object.fromEntries(SOURCE_IDS.map((id) => [`sense.sources.${id}`, chosen.includes(id)])));
}

async function watch(setup: Setup, added: readonly string[]): Promise<void> {
  const to = (stored: unknown): string[] => [
    ...new Set([...(Array.isArray(stored) ? stored.map(String) : []), ...added]),
  ];
  await changeConfig(setup.context, [{ key: 'sense.repos', to }]);
  await setup.set({});
}

function scan(setup: Setup, folder: string): string[] {
  const { repositories, cut } = findRepositories(setup.context.clock, folder);
  if (cut) setup.say(`There is more below ${clean(folder)} than was looked at: name a folder further down.`);
  return repositories;
}

function folderAt(text: string): string {
  const path = absolute(text);
  if (kindOf(path) === 'folder') return path;
  throw new StewardError('usage', `There is no folder ${clean(path)}.`, {
    hint: 'Name one that holds repositories, such as ~/src.',
  });
}

function repositoryAt(text: string): string {
  const path = absolute(text);
  if (gitFolderAt(path) !== undefined) return path;
  throw new StewardError('usage', `There is no git repository at ${clean(path)}.`, {
    hint: 'Name the folder that .git lies in; --repos-below DIR finds all below a folder.',
  });
}

function absolute(text: string): string {
  if (text === '~' || text.startsWith('~/')) return resolve(join(processHost().home, text.slice(1)));
  return resolve(text);
}

export interface Found {
  /** Absolute, in the order of their names. */
  repositories: string[];
  /** True: a bound was reached, so there may be more. */
  cut: boolean;
}

export interface ScanBounds {
  /** Folders below the first one. */
  depth: number;
  folders: number;
  repositories: number;
  ms: number;
}

export const SCAN: ScanBounds = { depth: 4, folders: 20_000, repositories: 200, ms: 5_000 };

/** Where nobody keeps repositories of his own, and where there is much to look through. */
const SKIPPED = new Set(['node_modules', 'vendor', 'target', 'dist', 'build', 'Library', 'AppData', 'snap']);

/**
 * The git repositories at or below a folder, nearest first: bounded in depth, number and time. Links are not followed, hidden
 * folders and what package managers fill are passed over, and what lies inside of a repository is part of it.
 */
export function findRepositories(
  clock: Pick<Clock, 'monotonic'>,
  folder: string,
  bounds: ScanBounds = SCAN,
): Found {
  const until = clock.monotonic() + bounds.ms;
  const repositories: string[] = [];
  let level = [folder];
  let seen = 0;
  for (let depth = 0; depth <= bounds.depth && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const path of level) {
      seen += 1;
      if (seen > bounds.folders || repositories.length >= bounds.repositories || clock.monotonic() > until) {
        return { repositories: repositories.sort(), cut: true };
      }
      if (isRepository(path)) repositories.push(path);
      else next.push(...foldersIn(path));
    }
    level = next;
  }
  return { repositories: repositories.sort(), cut: false };
}

function isRepository(path: string): boolean {
  return readable(() => gitFolderAt(path) !== undefined) ?? false;
}

function foldersIn(path: string): string[] {
  const entries = readable(() => entriesIn(path)) ?? [];
  return entries
    .filter(({ name, isFolder }) => isFolder && !name.startsWith('.') && !SKIPPED.has(name))
    .map(({ name }) => join(path, name));
}

/** A folder that may not be looked into holds no repository of this user. */
function readable<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (['EACCES', 'EPERM', 'EIO', 'ENOTCONN'].includes(errnoCode(error) ?? '')) return undefined;
    throw error;
  }
}
