import { isCalledByAssistant } from '../assistant/claude-code';
import type { UserArea } from '../config/user-area';
import { readInstance } from '../daemon/instance';
import { startDetached } from '../platform/process/own-process';
import { exists } from '../platform/files/folder';
import { isAlive } from '../platform/files/lock-holder';

/**
 * Has what a hook left in the spool sent by the daemon, or where none runs by a process of its own. A hook that a person
 * calls by hand starts nothing: either the hooks are installed, or the assistant itself calls them.
 */
export function seenTo(area: UserArea, env: NodeJS.ProcessEnv): void {
  if (isOurs(area, env)) startDetached(['notify', 'triggers'], area.root);
}

/** Has an agent that begins watched for silence, in the same way. Where its session is watched already, that one goes on. */
export function watched(area: UserArea, env: NodeJS.ProcessEnv, session: string): void {
  if (isOurs(area, env)) startDetached(['agents', 'watch', '--until-idle', '--session', session], area.root);
}

/** Is this to be done, and not by a daemon? */
function isOurs(area: UserArea, env: NodeJS.ProcessEnv): boolean {
  if (!exists(area.installManifest) && !isCalledByAssistant(env)) return false;
  const daemon = readInstance(area);
  return daemon === undefined || !isAlive(daemon.pid);
}
