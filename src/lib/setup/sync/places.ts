import { join } from 'node:path';

import type { Context } from '../../app/context';
import { replaceFile, readText } from '../../platform/files/atomic-file';
import { ensureFolder, exists, listFolder } from '../../platform/files/folder';
import { processHost } from '../../platform/files/paths';
import { kindOf } from '../../platform/files/stat';
import { forShell } from '../../platform/process/spawn';

const CLOUD = /^(?:Dropbox|Nextcloud|OneDrive|iCloudDrive)(?:\b|$)/;
const ICLOUD = join('Library', 'Mobile Documents', 'com~apple~CloudDocs');
const NETWORK = ['nfs', 'nfs4', 'cifs', 'smb3', 'fuse.sshfs', 'fuse.rclone'];
const DOTFILES = ['dotfiles', '.dotfiles', join('.local', 'share', 'chezmoi')];

/** Returns the folders in which a sync tool or a network drive is likely to share what you put there. */
export function syncedPlaces(): string[] {
  const { home } = processHost();
  const isSynced = (name: string): boolean =>
    CLOUD.test(name) || name === ICLOUD || exists(join(home, name, '.stfolder'));
  const folders = [...listFolder(home).filter((name) => !name.startsWith('.')), ICLOUD].filter(isSynced);
  // Reading a network drive that is away would block, so it is only named.
  const mounts = (readText('/proc/self/mounts') ?? '').split('\n').map((line) => line.split(' '));
  const network = mounts.flatMap(([, path = '', type = '']) =>
    NETWORK.includes(type) ? [path.replaceAll('\\040', ' ')] : [],
  );
  return [...folders.map((name) => join(home, name)).filter((path) => kindOf(path) === 'folder'), ...network];
}

const OFFERED = 'sync-offered';

export function noteOffered({ machine }: Pick<Context['area'], 'machine'>): void {
  ensureFolder(machine);
  replaceFile(join(machine, OFFERED), '', { sync: false });
}

/** Offers once to use several machines, if there is a folder that they may share. */
export async function offerSync(context: Context): Promise<string | undefined> {
  const { area } = context;
  if (!area.sense.isSetUp || exists(join(area.machine, OFFERED))) return undefined;
  if ((await context.loadConfig()).config.user.sync.folder !== undefined) return undefined;
  const [place] = syncedPlaces();
  const hasDotfiles = DOTFILES.some((name) => exists(join(processHost().home, name, '.git')));
  if (place === undefined && !hasDotfiles) return undefined;
  noteOffered(area);
  return place === undefined
    ? 'Your dotfiles are in git. If you use steward on several machines, they can meet there: steward sync connect --help'
    : `If you use steward on several machines, they can meet in ${place}: steward sync setup ${forShell(join(place, 'steward'))} --create`;
}
