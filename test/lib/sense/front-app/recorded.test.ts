import { expect } from 'chai';

import { macos } from '../../../../src/lib/sense/front-app/macos';
import { hyprland, sway } from '../../../../src/lib/sense/front-app/window-managers';
import { windows } from '../../../../src/lib/sense/front-app/windows';
import { nameX11Window } from '../../../../src/lib/sense/front-app/x11';
import { fileDescription } from '../../../../src/lib/platform/process/windows';
import { recordedDesktop } from '../../../helpers/fake-desktop';
import { rejection } from '../../../helpers/errors';

const SECRET = 'Payroll 2026 - secret';
/** Without desktop entries of the machine. */
const BARE = { env: { HOME: '/nonexistent' } };

describe('sense/front-app, recorded answers', () => {
  describe('Hyprland', () => {
    const output = JSON.stringify({
      address: '0x55d1c8a0',
      mapped: true,
      workspace: { id: 1, name: SECRET },
      class: 'qtest-kitty',
      title: SECRET,
      initialClass: 'qtest-kitty',
      initialTitle: SECRET,
      pid: 901,
    });
    const read = (stdout: string) =>
      hyprland.read(recordedDesktop('linux', { 'hyprctl activewindow -j': stdout }, BARE.env));

    it('returns class and pid, and no title', async () => {
      expect(await read(output)).to.deep.equal({ app: 'qtest-kitty', bundleId: 'qtest-kitty', pid: 901 });
      const odd = await read(JSON.stringify({ class: { title: SECRET }, initialClass: [SECRET], pid: 1 }));
      expect(JSON.stringify(odd)).to.not.include('Payroll');
    });

    it('returns nothing for an empty workspace', async () => {
      expect(await read('{}')).to.equal(null);
      expect(await read('null')).to.equal(null);
      expect(await read('Invalid\n')).to.equal(null);
    });

    it('keeps titles out of the error for an invalid answer', async () => {
      const error = await rejection(read(`${SECRET} {`));
      expect(error.message).to.equal('hyprctl returned invalid JSON.');
      expect(JSON.stringify([error.message, String(error.cause)])).to.not.include('Payroll');
    });

    it('distinguishes a Hyprland that does not answer from a missing hyprctl', async () => {
      const dead = recordedDesktop('linux', {
        hyprctl: { code: 1, stdout: 'HYPRLAND_INSTANCE_SIGNATURE not set!' },
      });
      expect(await rejection(hyprland.read(dead))).to.include({ kind: 'unavailable' });
      expect(await rejection(hyprland.read(recordedDesktop('linux', {})))).to.include({ kind: 'not_found' });
    });
  });

  describe('sway and i3', () => {
    const read = (child: object) => {
      const workspace = { name: 'ws', focused: false, nodes: [], floating_nodes: [child] };
      const tree = JSON.stringify({ type: 'root', focused: false, nodes: [workspace, null, 4] });
      return sway.read(recordedDesktop('linux', { 'swaymsg -t get_tree': tree }, BARE.env));
    };
    const leaf = { type: 'con', name: SECRET, focused: true, pid: 77, app_id: 'qtest-foot', marks: [SECRET] };

    it('finds the focused window, Wayland or X11, and drops titles', async () => {
      expect(await read(leaf)).to.deep.equal({ app: 'qtest-foot', bundleId: 'qtest-foot', pid: 77 });
      const x11 = {
        focused: true,
        window: 41,
        window_properties: { class: 'QTest', instance: 'qtest', title: SECRET },
      };
      expect(await read(x11)).to.deep.equal({ app: 'QTest', bundleId: 'QTest' });
      const odd = { ...leaf, app_id: { title: SECRET }, window_properties: { class: [SECRET] } };
      expect(JSON.stringify(await read(odd))).to.not.include('Payroll');
    });

    it('returns nothing when a workspace has the focus', async () => {
      expect(await read({ type: 'workspace', focused: true, nodes: [] })).to.equal(null);
      expect(await read({ nodes: 'odd', floating_nodes: [null, 4] })).to.equal(null);
    });
  });

  describe('X11 properties', () => {
    const pid = Buffer.from([1, 2, 0, 0]);

    it('names a window by its class before its instance', () => {
      expect(nameX11Window(BARE, { classes: Buffer.from('qinst\0QTestClass\0'), pid })).to.deep.equal({
        app: 'QTestClass',
        bundleId: 'QTestClass',
        pid: 513,
      });
    });

    it('decodes each name as UTF-8, else as Latin-1', () => {
      const read = (...classes: Buffer[]): unknown =>
        nameX11Window(BARE, { classes: Buffer.concat(classes), pid: undefined });
      const utf8 = Buffer.from('Größe\0');
      const latin1 = Buffer.from('Größe\0', 'latin1');
      const asciiName = Buffer.from('i\0');
      for (const classes of [
        [asciiName, utf8],
        [asciiName, latin1],
        [utf8, latin1],
        [latin1, utf8],
      ]) {
        expect(read(...classes)).to.deep.equal({ app: 'Größe', bundleId: 'Größe' });
      }
    });

    it('returns nothing for a window without properties', () => {
      expect(nameX11Window(BARE, { classes: undefined, pid: undefined })).to.equal(null);
    });

    it('accepts a truncated class and pid', () => {
      const odd = nameX11Window(BARE, { classes: Buffer.from('only'), pid: Buffer.from([1]) });
      expect(odd).to.deep.equal({ app: 'only', bundleId: 'only' });
    });
  });

  describe('macOS', () => {
    const info = (name: string, bundle: string, path: string): string =>
      `"LSDisplayName"="${name}"\n"CFBundleIdentifier"="${bundle}"\n"LSBundlePath"="${path}"\n"pid"=612\n`;
    const desktopOf = (answer: string) =>
      recordedDesktop('darwin', {
        '/usr/bin/lsappinfo front': 'ASN:0x0-0x1b01b:\n',
        '/usr/bin/lsappinfo info': answer,
      });
    const read = (answer: string) => macos.read(desktopOf(answer));

    it('asks for the front application, then for its name, bundle and pid', async () => {
      const desktop = desktopOf(info('Safari', 'com.apple.Safari', '/Applications/Safari.app'));
      expect(await macos.read(desktop)).to.deep.equal({
        app: 'Safari',
        bundleId: 'com.apple.Safari',
        pid: 612,
      });
      expect(desktop.asked).to.deep.equal([
        '/usr/bin/lsappinfo front',
        '/usr/bin/lsappinfo info -only name -only bundleid -only bundlepath -only pid ASN:0x0-0x1b01b',
      ]);
    });

    it('returns nothing when no application is in front', async () => {
      const desktop = recordedDesktop('darwin', { '/usr/bin/lsappinfo front': '[ NULL ]\n' });
      expect(await macos.read(desktop)).to.equal(null);
    });

    it('names the login session when lsappinfo fails', async () => {
      const desktop = recordedDesktop('darwin', { '/usr/bin/lsappinfo': { code: 1 } });
      expect(await rejection(macos.read(desktop))).to.include({ kind: 'unavailable' });
    });

    it('names programs of one framework by their bundle', async () => {
      const app = await read(info('Electron', 'com.qtest.editor', '/Applications/Q Editor.app'));
      expect(app).to.include({ app: 'Q Editor', bundleId: 'com.qtest.editor' });
    });

    it('falls back to the bundle id for an unknown name', async () => {
      expect(await read('"LSDisplayName"=[ NULL ]\n"CFBundleIdentifier"="com.qtest.x"\n')).to.deep.equal({
        app: 'com.qtest.x',
        bundleId: 'com.qtest.x',
      });
      expect(await read('"LSDisplayName"=[ NULL ]\n')).to.equal(null);
    });

    it('returns nothing for the login window and the screen saver', async () => {
      expect(await read(info('loginwindow', 'com.apple.loginwindow', '/x.app'))).to.equal(null);
      expect(await read(info('S', 'com.apple.ScreenSaver.Engine', '/x.app'))).to.equal(null);
    });
  });

  describe('Windows', () => {
    const read = (answer: object) =>
      windows.read(
        recordedDesktop('win32', {
          'powershell.exe -NoProfile -NonInteractive -EncodedCommand': `${JSON.stringify(answer)}\r\n`,
        }),
      );
    beforeEach(function () {
      if (process.platform === 'win32') this.skip();
    });

    it('names a program by its description, else by its file', async () => {
      const path = 'C:\\Program Files\\QTest\\qtest.EXE';
      expect(await read({ pid: 4, path, description: 'QTest Editor' })).to.deep.equal({
        app: 'QTest Editor',
        bundleId: 'qtest.EXE',
        pid: 4,
      });
      expect(await read({ pid: 4, path, description: ' ' })).to.include({ app: 'qtest' });
      expect(await read({ pid: 8, path: null, description: null, name: 'elevated' })).to.include({
        app: 'elevated',
        bundleId: 'elevated.exe',
      });
      expect(await read({ pid: 4 })).to.deep.equal({ app: 'unknown', pid: 4 });
    });

    it('returns nothing for the lock screen, or without a window', async () => {
      const path = 'C:\\Windows\\LockApp.exe';
      expect(await read({ pid: 4, path, description: 'LockApp' })).to.equal(null);
      expect(await read({})).to.equal(null);
    });

    it('reports a PowerShell that answers nonsense or too late', async () => {
      const odd = recordedDesktop('win32', { 'powershell.exe': 'WARNING: something' });
      expect(await rejection(windows.read(odd))).to.include({ kind: 'unavailable' });
      const slow = recordedDesktop('win32', { 'powershell.exe': { code: null, timedOut: true } });
      expect((await rejection(windows.read(slow))).message).to.include('did not respond within 10 s');
    });

    it('reads the description from a version resource', () => {
      const record = (key: string, value: string): Buffer => {
        const head = Buffer.alloc(6);
        head.writeUInt16LE(value.length + 1, 2);
        const keyed = Buffer.concat([head, Buffer.from(`${key}\0`, 'utf16le')]);
        const padded = Buffer.concat([
          keyed,
          Buffer.alloc(-keyed.length & 3),
          Buffer.from(`${value}\0`, 'utf16le'),
        ]);
        return Buffer.concat([padded, Buffer.alloc(-padded.length & 3)]);
      };
      const resource = Buffer.concat([
        record('CompanyName', 'Q'),
        record('FileDescription', 'Größer als™'),
        record('FileVersion', '1.0'),
      ]);
      expect(fileDescription(resource)).to.equal('Größer als™');
      expect(fileDescription(record('FileDescription', ''))).to.equal(undefined);
      expect(fileDescription(Buffer.alloc(64))).to.equal(undefined);
    });
  });
});
