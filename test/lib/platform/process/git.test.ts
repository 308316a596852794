import { expect } from 'chai';

import { gitIn } from '../../../../src/lib/platform/process/git';
import { run, type Run } from '../../../../src/lib/platform/process/process';
import { rejection } from '../../../helpers/errors';
import { scratch } from '../../../helpers/scratch';

describe('platform/git-process: more output than is read', () => {
  const box = scratch();
  const narrow: Run = (file, args, options) => run(file, args, { ...options, maxBytes: 10 });

  it('is unavailable, with that reason, or empty where that is asked for', async () => {
    const git = gitIn({ run: narrow, timeoutMs: () => 20_000 }, box.path());
    const error = await rejection(git(['--version']));
    expect(error).to.include({
      kind: 'unavailable',
      message: 'git printed more than 10 bytes and was stopped.',
    });
    expect(await git(['--version'], { orEmpty: true })).to.equal('');
  });

  it('of a git that is not installed is not empty', async () => {
    const missing: Run = (_file, args, options) => run('steward-no-such-git', args, options);
    const git = gitIn({ run: missing, timeoutMs: () => 20_000 }, box.path());
    expect(await rejection(git(['--version'], { orEmpty: true }))).to.include({ kind: 'not_found' });
  });
});
