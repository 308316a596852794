import { expect } from 'chai';

import { installedText } from '../../../src/lib/setup/install/view';

describe('install text', () => {
  it('gives a shared reason once', () => {
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
      'Cannot install: sense install, daemon install. Nothing runs jobs here.',
      'Cannot install: hooks install. The settings are no JSON.',
      'Nothing was written.',
    ]);
  });
});
