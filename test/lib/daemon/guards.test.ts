import { expect } from 'chai';
import fc from 'fast-check';

import { guard, hostNameOf, policyFor } from '../../../src/lib/daemon/guards';
import { headOf } from '../../helpers/daemon-app';

const OWN = '127.0.0.1:31337';
const policy = policyFor('127.0.0.1');

describe('guards', () => {
  const statusOf = (headers: Record<string, string>, method = 'GET', rules = policy): number | undefined =>
    guard(headOf('/', headers, { method }), rules)?.status;

  for (const host of [OWN, 'localhost:31337', 'LOCALHOST', '[::1]:31337', '127.0.0.1', '127.1.2.3:8080']) {
    it(`lets ${host} in`, () => expect(statusOf({ host })).to.equal(undefined));
  }

  for (const host of [
    'evil.example',
    'evil.example:31337',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '127.0.0.1@evil.example',
    'evil.example#127.0.0.1',
    '127.0.0.1:31337:1',
    '127.0.0.1:',
    '127.0.0.1:port',
    '127.0.0.1:313370',
    '',
    ' ',
    '0.0.0.0:31337',
    '10.0.0.1',
    '[::1',
    '::1',
    '127.0.0.1/evil',
  ]) {
    it(`refuses the host ${JSON.stringify(host)}`, () => expect(statusOf({ host })).to.equal(403));
  }

  it('refuses a request with no Host header or with two', () => {
    expect(statusOf({})).to.equal(403);
    const head = headOf('/', { host: OWN });
    expect(
      guard({ ...head, rawHeaders: [...head.rawHeaders, 'HOST', 'evil.example'] }, policy)?.status,
    ).to.equal(403);
  });

  it('accepts the configured host, and any address if it listens on all', () => {
    expect(statusOf({ host: 'box.lan:1' }, 'GET', policyFor('box.lan'))).to.equal(undefined);
    expect(statusOf({ host: '192.168.1.5:1' }, 'GET', policyFor('0.0.0.0'))).to.equal(undefined);
    expect(statusOf({ host: '[fe80::1]:1' }, 'GET', policyFor('::'))).to.equal(undefined);
    expect(statusOf({ host: 'evil.example' }, 'GET', policyFor('0.0.0.0'))).to.equal(403);
  });

  for (const [site, status] of [
    ['same-origin', undefined],
    ['none', undefined],
    ['same-site', 403],
    ['cross-site', 403],
    ['', 403],
    ['Same-Origin', 403],
  ] as const) {
    it(`Sec-Fetch-Site ${JSON.stringify(site)}: ${status ?? 'in'}`, () =>
      expect(statusOf({ host: OWN, 'sec-fetch-site': site })).to.equal(status));
  }

  for (const [origin, status] of [
    [`http://${OWN}`, undefined],
    ['http://127.0.0.1:3000', 403],
    ['http://localhost:31337', 403],
    [`https://${OWN}`, 403],
    ['null', 403],
    ['', 403],
    [`http://${OWN}.evil.example`, 403],
    ['file://', 403],
  ] as const) {
    it(`Origin ${JSON.stringify(origin)}: ${status ?? 'in'}`, () =>
      expect(statusOf({ host: OWN, origin })).to.equal(status));
  }

  it('requires JSON from a page, but not from a program', () => {
    const origin = `http://${OWN}`;
    expect(statusOf({ host: OWN, origin }, 'POST')).to.equal(415);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonp',
      'multipart/form-data',
    ]) {
      expect(statusOf({ host: OWN, origin, 'content-type': type }, 'POST'), type).to.equal(415);
    }
    for (const type of ['application/json', 'Application/JSON; charset=utf-8']) {
      expect(statusOf({ host: OWN, origin, 'content-type': type }, 'POST'), type).to.equal(undefined);
    }
    expect(statusOf({ host: OWN, 'content-type': 'text/plain' }, 'POST')).to.equal(undefined);
  });

  it('never accepts a foreign host, however it is written', () => {
    fc.assert(
      fc.property(fc.domain(), fc.integer({ min: 0, max: 99_999 }), (name, port) => {
        fc.pre(name !== 'localhost');
        return statusOf({ host: `${name}:${port}` }) === 403;
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const name = hostNameOf(text);
        return name === undefined || !/[\s/\\@?#]/.test(name);
      }),
    );
  });

  it('accepts no origin but its own', () => {
    fc.assert(
      fc.property(fc.webUrl(), (url) => {
        const { origin } = new URL(url);
        return statusOf({ host: OWN, origin }) === 403;
      }),
    );
  });
});
