import { join, resolve } from 'node:path';

import { openSense } from '../../app/sense';
import { StewardError, unless } from '../../errors';
import { gitFolderAt } from '../../platform/files/git-folder';
import { processHost } from '../../platform/files/paths';
import { entriesIn, kindOf } from '../../platform/files/stat';
import type { Prompt } from '../../platform/terminal/ask';
import { clean } from '../../platform/terminal/terminal';
import type { Clock } from '../../platform/time/clock';
import { backfillText } from '../../sense/backfill';
import { SOURCE_IDS, type SourceId } from '../../time/event';
import { aliasesIn, aliasHint, askForAliases } from '../first-look';
import { backfillDays, watch } from '../up';
import { chosenNames, chosenNumbers, type Setup, type Step } from './step';

export const reposStep: Step = {
  id: 'repos',
  shown({ config }) {
    const { repos } = config().sense;
    return repos.length === 0 ? 'none' : `${repos.length} watched: ${repos.map(clean).join(', ')}`;
  },
  given(setup, { repo, 'repos-below': below }) {
    if (repo === undefined && below === undefined) return undefined;
    const found = [
      ...(repo ?? []).map(repositoryAt),
      ...(below === undefined ? [] : scan(setup, folderAt(below))),
    ];
    return () => watchAndBackfill(setup, found);
  },
  async ask(setup, questions) {
    setup.say('steward records the time and the first line of each commit.');
    const answer = await questions.line('Folder to search for repositories, or "none" to skip [~]: ');
    if (answer.toLowerCase() === 'none') return undefined;
    const watched = setup.config().sense.repos;
    const found = scan(setup, folderAt(answer || '~')).filter((path) => !watched.includes(path));
    if (found.length === 0) {
      setup.say('No new repositories found.');
      return undefined;
    }
    found.forEach((path, index) => setup.say(`${String(index + 1).padStart(4)}  ${clean(path)}`));
    for (;;) {
      const text = await questions.line('Repositories to watch: all, none, or numbers such as 1 3-5 [all]: ');
      const chosen = chosenNumbers(text || 'all', found.length);
      if (chosen !== undefined)
        return (asker) =>
          watchAndBackfill(
            setup,
            found.filter((_, index) => chosen.includes(index)),
            asker,
          );
      setup.say(`Enter numbers from 1 to ${found.length}, separated by spaces or commas. 3-5 is a range.`);
    }
  },
};

export const sourcesStep: Step = {
  id: 'sources',
  shown: ({ config }) => {
    const { enabled, sources } = config().sense;
    const on = SOURCE_IDS.filter((id) => sources[id]);
    return enabled ? on.join(', ') || 'none' : 'off (sense.enabled is false)';
  },
  given(setup, { sources }) {
    if (sources === undefined) return undefined;
    const chosen = chosenNames('--sources', sources, SOURCE_IDS);
    return () => setSources(setup, chosen);
  },
  async ask(setup, questions) {
    setup.say(
      'Sources:\n  appFocus: name of the frontmost application, never titles or content\n  git: new commits\n  agentSession: active assistant sessions\n  web: sites that you tick in the browser extension',
    );
    const now = SOURCE_IDS.filter((id) => setup.config().sense.sources[id]);
    const preset = now.length === SOURCE_IDS.length ? 'all' : now.join(' ') || 'none';
    const text = await questions.line(`Sources to capture: all, none, or some of these [${preset}]: `);
    const chosen = chosenNames('source', text || preset, SOURCE_IDS);
    return () => setSources(setup, chosen);
  },
};

async function setSources(setup: Setup, chosen: readonly SourceId[]): Promise<void> {
  await setup.set(Object.fromEntries(SOURCE_IDS.map((id) => [`sense.sources.${id}`, chosen.includes(id)])));
}

async function watchAndBackfill(setup: Setup, added: readonly string[], asker?: Prompt): Promise<void> {
  const aliases = await aliasesIn(setup.context, added);
  // Before the repositories are watched: an interrupted question comes again.
  if (asker !== undefined)
    await askForAliases(setup.context, aliases, (question) => asker.yes(question, 'no'));
  await watch(setup.context, added);
  await setup.set({});
  if (added.length === 0) return;
  const sense = await openSense(setup.context);
  const result = await sense.locked(() => backfillDays(setup.context, sense));
  if (result !== null) setup.say([...result.problems, backfillText(result)].join('\n'));
  const hint = asker === undefined ? aliasHint(aliases) : undefined;
  if (hint !== undefined) setup.say(hint);
}

function scan(setup: Setup, folder: string): string[] {
  const { repositories, cut } = findRepositories(setup.context.clock, folder);
  if (cut) setup.say(`${clean(folder)} is too large to search completely. Choose a subfolder.`);
  return repositories;
}

function folderAt(text: string): string {
  const path = absolute(text);
  if (kindOf(path) === 'folder') return path;
  throw new StewardError('usage', `Folder ${clean(path)} not found.`, {
    hint: 'Use a folder that contains repositories, such as ~/src.',
  });
}

function repositoryAt(text: string): string {
  const path = absolute(text);
  if (gitFolderAt(path) !== undefined) return path;
  throw new StewardError('usage', `No git repository at ${clean(path)}.`, {
    hint: 'Use the folder that contains .git. To add all repositories below a folder, use --repos-below DIR.',
  });
}

function absolute(text: string): string {
  if (text === '~' || text.startsWith('~/')) return resolve(join(processHost().home, text.slice(1)));
  return resolve(text);
}

/** The limits of a search for repositories. `depth` counts levels of subfolders. */
export const SCAN = { depth: 4, folders: 20_000, repositories: 200, ms: 5_000 };
/** Folders that the search skips, because they are large and rarely contain your own repositories. */
const SKIPPED = new Set(['node_modules', 'vendor', 'target', 'dist', 'build', 'Library', 'AppData', 'snap']);

/**
 * Finds git repositories at or below a folder, sorted. Skips links, hidden folders and folders inside
 * repositories. `cut` is true if the search stopped at a limit.
 */
export function findRepositories(clock: Pick<Clock, 'monotonic'>, folder: string, bounds = SCAN) {
  const until = clock.monotonic() + bounds.ms;
  const repositories: string[] = [];
  let level = [folder];
  let count = 0;
  for (let depth = 0; depth <= bounds.depth && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const path of level) {
      count += 1;
      if (count > bounds.folders || repositories.length >= bounds.repositories || clock.monotonic() > until)
        return { repositories: repositories.sort(), cut: true };
      if (ifReadable(() => gitFolderAt(path)) !== undefined) repositories.push(path);
      else next.push(...foldersIn(path));
    }
    level = next;
  }
  return { repositories: repositories.sort(), cut: false };
}

function foldersIn(path: string): string[] {
  return (ifReadable(() => entriesIn(path)) ?? [])
    .filter(({ name, isFolder }) => isFolder && !name.startsWith('.') && !SKIPPED.has(name))
    .map(({ name }) => join(path, name));
}

function ifReadable<T>(read: () => T): T | undefined {
  return unless(['EACCES', 'EPERM', 'EIO', 'ENOTCONN'], read);
}
