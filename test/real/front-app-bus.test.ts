import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { readFrontApp } from '../../src/lib/sense/front-app';
import { gnome } from '../../src/lib/sense/front-app/gnome';
import { kwin } from '../../src/lib/sense/front-app/kwin';
import {
  serve,
  SECRET,
  desktopKit,
  startBus,
  startXterm,
  startXvfb,
  until,
  type DesktopKit,
} from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';
import { rejection } from '../helpers/errors';

describe('front application by D-Bus', function () {
  this.timeout(180_000);
  let kit: DesktopKit;
  const closers: (() => void)[] = [];

  beforeEach(() => {
    kit = desktopKit();
  });

  afterEach(async () => {
    for (const close of closers.splice(0)) close();
    await kit.stop();
  });

  describe('a real KWin', () => {
    it('follows the focus, removes its script, and reads no title', async function () {
      requirePrograms(this, {
        Xvfb: 'xvfb',
        xterm: 'xterm',
        wmctrl: 'wmctrl',
        'dbus-daemon': 'dbus',
        kwin_x11: 'kwin-x11',
      });
      await startXvfb(kit);
      await startBus(kit);
      kit.env['XDG_RUNTIME_DIR'] = kit.home;
      kit.start('kwin_x11', [], { env: { ...kit.env, QT_QPA_PLATFORM: 'xcb' } });
      const desktop = kit.desktop();
      const front = (): Promise<string | null | undefined> =>
        kwin.read(desktop).then(
          (app) => {
            expect(JSON.stringify(app)).to.not.include(SECRET);
            return app === null ? null : app.app;
          },
          () => undefined,
        );
      await until('KWin answers, and nothing is in front', async () => (await front()) === null, 30_000);
      // KWin folds the classes of X windows to lower case.
      const alpha = startXterm(kit, 'QAlpha');
      await until('alpha is in front', async () => (await front()) === 'qalpha');
      expect(await kwin.read(desktop)).to.deep.include({ app: 'qalpha', pid: alpha.pid });
      startXterm(kit, 'QBeta');
      await until('beta is in front', async () => (await front()) === 'qbeta');
      kit.tell('wmctrl', '-x', '-a', 'qalpha.QAlpha');
      await until('alpha is in front again', async () => (await front()) === 'qalpha');

      // A folder of its own: other tests come and go in the one of the system.
      const { TMPDIR } = process.env;
      const own = join(kit.home, 'scripts');
      mkdirSync(own);
      process.env['TMPDIR'] = own;
      closers.push(() => {
        if (TMPDIR === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = TMPDIR;
      });
      const times: number[] = [];
      for (let i = 0; i < 10; i += 1) {
        const began = performance.now();
        await kwin.read(desktop);
        times.push(performance.now() - began);
      }
      console.log(`      median of 10 reads: ${times.sort((a, b) => a - b)[5]?.toFixed(1)} ms`);
      expect(readdirSync(own), 'no script is left').to.deep.equal([]);
    });
  });

  it('reports a missing KWin', async function () {
    requirePrograms(this, { 'dbus-daemon': 'dbus' });
    await startBus(kit);
    const error = await rejection(kwin.read(kit.desktop()));
    expect(error).to.include({
      kind: 'unavailable',
      message: 'org.kde.KWin is not running on D-Bus.',
    });
  });

  describe("GNOME's extension, as a service on a real bus", () => {
    const PATH = '/org/gnome/shell/extensions/FocusedWindow org.gnome.shell.extensions.FocusedWindow.Get';
    const wayland = { XDG_SESSION_TYPE: 'wayland', XDG_CURRENT_DESKTOP: 'ubuntu:GNOME' };

    async function shell(answer?: () => string): Promise<void> {
      await startBus(kit);
      const get =
        answer && ((): { signature: string; body: unknown[] } => ({ signature: 's', body: [answer()] }));
      const service = await serve(
        kit.env['DBUS_SESSION_BUS_ADDRESS'] ?? '',
        'org.gnome.Shell',
        get === undefined ? {} : { [PATH]: get },
      );
      closers.push(service.close);
    }

    beforeEach(function () {
      requirePrograms(this, { 'dbus-daemon': 'dbus' });
    });

    it('returns class and pid, and no title', async () => {
      await shell(() =>
        JSON.stringify({ title: SECRET, wm_class: 'qtest-class', wm_class_instance: 'q', pid: 77 }),
      );
      const sight = await readFrontApp(kit.desktop(wayland));
      expect(sight).to.deep.equal({
        state: 'seen',
        app: { app: 'qtest-class', bundleId: 'qtest-class', pid: 77 },
        via: 'gnome',
      });
    });

    it('returns nothing without focus, in new and old versions', async () => {
      let old = false;
      await shell(() => {
        if (old) throw new Error('No window in focus');
        return '{}';
      });
      expect(await gnome.read(kit.desktop(wayland))).to.equal(null);
      old = true;
      expect(await gnome.read(kit.desktop(wayland))).to.equal(null);
    });

    it('names the extension to install, as unsupported', async () => {
      await shell();
      const sight = await readFrontApp(kit.desktop(wayland));
      expect(sight).to.include({ state: 'unsupported' });
      expect(sight)
        .to.have.property('reason')
        .that.includes('Install the GNOME extension "Focused Window D-Bus"');
    });

    it('keeps titles out of errors of the extension', async () => {
      await shell(() => {
        throw new Error(`cannot read ${SECRET}`);
      });
      const sight = await readFrontApp(kit.desktop(wayland));
      expect(sight).to.include({ state: 'error' });
      expect(JSON.stringify(sight)).to.not.include(SECRET);
    });

    it('reports a missing GNOME Shell or bus', async () => {
      const bus = await startBus(kit);
      expect(await readFrontApp(kit.desktop(wayland)))
        .to.have.property('reason')
        .that.includes('org.gnome.Shell is not running on D-Bus');
      await kit.end(bus);
      expect(await readFrontApp(kit.desktop(wayland)))
        .to.have.property('reason')
        .that.includes('D-Bus is not responding');
    });

    it('gives up on a bus that hangs', async () => {
      const bus = await startBus(kit);
      bus.kill('SIGSTOP');
      const error = await rejection(gnome.read(kit.desktop(wayland)));
      expect(error.message).to.include('no response within 3000 ms');
    });
  });

  it('asks Hyprland by the program on the PATH', async () => {
    const answer = JSON.stringify({ class: 'qtest-kitty', title: SECRET, initialTitle: SECRET, pid: 9 });
    writeFileSync(join(kit.home, 'hyprctl'), `#!/bin/sh\n[ "$*" = "activewindow -j" ] && echo '${answer}'\n`);
    chmodSync(join(kit.home, 'hyprctl'), 0o755);
    const PATH = `${kit.home}:${process.env['PATH']}`;
    const previous = process.env['PATH'];
    process.env['PATH'] = PATH;
    try {
      const sight = await readFrontApp(kit.desktop({ PATH, HYPRLAND_INSTANCE_SIGNATURE: 'a' }));
      expect(sight).to.deep.equal({
        state: 'seen',
        app: { app: 'qtest-kitty', bundleId: 'qtest-kitty', pid: 9 },
        via: 'hyprland',
      });
    } finally {
      process.env['PATH'] = previous;
    }
  });
});
