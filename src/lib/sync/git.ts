import { join } from 'node:path';

import { StewardError } from '../errors';
import { ensureFolder, exists, removeFolder } from '../platform/files/folder';
import { isMachineId } from '../platform/files/machine';
import { remoteGit, type GitAnswer, type Remote, type RemoteGitDeps } from '../platform/process/git';
import { machinesFolder } from './exchange';
import { mirrorFiles } from './mirror';

export interface GitExchange {
  git: RemoteGitDeps;
  remote: Remote;
  folder: string;
  /** Machine-local folder for the clone. */
  clone: string;
  machineId: string;
}

type Git = ReturnType<typeof remoteGit>;
const HEADS = 'refs/heads/machine-';
const FETCHED = 'refs/machines/';

/**
 * Fetches the other machines' files and pushes this machine's files. A push replaces the only commit on the
 * machine's own branch, so pushes can't conflict and purged data doesn't stay in the history.
 */
export async function exchangeByGit(exchange: GitExchange): Promise<{ received: string[]; sent: boolean }> {
  const { folder, clone, machineId, remote } = exchange;
  ensureFolder(clone);
  const git = remoteGit(exchange.git, clone, remote);
  if (!exists(join(clone, '.git')) || (await git('rev-parse', '--git-dir')).code !== 0) {
    removeFolder(join(clone, '.git'));
    await succeeded(git('init', '--quiet'));
  }
  const refs = `+${HEADS}*:${FETCHED}*`;
  // A shallow fetch fails if no machine has pushed a branch yet.
  const found = await succeeded(git('ls-remote', remote.url, `${HEADS}*`));
  if (found.stdout.trim() !== '')
    await succeeded(git('fetch', '--quiet', '--depth', '1', '--no-tags', '--prune', remote.url, refs));
  const received = await receive(exchange, git);
  const own = join(clone, 'own');
  mirrorFiles(join(machinesFolder(folder), machineId), own);
  const sent = await send(exchange, git, own);
  return { received, sent };
}

/** Copies the fetched files of the other machines. Returns the ids of the machines whose files changed. */
async function receive({ folder, clone, machineId }: GitExchange, git: Git): Promise<string[]> {
  const { stdout } = await succeeded(git('for-each-ref', '--format=%(refname)', FETCHED));
  const ids = stdout
    .split('\n')
    .map((ref) => ref.slice(FETCHED.length))
    .filter((id) => isMachineId(id) && id !== machineId);
  const changed: string[] = [];
  for (const id of ids) {
    const copy = join(clone, 'others', id);
    removeFolder(copy);
    ensureFolder(copy);
    await succeeded(git('read-tree', FETCHED + id));
    await succeeded(git('checkout-index', '--all', '--force', `--prefix=others/${id}/`));
    if (mirrorFiles(copy, join(machinesFolder(folder), id))) changed.push(id);
  }
  return changed;
}

async function send({ machineId, remote }: GitExchange, git: Git, own: string): Promise<boolean> {
  ensureFolder(own);
  await succeeded(git('read-tree', '--empty'));
  await succeeded(git(`--work-tree=${own}`, 'add', '--force', '--all', '.'));
  const tree = (await succeeded(git('write-tree'))).stdout.trim();
  const pushed = await git('rev-parse', '--quiet', '--verify', `${FETCHED}${machineId}^{tree}`);
  if (pushed.stdout.trim() === tree) return false;
  const commit = (await succeeded(git('commit-tree', tree, '-m', 'Publish'))).stdout.trim();
  await succeeded(git('push', '--quiet', '--force', remote.url, `${commit}:${HEADS}${machineId}`));
  await succeeded(git('update-ref', FETCHED + machineId, commit));
  return true;
}

export async function removeFromGit(exchange: GitExchange, id: string): Promise<void> {
  const git = remoteGit(exchange.git, exchange.clone, exchange.remote);
  if ((await git('rev-parse', '--quiet', '--verify', FETCHED + id)).code !== 0) return;
  await succeeded(git('push', '--quiet', exchange.remote.url, `:${HEADS}${id}`));
  await succeeded(git('update-ref', '-d', FETCHED + id));
}

async function succeeded(answer: Promise<GitAnswer>): Promise<GitAnswer> {
  const result = await answer;
  if (result.code === 0) return result;
  throw new StewardError(
    result.isRefused ? 'auth' : 'unavailable',
    `Syncing through git failed: ${result.complaint}`,
    {
      hint: result.isRefused
        ? 'Run `gh auth login` with an account that can access the repository.'
        : 'Check the connection, then retry.',
    },
  );
}
