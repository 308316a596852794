import { expect } from 'chai';

import {
  readHints,
  macosIdle,
  parseConsole,
  parseHid,
  parsePowerShellIdle,
  windowsIdle,
} from '../../../../src/lib/sense/idle';
import { recordedDesktop } from '../../../helpers/fake-desktop';
import { rejection } from '../../../helpers/errors';

const HID = `+-o IOHIDSystem  <class IOHIDSystem, id 0x100000512, registered, matched, active>
    {
      "HIDClickTime" = 500000000
      "HIDIdleTime" = 754171250
      "HIDParameters" = {"HIDClickTime"=500000000,"HIDIdleTime2"=9}
    }
`;

const USER_501 =
  '{"kCGSSessionOnConsoleKey"=Yes,"kSCSecuritySessionID"=100012,"kCGSSessionSystemSafeBoot"=No,"kCGSSessionUserIDKey"=501,"kCGSessionLoginDoneKey"=Yes,"kCGSSessionUserNameKey"="q"}';
const AWAY_502 = '{"kCGSSessionOnConsoleKey"=No,"kCGSSessionUserIDKey"=502,"CGSSessionScreenIsLocked"=Yes}';
const root = (...users: string[]): string => `+-o Root  <class IORegistryEntry>
    {
      "IOConsoleUsers" = (${users.join(',')})
      "OS Build Version" = "24A335"
    }
`;

describe('sense/idle, recorded answers', () => {
  describe('macOS', () => {
    it('gives nanoseconds of input silence as milliseconds', () => {
      expect(parseHid(HID)).to.deep.equal({ idleMs: 754.17125 });
      expect(parseHid('')).to.deep.equal({});
    });

    it('knows the lock of its own user only', () => {
      const locked = USER_501.replace('{', '{"CGSSessionScreenIsLocked"=Yes,');
      expect(parseConsole(root(USER_501, AWAY_502), 501)).to.deep.equal({ locked: false });
      expect(parseConsole(root(AWAY_502, locked), 501)).to.deep.equal({ locked: true });
      expect(parseConsole(root(USER_501), 777)).to.deep.equal({});
      expect(parseConsole('', 501)).to.deep.equal({});
    });

    it('takes a session that is not on the console for locked', () => {
      expect(parseConsole(root(USER_501.replace('=Yes', '=No')), 501)).to.deep.equal({ locked: true });
    });

    it('asks ioreg for both', async () => {
      const desktop = recordedDesktop('darwin', {
        '/usr/sbin/ioreg -r -d 1 -c IOHIDSystem': HID,
        '/usr/sbin/ioreg -n Root': root(USER_501.replace('501', String(process.getuid?.()))),
      });
      expect(await macosIdle.read(desktop)).to.deep.equal({ idleMs: 754.17125, locked: false });
      const broken = recordedDesktop('darwin', { '/usr/sbin/ioreg': { code: 1 } });
      expect(await rejection(macosIdle.read(broken))).to.include({ kind: 'unavailable' });
    });
  });

  describe('Windows', () => {
    it('reads what PowerShell prints', async function () {
      expect(parsePowerShellIdle({ idleMs: 1500, locked: false })).to.deep.equal({
        idleMs: 1500,
        locked: false,
      });
      expect(parsePowerShellIdle({ idleMs: null, locked: 'no' })).to.deep.equal({});
      if (process.platform === 'win32') this.skip();
      const desktop = recordedDesktop('win32', { 'powershell.exe': '{"idleMs":12,"locked":true}' });
      expect(await windowsIdle.read(desktop)).to.deep.equal({ idleMs: 12, locked: true });
    });
  });

  describe('logind hints', () => {
    const nowMs = 1_700_000_000_000;
    const since = BigInt((nowMs - 90_000) * 1000);

    it('gives the time since the session was marked idle', () => {
      expect(readHints({ locked: false, idle: true, since }, nowMs)).to.deep.equal({
        locked: false,
        idleMs: 90_000,
      });
    });

    it('says nothing of the last minutes while the session is not marked', () => {
      expect(readHints({ locked: true, idle: false, since }, nowMs)).to.deep.equal({ locked: true });
    });

    it('does not believe a mark without time or of the future', () => {
      expect(readHints({ locked: false, idle: true, since: 0n }, nowMs)).to.deep.equal({ locked: false });
      const future = BigInt((nowMs + 1) * 1000);
      expect(readHints({ locked: undefined, idle: true, since: future }, nowMs)).to.deep.equal({});
    });
  });
});
