import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';

import { gate } from '../../../src/lib/daemon/guards';
import { webRoute, type WebRouteDeps } from '../../../src/lib/daemon/web-route';
import { StewardError } from '../../../src/lib/errors';
import type { SiteVisit } from '../../../src/lib/sense/web';
import { extensionOf, pairAgain, readPairing } from '../../../src/lib/sense/web-pairing';
import { testArea, type TestArea } from '../../helpers/area';
import { testApp, type TestAnswer, type TestApp } from '../../helpers/daemon-app';
import { seeded } from '../../helpers/random';
import { long } from '../../helpers/long';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const CHROMIUM = 'chrome-extension://ihpfcfamkkfoblpohlabmoffkbbfoeka';
const FIREFOX = 'moz-extension://01234567-89ab-cdef-0123-456789abcdef';
const VISIT = { site: 'github.com', at: NOW - 60_000, until: NOW };

describe('the route of the browser extension', () => {
  let area: TestArea;
  let visits: SiteVisit[];
  let off: Awaited<ReturnType<WebRouteDeps['whyOff']>>;
  let deps: WebRouteDeps;
  let app: TestApp;
  let token: string;

  beforeEach(() => {
    area = testArea();
    visits = [];
    off = undefined;
    ({ token } = pairAgain(area.area));
    deps = {
      area: area.area,
      clock: { now: () => NOW },
      whyOff: () => Promise.resolve(off),
      store: (visit) => Promise.resolve(void visits.push(visit)),
    };
    app = testApp([webRoute(deps)]);
  });

  afterEach(() => area.remove());

  function send(body: unknown, headers: Record<string, string | undefined> = {}): Promise<TestAnswer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const all = {
      host: '127.0.0.1:31337',
      origin: CHROMIUM,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      authorization: `Bearer ${token}`,
      ...headers,
    };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return app.ask('/api/sense/web', { method: 'POST', headers: Object.fromEntries(sent), body: text });
  }

  const stored = (): unknown[] => [...visits];

  it('takes a visit of the paired extension', async () => {
    const { status, json } = await send(VISIT);
    expect([status, json()]).to.deep.equal([202, { accepted: true }]);
    expect((await send({ ...VISIT, site: null, until: NOW - 1 })).status).to.equal(202);
    expect(stored()).to.deep.equal([
      { ...VISIT, via: 'chromium' },
      { ...VISIT, site: null, until: NOW - 1, via: 'chromium' },
    ]);
  });

  it('has the extension send it later while captures hold the lock', async () => {
    const store = () => Promise.reject(new StewardError('locked', 'A capture is running.'));
    app = testApp([webRoute({ ...deps, store })]);
    expect((await send(VISIT)).status).to.equal(423);
  });

  it('refuses every other origin, with or without the code', async () => {
    const origins = [
      undefined,
      'null',
      'http://127.0.0.1:31337',
      'http://localhost',
      'https://github.com',
      'chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      `${CHROMIUM}/`,
      `${CHROMIUM}.evil.test`,
      CHROMIUM.toUpperCase(),
      'moz-extension://x',
      `${FIREFOX}, ${CHROMIUM}`,
    ];
    for (const origin of origins) expect((await send(VISIT, { origin })).status, origin).to.equal(403);
    expect(stored()).to.deep.equal([]);
  });

  long('accepts none of 5,000 requests of others', async () => {
    const { pick, below } = seeded(35);
    const letters = (count: number, from: string): string =>
      Array.from({ length: count }, () => pick([...from])).join('');
    expect((await send(VISIT)).status).to.equal(202);
    const before = `Bearer ${token}`;
    ({ token } = pairAgain(area.area));
    await send(VISIT, { origin: FIREFOX });
    const known = stored();
    const origin = (): string | undefined =>
      pick([
        `chrome-extension://${letters(32, 'abcdefghijklmnop')}`,
        `https://${letters(8, 'abcdef')}.test`,
        'http://127.0.0.1:31337',
        'null',
        undefined,
      ]);
    const code = (): string | undefined => pick([before, `Bearer ${letters(32, 'abcXYZ09-_')}`, undefined]);
    const other = letters(8, '0123456789abcdef');
    /** Ways to ask, each with the statuses that refuse it. */
    const attacks: (() => [Promise<TestAnswer>, number[]])[] = [
      () => [send(VISIT, { origin: origin(), authorization: pick([`Bearer ${token}`, code()]) }), [403]],
      () => [send(VISIT, { authorization: code() }), [401]],
      // The extension of another profile, without the code.
      () => [send(VISIT, { origin: FIREFOX.replace('01234567', other), authorization: code() }), [401]],
      // What was recorded before the code was replaced, or long ago.
      () => [send({ ...VISIT, at: NOW - 60_000 - below(1000) }, { authorization: before }), [401]],
      () => [send({ ...VISIT, at: VISIT.at - 8e6, until: NOW - 8e6 + below(1000) }), [400]],
      () => [send({ ...VISIT, more: 'x'.repeat(1000 + below(60_000)) }), [400, 413]],
      () => [send(JSON.stringify(VISIT).slice(0, -1 - below(40))), [400]],
      () => [send({ ...VISIT, [letters(5, 'abc')]: below(9) }), [400]],
      () => [send({ ...VISIT, site: letters(1 + below(3), 'ab./:?#') }), [400]],
      () => [send(VISIT, { 'content-type': pick(['text/plain', 'multipart/form-data', undefined]) }), [415]],
      () => [send(VISIT, { host: `${letters(8, 'abc')}.test` }), [403]],
    ];
    const refused = new Map<number, number>();
    for (let i = 0; i < 5_000; i += 1) {
      const [answer, wanted] = pick(attacks)();
      const { status } = await answer;
      expect(wanted).to.include(status);
      refused.set(status, (refused.get(status) ?? 0) + 1);
    }
    expect([...refused.keys()].sort()).to.deep.equal([400, 401, 403, 413, 415]);
    expect(stored()).to.deep.equal(known);
  });

  it('knows the extension by the key in its manifest', () => {
    const { key } = JSON.parse(readFileSync('extension/manifest.json', 'utf8')) as { key: string };
    const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('hex').slice(0, 32);
    const id = digest.replace(/./g, (digit) => 'abcdefghijklmnop'.charAt(parseInt(digit, 16)));
    expect(extensionOf(`chrome-extension://${id}`)).to.equal('chromium');
  });

  it('refuses a wrong code, and the code before the last', async () => {
    for (const authorization of [undefined, 'Bearer x', `Basic ${token}`, `Bearer ${token}x`])
      expect((await send(VISIT, { authorization })).status, authorization).to.equal(401);
    pairAgain(area.area);
    expect((await send(VISIT)).error().hint).to.include('steward sense web install');
    expect(stored()).to.deep.equal([]);
  });

  it('pairs each browser that sends the code, and each profile of Firefox', async () => {
    expect((await send(VISIT, { origin: FIREFOX })).status).to.equal(202);
    expect((await send(VISIT)).status).to.equal(202);
    // Firefox gives another origin to each profile, and to a temporary extension that is loaded again.
    expect((await send(VISIT, { origin: FIREFOX.replace('0123', 'ffff') })).status).to.equal(202);
    expect(readPairing(area.area)).to.deep.equal({ token, firefox: FIREFOX, chromium: CHROMIUM });
    expect(visits.map(({ via }) => via)).to.deep.equal(['firefox', 'chromium', 'firefox']);
  });

  it('checks the code without a visit, and pairs the browser', async () => {
    expect((await send(null, { authorization: 'Bearer x' })).status).to.equal(401);
    expect(readPairing(area.area)).to.deep.equal({ token });
    expect((await send(null)).status).to.equal(202);
    expect(readPairing(area.area)).to.deep.equal({ token, chromium: CHROMIUM });
    expect(stored()).to.deep.equal([]);
  });

  it('checks the code before it reads the body', async () => {
    for (const body of ['{', '', '[]', { ...VISIT, at: 'now' }])
      expect((await send(body, { authorization: undefined })).status, JSON.stringify(body)).to.equal(401);
  });

  it('refuses large bodies before it reads them, and bodies that are not a visit', async () => {
    const large = { ...VISIT, more: 'x'.repeat(1024) };
    expect((await send(large)).status).to.equal(413);
    expect((await send(VISIT, { 'content-length': undefined })).status).to.equal(413);
    expect((await send(VISIT, { 'content-type': 'text/plain' })).status).to.equal(415);
    expect((await send(VISIT, { host: 'evil.test' })).status).to.equal(403);
    const bodies = [
      '{',
      '[]',
      { ...VISIT, url: 'https://github.com/a' },
      { ...VISIT, site: 'https://github.com/a' },
      { ...VISIT, site: 'github.com/a' },
      { ...VISIT, site: '\u001b[31m.org' },
      { ...VISIT, site: undefined },
      { ...VISIT, at: 'now' },
      { ...VISIT, at: 1.5 },
    ];
    for (const body of bodies) expect((await send(body)).status, JSON.stringify(body)).to.equal(400);
    expect(stored()).to.deep.equal([]);
  });

  it('says in plain words what to send', async () => {
    const hintOf = async (body: unknown): Promise<unknown[]> => {
      const { message, hint } = (await send(body)).error();
      return [message, hint];
    };
    expect(await hintOf([])).to.deep.equal(['Invalid key "site".', 'Send this key too.']);
    expect(await hintOf(3)).to.deep.equal(['Invalid body.', 'Send an object, not 3.']);
    expect(await hintOf({ ...VISIT, url: 'x' })).to.deep.equal(['Invalid key "url".', 'Omit this key.']);
    expect((await hintOf({ ...VISIT, at: 'now' }))[1]).to.equal('Send a number, not "now".');
    expect((await hintOf({ ...VISIT, at: 1.5 }))[1]).to.equal('Send whole milliseconds since 1970.');
    expect((await hintOf({ ...VISIT, site: '-a-.com' }))[1]).to.equal('Send a host name such as docs.rs.');
  });

  it('refuses times that a clock set ahead or back would give', async () => {
    const hours = 3_600_000;
    for (const [at, until, why] of [
      [NOW, NOW, 'it lasts 0 s'],
      [NOW, NOW - 1000, 'it lasts -1 s'],
      [NOW - 10 * 60_000, NOW, 'it lasts 600 s'],
      [NOW, NOW + 60_000, 'it ends in the future'],
      [NOW - 3 * hours, NOW - 3 * hours + 60_000, 'it began 2 hours ago or earlier'],
      [-60_000, 0, 'it began 2 hours ago or earlier'],
    ] as const) {
      const answer = await send({ ...VISIT, at, until });
      expect(answer.status, `${at} ${until}`).to.equal(400);
      expect(answer.error().message).to.equal(
        `A visit was not stored, because ${why}: the clock was changed.`,
      );
      expect(answer.error().hint).to.match(/^If the time of this computer is right now, do nothing/);
    }
    expect(stored()).to.deep.equal([]);
  });

  it('takes nothing while the source is off, and says why', async () => {
    off = { found: 'sense.enabled is false', fix: 'steward config set sense.enabled true' };
    for (const body of [VISIT, null]) {
      const answer = await send(body);
      expect(answer.status).to.equal(409);
      expect(answer.error()).to.include({
        message: 'Sites are not recorded: sense.enabled is false.',
        hint: 'Run "steward config set sense.enabled true".',
      });
    }
    expect(stored()).to.deep.equal([]);
  });

  it('needs no token of the daemon, and opens no other route', async () => {
    const clock = { monotonic: () => 0 };
    const web = webRoute(deps);
    const other = { method: 'GET' as const, path: '/api/sense/today', run: () => ({}) };
    app = testApp([web, other], { gate: gate(clock, 'x'.repeat(32)) });
    expect((await send(VISIT)).status).to.equal(202);
    const headers = { origin: CHROMIUM, authorization: `Bearer ${token}` };
    expect((await app.ask('/api/sense/today', { headers })).status).to.equal(403);
    const answer = await app.ask('/api/sense/today', { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).to.equal(401);
    expect((await app.ask('/api/sense/web', { method: 'OPTIONS', headers })).status).to.equal(403);
  });
});
