import { expect } from 'chai';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { emptyHome } from '../helpers/cli';
import { ask, daemonLogOf, startDaemon, until, type RunningDaemon } from '../helpers/daemon';

describe('upgrading a running daemon (real processes)', function () {
  this.timeout(120_000);
  const home = emptyHome();
  const file = join(home.path, 'version');
  let daemon: RunningDaemon | undefined;
  after(async () => {
    await daemon?.stop('SIGKILL');
    home.remove();
  });

  interface Health {
    version: string;
    pid: number;
  }
  const health = async (url: string): Promise<Health | undefined> => {
    try {
      return JSON.parse((await ask(`${url}/healthz`)).text) as Health;
    } catch {
      return undefined;
    }
  };

  it('restarts at its address after each upgrade, under one parent that passes signals and the exit code', async () => {
    writeFileSync(file, '1.0.0');
    daemon = await startDaemon({
      home: home.path,
      nodeArgs: ['--import', 'tsx'],
      script: join(__dirname, '..', 'helpers', 'children', 'upgraded-daemon.ts'),
      args: [file],
      cwd: join(__dirname, '..', '..'),
    });
    const { url, pid } = daemon;
    const pids = new Set([pid]);
    for (const version of ['2.0.0', '3.0.0', '1.5.0']) {
      writeFileSync(file, version);
      await until(`version ${version} to answer`, async () => (await health(url))?.version === version);
      pids.add((await health(url))?.pid ?? 0);
    }
    expect(pids.size, 'each is a process of its own').to.equal(4);
    const now = (await health(url))?.pid ?? 0;
    expect(now).not.to.equal(pid);
    expect(await daemon.stop('SIGTERM'), 'the exit code is that of the last one').to.equal(7);
    expect(() => process.kill(now, 0)).to.throw('ESRCH');
    const events = daemonLogOf(home.path).map(({ event, why }) =>
      why === undefined ? event : `${String(event)}: ${String(why)}`,
    );
    expect(events.filter((event) => event === 'stopping: outdated')).to.have.length(3);
    expect(events.slice(-2)).to.deep.equal(['stopping: stopped', 'stopped']);
  });
});
