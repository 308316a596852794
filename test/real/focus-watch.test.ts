import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';

import { StewardError } from '../../src/lib/errors';
import { isLockHeld } from '../../src/lib/platform/files/lock';
import type { Interval } from '../../src/lib/sense/focus-timeline';
import { watchFocus, type FocusWatch } from '../../src/lib/sense/focus-watch';
import { FRONT_APP_ADAPTERS } from '../../src/lib/sense/front-app';
import { hyprland } from '../../src/lib/sense/front-app/window-managers';
import { observe } from '../../src/lib/sense/observe';
import {
  desktopKit,
  startManager,
  startSway,
  startXterm,
  startXvfb,
  until,
  type DesktopKit,
  type Manager,
} from '../helpers/desktop-kit';
import { rejection } from '../helpers/errors';
import { requirePrograms } from '../helpers/real-part';

const PROGRAMS = { Xvfb: 'xvfb', xterm: 'xterm', xprop: 'x11-utils', wmctrl: 'wmctrl' };

describe('the watch of the focus', function () {
  this.timeout(180_000);
  let kit: DesktopKit;
  let watch: FocusWatch | undefined;
  let nowMs: number;
  let isWanted: boolean;
  let problems: string[];

  beforeEach(() => {
    kit = desktopKit();
    [nowMs, isWanted, problems] = [1_800_000_000_000, true, []];
  });

  afterEach(async () => {
    await watch?.close();
    watch = undefined;
    await kit.stop();
  });

  const clock = { now: () => nowMs, monotonic: () => performance.now() };
  const lease = (): string => join(kit.home, 'state', 'focus.lock');
  const isHeld = (): boolean => isLockHeld(lease(), { clock, machineId: 'm' });

  /** Watches by one adapter, so that a general protocol does not step in for it. */
  async function start(id: string, idleMs: () => number = () => 0): Promise<FocusWatch> {
    const config = { idleAfterSec: 15, countsAsActive: [], exclude: ['QSecret'] };
    const idle = (): Promise<{ idleMs: number; via: string }> =>
      Promise.resolve({ idleMs: idleMs(), via: 'x11' });
    const started = watchFocus({
      clock,
      machineId: 'm',
      desktop: kit.desktop(),
      lease: lease(),
      isWanted: () => Promise.resolve(isWanted),
      observe: async (last, desktop) => {
        const { display } = desktop.kept ?? {};
        if (id === 'x11') expect(display, 'the connection of the watch').to.have.property('root');
        return observe({ desktop, config, idle }, nowMs, last);
      },
      onProblem: (problem) => problems.push(problem),
      adapters: FRONT_APP_ADAPTERS.filter((adapter) => adapter.id === id),
      tickMs: 100,
    });
    watch = started;
    await until(`the watch by ${id} is live`, () => started.isLive());
    return started;
  }

  const nameOf = (interval: Interval): string =>
    `${interval.kind === 'focus' ? interval.focus.app : interval.kind} ${(interval.toMs - interval.fromMs) / 1000}`;

  async function seen(focusWatch: FocusWatch, app: string): Promise<void> {
    await until(`${app} is in front`, async () => {
      const now = (await focusWatch.since(0))?.now;
      return now?.state === 'focus' ? now.focus.app === app : now?.state === app;
    });
  }

  async function raise(name: string): Promise<void> {
    const args = ['-x', '-a', `${name.toLowerCase()}.${name}`];
    await until(`${name} is raised`, () => spawnSync('wmctrl', args, { env: kit.env }).status === 0);
  }

  for (const [manager, parts] of [
    ['openbox', { openbox: 'openbox' }],
    ['kwin_x11', { kwin_x11: 'kwin-x11', 'dbus-daemon': 'dbus' }],
  ] as const) {
    it(`stores an interval for each focus on X11 with ${manager}, and ends it when you are idle`, async function () {
      requirePrograms(this, { ...PROGRAMS, ...parts });
      await storesIntervals(manager);
    });
  }

  async function storesIntervals(manager: Manager): Promise<void> {
    await startXvfb(kit);
    await startManager(kit, manager);
    startXterm(kit, 'QAlpha');
    startXterm(kit, 'QBeta');
    await raise('QBeta');
    await raise('QAlpha');
    let idleMs = 0;
    const focus = await start('x11', () => idleMs);
    await raise('QAlpha');
    await seen(focus, 'QAlpha');
    const from = nowMs;
    nowMs += 40_000;
    await raise('QBeta');
    await seen(focus, 'QBeta');
    nowMs += 20_000;
    startXterm(kit, 'QSecret');
    await seen(focus, 'excluded');
    nowMs += 10_000;
    await raise('QAlpha');
    await seen(focus, 'QAlpha');
    nowMs += 30_000;
    idleMs = 25_000;
    await seen(focus, 'away');
    nowMs += 50_000;
    const { intervals = [] } = (await focus.since(from)) ?? {};
    expect(intervals.map(nameOf)).to.deep.equal(['QAlpha 40', 'QBeta 20', 'none 10', 'QAlpha 5', 'away 75']);
    expect(await focus.since(nowMs)).to.deep.include({ intervals: [] });
    expect(problems).to.deep.equal([]);
  }

  it('releases its lease when sense is disabled and when closed', async function () {
    requirePrograms(this, { ...PROGRAMS, openbox: 'openbox' });
    await startXvfb(kit);
    await startManager(kit, 'openbox');
    const focus = await start('x11');
    expect(isHeld()).to.equal(true);
    isWanted = false;
    await until('the watch ends', () => !focus.isLive());
    await until('the lease is free', () => !isHeld());
    isWanted = true;
    await focus.close();
    const again = await start('x11');
    expect(isHeld()).to.equal(true);
    await again.close();
    expect([isHeld(), await again.since(nowMs)]).to.deep.equal([false, undefined]);
  });

  it('keeps its intervals when the desktop ends, and reports why it ended', async function () {
    requirePrograms(this, { ...PROGRAMS, openbox: 'openbox' });
    const server = await startXvfb(kit);
    await startManager(kit, 'openbox');
    startXterm(kit, 'QAlpha');
    const focus = await start('x11');
    await seen(focus, 'QAlpha');
    const from = nowMs;
    nowMs += 40_000;
    await seen(focus, 'QAlpha');
    await kit.end(server);
    await until('the watch ends', () => !focus.isLive());
    const watched = await focus.since(from);
    expect(watched?.intervals.map(nameOf)).to.deep.equal(['QAlpha 40']);
    expect(await focus.since(nowMs)).to.equal(undefined);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/X display|frontmost application is unknown/);
  });

  it('needs no connection to X to follow i3', async function () {
    requirePrograms(this, { ...PROGRAMS, i3: 'i3-wm' });
    await startXvfb(kit);
    await startManager(kit, 'i3');
    kit.env['I3SOCK'] = await until('the socket of i3', () => {
      const found = spawnSync('i3', ['--get-socketpath'], { env: kit.env, encoding: 'utf8' });
      return found.status === 0 ? found.stdout.trim() : undefined;
    });
    startXterm(kit, 'QAlpha');
    const focus = await start('i3');
    await seen(focus, 'QAlpha');
    startXterm(kit, 'QBeta');
    // Not through since(), which would observe by itself.
    const changes: number[] = [];
    const ending = new AbortController();
    const adapter = FRONT_APP_ADAPTERS.find(({ id }) => id === 'i3');
    const ended = adapter?.watch?.(kit.desktop(), () => changes.push(1), ending.signal);
    await until('it is connected', () => changes.length > 0);
    await seen(focus, 'QBeta');
    const before = changes.length;
    await raise('QAlpha');
    await until('the change is reported', () => changes.length > before);
    ending.abort();
    await ended;
  });

  it('follows sway and the wlroots protocol', async function () {
    requirePrograms(this, { sway: 'sway', foot: 'foot' });
    const { start: startAs } = await startSway(kit);
    for (const id of ['sway', 'wlroots']) {
      const changes: number[] = [];
      const ending = new AbortController();
      const adapter = FRONT_APP_ADAPTERS.find((known) => known.id === id);
      const ended = adapter?.watch?.(kit.desktop(), () => changes.push(1), ending.signal);
      await until(`${id} is connected`, () => changes.length > 0);
      const before = changes.length;
      const window = startAs('foot', ['-a', `Q${id}`, 'sleep', '600']);
      await until(`${id} reports the new window`, () => changes.length > before);
      await kit.end(window);
      ending.abort();
      await ended;
    }
  });

  describe('of Hyprland', () => {
    let server: Server;
    const clients: Socket[] = [];

    afterEach(() => {
      clients.splice(0).forEach((client) => client.destroy());
      server.close();
    });

    it('reads only the active window, and reports the end of the connection', async () => {
      const folder = join(kit.home, 'hypr', 'one');
      mkdirSync(folder, { recursive: true });
      server = createServer((client) => clients.push(client));
      await new Promise<void>((resolve) => server.listen(join(folder, '.socket2.sock'), resolve));
      expect(existsSync(join(folder, '.socket2.sock'))).to.equal(true);
      const desktop = kit.desktop({ XDG_RUNTIME_DIR: kit.home, HYPRLAND_INSTANCE_SIGNATURE: 'one' });
      let changes = 0;
      const ended = hyprland.watch?.(desktop, () => (changes += 1), new AbortController().signal);
      const client = await until('it is connected', () => clients[0]);
      await until('the first change', () => changes === 1);
      client.write('windowtitle>>64ce\nactivewindow>>foot,activewindowv2>>\nactive');
      client.write('windowv2>>64ce\n');
      await until('the change is reported', () => changes === 2);
      client.destroy();
      const error = await rejection(ended ?? Promise.resolve());
      expect(error).to.be.instanceOf(StewardError);
      expect(changes).to.equal(2);
    });
  });
});
