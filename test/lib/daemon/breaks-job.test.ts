import { expect } from 'chai';

import { openBreaks } from '../../../src/lib/app/breaks';
import { createContext, type Context } from '../../../src/lib/app/context';
import { loadConfig } from '../../../src/lib/config/load';
import { put } from '../../../src/lib/platform/files/spool';
import { newId, outboxOf, waitingNames, type Delivery } from '../../../src/lib/notify/outbox';
import { readEntries } from '../../../src/lib/notify/history';
import type { Run } from '../../../src/lib/platform/process/process';
import { toIso } from '../../../src/lib/platform/time/clock';
import { initSense, senseStore } from '../../../src/lib/sense/store';
import { appendWorkEvent, type WorkEvent } from '../../../src/lib/sessions/work-events';
import { testArea, type TestArea } from '../../helpers/area';
import { recordedDesktop } from '../../helpers/fake-desktop';
import { long } from '../../helpers/long';

describe('the watch for breaks', () => {
  let area: TestArea;
  let context: Context;
  let nowMs: number;
  let app: string;
  let idleMs: number;
  let asked: () => number;
  let waiting: Delivery[];
  let breaks: ReturnType<typeof openBreaks>;

  beforeEach(() => {
    area = testArea();
    nowMs = Date.now();
    [app, idleMs, waiting] = ['Xcode', 0, []];
    const clock = { now: () => nowMs, monotonic: () => performance.now() };
    const answers = {
      '/usr/bin/lsappinfo front': 'ASN:0x0-0x1:\n',
      get '/usr/bin/lsappinfo info'() {
        return `"LSDisplayName"="${app}"\n"CFBundleIdentifier"="x"\n"LSBundlePath"="/x.app"\n"pid"=1\n`;
      },
      get '/usr/sbin/ioreg -r'() {
        return `    "HIDIdleTime" = ${idleMs * 1e6}\n`;
      },
      '/usr/sbin/ioreg -n': '',
    };
    let count = 0;
    const run: Run = (...call) => {
      count += 1;
      return recordedDesktop('darwin', { ...answers }).run(...call);
    };
    asked = () => count;
    context = {
      ...createContext('.'),
      clock,
      area: area.area,
      machineId: '0123456789ab',
      desktop: { ...recordedDesktop('darwin', {}), run },
      loadConfig: () => loadConfig({ area: area.area, env: {} }),
    } as Context;
    initSense({ area: area.area, store: senseStore(area.area) }, 'templates');
    breaks = openBreaks(context, () => waiting);
  });
  afterEach(() => area.remove());

  const hold = (thread?: string): Delivery => {
    const at = toIso(nowMs);
    const about = { event: 'longTask', priority: 3, message: 'Done', silent: false } as const;
    const counts = { attempts: 0, interrupted: 0, sentParts: 0 };
    const times = { at, heldUntil: toIso(nowMs + 1_200_000), nextAt: toIso(nowMs + 1_200_000) };
    const id = newId(context.clock);
    const machine = context.machineId;
    const delivery: Delivery = { id, machine, channel: 'push', thread, atBreak: true, tags: [], ...about, ...counts, ...times }; // prettier-ignore
    put(outboxOf(area.area), delivery);
    waiting = [delivery];
    return delivery;
  };
  const pass = async (ms = 5_000): Promise<string | undefined> => {
    nowMs += ms;
    await breaks.job.run();
    return breaks.last()?.why;
  };
  const event = (type: WorkEvent['type']): void =>
    void appendWorkEvent(area.area.workEvents, { ts: toIso(nowMs), type, session: 's1', slug: 'shop', repo: 'shop' }); // prettier-ignore

  it('asks for nothing while nothing waits', async () => {
    expect(await pass()).to.equal(undefined);
    expect(asked()).to.equal(0);
  });

  long('notices another kind of application, but not another application of the kind', async () => {
    hold();
    expect(await pass()).to.equal(undefined);
    app = 'Visual Studio Code';
    expect(await pass()).to.equal(undefined);
    app = 'Netflix';
    expect(await pass()).to.equal('you changed the kind of application');
    expect(breaks.last()?.atMs).to.equal(nowMs);
  });

  it('notices your return', async () => {
    hold();
    idleMs = 600_000;
    expect(await pass()).to.equal(undefined);
    idleMs = 0;
    expect(await pass()).to.equal('you came back');
  });

  it('notices the end of your turn, and withdraws what your next prompt has answered', async () => {
    event('session-start');
    event('prompt');
    event('stop');
    nowMs += 1000;
    const { at } = hold('shop');
    expect(await pass()).to.equal('your turn ended');
    expect(breaks.last()?.atMs, 'a prompt before the message').to.be.lessThan(Date.parse(at));
    expect(waitingNames(area.area)).to.have.length(1);
    event('prompt');
    await pass();
    expect(breaks.last()?.atMs).to.be.greaterThan(Date.parse(at));
    expect(waitingNames(area.area)).to.deep.equal([]);
    const [entry] = readEntries({ history: area.area.notifyLog, outbox: area.area.outbox }, 9);
    expect(entry?.channels[0]).to.include({ result: 'superseded', reason: 'you continued the session' });
  });

  it('knows only your turns if the application is not recorded', async () => {
    area.write('config.yaml', 'sense:\n  sources:\n    appFocus: false\n');
    hold();
    expect(await pass()).to.equal(undefined);
    app = 'Netflix';
    expect(await pass()).to.equal(undefined);
    expect(asked()).to.equal(0);
  });
});
