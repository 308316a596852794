import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { emptyHome, jsonOf, steward } from '../helpers/cli';

describe('a large damaged log (built)', function () {
  this.timeout(120_000);

  it('of 60 MB of noise is read in bounded memory', async () => {
    const home = emptyHome();
    try {
      const events = join(home.path, '.steward', 'sense', 'events');
      mkdirSync(events, { recursive: true, mode: 0o700 });
      const today = new Date().toISOString().slice(0, 10);
      writeFileSync(join(events, `${today}.jsonl`), 'x\n'.repeat(30 * 1024 * 1024), { mode: 0o600 });
      const env = { NODE_OPTIONS: '--max-old-space-size=64' };
      const status = await steward(['sense', 'status', '--json'], { home: home.path, env });
      expect(status.code, status.stderr).to.equal(0);
      expect(jsonOf(status)).to.include({ quarantined: 30 * 1024 * 1024 });
    } finally {
      home.remove();
    }
  });
});
