import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { userArea, type UserArea } from '../../src/lib/config/user-area';
import { systemClock } from '../../src/lib/platform/time/clock';
import type { Machine } from '../../src/lib/config/user-area';

export interface TestArea {
  home: string;
  area: UserArea;
  deps: Machine & { env: NodeJS.ProcessEnv };
  write: (name: string, text: string) => string;
  read: (name: string) => string;
  /** A folder of the home folder that looks like a git repository; its path. */
  repository: (name: string) => string;
  remove: () => void;
}

/** A user area of its own in a new home folder, its machine-local state included. */
export function testArea(): TestArea {
  const home = mkdtempSync(join(tmpdir(), 'steward-area-'));
  const env = {
    STEWARD_HOME: join(home, 'area'),
    XDG_STATE_HOME: join(home, 'state'),
    LOCALAPPDATA: join(home, 'local'),
  };
  const area = userArea({ platform: process.platform, env, home });
  return {
    home,
    area,
    deps: { area, clock: systemClock(), machineId: '0123456789ab', env: {} },
    write(name, text) {
      const path = join(area.root, name);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    },
    repository(name) {
      const path = join(home, name);
      mkdirSync(join(path, '.git'), { recursive: true });
      writeFileSync(join(path, '.git', 'HEAD'), 'ref: refs/heads/main\n');
      return path;
    },
    read: (name) => readFileSync(join(area.root, name), 'utf8'),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}
