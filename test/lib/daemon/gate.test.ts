import { expect } from 'chai';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { gate, keptSecret, readToken } from '../../../src/lib/daemon/guards';
import { headOf } from '../../helpers/daemon-app';
import { testArea } from '../../helpers/area';
import { scratch } from '../../helpers/scratch';

const TOKEN = 'a-token-of-more-than-thirty-two-characters';

describe('gate', () => {
  let ms = 0;
  const clock = { now: () => 0, monotonic: () => ms };
  const door = gate(clock, TOKEN);
  const headersOf = (bearer: string | undefined) => ({ authorization: `Bearer ${bearer}` });
  const lets = (headers: Record<string, string>): boolean => door.hasKey(headOf('/', headers));

  it('accepts the exact token as Bearer only', () => {
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
    expect(lets({ cookie: `steward-31337=${TOKEN}` }), 'no cookie').to.equal(false);
  });

  it('exchanges a code once for a secret other than the token', () => {
    const { code, expiresInSec } = door.newCode();
    expect(expiresInSec).to.equal(60);
    const secret = door.redeem(code);
    expect(secret).to.match(/^[\w-]{43}$/);
    expect(secret).not.to.equal(TOKEN);
    expect(door.redeem(code), 'a second time').to.equal(undefined);
    expect(lets(headersOf(secret))).to.equal(true);
    expect(lets(headersOf(`${secret}x`))).to.equal(false);
    expect(lets(headersOf(code)), 'the code is no secret').to.equal(false);
    expect(lets({ cookie: `steward=${secret}` }), 'no cookie').to.equal(false);
    expect(gate(clock, TOKEN).hasKey(headOf('/', headersOf(secret))), 'the next daemon').to.equal(false);
  });

  it('tells a signed-in page from a program with the token', () => {
    const open = gate(clock, undefined);
    const secret = open.redeem(open.newCode().code);
    expect([open.isRequired, door.isRequired]).to.deep.equal([false, true]);
    expect(open.hasPageSecret(headOf('/', headersOf(secret)))).to.equal(true);
    expect(open.hasPageSecret(headOf('/', {}))).to.equal(false);
    expect(door.hasPageSecret(headOf('/', headersOf(TOKEN)))).to.equal(false);
  });

  it('refuses a code after a minute', () => {
    const { code } = door.newCode();
    ms += 60_000;
    expect(door.redeem(code)).to.equal(undefined);
  });

  it('refuses an unknown code', () => {
    for (const code of ['', 'x', TOKEN]) expect(door.redeem(code)).to.equal(undefined);
  });

  it('remembers a bounded number of codes', () => {
    const codes = Array.from({ length: 50 }, () => door.newCode().code);
    const good = codes.filter((code) => door.redeem(code) !== undefined);
    expect(good.length).to.be.within(1, 20);
    expect(good).to.include(codes[49]);
  });

  it('keeps the secret for a daemon that starts within a day, on this machine only', () => {
    const box = testArea();
    mkdirSync(box.area.machine, { recursive: true });
    let now = 0;
    const secretOf = (machineId = 'one') => {
      const kept = keptSecret({ area: box.area, machineId, clock: { now: () => now, monotonic: () => now } });
      kept.keep();
      return kept.secret;
    };
    const first = secretOf();
    const path = join(box.area.machine, 'page.secret');
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    now += 86_399_999;
    expect(secretOf()).to.equal(first);
    now += 86_400_000;
    const second = secretOf();
    expect(second)
      .to.match(/^[\w-]{43}$/)
      .and.not.to.equal(first);
    expect(secretOf('two'), 'another machine').not.to.equal(second);
    const third = secretOf('two');
    chmodSync(path, 0o644);
    expect(secretOf('two'), 'readable by others').not.to.equal(third);
    box.remove();
  });

  describe('token file', () => {
    const box = scratch();

    it('is created once, readable by this user only', () => {
      const path = box.path('daemon.token');
      const token = readToken(path);
      expect(token).to.match(/^[\w-]{43}$/);
      expect(readToken(path)).to.equal(token);
      if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).to.equal(0o600);
      expect(readFileSync(path, 'utf8').trim()).to.equal(token);
    });

    it('is refused if it is invalid or readable by others', () => {
      const path = box.path('daemon.token');
      writeFileSync(path, 'short\n', { mode: 0o600 });
      expect(() => readToken(path)).to.throw('is not a valid token file');
      expect(existsSync(path)).to.equal(true);
      if (process.platform === 'win32') return;
      writeFileSync(path, `${TOKEN}\n`);
      chmodSync(path, 0o644);
      expect(() => readToken(path)).to.throw('can read');
    });
  });
});
