import type { Context } from '../../app/context';
import { askHost } from '../../sync/hosts';
import { openSync } from '../../app/sync';
import { openGitPlace, openGit } from '../../app/sync-git';
import { setKeys } from '../../config/write';
import { StewardError } from '../../errors';
import { forShell } from '../../platform/process/spawn';
import { removeClone, withClone } from '../../sync/clone';
import { withSyncthing } from '../../sync/engine';
import { noFolder } from '../../sync/folder';
import { removeFromGit } from '../../sync/git';
import { readState, withFormer, writeState } from '../../sync/state';
import { connectSyncthing, type Connected } from '../../sync/syncthing';

/** Switches the exchange folder to Syncthing. `before` is the git repository used until now. */
export async function useSyncthing(context: Context): Promise<Connected & { before: string | null }> {
  const { folder } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined) throw noFolder();
  const connected = await withSyncthing((api) => connectSyncthing(api, folder));
  const before = await leaveRepo(context);
  await setKeys(context, { 'sync.engine': 'syncthing', 'sync.repo': undefined });
  await removeClone(context);
  return { ...connected, before };
}

/** Records the git repository used until now, unless it is `next`, and returns it. */
export async function leaveRepo(context: Context, next?: string): Promise<string | null> {
  const { engine, repo } = (await context.loadConfig()).config.user.sync;
  if (engine !== 'git' || repo === undefined || repo === next) return null;
  const { deps, locked } = await openSync(context);
  await locked(() => writeState(deps.state, withFormer(readState(deps.state), repo)));
  return repo;
}

/** Adds a host to those that steward asks for sessions by ssh. Without a host, removes all. Returns what is set. */
export async function useHost(context: Context, host: string | undefined): Promise<string[]> {
  const { hosts: known } = (await context.loadConfig()).config.user.sessions;
  if (host !== undefined && !(await askHost(context, host))) {
    const hint = `Check that this lists sessions within 10 s: ssh ${forShell(host)} steward sessions --json`;
    throw new StewardError('unavailable', `${host} did not answer by ssh.`, { hint });
  }
  const hosts = host === undefined ? [] : [...new Set([...known, host])];
  await setKeys(context, { 'sessions.hosts': hosts });
  return hosts;
}

/** Deletes a machine's files from the repository, if git is the sync engine. */
export async function forgetInGit(context: Context, id: string): Promise<void> {
  const { repo } = await openGitPlace(context);
  if (repo !== undefined) await removeBranch(context, repo, id);
}

/** Deletes a machine's files from a repository. */
export async function removeBranch(context: Context, repo: string, id: string): Promise<void> {
  const git = await openGit(context, '', repo, { mayBePublic: true });
  await withClone(context, () => removeFromGit(git, id));
}
