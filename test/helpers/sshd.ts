import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';

import { until } from './desktop-kit';
import { freePort } from './syncthing';

const SSHD = '/usr/sbin/sshd';

export interface Sshd {
  port: number;
  process: ChildProcess;
  /** What ssh needs to trust the server and be trusted by it. */
  options: string[];
}

/**
 * Starts a real sshd of this user on loopback, with the key `ann`. `path` names files in a folder of the test. Returns
 * undefined if there is no sshd.
 */
export async function startSshd(
  path: (name: string) => string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Sshd | undefined> {
  if (!existsSync(SSHD)) return undefined;
  const port = await freePort();
  for (const name of ['host', 'ann'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path(name)]);
  const settings = {
    ...{ Port: port, ListenAddress: '127.0.0.1', HostKey: path('host'), PidFile: 'none' },
    ...{ AuthorizedKeysFile: path('ann.pub'), StrictModes: 'no', UsePAM: 'no', PermitRootLogin: 'yes' },
    SetEnv: Object.entries(environment)
      .map(([name, value]) => `"${name}=${value}"`)
      .join(' '),
  };
  const lines = Object.entries(settings)
    .filter(([, value]) => value !== '')
    .map((setting) => setting.join(' '));
  writeFileSync(path('sshd_config'), `${lines.join('\n')}\n`);
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
  const sshd = spawn(SSHD, ['-D', '-e', '-f', path('sshd_config')], { stdio: 'ignore' });
  await until('sshd', () => answers(port));
  writeFileSync(path('known'), `[127.0.0.1]:${port} ${readFileSync(path('host.pub'), 'utf8')}`);
  const options = ['-F', '/dev/null', '-i', path('ann'), '-o', `UserKnownHostsFile=${path('known')}`];
  return { port, process: sshd, options };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
