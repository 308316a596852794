import { isAbsolute } from 'node:path';

import { createFile, readText } from '../platform/files/atomic-file';
import { removeFile } from '../platform/files/folder';
import { variableOf } from '../platform/process/own-terminal';
import type { Session } from '../sessions/session';

/** Names a file. While it exists, Claude Code sends no pushes to your phone. */
const VARIABLE = 'CLAUDE_CLIENT_PRESENCE_FILE';
const TEXT = 'steward: at the desk\n';

/** Returns the files that this process, the sessions' processes and the assistant's settings name. */
export function presenceFiles(
  env: NodeJS.ProcessEnv,
  sessions: readonly Session[],
  settings: Record<string, unknown> | undefined,
): string[] {
  const ofSessions = sessions.map(({ terminal }) => {
    return typeof terminal?.pid === 'number' ? variableOf(terminal.pid, VARIABLE) : undefined;
  });
  const ofSettings = (settings?.['env'] as Record<string, unknown> | undefined)?.[VARIABLE];
  const named = [env[VARIABLE], ofSettings, ...ofSessions];
  return [...new Set(named.filter((path): path is string => typeof path === 'string' && isAbsolute(path)))];
}

/** Creates the file if you are at the desk. Otherwise removes it, unless another program created it. */
export function keepPresenceFile(path: string, isAtDesk: boolean): void {
  if (isAtDesk) createFile(path, TEXT);
  else if (readText(path, { maxBytes: 1024 }) === TEXT) removeFile(path);
}
