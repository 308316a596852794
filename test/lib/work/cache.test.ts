import { expect } from 'chai';
import { mkdirSync } from 'node:fs';

import { StewardError } from '../../../src/lib/errors';
import { cachingOnce } from '../../../src/lib/work/cache';
import type { HostIssue } from '../../../src/lib/work/issue';
import { rejection } from '../../helpers/errors';
import { scratch } from '../../helpers/scratch';

describe('work: cachingOnce', () => {
  const box = scratch();

  it('throws the error that stopped the writes, even if the cache cannot be written', async () => {
    const cache = box.path('cache.json');
    mkdirSync(cache);
    const error = await rejection(
      cachingOnce({ paths: { cache } }, 'ann/work', (keep) => {
        keep({ number: 1 } as HostIssue);
        return Promise.reject(new StewardError('unavailable', 'The service is gone.'));
      }),
    );
    expect(error.message).to.equal('The service is gone.');
  });
});
