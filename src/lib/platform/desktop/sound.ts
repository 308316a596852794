import { join } from 'node:path';

import { exists } from '../files/folder';
import { processHost } from '../files/paths';
import { readSystemBytes } from '../files/system-files';

/** Returns whether this machine may have a sound device or a sound server. Known only on Linux. */
export function hasSound(
  { platform, env }: Pick<ReturnType<typeof processHost>, 'platform' | 'env'> = processHost(),
) {
  if (platform !== 'linux' || (env['PULSE_SERVER'] ?? '') !== '') return true;
  const cards = readSystemBytes('/proc/asound/cards', 4096)?.toString() ?? '';
  const folder = env['XDG_RUNTIME_DIR'] ?? '';
  const servers = ['pulse/native', 'pipewire-0'].map((name) => join(folder, name));
  // A line of a card begins with its number and, in brackets, its name.
  return cards.includes(' [') || (folder !== '' && servers.some(exists));
}
