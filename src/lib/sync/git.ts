import { join } from 'node:path';

import type { Machine } from '../config/user-area';
import { StewardError, throwIfBug } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, listFolder, removeFolder } from '../platform/files/folder';
import { isMachineId } from '../platform/files/machine';
import { gitAddress } from '../platform/net/git-address';
import type { RemoteGit } from '../platform/process/git';
import {
  remoteGit,
  type GitAnswer,
  type Remote,
  type RemoteGitDeps,
  openClone,
} from '../platform/process/git';
import { cleanLine } from '../platform/terminal/terminal';
import { cloneFolder } from './clone';
import { machinesFolder, type OnDamagedFile } from './exchange';
import { requireFolder } from './folder';
import { receiveTree, type ReadGit } from './git-tree';
import { mirrorFiles } from './mirror';

export interface GitExchange {
  git: RemoteGitDeps;
  remote: Remote;
  folder: string;
  /** Machine-local folder for the clone. */
  clone: string;
  machineId: string;
  /** Called with each path in the exchange folder that could not be received, and why. */
  onDamaged?: OnDamagedFile;
  /** Called if another machine has replaced this machine's branch since the last exchange. */
  onForeign?: () => Promise<void>;
}

interface RepositoryDeps {
  machine: Machine;
  git: RemoteGitDeps;
  /** Returns how the host shows a repository such as `ann/data`. */
  shown: (repo: string) => Promise<{ repo: string; visibility: string }>;
  remote: (repo: string) => Promise<Remote>;
}

/** Opens a private repository for an exchange. Throws `conflict` if everybody can read it. */
export async function openRepository(
  { machine, git, shown, remote }: RepositoryDeps,
  folder: string,
  repo: string,
  { mayBePublic = false } = {},
): Promise<GitExchange> {
  const address = gitAddress(repo);
  const seen = address === undefined ? await shown(repo) : undefined;
  const isOpen = seen === undefined && (await isReadable(git, machine.area.machine, address?.openUrl));
  const visibility = seen?.visibility ?? (isOpen ? 'public' : 'private');
  if (visibility !== 'private' && !mayBePublic) {
    throw new StewardError('conflict', `${seen?.repo ?? repo} is ${visibility}, so nothing was pushed.`, {
      hint: 'Make the repository private, use a different one, or delete the data already published: steward sync leave --remove',
    });
  }
  return {
    git,
    remote: address === undefined ? await remote(repo) : { ...address, credential: 'own' },
    folder,
    machineId: machine.machineId,
    clone: cloneFolder(machine),
  };
}

/** Returns whether a repository can be read without a credential. */
async function isReadable(git: RemoteGitDeps, folder: string, url: string | undefined): Promise<boolean> {
  if (url === undefined) return false;
  const open: Remote = { url, protocol: 'https', credential: 'none' };
  return (await remoteGit(git, folder, open)('ls-remote', url)).code === 0;
}

const HEADS = 'refs/heads/machine-';
const FETCHED = 'refs/machines/';

/**
 * Fetches the other machines' files and pushes this machine's files. A push replaces the only commit on the
 * machine's own branch, so pushes can't conflict and purged data doesn't stay in the history, or in the clone.
 */
export async function exchangeByGit(exchange: GitExchange): Promise<{ received: string[]; sent: boolean }> {
  const git = await openClone({ ...exchange, folder: exchange.clone }, succeeded);
  const { machineId, onForeign } = exchange;
  const ownCommit = async (): Promise<string> => (await git('for-each-ref', FETCHED + machineId)).stdout;
  const before = await ownCommit();
  const trees = await fetchTrees(exchange, git);
  requireFolder(exchange.folder);
  if (before !== '' && trees.has(machineId) && (await ownCommit()) !== before) await onForeign?.();
  const others = [...trees.keys()].filter((id) => id !== machineId);
  const received = await receive(exchange, others);
  const sent = await send(exchange, git, trees.get(machineId));
  const gone = removeGone(exchange, trees);
  await clean(exchange, git);
  return { received: [...received, ...gone], sent };
}

/** Fetches every machine's branch. Returns each machine's tree hash, by machine id. */
async function fetchTrees({ remote }: GitExchange, git: RemoteGit): Promise<Map<string, string>> {
  const refs = `+${HEADS}*:${FETCHED}*`;
  await succeeded(git('fetch', '--quiet', '--no-tags', '--prune', remote.url, refs));
  const { stdout } = await succeeded(git('for-each-ref', '--format=%(tree) %(refname)', FETCHED));
  const rows = stdout.split('\n').map((line) => line.split(` ${FETCHED}`));
  return new Map(rows.flatMap(([tree = '', id = '']) => (isMachineId(id) ? [[id, tree] as const] : [])));
}

