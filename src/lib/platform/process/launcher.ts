import { posix, win32 } from 'node:path';

import { StewardError, errnoCode } from '../../errors';
import { readText, sweepTemps } from '../files/atomic-file';
import type { Clock } from '../time/clock';
import { exists, modeOf, removeEmptyFolder, removeFile } from '../files/folder';
import { writeRecorded, type InstallManifest } from '../files/install-manifest';
import type { PathHost } from '../files/paths';
import { forShell } from './spawn';
import { kindOf, targetOf } from '../files/stat';
import { filled, readTemplate } from '../files/template';

/**
 * A small script (on Windows, a batch file) that an assistant or scheduler starts. After an upgrade, the
 * script still finds Node.js and steward.
 */
export interface LauncherForm {
  /** The name of the file and of its template in templates/launcher. */
  name: string;
  manifestId: string;
  /** Additional values for the template, already quoted. */
  values: Readonly<Record<string, string>>;
}

export interface LauncherDeps {
  /** Folder of the launcher. */
  bin: string;
  host: PathHost;
  /** The folder of steward's package.json, and the path of the current Node.js binary. */
  product: { root: string; node: string };
}

/** The current Node.js binary, and links to it and to steward that stay valid after an upgrade. */
export type LauncherTarget = ReturnType<typeof launcherTarget>;

/** A template, and the shared code that finds Node.js and steward. */
const MAX_TEMPLATE_BYTES = 64 * 1024;
const PACKAGE = 'steward-cli';
/** Below a Nix profile, whose own `bin/steward` is a wrapper that no launcher can read. */
const OF_NIX = 'lib/steward';

export function launcherPath(name: string, { bin, host }: Pick<LauncherDeps, 'bin' | 'host'>): string {
  return pathOf(host).join(bin, host.platform === 'win32' ? `${name}.cmd` : name);
}

/** Returns the Node.js binary and the steward installation that launchers start. */
export function launcherTarget({ host, product }: Pick<LauncherDeps, 'host' | 'product'>) {
  const { root, node } = product;
  const steward = pathOf(host).join(root, 'bin', 'run.js');
  const nodeNames = host.platform === 'win32' ? ['node.exe'] : ['node', `../${OF_NIX}/bin/node`];
  return {
    node,
    nodeAlias: aliasOf(node, nodeNames, host),
    steward: aliasOf(steward, ['steward', `../${OF_NIX}/lib/node_modules/${PACKAGE}/bin/run.js`], host),
  };
}

/** Fills in a launcher's template. Paths may contain any character. */
export function renderLauncher(
  { body, find }: { body: string; find: string },
  { node, nodeAlias, steward }: LauncherTarget,
  values: LauncherForm['values'],
  host: PathHost,
): string {
  const isWindows = host.platform === 'win32';
  const quoted = (path: string): string => (isWindows ? forBatch(path, host.env) : forShell(path));
  const text = filled(
    body.replace('@FIND@\n', () => find),
    {
      ...values,
      NODE: quoted(node),
      NODE_ALIAS: quoted(nodeAlias),
      STEWARD: quoted(steward),
      PACKAGE,
    },
  );
  return isWindows ? text.replace(/\r?\n/g, '\r\n') : text;
}

/** Records the launcher in the manifest and writes it; returns false if it is already up to date. */
export function writeLauncher(
  form: LauncherForm,
  deps: LauncherDeps & { clock: Clock; machineId: string },
  manifest: InstallManifest,
): boolean {
  const path = launcherPath(form.name, deps);
  const text = launcherText(form, deps);
  if (isInPlace(path, text, deps.host)) return false;
  writeRecorded(manifest, { id: form.manifestId, path, text, mode: 0o700 }, deps);
  return true;
}

/** Returns whether the launcher exists and is up to date. */
export function isLauncherCurrent(form: LauncherForm, deps: LauncherDeps): boolean {
  return isInPlace(launcherPath(form.name, deps), launcherText(form, deps), deps.host);
}

/** Removes the launcher, and its folder if empty; returns false if the launcher doesn't exist. */
export function removeLauncher(
  { name, manifestId }: Pick<LauncherForm, 'name' | 'manifestId'>,
  deps: Pick<LauncherDeps, 'bin' | 'host'> & { clock: Clock },
  manifest: InstallManifest,
): boolean {
  const path = launcherPath(name, deps);
  const wasThere = exists(path);
  if (kindOf(path) === 'folder') {
    throw new StewardError('config', `Cannot remove ${path}: it is a folder, not steward's script.`, {
      hint: 'Move or delete the folder, then retry.',
    });
  }
  removeFile(path);
  if (exists(deps.bin)) sweepTemps(deps.bin, -1, deps.clock.now(), name);
  removeEmptyFolder(deps.bin);
  manifest.forget(manifestId, path);
  return wasThere;
}

function isInPlace(path: string, text: string, host: PathHost): boolean {
  const mode = modeOf(path);
  if (mode === undefined || (host.platform !== 'win32' && mode !== 0o700)) return false;
  return readText(path, { maxBytes: MAX_TEMPLATE_BYTES * 4 }) === text;
}

function launcherText(form: LauncherForm, deps: LauncherDeps): string {
  const ending = deps.host.platform === 'win32' ? 'cmd' : 'sh';
  const read = (name: string): string => readTemplate(deps.product.root, `launcher/${name}.${ending}`);
  const template = { body: read(form.name), find: read('find') };
  return renderLauncher(template, launcherTarget(deps), form.values, deps.host);
}

/**
 * Folders that batch files refer to by environment variable, because a folder name may contain characters
 * that are missing from the batch file's code page.
 */
const WINDOWS_FOLDERS = ['LOCALAPPDATA', 'APPDATA', 'USERPROFILE', 'ProgramFiles'];

/** Escapes a path for a quoted string in a batch file. */
export function forBatch(path: string, env: NodeJS.ProcessEnv): string {
  const name = WINDOWS_FOLDERS.find((variable) => {
    const folder = env[variable] ?? '';
    return folder !== '' && path.toLowerCase().startsWith(`${folder.toLowerCase()}\\`);
  });
  if (name === undefined) return path.replaceAll('%', '%%');
  return `%${name}%${path.slice((env[name] ?? '').length).replaceAll('%', '%%')}`;
}

/**
 * Returns a link to `file`, because an upgrade keeps links valid. Searches the PATH for the names, except for
 * fnm's per-shell folders and `node_modules/.bin`. Returns `file` if there is no link.
 */
function aliasOf(file: string, names: readonly string[], { platform, env }: PathHost): string {
  const { join, delimiter, isAbsolute } = pathOf({ platform });
  const own = idOf(file);
  const found = (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/fnm_multishells|[\\/]node_modules[\\/]\.bin/.test(folder))
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((path) => path !== file && own !== undefined && idOf(path) === own);
  return found ?? file;
}

/**
 * Returns an ID that is the same for all links to a file, or undefined if this user can't inspect the path.
 */
function idOf(path: string): string | undefined {
  try {
    return targetOf(path)?.id;
  } catch (error) {
    if (errnoCode(error) !== undefined) return undefined;
    throw error;
  }
}

function pathOf({ platform }: Pick<PathHost, 'platform'>): typeof posix {
  return platform === 'win32' ? win32 : posix;
}
