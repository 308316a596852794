import { expect } from 'chai';

import { readIdle, logind, mutterIdle, screensaverLock, x11Idle } from '../../src/lib/sense/idle';
import { serve, desktopKit, startBus, startXvfb, until, type DesktopKit } from '../helpers/desktop-kit';
import { requirePart, requirePrograms } from '../helpers/real-part';
import { rejection } from '../helpers/errors';

describe('idle time and lock', function () {
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

  it('matches xprintidle on a real X server, and restarts with input', async function () {
    requirePrograms(this, { Xvfb: 'xvfb', xprintidle: 'xprintidle', xdotool: 'xdotool' });
    await startXvfb(kit);
    const idle = async (): Promise<number> => (await x11Idle.read(kit.desktop())).idleMs ?? -1;
    await until('half a second without input', async () => {
      const ms = await idle();
      return ms > 500 && ms;
    });
    const before = Number(kit.tell('xprintidle'));
    const ours = await idle();
    const after = Number(kit.tell('xprintidle'));
    expect(ours).to.be.within(before, after);
    const moved = performance.now();
    kit.tell('xdotool', 'mousemove', '10', '20');
    // Without the input it would be at least half a second more than what has passed since, however long that was.
    const anew = await idle();
    expect(anew).to.be.below(performance.now() - moved + 250);
    expect(await readIdle(kit.desktop()), 'and the whole reads the same').to.include({ via: 'x11' });
  });

  it('is unknown for an X server that is gone', async function () {
    requirePrograms(this, { Xvfb: 'xvfb' });
    await kit.end(await startXvfb(kit));
    kit.env['DBUS_SYSTEM_BUS_ADDRESS'] = `unix:path=${kit.home}/none`;
    expect(await readIdle(kit.desktop()))
      .to.have.property('unknown')
      .that.includes('is not responding');
  });

  describe('of GNOME, as services on a real bus', () => {
    beforeEach(async function () {
      requirePrograms(this, { 'dbus-daemon': 'dbus' });
      await startBus(kit);
      kit.env['XDG_SESSION_TYPE'] = 'wayland';
    });

    async function service(
      name: string,
      call: string,
      signature: string,
      answer: () => unknown,
    ): Promise<void> {
      const { close } = await serve(kit.env['DBUS_SESSION_BUS_ADDRESS'] ?? '', name, {
        [call]: () => ({ signature, body: [answer()] }),
      });
      closers.push(close);
    }

    it('of the compositor, in milliseconds', async () => {
      expect(await mutterIdle.read(kit.desktop())).to.deep.equal({});
      const call = '/org/gnome/Mutter/IdleMonitor/Core org.gnome.Mutter.IdleMonitor.GetIdletime';
      await service('org.gnome.Mutter.IdleMonitor', call, 't', () => 481_234);
      expect(await mutterIdle.read(kit.desktop())).to.deep.equal({ idleMs: 481_234 });
    });

    it('reports a lock if any locker does', async () => {
      expect(await screensaverLock.read(kit.desktop())).to.deep.equal({});
      // The common name, held by a service that only holds off the saver.
      const holder = await serve(
        kit.env['DBUS_SESSION_BUS_ADDRESS'] ?? '',
        'org.freedesktop.ScreenSaver',
        {},
      );
      closers.push(holder.close);
      expect(await screensaverLock.read(kit.desktop())).to.deep.equal({});
      let locked = false;
      const call = '/org/gnome/ScreenSaver org.gnome.ScreenSaver.GetActive';
      await service('org.gnome.ScreenSaver', call, 'b', () => locked);
      expect(await screensaverLock.read(kit.desktop())).to.deep.equal({ locked: false });
      locked = true;
      expect(await screensaverLock.read(kit.desktop())).to.deep.equal({ locked: true });
    });
  });

  describe("of logind, by dbusmock's template", () => {
    const MANAGER = '/org/freedesktop/login1';
    const SESSION = `${MANAGER}/session/c1`;

    beforeEach(async function () {
      requirePrograms(this, { 'dbus-daemon': 'dbus', gdbus: 'libglib2.0-bin' });
      requirePart(this, hasDbusmock(kit), 'dbusmock not installed: apt-get install python3-dbusmock');
      await startBus(kit, 'DBUS_SYSTEM_BUS_ADDRESS');
      kit.env['DBUS_SYSTEM_BUS_PID'] = '1';
      kit.start('/usr/bin/python3', ['-m', 'dbusmock', '--system', '--template', 'logind']);
      await until('the mock answers', () => tries(() => call('ListSessions')));
      call('org.freedesktop.DBus.Mock.AddSession', 'c1', 'seat0', 'uint32 500', 'q', 'true');
    });

    function call(method: string, ...args: string[]): boolean {
      const full = method.includes('.') ? method : `org.freedesktop.login1.Manager.${method}`;
      const target = ['--dest', 'org.freedesktop.login1', '--object-path', MANAGER, '--method', full];
      kit.tell('gdbus', 'call', '--system', ...target, ...args);
      return true;
    }

    function set(property: string, value: string): void {
      const target = ['--dest', 'org.freedesktop.login1', '--object-path', SESSION];
      const method = ['--method', 'org.freedesktop.DBus.Properties.Set'];
      kit.tell(
        'gdbus',
        'call',
        '--system',
        ...target,
        ...method,
        'org.freedesktop.login1.Session',
        property,
        value,
      );
    }

    it('reads the hints of the session that the environment names', async () => {
      const desktop = kit.desktop({ XDG_SESSION_ID: 'c1' });
      set('LockedHint', '<false>');
      set('IdleHint', '<false>');
      expect(await logind.read(desktop)).to.deep.equal({ locked: false });
      set('LockedHint', '<true>');
      set('IdleHint', '<true>');
      set('IdleSinceHint', `<uint64 ${(Date.now() - 600_000) * 1000}>`);
      const { locked, idleMs } = await logind.read(desktop);
      expect(locked).to.equal(true);
      expect(idleMs).to.be.within(600_000, 620_000);
    });

    it('is unknown for a session that logind does not know', async () => {
      expect(await logind.read(kit.desktop({ XDG_SESSION_ID: 'c9' }))).to.deep.equal({});
    });
  });

  it("of logind, for a job of the user's manager: the user's graphical session", async function () {
    requirePrograms(this, { 'dbus-daemon': 'dbus' });
    await startBus(kit, 'DBUS_SYSTEM_BUS_ADDRESS');
    const session: Record<string, unknown> = {
      LockedHint: ['b', true],
      IdleHint: ['b', false],
      IdleSinceHint: ['t', 0],
    };
    let display = '/org/freedesktop/login1/session/_32';
    const properties = 'org.freedesktop.DBus.Properties.Get';
    const { close } = await serve(kit.env['DBUS_SYSTEM_BUS_ADDRESS'] ?? '', 'org.freedesktop.login1', {
      '/org/freedesktop/login1 org.freedesktop.login1.Manager.GetUser': ({ body }) => {
        expect(body).to.deep.equal([process.getuid?.()]);
        return { signature: 'o', body: ['/org/freedesktop/login1/user/_1'] };
      },
      [`/org/freedesktop/login1/user/_1 ${properties}`]: () => ({
        signature: 'v',
        body: [['(so)', ['2', display]]],
      }),
      [`/org/freedesktop/login1/session/_32 ${properties}`]: ({ body }) => ({
        signature: 'v',
        body: [session[String(body[1])]],
      }),
    });
    closers.push(close);
    expect(await logind.read(kit.desktop())).to.deep.equal({ locked: true });
    display = '/';
    expect(await logind.read(kit.desktop()), 'no graphical session').to.deep.equal({});
  });

  it('of logind: nothing if the bus lacks it, an error without a bus', async function () {
    requirePrograms(this, { 'dbus-daemon': 'dbus' });
    const bus = await startBus(kit, 'DBUS_SYSTEM_BUS_ADDRESS');
    expect(await logind.read(kit.desktop())).to.deep.equal({});
    await kit.end(bus);
    expect(await rejection(logind.read(kit.desktop()))).to.include({ kind: 'unavailable' });
  });
});

function hasDbusmock(kit: DesktopKit): boolean {
  return tries(() => {
    kit.tell('/usr/bin/python3', '-c', 'import dbusmock');
    return true;
  });
}

function tries(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}
