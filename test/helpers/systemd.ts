import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import { BIN, cleanEnv } from './cli';
import { requireNamespace, startNamespace, type Namespace } from './namespace';
import { requirePrograms } from './real-part';
import { removeFolder, snapshot } from './scratch';

export interface SystemdHome {
  readonly root: string;
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  exec: Namespace['exec'];
  /** What a command answers with --json; throws unless it succeeds. */
  steward: <T>(...args: string[]) => Promise<T>;
  /** All of the home but what belongs to steward. */
  outside: () => Record<string, string>;
}

/** A home, with a name that is hard to quote, in a namespace with its own systemd user manager; for the whole suite. */
export function systemdHome(): SystemdHome {
  let root = '';
  let home = '';
  let env: NodeJS.ProcessEnv = {};
  let space: Namespace | undefined;

  before(async function () {
    this.timeout(180_000);
    requirePrograms(this, { unshare: 'util-linux', systemctl: 'systemd', 'dbus-daemon': 'dbus' });
    requireNamespace(this);
    root = mkdtempSync(join(tmpdir(), 'steward-systemd-'));
    home = join(root, `it's 100% "größe" $HOME a\\b`);
    mkdirSync(join(home, '.config'), { recursive: true });
    env = cleanEnv(home, {
      XDG_RUNTIME_DIR: '/run/user/0',
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/0/bus',
      // A folder that only the one who installs has on the PATH.
      PATH: `${process.env['PATH'] ?? ''}:${join(home, 'my $bin%')}`,
    });
    space = await startNamespace(
      join(root, 'namespace'),
      [
        'mount -t tmpfs tmpfs /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup',
        'dbus-daemon --session --address=unix:path=/run/user/0/bus --nopidfile --fork',
        '/usr/lib/systemd/systemd --user >/dev/null 2>&1 &',
        'until systemctl --user is-system-running | grep -q running; do sleep 0.1; done',
      ].join('\n'),
      env,
    );
  });

  after(async () => {
    await space?.stop();
    if (root !== '') removeFolder(root);
  });

  const exec: Namespace['exec'] = (...call) => {
    if (space === undefined) throw new Error('The namespace was not started.');
    return space.exec(...call);
  };
  return {
    get root() {
      return root;
    },
    get home() {
      return home;
    },
    get env() {
      return env;
    },
    exec,
    async steward<T>(...args: string[]): Promise<T> {
      const { code, stdout, stderr } = await exec(process.execPath, [BIN, ...args, '--json']);
      const said = { code, stderr: code === 0 ? '' : stderr };
      expect(said, args.join(' ')).to.deep.equal({ code: 0, stderr: '' });
      return JSON.parse(stdout) as T;
    },
    outside: () => snapshot(home, ['.steward', '.cache', join('.local', 'state')]),
  };
}
