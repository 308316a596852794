import { posix, win32 } from 'node:path';

import { StewardError, errnoCode } from '../errors';
import { readText, replaceFile, sweepTemps } from '../platform/atomic-file';
import { ensureFolder, exists, modeOf, removeEmptyFolder, removeFile } from '../platform/folder';
import { sha256, type InstallManifest } from '../platform/install-manifest';
import { toIso, type Clock } from '../platform/clock';
import type { PathHost } from '../platform/paths';
import { targetOf } from '../platform/stat';
import { readSystemText } from '../platform/system-files';
import { forShell } from './shim-command';

/** What the shim starts, where it is still there. */
export interface ShimTarget {
  /** The node that this runs on, absolute. */
  node: string;
  /** A name of it that stays when it is upgraded (a link on the PATH); else the same. */
  nodeAlias: string;
  /** steward's bin/run.js. */
  steward: string;
  /** The user area where it is not the default one. */
  area: string | undefined;
}

export interface ShimDeps {
  /** The folder that the shim lies in. */
  bin: string;
  host: PathHost;
  /** The folder of steward's package.json, and the node that runs it. */
  product: { root: string; node: string };
  /** The user area where STEWARD_HOME chose it. */
  area: string | undefined;
}

const SHIM_NAME = 'steward-hook';
const MANIFEST_ID = 'hooks:shim';
const MAX_TEMPLATE_BYTES = 64 * 1024;
/** The name of the package, by which its folder is found again among global packages. */
const PACKAGE = 'steward-cli';

/** Where the shim lies: a shell script, on Windows a batch file. */
export function shimPath({ bin, host }: Pick<ShimDeps, 'bin' | 'host'>): string {
  return pathOf(host).join(bin, host.platform === 'win32' ? `${SHIM_NAME}.cmd` : SHIM_NAME);
}

/** What the shim is to start on this machine, by the running process and its PATH. */
export function shimTarget({ host, product, area }: ShimDeps): ShimTarget {
  const { root, node } = product;
  return { node, nodeAlias: aliasOf(node, host), steward: pathOf(host).join(root, 'bin', 'run.js'), area };
}

/** The text of the shim. Paths may hold anything that a file system allows. */
export function renderShim(template: string, target: ShimTarget, host: PathHost): string {
  return host.platform === 'win32' ? renderBatch(template, target, host.env) : renderShell(template, target);
}

/** Writes the shim where it is not there as it should be, recorded first. True when it had to be written. */
export function writeShim(
  deps: ShimDeps & { clock: Clock; machineId: string },
  manifest: InstallManifest,
): boolean {
  const path = shimPath(deps);
  const text = shimText(deps);
  if (isInPlace(path, text, deps.host)) return false;
  manifest.record({
    id: MANIFEST_ID,
    kind: 'file',
    path,
    added: {},
    before: null,
    after: sha256(text),
    backups: [],
    at: toIso(deps.clock.now()),
    machine: deps.machineId,
  });
  ensureFolder(deps.bin);
  replaceFile(path, text, { mode: 0o700 });
  return true;
}

/** Would `writeShim` write? */
export function isShimCurrent(deps: ShimDeps): boolean {
  return isInPlace(shimPath(deps), shimText(deps), deps.host);
}

/** Removes the shim, and its folder if nothing else is in it. True when it was there. */
export function removeShim(
  deps: Pick<ShimDeps, 'bin' | 'host'> & { clock: Clock },
  manifest: InstallManifest,
): boolean {
  const path = shimPath(deps);
  const wasThere = exists(path);
  removeFile(path);
  if (exists(deps.bin)) sweepTemps(deps.bin, -1, deps.clock.now(), SHIM_NAME);
  removeEmptyFolder(deps.bin);
  manifest.forget(MANIFEST_ID, path);
  return wasThere;
}

function isInPlace(path: string, text: string, host: PathHost): boolean {
  const mode = modeOf(path);
  if (mode === undefined || (host.platform !== 'win32' && mode !== 0o700)) return false;
  return readText(path, { maxBytes: MAX_TEMPLATE_BYTES * 2 }) === text;
}

function shimText(deps: ShimDeps): string {
  const name = deps.host.platform === 'win32' ? 'steward-hook.cmd' : 'steward-hook.sh';
  const path = pathOf(deps.host).join(deps.product.root, 'templates', 'hooks', name);
  const template = readSystemText(path, MAX_TEMPLATE_BYTES);
  if (template === undefined) {
    throw new StewardError('not_found', `${path}, a part of steward, is missing.`, {
      hint: 'Install steward again.',
    });
  }
  return renderShim(template, shimTarget(deps), deps.host);
}

function renderShell(template: string, { node, nodeAlias, steward, area }: ShimTarget): string {
  return fill(template, {
    NODE: forShell(node),
    NODE_ALIAS: forShell(nodeAlias),
    STEWARD: forShell(steward),
    AREA: area === undefined ? '' : `[ -n "\${STEWARD_HOME-}" ] || export STEWARD_HOME=${forShell(area)}`,
    PACKAGE,
  });
}

function renderBatch(template: string, { node, steward, area }: ShimTarget, env: NodeJS.ProcessEnv): string {
  const text = fill(template, {
    NODE: forBatch(node, env),
    STEWARD: forBatch(steward, env),
    AREA: area === undefined ? '' : `if not defined STEWARD_HOME set "STEWARD_HOME=${forBatch(area, env)}"`,
    PACKAGE,
  });
  return text.replace(/\r?\n/g, '\r\n');
}

/** Folders whose names may have letters that the code page of a batch file does not: by their variables. */
const WINDOWS_FOLDERS = ['LOCALAPPDATA', 'APPDATA', 'USERPROFILE', 'ProgramFiles'];

function forBatch(path: string, env: NodeJS.ProcessEnv): string {
  const name = WINDOWS_FOLDERS.find((variable) => {
    const folder = env[variable] ?? '';
    return folder !== '' && path.toLowerCase().startsWith(`${folder.toLowerCase()}\\`);
  });
  if (name === undefined) return path.replaceAll('%', '%%');
  return `%${name}%${path.slice((env[name] ?? '').length).replaceAll('%', '%%')}`;
}

/** One pass: what is filled in is not looked at again. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/@([A-Z_]+)@/g, (whole, name: string) => values[name] ?? whole);
}

/**
 * Package managers keep a version's node in a folder that goes with the version, and a link to it on the
 * PATH. Folders of one shell session, of a project, or relative to the current folder are no such place.
 */
function aliasOf(node: string, { platform, env }: PathHost): string {
  const { join, delimiter, isAbsolute } = pathOf({ platform });
  const own = idOf(node);
  const found = (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/fnm_multishells|[\\/]node_modules[\\/]\.bin/.test(folder))
    .map((folder) => join(folder, platform === 'win32' ? 'node.exe' : 'node'))
    .find((path) => path !== node && own !== undefined && idOf(path) === own);
  return found ?? node;
}

/** A folder of the PATH may be somebody else's: what cannot be looked at is no name of ours. */
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
