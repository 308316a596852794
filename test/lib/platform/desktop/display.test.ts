import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import fc from 'fast-check';
import { expect } from 'chai';

import { cookieFor, findCookie } from '../../../../src/lib/platform/desktop/display';
import { scratch } from '../../../helpers/scratch';

const LOCAL = 256;
const WILD = 65535;
const INTERNET = 0;

function entry(family: number, address: string | Buffer, number: string, secret: string): Buffer {
  const parts = [Buffer.from([family >> 8, family & 255])];
  for (const part of [
    Buffer.from(address),
    Buffer.from(number),
    Buffer.from('MIT-MAGIC-COOKIE-1'),
    Buffer.from(secret),
  ]) {
    parts.push(Buffer.from([part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(parts);
}

describe('platform/x-authority', () => {
  const here = { number: 7, remote: undefined, host: 'here' };

  function secretOf(...args: Parameters<typeof findCookie>): string | undefined {
    return findCookie(...args)?.data;
  }

  it('takes the entry of this host and display', () => {
    const file = Buffer.concat([
      entry(LOCAL, 'elsewhere', '7', 'a'),
      entry(LOCAL, 'here', '1', 'b'),
      entry(INTERNET, Buffer.from([10, 0, 0, 7]), '7', 'c'),
      entry(LOCAL, 'here', '7', 'right'),
    ]);
    expect(findCookie(file, here)).to.deep.equal({ name: 'MIT-MAGIC-COOKIE-1', data: 'right' });
    expect(secretOf(file, { ...here, number: 9 })).to.equal(undefined);
  });

  it('takes an entry for every address or every display', () => {
    expect(secretOf(entry(WILD, '', '7', 'x'), here)).to.equal('x');
    expect(secretOf(entry(LOCAL, 'here', '', 'x'), here)).to.equal('x');
    expect(secretOf(entry(WILD, '', '8', 'x'), here)).to.equal(undefined);
  });

  it('takes a forwarded display for local, and another host by its address', () => {
    const file = Buffer.concat([
      entry(LOCAL, 'here', '10', 'ours'),
      entry(INTERNET, Buffer.from([10, 0, 0, 7]), '10', 'theirs'),
    ]);
    expect(secretOf(file, { number: 10, host: 'here', remote: '127.0.0.1' })).to.equal('ours');
    expect(secretOf(file, { number: 10, host: 'here', remote: '10.0.0.7' })).to.equal('theirs');
    expect(secretOf(file, { number: 10, host: 'here', remote: '::ffff:10.0.0.7' })).to.equal('theirs');
    expect(secretOf(file, { number: 10, host: 'here', remote: '10.0.0.8' })).to.equal(undefined);
  });

  it('keeps what stands before a torn end, and survives any bytes', () => {
    const whole = entry(LOCAL, 'here', '7', 'whole');
    expect(secretOf(Buffer.concat([whole, entry(WILD, '', '7', 'torn').subarray(0, 9)]), here)).to.equal(
      'whole',
    );
    for (let end = 0; end < whole.length; end += 1) {
      expect(findCookie(whole.subarray(0, end), here)).to.equal(undefined);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const found = findCookie(Buffer.from(bytes), here);
        return found === undefined || typeof found.data === 'string';
      }),
    );
  });

  describe('its file', () => {
    const area = scratch();
    const display = { number: 7, remote: undefined };

    it('is $XAUTHORITY, else ~/.Xauthority', () => {
      writeFileSync(area.path('named'), entry(LOCAL, hostname(), '7', 'named'));
      writeFileSync(area.path('.Xauthority'), entry(LOCAL, hostname(), '7', 'home'));
      const home = { HOME: area.path() };
      expect(cookieFor({ ...home, XAUTHORITY: area.path('named') }, display)?.data).to.equal('named');
      expect(cookieFor(home, display)?.data).to.equal('home');
    });

    it('may be missing, a folder, or not readable', function () {
      mkdirSync(area.path('folder'));
      for (const XAUTHORITY of [area.path('none'), area.path('folder')]) {
        expect(cookieFor({ XAUTHORITY }, display)).to.equal(undefined);
      }
      expect(cookieFor({}, display)).to.equal(undefined);
      if (process.getuid?.() === 0) return;
      writeFileSync(area.path('closed'), entry(WILD, '', '7', 'x'));
      chmodSync(area.path('closed'), 0);
      expect(cookieFor({ XAUTHORITY: area.path('closed') }, display)).to.equal(undefined);
    });
  });
});
