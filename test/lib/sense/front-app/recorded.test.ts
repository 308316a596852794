import { expect } from 'chai';

import { parseGnome } from '../../../../src/lib/sense/front-app/gnome';
import {
  hyprland,
  parseHyprland,
  focusedWindow,
  parseTree,
} from '../../../../src/lib/sense/front-app/window-managers';
import { parseKwin } from '../../../../src/lib/sense/front-app/kwin';
import { macos, parseAppInfo, parseScriptAnswer } from '../../../../src/lib/sense/front-app/macos';
import { nameProgram, parsePowerShell, windows } from '../../../../src/lib/sense/front-app/windows';
import { nameX11Window } from '../../../../src/lib/sense/front-app/x11';
import { fileDescription } from '../../../../src/lib/platform/process/windows';
import { recordedDesktop } from '../../../helpers/fake-desktop';
import { rejection } from '../../../helpers/errors';

const SECRET = 'Payroll 2026 - secret';
/** No entries but those of the machine: classes here are ones that no machine has. */
const BARE = { env: { HOME: '/nonexistent' } };

describe('sense/front-app, recorded answers', () => {
  describe('GNOME extension', () => {
    const answer = (extra: object = {}): string =>
      JSON.stringify({
        title: SECRET,
        wm_class: 'qtest-class',
        wm_class_instance: 'qtest',
        pid: 4711,
        id: 2205525109,
        width: 1920,
        height: 1011,
        x: 0,
        y: 32,
        focus: true,
        in_current_workspace: true,
        moveable: true,
        resizeable: true,
        canclose: true,
        ...extra,
      });

    it('keeps class and pid', () => {
      expect(parseGnome(BARE, answer())).to.deep.equal({
        app: 'qtest-class',
        bundleId: 'qtest-class',
        pid: 4711,
      });
    });

    it('takes an empty object for no focus', () => {
      expect(parseGnome(BARE, '{}')).to.equal(null);
      expect(parseGnome(BARE, 'null')).to.equal(null);
    });

    it('keeps a title out of the error for an answer that is not JSON', () => {
      expect(() => parseGnome(BARE, `${SECRET} {`))
        .to.throw('no readable answer')
        .and.satisfy(
          (error: Error) => !JSON.stringify([error.message, String(error.cause)]).includes('Payroll'),
        );
    });

    it('lets no title through, wherever it hides', () => {
      const seen = parseGnome(BARE, answer({ wm_class: { title: SECRET }, wm_class_instance: [SECRET] }));
      expect(JSON.stringify(seen)).to.not.include('Payroll');
    });
  });

  describe('KWin', () => {
    it('names a window by its desktop file, class, instance', () => {
      expect(parseKwin(BARE, ['org.qtest.app', 'qtest', 'q', 12])).to.deep.equal({
        app: 'org.qtest.app',
        bundleId: 'org.qtest.app',
        pid: 12,
      });
      expect(parseKwin(BARE, ['', 'qtest', 'q', 12])).to.include({ app: 'qtest' });
    });

    it('takes a desktop file by path or with its extension', () => {
      expect(parseKwin(BARE, ['/x/y/org.qtest.app.desktop', '', '', 1])).to.include({ app: 'org.qtest.app' });
    });

    it('knows the desktop, a panel or nothing by pid -1', () => {
      expect(parseKwin(BARE, ['', '', '', -1])).to.equal(null);
    });

    it('refuses what its script never says', () => {
      expect(() => parseKwin(BARE, [1, 2])).to.throw('something else');
    });
  });

  describe('Hyprland', () => {
    const output = JSON.stringify({
      address: '0x55d1c8a0',
      mapped: true,
      hidden: false,
      at: [22, 22],
      workspace: { id: 1, name: SECRET },
      class: 'qtest-kitty',
      title: SECRET,
      initialClass: 'qtest-kitty',
      initialTitle: SECRET,
      pid: 901,
      xwayland: false,
      focusHistoryID: 0,
    });
    const env = { HYPRLAND_INSTANCE_SIGNATURE: 'abc' };

    it('asks hyprctl and keeps class and pid', async () => {
      const desktop = recordedDesktop('linux', { 'hyprctl activewindow -j': output }, env);
      expect(await hyprland.read(desktop)).to.deep.equal({
        app: 'qtest-kitty',
        bundleId: 'qtest-kitty',
        pid: 901,
      });
    });

    it('knows an empty workspace', () => {
      expect(parseHyprland(BARE, '{}')).to.equal(null);
      expect(parseHyprland(BARE, 'Invalid\n')).to.equal(null);
    });

    it('tells a Hyprland that does not answer from one without hyprctl', async () => {
      const dead = recordedDesktop('linux', {
        hyprctl: { code: 1, stdout: 'HYPRLAND_INSTANCE_SIGNATURE not set!' },
      });
      expect(await rejection(hyprland.read(dead))).to.include({ kind: 'unavailable' });
      expect(await rejection(hyprland.read(recordedDesktop('linux', {})))).to.include({ kind: 'not_found' });
    });
  });

  describe('sway and i3 trees', () => {
    const leaf = {
      type: 'con',
      name: SECRET,
      focused: true,
      pid: 77,
      app_id: 'qtest-foot',
      nodes: [],
      marks: [SECRET],
    };
    const tree = (child: object): string =>
      JSON.stringify({
        type: 'root',
        focused: false,
        nodes: [{ name: 'ws', focused: false, nodes: [], floating_nodes: [child] }],
      });

    it('finds a focused window, Wayland or X, tiled or floating', () => {
      const found = focusedWindow(parseTree(tree(leaf), 'x'));
      expect(found).to.deep.equal({ ids: ['qtest-foot'], pid: 77 });
      const x = {
        focused: true,
        window: 41,
        window_properties: { class: 'QTest', instance: 'qtest', title: SECRET },
      };
      expect(focusedWindow(parseTree(tree(x), 'x'))).to.deep.equal({
        ids: ['QTest', 'qtest'],
        pid: undefined,
      });
    });

    it('drops every title while it parses', () => {
      const x = { ...leaf, window_properties: { class: 'a', title: SECRET }, title_format: SECRET };
      expect(JSON.stringify(parseTree(tree(x), 'x'))).to.not.include('Payroll');
    });

    it('takes a focused workspace for nothing', () => {
      expect(focusedWindow({ nodes: [{ type: 'workspace', focused: true, nodes: [] }] })).to.equal(null);
      expect(focusedWindow({ nodes: 'odd', floating_nodes: [null, 4] })).to.equal(null);
    });
  });

  describe('X11 properties', () => {
    const pid = Buffer.from([1, 2, 0, 0]);

    it('reads instance and class in their order', () => {
      expect(nameX11Window(BARE, { classes: Buffer.from('qinst\0QTestClass\0'), pid })).to.deep.equal({
        app: 'QTestClass',
        bundleId: 'QTestClass',
        pid: 513,
      });
    });

    it('reads UTF-8 and Latin-1, each name by itself', () => {
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

    it('takes a window without any property for one that is gone', () => {
      expect(nameX11Window(BARE, { classes: undefined, pid: undefined })).to.equal(null);
    });

    it('survives a cut class and a short pid', () => {
      const odd = nameX11Window(BARE, { classes: Buffer.from('only'), pid: Buffer.from([1]) });
      expect(odd).to.deep.equal({ app: 'only', bundleId: 'only' });
    });
  });

  describe('macOS', () => {
    const info = (name: string, bundle: string, path: string): string =>
      `"LSDisplayName"="${name}"\n"CFBundleIdentifier"="${bundle}"\n"LSBundlePath"="${path}"\n"pid"=612\n`;
    const safari = info('Safari', 'com.apple.Safari', '/Applications/Safari.app');

    it('asks for the front, then for name, bundle and pid', async () => {
      const desktop = recordedDesktop('darwin', {
        '/usr/bin/lsappinfo front': 'ASN:0x0-0x1b01b:\n',
        '/usr/bin/lsappinfo info': safari,
      });
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

    it('asks the workspace where lsappinfo knows no front', async () => {
      const desktop = recordedDesktop('darwin', {
        '/usr/bin/lsappinfo front': '[ NULL ]\n',
        '/usr/bin/osascript -l JavaScript': `{"name":"Mail","bundleId":"com.apple.mail","bundlePath":"/System/Applications/Mail.app","pid":9}\n`,
      });
      expect(await macos.read(desktop)).to.deep.equal({ app: 'Mail', bundleId: 'com.apple.mail', pid: 9 });
    });

    it('says that it takes a login session where both fail', async () => {
      const desktop = recordedDesktop('darwin', {
        '/usr/bin/lsappinfo': { code: 1 },
        '/usr/bin/osascript': { code: 1 },
      });
      expect(await rejection(macos.read(desktop))).to.include({ kind: 'unavailable' });
    });

    it('tells programs of one framework apart by their bundle', () => {
      const app = parseAppInfo(info('Electron', 'com.qtest.editor', '/Applications/Q Editor.app'));
      expect(app).to.include({ app: 'Q Editor', bundleId: 'com.qtest.editor' });
    });

    it('takes what is not known from what is', () => {
      expect(parseAppInfo('"LSDisplayName"=[ NULL ]\n"CFBundleIdentifier"="com.qtest.x"\n')).to.deep.equal({
        app: 'com.qtest.x',
        bundleId: 'com.qtest.x',
      });
      expect(parseAppInfo('"LSDisplayName"=[ NULL ]\n')).to.equal(null);
      expect(parseScriptAnswer('{}')).to.equal(null);
    });

    it('takes the login window and the screen saver for nobody', () => {
      expect(parseAppInfo(info('loginwindow', 'com.apple.loginwindow', '/x.app'))).to.equal(null);
      expect(parseAppInfo(info('S', 'com.apple.ScreenSaver.Engine', '/x.app'))).to.equal(null);
    });
  });

  describe('Windows', () => {
    it('names a program by its description, else by its file', () => {
      const path = 'C:\\Program Files\\QTest\\qtest.EXE';
      expect(nameProgram({ pid: 4, path, description: 'QTest Editor' })).to.deep.equal({
        app: 'QTest Editor',
        bundleId: 'qtest.EXE',
        pid: 4,
      });
      expect(nameProgram({ pid: 4, path, description: ' ' })).to.include({ app: 'qtest' });
      expect(nameProgram({ pid: 4, path: undefined, description: undefined })).to.deep.equal({
        app: 'unknown',
        pid: 4,
      });
    });

    it('takes the lock screen, and no window, for nobody', () => {
      expect(nameProgram({ pid: 4, path: 'C:\\Windows\\LockApp.exe', description: 'LockApp' })).to.equal(
        null,
      );
      expect(nameProgram(null)).to.equal(null);
    });

    it('reads what PowerShell prints', () => {
      const path = 'C:\\Windows\\System32\\notepad.exe';
      expect(parsePowerShell({ pid: 8, path, description: 'Notepad', name: 'notepad' })).to.deep.equal({
        app: 'Notepad',
        bundleId: 'notepad.exe',
        pid: 8,
      });
      expect(parsePowerShell({ pid: 8, path: null, description: null, name: 'elevated' })).to.include({
        app: 'elevated',
        bundleId: 'elevated.exe',
      });
      expect(parsePowerShell({})).to.equal(null);
    });

    it('falls back to PowerShell where the calls cannot be made', async function () {
      if (process.platform === 'win32') this.skip();
      const desktop = recordedDesktop('win32', {
        'powershell.exe -NoProfile -NonInteractive -EncodedCommand':
          '{"pid":8,"path":"C:\\\\a.exe","description":"A"}\r\n',
      });
      expect(await windows.read(desktop)).to.deep.equal({ app: 'A', bundleId: 'a.exe', pid: 8 });
      const odd = recordedDesktop('win32', { 'powershell.exe': 'WARNING: something' });
      expect(await rejection(windows.read(odd))).to.include({ kind: 'unavailable' });
      const slow = recordedDesktop('win32', { 'powershell.exe': { code: null, timedOut: true } });
      expect((await rejection(windows.read(slow))).message).to.include('did not answer in 10 s');
    });

    it('finds the description in a version resource', () => {
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
