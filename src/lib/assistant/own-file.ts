import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { lstatOf } from '../platform/files/folder';
import {
  sha256,
  writeRecorded,
  type InstallEntry,
  type InstallManifest,
} from '../platform/files/install-manifest';
import type { Assistant } from './assistant';
import { commandsOf, idOf, shimDeps, type HookInstallDeps } from './install-deps';
import { shimPath } from './shim';
import { readTemplate } from '../platform/files/template';

const MAX_BYTES = 256 * 1024;

type OwnFileDeps = Omit<HookInstallDeps, 'clock' | 'machineId'>;

/**
 * Returns the text of the file that registers the hooks; undefined if the assistant uses a shared settings
 * file.
 */
export function ownText(deps: OwnFileDeps, assistant: Assistant): string | undefined {
  const { commandFor } = commandsOf(deps);
  return assistant.ownFile?.({
    host: deps.host,
    shim: shimPath(shimDeps(deps)),
    commandFor,
    template: (name) => readTemplate(deps.product.root, name),
  });
}

/** Returns whether a hook file written by this version or an earlier one exists. */
export function hasOwnFile(deps: OwnFileDeps, assistant: Assistant): boolean {
  const found = contentOf(assistant.path(deps.host));
  return typeof found === 'string' && unquoted(found).includes(unquoted(shimPath(shimDeps(deps))));
}

/** Removes the characters that quoting adds or escapes, because the file contains the path in quotes. */
function unquoted(text: string): string {
  return text.replace(/[\\"']/g, '');
}

/**
 * Returns whether the hook file is missing or outdated. Throws `conflict` if steward didn't write the file or
 * the user has edited it.
 */
export function isOwnFileDue(deps: OwnFileDeps, assistant: Assistant, entries: readonly InstallEntry[]) {
  const path = assistant.path(deps.host);
  const found = contentOf(path);
  if (found === undefined) return true;
  if (found === ownText(deps, assistant)) return false;
  const known = entries.find((entry) => entry.id === idOf(assistant) && entry.path === path);
  if (isOurs(found, known)) return true;
  throw new StewardError('conflict', `${path} was changed or was not written by steward.`, {
    hint: 'Move or rename the file, then retry.',
  });
}

/** Records the hook file in the manifest and writes it. */
export function writeOwnFile(deps: HookInstallDeps, assistant: Assistant, manifest: InstallManifest): void {
  const path = assistant.path(deps.host);
  const text = ownText(deps, assistant) ?? '';
  const found = contentOf(path);
  const was = typeof found === 'string' ? found : undefined;
  writeRecorded(manifest, { id: idOf(assistant), path, text, was }, deps);
}

/**
 * Returns whether an install wrote this text. Compares it with both recorded hashes, because an interrupted
 * install may have left the previous text in place.
 */
export function isOurs(found: string | false | undefined, entry: InstallEntry | undefined): boolean {
  return typeof found === 'string' && [entry?.after, entry?.before].includes(sha256(found));
}

/**
 * Returns a file's text; undefined if the file is missing, false if it is too large or not a regular file.
 */
export function contentOf(path: string): string | false | undefined {
  const found = lstatOf(path);
  if (found === undefined) return undefined;
  return found.isFile && found.size <= MAX_BYTES && (readText(path, { maxBytes: MAX_BYTES }) ?? false);
}
