import { expect } from 'chai';

import { placeText } from '../../../src/lib/setup/first-look';
import { run } from '../../../src/lib/platform/process/process';

describe('the first look', () => {
  const textOn = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | undefined =>
    placeText({ desktop: { platform, env, run, terminals: () => Promise.resolve(undefined) } });

  it('says nothing of the place on a desktop', () => {
    expect(textOn('linux', { DISPLAY: ':0' })).to.equal(undefined);
    expect(textOn('darwin', {})).to.equal(undefined);
  });
});
