import { expect } from 'chai';

import { authorsHint, placeText } from '../../../src/lib/setup/first-look';
import { run } from '../../../src/lib/platform/process/process';

describe('the first look', () => {
  const textOn = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string | undefined =>
    placeText({ desktop: { platform, env, run, terminals: () => Promise.resolve(undefined) } });

  it('says nothing of the place on a desktop', () => {
    expect(textOn('linux', { DISPLAY: ':0' })).to.equal(undefined);
    expect(textOn('darwin', {})).to.equal(undefined);
  });

  it('says whose commits count, unless they are exactly yours', () => {
    const emails = ['ann@example.org'];
    expect(authorsHint({ emails, own: 2, others: 3, aliases: [] })).to.equal(undefined);
    const aliases = [{ email: 'ann@home.example', commits: 2 }];
    expect(authorsHint({ emails, own: 2, others: 3, aliases })).to.include(
      'Not counted: 2 commits under your name',
    );
    expect(authorsHint({ emails: null, own: 5, others: 0, aliases: [] })).to.include(
      'Commits of all authors count.',
    );
  });
});
