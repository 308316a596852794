import { expect } from 'chai';

import { startJobs, type DaemonJob, type RunningJobs } from '../../../src/lib/daemon/jobs';
import { StewardError } from '../../../src/lib/errors';
import { until } from '../../helpers/daemon';

describe('daemon jobs', () => {
  const logged: Record<string, unknown>[] = [];
  let nowMs = Date.parse('2026-11-20T12:00:00Z');
  const clock = { now: () => nowMs, monotonic: () => performance.now() };
  const log = {
    write: (level: string, event: string, more = {}) => void logged.push({ level, event, ...more }),
  };
  let jobs: RunningJobs | undefined;
  const start = (...table: DaemonJob[]): RunningJobs => (jobs = startJobs({ clock, log }, table));
  beforeEach(() => {
    logged.length = 0;
    nowMs = Date.parse('2026-11-20T12:00:00Z');
  });
  afterEach(() => jobs?.stop());

  it('runs each job at once, then at its interval', async () => {
    let count = 0;
    const running = start({
      id: 'a',
      everySec: () => 0.02,
      run: () => Promise.resolve(++count === 1 ? 'nothing to do' : undefined),
    });
    await until('four runs', () => count >= 4);
    expect(running.status()[0]).to.include({
      id: 'a',
      everySec: 0.02,
      lastOk: true,
      lastRun: '2026-11-20T12:00:00.000Z',
    });
  });

  it('logs a failed job, runs it again, and stops no other', async () => {
    let count = 0;
    let others = 0;
    const running = start(
      {
        id: 'bad',
        everySec: () => 0.02,
        run: () => {
          count += 1;
          if (count > 2) return Promise.resolve(undefined);
          return Promise.reject(count === 1 ? new Error('boom') : new StewardError('unavailable', 'no disk'));
        },
      },
      { id: 'good', everySec: () => 0.02, run: () => Promise.resolve(void (others += 1) as undefined) },
    );
    await until('the third run, and the other job', () => count >= 3 && others >= 3);
    expect(logged.map(({ job, kind, message }) => [job, kind, message])).to.deep.equal([
      ['bad', 'internal', 'boom'],
      ['bad', 'unavailable', 'no disk'],
    ]);
    expect(logged[0]).to.have.property('stack');
    expect(running.status()[0]?.lastOk).to.equal(true);
  });

  it('reports the module whose job fails', async () => {
    let isFull = true;
    const running = start({
      id: 'capture',
      module: 'sense',
      everySec: () => 0.02,
      run: () =>
        isFull ? Promise.reject(new StewardError('unavailable', 'no disk')) : Promise.resolve(undefined),
    });
    await until('it failed', () => running.failureOf('sense') === 'no disk');
    expect(running.failureOf('log')).to.equal(undefined);
    isFull = false;
    await until('it is well', () => running.failureOf('sense') === undefined);
  });

  it('survives a job that throws synchronously', async () => {
    let count = 0;
    start({
      id: 'sync',
      everySec: () => 0.02,
      run: () => {
        count += 1;
        throw new Error('at once');
      },
    });
    await until('two runs', () => count >= 2);
    expect(logged[0]).to.include({ event: 'job-failed', message: 'at once' });
  });

  it('never runs a job twice at once, and waits for it when stopping', async () => {
    let open = 0;
    let most = 0;
    let release: () => void = () => undefined;
    const running = start({
      id: 'long',
      everySec: () => 0.001,
      run: async () => {
        most = Math.max(most, ++open);
        await new Promise<void>((resolve) => (release = resolve));
        open -= 1;
        return undefined;
      },
    });
    expect(running.status()[0]?.nextRun).to.equal(null);
    expect(running.isIdle('other')).to.equal(false);
    expect(running.isIdle('long')).to.equal(true);
    const stopped = running.stop();
    release();
    await stopped;
    expect([most, open]).to.deep.equal([1, 0]);
    expect(running.isIdle('other')).to.equal(true);
  });

  it('runs without a burst or a gap when the clock is set', async () => {
    let count = 0;
    const running = start({
      id: 'a',
      everySec: () => 3600,
      run: () => Promise.resolve(void (count += 1) as undefined),
    });
    await until('the first run', () => running.status()[0]?.nextRun !== null);
    for (const jumpMs of [10 * 86_400_000, -20 * 86_400_000]) {
      nowMs += jumpMs;
      const next = Date.parse(running.status()[0]?.nextRun ?? '');
      expect(next - nowMs).to.be.within(3_500_000, 3_600_000);
    }
    expect(count).to.equal(1);
  });

  it('uses a default interval while the configuration is broken', async () => {
    const running = start({
      id: 'a',
      everySec: () => Promise.reject(new StewardError('config', 'broken')),
      run: () => Promise.resolve(undefined),
    });
    await until('the first run', () => running.status()[0]?.nextRun !== null);
    expect(running.status()[0]?.everySec).to.equal(60);
  });
});
