import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import type { SenseEvent } from '../../src/lib/time/event';
import { jsonOf, steward, type StewardResult } from '../helpers/cli';
import { machineFolder, startDaemon, type RunningDaemon } from '../helpers/daemon';
import {
  desktopKit,
  startManager,
  startXterm,
  startXvfb,
  until,
  type DesktopKit,
} from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';

describe('the focus while the daemon runs (built steward, real X server)', function () {
  this.timeout(120_000);
  let kit: DesktopKit;
  let daemon: RunningDaemon | undefined;

  beforeEach(() => {
    kit = desktopKit();
  });

  afterEach(async () => {
    await daemon?.stop('SIGKILL');
    await kit.stop();
  });

  it('is stored once and by the daemon only, even after a kill', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', xterm: 'xterm', xprop: 'x11-utils', openbox: 'openbox' });
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    startXterm(kit, 'QAlpha');
    const home = join(kit.home, 'home');
    const env = { DISPLAY: kit.env['DISPLAY'] };
    mkdirSync(home);
    const run = (...args: string[]): Promise<StewardResult> => steward([...args, '--json'], { home, env });
    const appFocusOf = async (): Promise<unknown> => {
      const { sources } = jsonOf(await run('sense', 'capture')) as { sources: { id: string }[] };
      return sources.find(({ id }) => id === 'appFocus');
    };
    await until('a capture sees the window', async () =>
      JSON.stringify(await appFocusOf()).includes('"events":1'),
    );
    await run('config', 'set', 'sense.pollIntervalSec', '10');

    daemon = await startDaemon({ home, env });
    await until('the daemon watches', () => existsSync(join(machineFolder(home), 'focus.lock')));
    expect(await appFocusOf()).to.deep.equal({ id: 'appFocus', state: 'ok', events: 0 });
    const watched = await until('the daemon stores an interval', () =>
      eventsIn(home).find(({ detail }) => detail?.['via'] === 'x11-events'),
    );
    expect(watched).to.include({ type: 'app-focus', app: 'QAlpha' });

    expect(await daemon.stop('SIGKILL')).to.equal('SIGKILL');
    await until('captures sample again', async () =>
      JSON.stringify(await appFocusOf()).includes('"events":1'),
    );
    const spans = eventsIn(home)
      .filter(({ type }) => type === 'app-focus')
      .map(({ ts, detail }) => ({
        to: Date.parse(ts),
        from: Date.parse(ts) - Number(detail?.['intervalSec']) * 1000,
      }));
    spans.forEach(({ from }, i) => expect(from).to.be.at.least(spans[i - 1]?.to ?? 0));
  });

  it('is stored up to the moment at which the daemon stops', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', xterm: 'xterm', xprop: 'x11-utils', openbox: 'openbox' });
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    startXterm(kit, 'QAlpha');
    const home = join(kit.home, 'home');
    const env = { DISPLAY: kit.env['DISPLAY'] };
    mkdirSync(home);
    await steward(['sense', 'capture'], { home, env });
    daemon = await startDaemon({ home, env });
    await until('the daemon watches', () => existsSync(join(machineFolder(home), 'focus.lock')));
    const watchedMs = Date.now();
    // A focus of less than five seconds has no interval, and the next capture is two minutes away.
    await until('the focus has lasted', () => Date.now() - watchedMs > 8_000);
    const stoppedMs = Date.now();
    expect(await daemon.stop()).to.equal(0);
    const last = eventsIn(home).findLast(({ detail }) => detail?.['via'] === 'x11-events');
    expect(Date.parse(last?.ts ?? '')).to.be.at.least(stoppedMs);
  });

  it('is not stored if it was observed before a purge, or if the application is excluded by now', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', xterm: 'xterm', xprop: 'x11-utils', openbox: 'openbox' });
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    startXterm(kit, 'QAlpha');
    const home = join(kit.home, 'home');
    const env = { DISPLAY: kit.env['DISPLAY'] };
    mkdirSync(home);
    const watched = async (): Promise<void> => {
      daemon = await startDaemon({ home, env });
      await until('the daemon watches', () => existsSync(join(machineFolder(home), 'focus.lock')));
      const watchedMs = Date.now();
      // A focus of less than five seconds has no interval, and the next capture is two minutes away.
      await until('the focus has lasted', () => Date.now() - watchedMs > 8_000);
    };
    const observed = (): SenseEvent[] =>
      eventsIn(home).filter(({ detail }) => detail?.['via'] === 'x11-events');
    await steward(['sense', 'capture'], { home, env });
    await watched();
    const purgedMs = Date.now();
    await steward(['sense', 'purge', '--all', '--yes'], { home, env });
    expect(await daemon?.stop()).to.equal(0);
    const starts = observed().map(
      ({ ts, detail }) => Date.parse(ts) - Number(detail?.['intervalSec']) * 1000,
    );
    expect(starts, 'the time after the purge').not.to.have.length(0);
    expect(Math.min(...starts)).to.be.at.least(purgedMs);

    await watched();
    const before = observed().length;
    await steward(['config', 'set', 'sense.exclude', 'QAlpha'], { home, env });
    expect(await daemon?.stop()).to.equal(0);
    expect(observed()).to.have.length(before);
  });
});

function eventsIn(home: string): SenseEvent[] {
  const folder = join(home, '.steward', 'sense', 'events');
  return readdirSync(folder)
    .sort()
    .flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as SenseEvent),
    );
}
