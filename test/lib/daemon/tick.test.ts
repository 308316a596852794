import { expect } from 'chai';

import { hourlyJob } from '../../../src/lib/daemon/jobs';
import { runTick } from '../../../src/lib/daemon/tick';
import { StewardError } from '../../../src/lib/errors';
import { systemClock } from '../../../src/lib/platform/time/clock';

describe('tick', () => {
  it('runs each job once, and goes on after a failure', async () => {
    const ran: string[] = [];
    const job = (id: string, reason?: string) => ({
      id,
      run: () => Promise.resolve(ran.push(id)).then(() => reason),
    });
    const broken = {
      id: 'work',
      run: () => Promise.reject(new StewardError('unavailable', 'GitHub is not reachable.')),
    };
    expect(await runTick([job('capture'), broken, job('sweep', 'nothing to do')])).to.deep.equal([
      { id: 'capture', ok: true },
      { id: 'work', ok: false, reason: 'GitHub is not reachable.' },
      { id: 'sweep', ok: true, reason: 'nothing to do' },
    ]);
    expect(ran).to.deep.equal(['capture', 'sweep']);
    const bug = { id: 'capture', run: () => Promise.reject(new Error('a bug')) };
    const thrown = await runTick([bug]).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(Error).and.have.property('message', 'a bug');
  });

  it('runs an hourly job once an hour, whichever process ran it last, and never against its setting', async () => {
    const clock = { ...systemClock(), now: () => 10 * 3_600_000 };
    let runs = 0;
    const run = (agoMs: number, unless?: string): Promise<string | undefined> =>
      hourlyJob('insight', 'sense', {
        clock,
        unless: () => Promise.resolve(unless),
        lastMs: () => Promise.resolve(clock.now() - agoMs),
        run: () => Promise.resolve(runs++).then(() => undefined),
      }).run();
    expect(await run(3_599_000)).to.match(/^not due/);
    expect(await run(Infinity, 'sense.insight.hourly is false')).to.equal('sense.insight.hourly is false');
    expect(runs).to.equal(0);
    for (const agoMs of [3_600_000, Infinity]) expect(await run(agoMs)).to.equal(undefined);
    // A last run in the future counts as none.
    expect(await run(-60_000)).to.equal(undefined);
    expect(runs).to.equal(3);
  });
});
