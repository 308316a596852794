import { expect } from 'chai';

import { installedText } from '../../../src/lib/setup/install/view';

describe('install text', () => {
  it('gives a shared reason once', () => {
    const told = installedText({
      dryRun: true,
      hooks: [],
      jobs: [],
      completion: null,
      warnings: [],
      failed: [
        { what: 'jobs', why: 'Nothing runs jobs here.', kind: 'unavailable' },
        { what: 'hooks', why: 'The settings are no JSON.', kind: 'config' },
        { what: 'daemon', why: 'Nothing runs jobs here.', kind: 'unavailable' },
      ],
    });
    expect(told.split('\n')).to.deep.equal([
      'Cannot install: jobs, daemon. Nothing runs jobs here.',
      'Cannot install: hooks. The settings are no JSON.',
      'Nothing was written.',
    ]);
  });
});
