import { expect } from 'chai';

import { observe, type Observation } from '../../../src/lib/sense/observe';
import { recordedDesktop } from '../../helpers/fake-desktop';

const NOW = 1_800_000_000_000;
const FOCUS: Observation = { state: 'focus', focus: { app: 'Zoom', detail: { via: 'x11' } } };

describe('sense: an observation after another', () => {
  /** What is seen a minute after `seen`, or that the desktop was read again. */
  async function next(
    seen: Observation,
    idleMs: number | undefined,
    counts: string[] = [],
  ): Promise<unknown> {
    const readAgain = new Error('read again');
    const found = observe(
      {
        desktop: recordedDesktop('linux', {}),
        config: { idleAfterSec: 300, countsAsActive: counts, exclude: [] },
        idle: () =>
          Promise.resolve(idleMs === undefined ? { locked: false, via: 'x' } : { idleMs, via: 'x' }),
        frontApp: () => Promise.reject(readAgain),
      },
      NOW,
      { atMs: NOW - 60_000, seen },
    );
    return found.catch((error: unknown) =>
      error === readAgain ? 'read again' : Promise.reject(error as Error),
    );
  }

  it('is the same without input since', async () => {
    expect(await next(FOCUS, 60_001)).to.equal(FOCUS);
    expect(await next({ state: 'none' }, 299_999)).to.deep.equal({ state: 'none' });
  });

  it('reads the desktop again after input, or if that is unknown', async () => {
    expect(await next(FOCUS, 60_000)).to.equal('read again');
    expect(await next(FOCUS, 0)).to.equal('read again');
    expect(await next(FOCUS, undefined)).to.equal('read again');
  });

  it('is away from the idle limit on, unless the application counts without input', async () => {
    const away = {
      ...{ state: 'away', reason: 'idle', text: 'idle 5 min' },
      ...{ sinceMs: NOW - 1000, inputMs: NOW - 301_000 },
    };
    expect(await next(FOCUS, 301_000)).to.deep.equal(away);
    expect(await next(FOCUS, 301_000, ['zoom'])).to.equal(FOCUS);
    expect(await next({ state: 'away', reason: 'idle', text: '', sinceMs: NOW }, 301_000)).to.deep.equal(
      away,
    );
  });

  it('reads the desktop again once it is unlocked', async () => {
    expect(await next({ state: 'away', reason: 'locked', text: 'locked', sinceMs: NOW }, 61_000)).to.equal(
      'read again',
    );
  });
});
