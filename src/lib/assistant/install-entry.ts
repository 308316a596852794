import { dirname } from 'node:path';

import { exists } from '../platform/files/folder';
import { type Backup, type InstallEntry, sha256 } from '../platform/files/install-manifest';
import type { Assistant } from './assistant';
import { commandsOf, hooksAddedBy, idOf, type HookInstallDeps } from './install-deps';
import { removeHooks } from './settings-hooks';
import { removeStatusLine } from './settings-statusline';

const MAX_BACKUPS = 3;

/**
 * Returns an install's manifest entry, merged with the entry of an earlier install. `outdated` lists backups
 * to remove.
 */
export function entryFor(input: {
  deps: HookInstallDeps;
  assistant: Assistant;
  path: string;
  source: string | undefined;
  added: { text: string; created: readonly string[]; lineBefore: string | null | undefined };
  at: string;
  backup: Backup | undefined;
  earlier: InstallEntry | undefined;
}): { entry: InstallEntry; outdated: Backup[] } {
  const { deps, assistant, path, source, added, at, backup, earlier } = input;
  const isFirst = source === undefined || !hasOurEntries(deps, assistant, source);
  const isUntouched = source !== undefined && earlier?.after === sha256(source);
  const before = isFirst ? undefined : earlier;
  const known = before === undefined ? undefined : hooksAddedBy(before);
  const madeFolder = earlier !== undefined && hooksAddedBy(earlier).createdFolder;
  const backups = [...(earlier?.backups ?? []), ...(backup === undefined ? [] : [backup])].filter(
    ({ path: name }, index, all) => all.findIndex((other) => other.path === name) === index,
  );
  const entry: InstallEntry = {
    id: idOf(assistant),
    kind: 'settings-entries',
    path,
    added: {
      created: [...new Set([...(known?.created ?? []), ...added.created])],
      createdFile: source === undefined || known?.createdFile === true,
      createdFolder: !exists(dirname(path)) || madeFolder,
      statusLine: added.lineBefore === undefined ? known?.statusLine : added.lineBefore,
    },
    before: isFirst ? (source === undefined ? null : sha256(source)) : isUntouched ? earlier.before : null,
    after: isFirst || isUntouched ? sha256(added.text) : null,
    backups: backups.slice(-MAX_BACKUPS),
    at,
    machine: deps.machineId,
  };
  return { entry, outdated: backups.slice(0, -MAX_BACKUPS) };
}

function hasOurEntries(deps: HookInstallDeps, assistant: Assistant, source: string): boolean {
  const path = assistant.path(deps.host);
  const commands = commandsOf(deps);
  const { statusLineKey: key } = assistant;
  return (
    removeHooks(source, path, { assistant, commands, created: [] }).entries > 0 ||
    (key !== undefined &&
      removeStatusLine(source, path, { key, commands, before: undefined }).result !== null)
  );
}
