import { StewardError } from '../errors';
import { cloneFolder } from '../sync/clone';
import type { ExchangeDeps } from '../sync/engine';
import type { GitExchange } from '../sync/git';
import type { Context } from './context';
import { openSync, prepareAdopted } from './sync';

/** Returns the dependencies of an exchange through git. */
export function openExchange(context: Context, folder: string, repo: string): ExchangeDeps {
  return {
    machine: context,
    folder,
    repo,
    sync: () => openSync(context),
    git: () => openGit(context, folder, repo),
    prepareAdopted: () => prepareAdopted(context),
  };
}

/** Opens a private repository for an exchange. Throws `conflict` if it is public. */
export async function openGit(
  context: Context,
  folder: string,
  repo: string,
  { mayBePublic = false } = {},
): Promise<GitExchange> {
  const { openWork } = await import('./work');
  const { deps } = await openWork(context);
  const found = await (await deps.host()).repository(repo);
  if (found.visibility !== 'private' && !mayBePublic) {
    throw new StewardError('conflict', `${found.repo} is ${found.visibility}, so nothing was pushed.`, {
      hint: 'Make the repository private, use a different one, or delete the data already published: steward sync leave --remove',
    });
  }
  return {
    git: deps.git,
    remote: await deps.remote(repo),
    folder,
    machineId: context.machineId,
    clone: cloneFolder(context),
  };
}
