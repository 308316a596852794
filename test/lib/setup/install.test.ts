import { expect } from 'chai';

import { installedText } from '../../../src/lib/setup/install/view';

describe('what an installation tells', () => {
  it('says once why several parts cannot be installed', () => {
    const told = installedText({
      dryRun: true,
      hooks: null,
      jobs: [],
      completion: null,
      warnings: [],
      failed: [
        { what: 'sense install', why: 'Nothing runs jobs here.', kind: 'unavailable' },
        { what: 'hooks install', why: 'The settings are no JSON.', kind: 'config' },
        { what: 'daemon install', why: 'Nothing runs jobs here.', kind: 'unavailable' },
      ],
    });
    expect(told.split('\n')).to.deep.equal([
      'Cannot be installed: sense install, daemon install. Nothing runs jobs here.',
      'Cannot be installed: hooks install. The settings are no JSON.',
      'Nothing was written.',
    ]);
  });
});
