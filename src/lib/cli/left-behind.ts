import type { UserArea } from '../config/user-area';
import { readInstance } from '../daemon/instance';
import { startDetached } from '../platform/detached';
import { exists } from '../platform/folder';
import { isAlive } from '../platform/lock-holder';

/**
 * What a hook left in the spool is told of by the daemon; where none runs by a process that nobody waits for. Nothing
 * runs by itself where no hooks were installed (decisions.md 3): one that is called by hand starts nothing.
 */
export function seenTo(area: UserArea): void {
  if (!exists(area.installManifest)) return;
  const daemon = readInstance(area);
  if (daemon !== undefined && isAlive(daemon.pid)) return;
  startDetached(['notify', 'triggers'], area.root);
}
