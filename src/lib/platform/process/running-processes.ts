import { uptime } from 'node:os';

import { unless } from '../../errors';
import { listSystemFolder, readSystemText } from '../files/system-files';

/** The names of the processes that run now, as /proc tells them; none where there is no /proc. */
export function processNames(): ReadonlySet<string> {
  const pids = listSystemFolder('/proc').filter((name) => /^\d+$/.test(name));
  return new Set(pids.map(nameOf));
}

function nameOf(pid: string): string {
  // It may end while it is looked at.
  return unless(['ESRCH'], () => readSystemText(`/proc/${pid}/comm`, 64))?.trim() ?? '';
}

/** How long ago the machine was started, ms. */
export function sinceBootMs(): number {
  return uptime() * 1000;
}
