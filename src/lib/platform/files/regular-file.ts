import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs';

import { StewardError, errnoCode } from '../../errors';

export interface OpenOptions {
  /** Go through a symbolic link of this user or the administrator; else a link is refused. */
  followLink?: boolean;
  /** Permission bits of a file that is created; 0600. */
  mode?: number;
}

/** Systems that have no such flag have no such number. */
const NON_BLOCKING = (constants.O_NONBLOCK as number | undefined) ?? 0;
const NO_FOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;

/**
 * Opens a regular file. Undefined when there is none (and the flags create none); a link, a folder, a pipe,
 * a socket or a device in its place is `config`, and none of them makes the call wait.
 */
export function openRegular(path: string, flags: number, options: OpenOptions = {}): number | undefined {
  const fd = openAnything(path, flags, options);
  if (fd === undefined) return undefined;
  let regular = false;
  try {
    regular = fstatSync(fd).isFile();
  } finally {
    if (!regular) closeSync(fd);
  }
  if (!regular) throw notRegular(path);
  return fd;
}

function openAnything(path: string, flags: number, options: OpenOptions): number | undefined {
  // Windows knows neither flag: there the link is looked for first, and no pipe can stand in a folder.
  const nonBlocking = NON_BLOCKING;
  const follow = options.followLink === true;
  const noFollow = follow ? 0 : NO_FOLLOW;
  if (noFollow === 0) {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isSymbolicLink() === true && !(follow && isTrusted(facts.uid))) throw linkRefused(path);
  }
  try {
    return openSync(path, flags | nonBlocking | noFollow, options.mode ?? 0o600);
  } catch (error) {
    const code = errnoCode(error) ?? '';
    if (code === 'ENOENT') return undefined;
    if (!follow && (code === 'ELOOP' || code === 'EMLINK')) throw linkRefused(path, error);
    if (code === 'EISDIR' || code === 'ENXIO' || code === 'EOPNOTSUPP' || code === 'ENOTSUP') {
      throw notRegular(path, error);
    }
    throw error;
  }
}

/** A link that is followed has to be the user's own, or the administrator's. */
function isTrusted(owner: number): boolean {
  return process.getuid === undefined || owner === process.getuid() || owner === 0;
}

export function linkRefused(path: string, cause?: unknown): StewardError {
  return new StewardError('config', `${path} is a symbolic link.`, {
    hint: 'Put the file itself there; steward does not write or read its state through links.',
    cause,
  });
}

export function notRegular(path: string, cause?: unknown): StewardError {
  return new StewardError('config', `${path} is not a regular file.`, { hint: 'Move it away.', cause });
}

/** A system error that names the file that the caller meant, where it has a temp file's name or none at all. */
export function naming(error: unknown, path: string): unknown {
  return error instanceof Error && errnoCode(error) !== undefined ? Object.assign(error, { path }) : error;
}
