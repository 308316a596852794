import { expect } from 'chai';

import { macosIdle, readHints, windowsIdle } from '../../../../src/lib/sense/idle';
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
    const uid = process.getuid?.() ?? 0;
    const own = USER_501.replace('501', String(uid));
    const read = (hid: string, users: string) =>
      macosIdle.read(
        recordedDesktop('darwin', {
          '/usr/sbin/ioreg -r -d 1 -c IOHIDSystem': hid,
          '/usr/sbin/ioreg -n Root': users,
        }),
      );

    it('reads idle time in milliseconds and the lock', async () => {
      expect(await read(HID, root(own, AWAY_502))).to.deep.equal({ idleMs: 754.17125, locked: false });
      expect(await read('', '')).to.deep.equal({});
    });

    it("reads the lock of this user's session only", async () => {
      const locked = own.replace('{', '{"CGSSessionScreenIsLocked"=Yes,');
      expect(await read('', root(AWAY_502, locked))).to.deep.equal({ locked: true });
      expect(await read('', root(AWAY_502))).to.deep.equal({});
    });

    it('treats a session that is not on the console as locked', async () => {
      expect(await read('', root(own.replace('=Yes', '=No')))).to.deep.equal({ locked: true });
    });

    it('reports a failed ioreg', async () => {
      const broken = recordedDesktop('darwin', { '/usr/sbin/ioreg': { code: 1 } });
      expect(await rejection(macosIdle.read(broken))).to.include({ kind: 'unavailable' });
    });
  });

  describe('Windows', () => {
    it('reads the answer of PowerShell', async function () {
      if (process.platform === 'win32') this.skip();
      const read = (text: string) => windowsIdle.read(recordedDesktop('win32', { 'powershell.exe': text }));
      expect(await read('{"idleMs":12,"locked":true}')).to.deep.equal({ idleMs: 12, locked: true });
      expect(await read('{"idleMs":null,"locked":"no"}')).to.deep.equal({});
    });
  });

  describe('logind hints', () => {
    const nowMs = 1_700_000_000_000;
    const since = (nowMs - 90_000) * 1000;

    it('returns the time since the session was marked idle', () => {
      expect(readHints({ locked: false, idle: true, since }, nowMs)).to.deep.equal({
        locked: false,
        idleMs: 90_000,
      });
    });

    it('returns no idle time while the session is not marked idle', () => {
      expect(readHints({ locked: true, idle: false, since }, nowMs)).to.deep.equal({ locked: true });
    });

    it('ignores a mark without a time or in the future', () => {
      expect(readHints({ locked: false, idle: true, since: 0 }, nowMs)).to.deep.equal({ locked: false });
      const future = (nowMs + 1) * 1000;
      expect(readHints({ locked: undefined, idle: true, since: future }, nowMs)).to.deep.equal({});
    });
  });
});
