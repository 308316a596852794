import { expect } from 'chai';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';

import { gate, readToken } from '../../../src/lib/daemon/gate';
import { headOf } from '../../helpers/daemon-app';
import { scratch } from '../../helpers/scratch';

const TOKEN = 'a-token-of-more-than-thirty-two-characters';

describe('the gate', () => {
  let ms = 0;
  const clock = { now: () => 0, monotonic: () => ms };
  const door = gate(clock, TOKEN, () => 31_337);
  const lets = (headers: Record<string, string>): boolean => door.isAuthorised(headOf('/', headers));
  const cookieOf = (header = ''): string => header.split(';')[0] ?? '';

  it('takes the token as Bearer, and nothing like it', () => {
    expect(lets({ authorization: `Bearer ${TOKEN}` })).to.equal(true);
    expect(lets({ authorization: `bearer  ${TOKEN} ` })).to.equal(true);
    for (const header of [
      `Bearer ${TOKEN}x`,
      `Basic ${TOKEN}`,
      TOKEN,
      'Bearer',
      'Bearer ',
      '',
      `Bearer ${TOKEN} x`,
    ]) {
      expect(lets({ authorization: header }), header).to.equal(false);
    }
    expect(lets({})).to.equal(false);
    expect(lets({ cookie: `steward-31337=${TOKEN}` }), 'the token is no cookie').to.equal(false);
  });

  it('turns a code into a cookie, once', () => {
    const { code, expiresInSec } = door.newCode();
    expect(expiresInSec).to.equal(60);
    const header = door.redeem(code);
    expect(header).to.match(/^steward-31337=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect(header).not.to.include(TOKEN);
    expect(door.redeem(code)).to.equal(undefined);
    expect(lets({ cookie: cookieOf(header) })).to.equal(true);
    expect(lets({ cookie: `other=1; ${cookieOf(header)}; more=2` })).to.equal(true);
    expect(lets({ cookie: `${cookieOf(header)}x` })).to.equal(false);
    expect(lets({ cookie: cookieOf(header).replace('31337', '31338') })).to.equal(false);
  });

  it('takes no code after a minute, and no cookie after 30 days', () => {
    const late = door.newCode().code;
    const header = door.redeem(door.newCode().code);
    ms += 60_001;
    expect(door.redeem(late)).to.equal(undefined);
    expect(lets({ cookie: cookieOf(header) })).to.equal(true);
    ms += 30 * 86_400_000;
    expect(lets({ cookie: cookieOf(header) })).to.equal(false);
  });

  it('takes no code that it never made', () => {
    for (const code of ['', 'x', TOKEN]) expect(door.redeem(code)).to.equal(undefined);
  });

  it('keeps a bounded number of codes', () => {
    const codes = Array.from({ length: 50 }, () => door.newCode().code);
    const good = codes.filter((code) => door.redeem(code) !== undefined);
    expect(good.length).to.be.within(1, 20);
    expect(good).to.include(codes[49]);
  });

  describe('the token file', () => {
    const box = scratch();

    it('is made once, for this user alone', () => {
      const path = box.path('daemon.token');
      const token = readToken(path);
      expect(token).to.match(/^[\w-]{43}$/);
      expect(readToken(path)).to.equal(token);
      if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).to.equal(0o600);
      expect(readFileSync(path, 'utf8').trim()).to.equal(token);
    });

    it('is refused when it holds none, or when others can read it', () => {
      const path = box.path('daemon.token');
      writeFileSync(path, 'short\n', { mode: 0o600 });
      expect(() => readToken(path)).to.throw('holds no token');
      expect(existsSync(path)).to.equal(true);
      if (process.platform === 'win32') return;
      writeFileSync(path, `${TOKEN}\n`);
      chmodSync(path, 0o644);
      expect(() => readToken(path)).to.throw('can read');
    });
  });
});