/** Receives the other machines' files. Returns the ids of the machines whose files changed. */
async function receive(exchange: GitExchange, ids: readonly string[]): Promise<string[]> {
  const { git: deps, folder, clone, remote, onDamaged = () => undefined } = exchange;
  const read: ReadGit = async (args, input, maxBytes) => {
    const git = remoteGit(deps, clone, remote, { input, maxBytes, encoding: 'latin1' });
    return Buffer.from((await succeeded(git(...args))).stdout, 'latin1');
  };
  const changed: string[] = [];
  for (const id of ids) {
    ensureFolder(receivedMark(clone, id));
    const to = join(machinesFolder(folder), id);
    try {
      if (await receiveTree(read, FETCHED + id, to, onDamaged)) changed.push(id);
    } catch (error) {
      onDamaged(to, throwIfBug(error).message);
    }
  }
  return changed;
}

/** An empty folder, which records that this clone has received files of the machine. */
function receivedMark(clone: string, id: string): string {
  return join(clone, 'others', id);
}

/**
 * Removes the files of machines whose branch was deleted. Considers only machines whose files have been
 * fetched into this clone before.
 */
function removeGone({ folder, clone, machineId }: GitExchange, trees: ReadonlyMap<string, string>): string[] {
  const gone = listFolder(join(clone, 'others')).filter(
    (id) => isMachineId(id) && id !== machineId && !trees.has(id),
  );
  for (const id of gone) {
    removeFolder(join(machinesFolder(folder), id));
    removeFolder(receivedMark(clone, id));
  }
  return gone;
}

async function send(
  { folder, clone, machineId, remote }: GitExchange,
  git: RemoteGit,
  pushed: string | undefined,
): Promise<boolean> {
  const files = join(machinesFolder(folder), machineId);
  // Don't push a folder without machine.json. Such a folder is incomplete, and the branch has the only copy.
  if (!exists(join(files, 'machine.json'))) return false;
  const own = join(clone, 'own');
  ensureFolder(own);
  mirrorFiles(files, own);
  await succeeded(git('read-tree', '--empty'));
  await succeeded(git(`--work-tree=${own}`, 'add', '--force', '--all', '.'));
  const tree = (await succeeded(git('write-tree'))).stdout.trim();
  if (pushed === tree) return false;
  const commit = (await succeeded(git('commit-tree', tree, '-m', 'Publish'))).stdout.trim();
  await succeeded(git('push', '--quiet', '--force', remote.url, `${commit}:${HEADS}${machineId}`));
  await succeeded(git('update-ref', FETCHED + machineId, commit));
  return true;
}

/** If a branch changed, deletes the objects that no branch contains. They may be purged data. */
async function clean({ clone }: GitExchange, git: RemoteGit): Promise<void> {
  const { stdout: branches } = await succeeded(git('for-each-ref', FETCHED));
  const path = join(clone, 'cleaned');
  if (readText(path) === branches) return;
  await succeeded(git('read-tree', '--empty'));
  await succeeded(git('repack', '-a', '-d', '-q'));
  await succeeded(git('prune', '--expire=now'));
  replaceFile(path, branches, { sync: false });
}

/** Deletes a machine's branch, if it exists. */
export async function removeFromGit(exchange: GitExchange, id: string): Promise<void> {
  const git = await openClone({ ...exchange, folder: exchange.clone }, succeeded);
  const branch = HEADS + id;
  const found = await succeeded(git('ls-remote', exchange.remote.url, branch));
  if (found.stdout.trim() !== '') await succeeded(git('push', '--quiet', exchange.remote.url, `:${branch}`));
}

/** Throws `conflict` if a repository has something, but nothing of steward's. */
export async function checkRepository(exchange: GitExchange, repo: string): Promise<void> {
  const git = await openClone({ ...exchange, folder: exchange.clone }, succeeded);
  const { stdout } = await succeeded(git('ls-remote', '--heads', '--tags', exchange.remote.url));
  const refs = stdout.split('\n').flatMap((line) => line.split('\t')[1] ?? []);
  if (refs.length === 0 || refs.some((ref) => isMachineId(ref.replace(HEADS, '')))) return;
  const [first = ''] = refs.map((ref) => ref.replace(/^refs\/\w+\//, ''));
  throw new StewardError(
    'conflict',
    `${repo} is not empty: it has the branch or tag ${cleanLine(first, 60)}.`,
    {
      hint: 'Use a repository only for steward: create a private one without a README, or on a disk: git init --bare PATH',
    },
  );
}

async function succeeded(answer: Promise<GitAnswer>): Promise<GitAnswer> {
  const result = await answer;
  if (result.code === 0) return result;
  throw new StewardError(
    result.isRefused ? 'auth' : 'unavailable',
    `Syncing through git failed: ${result.complaint}`,
    {
      hint: result.isRefused
        ? 'Use an account that can access the repository: `gh auth login`, or for your own address the key or password that `git ls-remote` takes.'
        : 'Check the address and the connection, for example with `git ls-remote`, then retry.',
    },
  );
}
