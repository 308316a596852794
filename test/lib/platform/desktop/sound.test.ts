import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { hasSound } from '../../../../src/lib/platform/desktop/sound';
import { emptyHome } from '../../../helpers/cli';

describe('sound device', () => {
  it('may be there with a sound server, and where nothing tells', () => {
    const { path, remove } = emptyHome();
    try {
      mkdirSync(join(path, 'pulse'));
      writeFileSync(join(path, 'pulse', 'native'), '');
      expect(hasSound({ platform: 'linux', env: { XDG_RUNTIME_DIR: path } })).to.equal(true);
      expect(hasSound({ platform: 'linux', env: { PULSE_SERVER: 'tcp:other' } })).to.equal(true);
      expect(hasSound({ platform: 'darwin', env: {} })).to.equal(true);
    } finally {
      remove();
    }
  });
});
