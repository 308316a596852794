import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';

import { drain, leave, spoolStatus, type SpoolDeps } from '../../src/lib/sessions/spool';
import { bundleChild, type Bundle } from '../helpers/bundle';
import { scratch } from '../helpers/scratch';

describe('the spool under SIGKILL', () => {
  const folder = scratch();
  let deps: SpoolDeps;
  let bundle: Bundle;
  before(() => {
    bundle = bundleChild('spool-drain');
  });
  after(() => bundle.remove());
  beforeEach(() => {
    deps = {
      clock: { now: () => Date.now(), monotonic: () => performance.now() },
      machineId: '0123456789ab',
      area: { spool: folder.path('spool'), machine: folder.path('locks') },
    };
  });
  const put = (): string =>
    leave(deps, { kind: 'session-ended', session: 'one', slug: 'a-1', transcript: null }).id;

  it('loses nothing, and a consumer that checks ids handles nothing twice', async function () {
    this.timeout(240_000);
    const ids = Array.from({ length: 60 }, () => put());
    for (let kill = 0; kill < 30; kill += 1) {
      const child = spawn(process.execPath, [bundle.path, folder.path()], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      const lines = createInterface(child.stdout);
      const { waiting } = spoolStatus(deps.area.spool);
      const isLast = waiting === 0;
      // The second line: the first intention is done with. One that is killed each time would be given up, rightly.
      const said = isLast ? undefined : lineOf(lines, Math.min(2, waiting));
      await said;
      await new Promise((next) => setTimeout(next, Math.random() * 4));
      child.kill('SIGKILL');
      await ended;
      if (isLast) break;
    }
    const rest = await drain(deps, {
      'session-ended': ({ id }) => {
        const done = readFileSync(folder.path('ledger'), 'utf8').split('\n');
        if (!done.includes(id)) writeFileSync(folder.path('ledger'), `${id}\n`, { flag: 'a' });
      },
    });
    expect(rest.busy).to.equal(false);
    const ledger = readFileSync(folder.path('ledger'), 'utf8').trim().split('\n');
    expect(ledger).to.have.members(ids);
    expect(spoolStatus(deps.area.spool)).to.deep.equal({
      waiting: 0,
      unreadable: 0,
      dead: 0,
      deadFolder: `${deps.area.spool}/dead`,
      oldest: null,
    });
  });
});

/** Resolves when so many lines were read. */
function lineOf(lines: Interface, count: number): Promise<void> {
  return new Promise((resolve) => {
    let seen = 0;
    lines.on('line', () => {
      seen += 1;
      if (seen === count) resolve();
    });
  });
}
