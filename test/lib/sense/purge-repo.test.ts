import { expect } from 'chai';
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

import { run as runProcess } from '../../../src/lib/platform/process/process';
import type { SenseEvent } from '../../../src/lib/time/event';
import { gitSource } from '../../../src/lib/sense/git';
import { purge, type PurgeResult, type PurgeSelection } from '../../../src/lib/sense/purge';
import { purgeText } from '../../../src/lib/sense/view-status';
import { gitBox, type GitBox } from '../../helpers/git';
import { commit, focus, listSource, senseBox, type SenseBox } from '../../helpers/sense';
import { long } from '../../helpers/long';

describe('sense: purging a repository by path', () => {
  let git: GitBox;
  let secret: string;
  let other: string;
  let box: SenseBox;
  const list: SenseEvent[] = [];
  const run = (selection: PurgeSelection, dryRun = false): PurgeResult => purge(box.deps, selection, dryRun);
  const captureAgain = () => box.capture({ sources: [listSource('git', list)] });
  const eventsOf = (day: string): unknown[] => box.lines(`events/${day}.jsonl`);

  beforeEach(async () => {
    git = gitBox();
    secret = git.init('src/secret');
    other = git.init('old/secret');
    git.commit(secret, { at: Date.parse('2026-11-20T08:00:00Z') / 1000 });
    git.git(secret, ['worktree', 'add', '-q', join(git.folder, 'tree')]);
    mkdirSync(join(secret, 'lib'));
    symlinkSync(secret, join(git.folder, 'link'));
    box = senseBox('2026-11-18T12:00:00Z');
    list.length = 0;
    box.deps.config.repos = [secret];
    const at = (path: string) => ({ detail: { path } });
    const plain: SenseEvent = { ts: '2026-11-20T09:00:00.000Z', type: 'agent-session', source: 'agentSession', repo: 'secret', detail: { session: 's', events: 1 } };
    const focused = (path: string): SenseEvent => ({ ...focus('2026-11-20T09:02:00Z', 'Terminal'), repo: 'secret', detail: { intervalSec: 60, path } });
    const state = { session: 's', state: 'working', branch: '99-merger' };
    const events = (): SenseEvent[] => [
      plain,
      { ...plain, type: 'session-state', detail: state },
      { ...commit('2026-11-20T09:03:00Z', 'secret', 'a'), ...at(secret) },
      { ...commit('2026-11-20T09:03:00Z', 'link', 'a'), ...at(join(git.folder, 'link')) },
      focused(join(git.folder, 'tree')),
      focused(join(git.folder, 'deleted-tree')),
    ];
    const captureAt = async (iso: string): Promise<void> => {
      box.at(iso);
      list.push(...events().map((event) => ({ ...event, ts: iso })), { ...plain, ts: iso, repo: 'app' });
      await captureAgain();
    };
    await captureAt('2026-11-18T12:00:00.000Z');
    await captureAt('2026-11-20T12:00:00.000Z');
    box.store.removeLog('2026-11-18');
  }); // prettier-ignore
  afterEach(() => {
    git.remove();
    box.remove();
  });

  it('removes data with and without a path, for every spelling', () => {
    const spellings = [
      secret,
      `${secret}/`,
      `${secret}/./`,
      `${relative(process.cwd(), secret)}/`,
      join(secret, 'lib'),
      join(git.folder, 'link'),
      join(git.folder, 'tree'),
    ];
    for (const repo of spellings) {
      const dry = run({ repo, records: true }, true);
      expect(dry, repo).to.deep.include({ events: 6, logs: ['2026-11-20'], removed: ['2026-11-18'] });
      expect(dry.repo, repo).to.deep.equal({
        ...{ path: secret, names: ['secret', 'link'], others: [], unclear: [] },
      });
    }
    run({ repo: join(git.folder, 'link'), records: true });
    expect(JSON.stringify(eventsOf('2026-11-20'))).not.to.match(/secret|link|merger/);
    expect(eventsOf('2026-11-20')).to.have.length(1);
  });

  it('keeps and names what may belong to another repository with the same name', () => {
    box.deps.config.repos = [secret, other];
    const result = run({ repo: secret, records: true });
    expect(result).to.deep.include({ events: 3, removed: [] });
    expect(result.repo).to.deep.include({ others: [other], unclear: ['2026-11-18', '2026-11-20'] });
    expect(purgeText(result)).to.include(
      `may belong to ${other} (to remove it anyway: steward sense purge --repo secret --records; steward sense purge --repo link --records): 2026-11-18, 2026-11-20`,
    );
    run({ repo: 'secret', records: true });
    expect(JSON.stringify(eventsOf('2026-11-20'))).not.to.include('secret');
    expect(box.store.hasRecord('2026-11-18')).to.equal(false);
  });

  it('leaves the commits of another repository that was deleted', async () => {
    box.at('2026-11-20T13:00:00Z');
    list.push(commit('2026-11-20T12:30:00Z', 'secret', 'z'));
    await captureAgain();
    const { repo } = run({ repo: secret });
    expect(repo?.others).to.deep.equal(['/src/secret']);
    expect(JSON.stringify(eventsOf('2026-11-20'))).to.include('Commit z');
    expect(run({ repo: '/src/secret/' }).events).to.equal(1);
  });

  long('includes the data from before a rename', async () => {
    const renamed = join(git.folder, 'renamed');
    const captureAt = (path: string) => {
      const config = { repos: [path], git: { authors: 'all' as const } };
      const deps = { run: runProcess, env: git.env, machineId: 'm', clock: box.deps.clock, config };
      return box.capture({ sources: [gitSource(deps)] });
    };
    box.store.writeState({ ...box.store.readState().state, cursors: {} });
    await captureAt(secret);
    renameSync(secret, renamed);
    await captureAt(renamed);
    const result = run({ repo: renamed, records: true });
    expect(result.repo).to.deep.include({ names: ['renamed', 'secret'], others: [] });
    expect(JSON.stringify(eventsOf('2026-11-20'))).not.to.match(/"secret"|merger/);
    expect(result.removed).to.deep.equal(['2026-11-18']);
  }); // prettier-ignore
});
