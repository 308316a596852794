import { expect } from 'chai';
import { join } from 'node:path';

import { cleanEnv, emptyHome, steward } from '../helpers/cli';
import { screensOf } from '../helpers/on-terminal';
import { requirePrograms } from '../helpers/real-part';

describe('steward without a command', function () {
  this.timeout(120_000);

  it('answers where you were on a terminal once set up; otherwise it is the help', async function () {
    requirePrograms(this, { python3: 'python3' });
    const home = emptyHome();
    const kept = join(home.path, 'demo');
    try {
      const [before] = await screensOf([[]], { home: home.path, columns: 80, env: cleanEnv(home.path) });
      expect(before?.text).to.include('EVERY DAY');
      await steward(['sense', 'capture'], { home: home.path });
      const [first] = await screensOf([[]], { home: home.path, columns: 80, env: cleanEnv(home.path) });
      expect(first?.text).to.match(
        /^Nothing waits for you, and no sessions are running\.\r\ntoday: 0 m tracked/,
      );
      expect((await steward(['demo', '--keep', kept, '--', 'status'], { home: home.path })).code).to.equal(0);
      const env = { STEWARD_HOME: join(kept, '.steward'), XDG_STATE_HOME: join(kept, '.local', 'state') };
      for (const columns of [80, 60]) {
        const [after] = await screensOf([[]], { home: home.path, columns, env: cleanEnv(home.path, env) });
        const lines = (after?.text ?? '').trimEnd().split('\r\n');
        expect(lines.length, after?.text).to.be.within(6, 12);
        for (const part of ['payments', 'website', 'today: ', 'next: #31 Write the release notes'])
          expect(after?.text).to.include(part);
        // A reason is wrapped, not cut.
        expect(lines.map((line) => line.trimStart()).join(' ')).to.include('no automatic capture)');
      }
      expect((await steward([], { home: home.path, env })).stdout).to.include('EVERY DAY');
    } finally {
      home.remove();
    }
  });
});
