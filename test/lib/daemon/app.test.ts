import { expect } from 'chai';
import fc from 'fast-check';

import type { AppDeps } from '../../../src/lib/daemon/app';
import { route, wholeNumber, type Route } from '../../../src/lib/daemon/route';
import { ERROR_KINDS, StewardError, type ErrorKind, HTTP_STATUS } from '../../../src/lib/errors';
import { testApp } from '../../helpers/daemon-app';

const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/a', run: () => ({ a: 1 }) },
  { method: 'GET', path: '/live', isLive: true, run: () => Promise.resolve({ live: true }) },
  route({
    method: 'GET',
    path: '/days',
    input: ({ query }) => wholeNumber(query, 'days') ?? 7,
    run: (days) => ({ days }),
  }),
  route({
    method: 'POST',
    path: '/notify',
    status: 202,
    input: ({ body }) => {
      const message = (body as { message?: unknown } | null | undefined)?.message;
      if (typeof message !== 'string')
        throw new StewardError('usage', 'message is missing.', { hint: 'Give one.' });
      return message;
    },
    run: (message) => ({ status: 'accepted', message }),
  }),
  { method: 'POST', path: '/a', run: () => ({ posted: true }) },
  { method: 'POST', path: '/local', isLocal: true, run: () => ({ local: true }) },
  {
    method: 'GET',
    path: '/throws',
    run: () => {
      throw new Error('secret detail');
    },
  },
  { method: 'GET', path: '/rejects', run: () => Promise.reject(new Error('secret detail')) },
  ...ERROR_KINDS.map((kind): Route => ({
    method: 'GET',
    path: `/kind/${kind}`,
    run: () => {
      throw new StewardError(kind, `What is \u001b[31mwrong\nand where`, { hint: 'What to do.' });
    },
  })),
];

const gateOf = (isRequired: boolean): AppDeps['gate'] => ({
  isRequired,
  hasKey: ({ headers }) => ['Bearer right', 'Bearer page'].includes(String(headers['authorization'])),
  hasPageSecret: ({ headers }) => headers['authorization'] === 'Bearer page',
});

describe('daemon app', () => {
  const app = testApp(ROUTES);

  it('answers JSON with headers against embedding, sniffing and caching', async () => {
    const answer = await app.ask('/a');
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({ a: 1 });
    expect(answer.header('content-type')).to.equal('application/json; charset=utf-8');
    expect(answer.header('x-content-type-options')).to.equal('nosniff');
    expect(answer.header('cross-origin-resource-policy')).to.equal('same-origin');
    expect(answer.header('content-security-policy')).to.include("frame-ancestors 'none'");
    expect(answer.header('cache-control')).to.equal('private, no-cache');
    expect(answer.header('access-control-allow-origin')).to.equal(undefined);
  });

  it('answers 304 if the ETag matches, otherwise 200', async () => {
    const etag = (await app.ask('/a')).header('etag') ?? '';
    expect(etag).to.match(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await app.ask('/a', { headers: { 'if-none-match': known } });
      expect([answer.status, answer.body, answer.header('etag')], known).to.deep.equal([304, '', etag]);
    }
    expect((await app.ask('/a', { headers: { 'if-none-match': '"other"' } })).status).to.equal(200);
  });

  it('sends no-store for live data', async () => {
    const answer = await app.ask('/live');
    expect(answer.header('cache-control')).to.equal('no-store');
    expect(answer.header('etag')).to.equal(undefined);
  });

  it('answers 404 for unknown paths', async () => {
    for (const path of [
      '/b',
      '/a/',
      '//a',
      '/A',
      '/%61',
      '/../a',
      'http://localhost/a',
      '*',
      '',
      '/constructor',
    ]) {
      const answer = await app.ask(path);
      expect(answer.status, path).to.equal(404);
      expect(answer.error().kind).to.equal('not_found');
    }
  });

  it('answers 405 with Allow for other methods', async () => {
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'x']) {
      const answer = await app.ask('/a', { method });
      expect(answer.status, method).to.equal(405);
      expect(answer.header('allow')).to.equal('GET, HEAD, POST');
      expect(answer.error()).to.include({ kind: 'usage', hint: 'Use GET, HEAD, POST.' });
    }
    expect((await app.ask('/notify')).header('allow')).to.equal('POST');
    expect((await app.ask('/a', { method: 'HEAD' })).status).to.equal(200);
  });

  it('answers 400 and names an invalid or repeated parameter', async () => {
    expect((await app.ask('/days?days=30')).json()).to.deep.equal({ days: 30 });
    expect((await app.ask('/days')).json()).to.deep.equal({ days: 7 });
    for (const [query, named] of [
      ['days=x', 'days'],
      ['days=', 'days'],
      ['days=1.5', 'days'],
      ['days=0x10', 'days'],
      ['days=99999999999', 'days'],
      ['days=1&days=2', 'days'],
    ] as const) {
      const answer = await app.ask(`/days?${query}`);
      expect(answer.status, query).to.equal(400);
      expect(answer.error().message, query).to.include(named);
    }
  });

  it('ignores unknown query parameters of a GET and refuses those of a POST', async () => {
    expect((await app.ask('/days?days=3&utm_source=mail&days2=x')).json()).to.deep.equal({ days: 3 });
    expect((await app.ask('/a?x=1')).status).to.equal(200);
    const posted = await app.ask('/notify?message=x', { method: 'POST', body: '{"message":"x"}' });
    expect(posted.status).to.equal(400);
    expect(posted.error().message).to.include('"message"');
  });

  it('survives any path and query', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        const answer = await app.ask(`/days?${text}`);
        return [200, 400].includes(answer.status);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.webPath(), async (path) =>
        [200, 404].includes((await app.ask(`/x${path}`)).status),
      ),
    );
  });

  it('accepts a JSON body of any content type from a program', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type };
      const answer = await app.ask('/notify', { method: 'POST', headers, body: '{"message":"Héllo"}' });
      expect(answer.status).to.equal(202);
      expect(answer.json()).to.deep.equal({ status: 'accepted', message: 'Héllo' });
    }
  });

  it('answers 400 for an invalid body', async () => {
    for (const [body, message] of [
      ['{"message":', 'not valid JSON'],
      [Buffer.from([0x22, 0xff, 0x22]), 'not UTF-8'],
      ['', 'message is missing'],
      ['null', 'message is missing'],
      ['[1]', 'message is missing'],
    ] as const) {
      const answer = await app.ask('/notify', { method: 'POST', body });
      expect(answer.status, String(body)).to.equal(400);
      expect(answer.error().message).to.include(message);
    }
    const zipped = { 'content-encoding': 'gzip' };
    expect((await app.ask('/notify', { method: 'POST', headers: zipped, body: 'x' })).status).to.equal(415);
  });

  it('answers any body with 200 or 400', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (body) => {
        const answer = await app.ask('/notify', { method: 'POST', body });
        return answer.status === 202 || answer.status === 400;
      }),
    );
  });

  it('serves stop, restart and open on the local socket only', async () => {
    expect((await app.ask('/local', { method: 'POST' })).status).to.equal(404);
    expect((await app.ask('/local', { method: 'POST', isLocal: true })).json()).to.deep.equal({
      local: true,
    });
  });

  it('maps every kind of error to a status, in one shape', async () => {
    expect(Object.keys(HTTP_STATUS).sort()).to.deep.equal([...ERROR_KINDS].sort());
    for (const kind of ERROR_KINDS) {
      const answer = await app.ask(`/kind/${kind}`);
      expect(answer.status, kind).to.equal(HTTP_STATUS[kind]);
      const shown: Partial<Record<ErrorKind, string>> = { internal: 'Internal error.' };
      expect(answer.error().kind).to.equal(kind);
      expect(answer.error().message).to.equal(shown[kind] ?? 'What is wrong\nand where');
    }
  });

  it('reports an internal error to the log, not to the client', async () => {
    for (const path of ['/throws', '/rejects']) {
      const before = app.faults.length;
      const answer = await app.ask(path);
      expect(answer.status).to.equal(500);
      expect(answer.body).not.to.include('secret detail');
      expect(app.faults.slice(before).map(({ message }) => message)).to.deep.equal(['secret detail']);
    }
    expect((await app.ask('/a')).status).to.equal(200);
  });

  it('refuses pages of another origin', async () => {
    let done = 0;
    const counting = testApp([{ method: 'POST', path: '/do', run: () => (done += 1) }]);
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { host: 'evil.example' },
    ]) {
      const answer = await counting.ask('/do', {
        method: 'POST',
        headers: headers as Record<string, string>,
      });
      expect(answer.status).to.equal(403);
      expect(answer.error()).to.have.all.keys('kind', 'message', 'hint');
    }
    expect(done).to.equal(0);
  });

  it('requires a token before it reveals which paths exist', async () => {
    const closed = testApp(
      [...ROUTES, { method: 'GET', path: '/door', isOpen: true, run: () => ({ open: true }) }],
      { gate: gateOf(true) },
    );
    for (const path of ['/a', '/nowhere']) {
      const answer = await closed.ask(path);
      expect([answer.status, answer.error().kind], path).to.deep.equal([401, 'auth']);
    }
    expect((await closed.ask('/a', { method: 'PUT' })).status).to.equal(401);
    expect((await closed.ask('/door')).status).to.equal(200);
    expect((await closed.ask('/a', { isLocal: true })).status).to.equal(200);
    expect((await closed.ask('/a', { headers: { authorization: 'Bearer right' } })).status).to.equal(200);
  });

  it('shows a browser a page instead of JSON', async () => {
    const closed = testApp(ROUTES, { gate: gateOf(true) });
    const headers = { accept: 'text/html,*/*;q=0.8' };
    const page = await closed.ask('/a', { headers });
    expect([page.status, page.header('content-type')]).to.deep.equal([401, 'text/html; charset=utf-8']);
    expect(page.header('www-authenticate')).to.include('Bearer');
    expect(page.header('content-security-policy')).to.include("script-src 'self'");
    expect(page.body).to.include('Open the pages with &#34;steward open&#34;');
    const { body } = await app.ask('/nowhere', { headers });
    expect(body).to.include('<h1>Page not found</h1>').and.to.include('<a class="brand" href="/">');
    expect(body).not.to.include('daemon.md');
    expect((await app.ask('/nowhere', { headers: { accept: '*/*' } })).error().kind).to.equal('not_found');
    expect((await app.ask('/nowhere', { headers, method: 'POST' })).error().kind).to.equal('not_found');
  });

  it('lets only signed-in pages write over TCP', async () => {
    let done = 0;
    const write: Route = { method: 'POST', path: '/do', needsPage: true, run: () => ({ done: (done += 1) }) };
    for (const isRequired of [false, true]) {
      const guarded = testApp([write], { gate: gateOf(isRequired) });
      const statusOf = async (authorization: string, more: Record<string, string> = {}): Promise<number> =>
        (await guarded.ask('/do', { method: 'POST', headers: { authorization, ...more } })).status;
      expect(await statusOf('')).to.equal(isRequired ? 401 : 403);
      expect(await statusOf('Bearer wrong')).to.equal(isRequired ? 401 : 403);
      expect(await statusOf('Bearer right')).to.equal(403);
      expect(await statusOf('Bearer page', { origin: 'http://evil.example' })).to.equal(403);
      expect(await statusOf('Bearer page', { 'sec-fetch-site': 'cross-site' })).to.equal(403);
      expect(await statusOf('Bearer page', { origin: 'http://localhost' }), 'a form').to.equal(415);
      expect(done).to.equal(0);
      expect(await statusOf('Bearer page')).to.equal(200);
      expect((await guarded.ask('/do', { method: 'POST', isLocal: true })).status).to.equal(200);
      done = 0;
    }
  });

  it('compresses large responses for clients that accept it', async () => {
    const large = testApp([{ method: 'GET', path: '/large', run: () => 'x'.repeat(9000) }]);
    const plain = await large.ask('/large');
    expect([plain.header('content-encoding'), plain.body.length]).to.deep.equal([undefined, 9003]);
    const headers = { 'accept-encoding': 'gzip, deflate' };
    const packed = await large.ask('/large', { headers });
    expect([packed.header('content-encoding'), packed.header('vary')]).to.deep.equal([
      'gzip',
      'accept-encoding',
    ]);
    expect(packed.header('etag')).to.equal(plain.header('etag'));
    for (const refused of ['gzip;q=0', 'br', 'identity'])
      expect((await large.ask('/large', { headers: { 'accept-encoding': refused } })).body).to.have.length(
        9003,
      );
    const known = { ...headers, 'if-none-match': `W/${packed.header('etag') ?? ''}` };
    expect((await large.ask('/large', { headers: known })).status).to.equal(304);
    expect((await app.ask('/a', { headers })).header('content-encoding')).to.equal(undefined);
  });

  it('refuses another user without a token, unless other users are allowed', async () => {
    const page: Route = { method: 'GET', path: '/page', isOpen: true, run: () => 'page' };
    for (const isRequired of [false, true]) {
      const refusing = testApp([...ROUTES, page], { gate: gateOf(isRequired) });
      for (const isOtherUser of [() => true, () => Promise.resolve(true)]) {
        for (const path of ['/a', '/page', '/nowhere']) {
          const answer = await refusing.ask(path, { isOtherUser });
          expect([answer.status, answer.error().kind], path).to.deep.equal([403, 'auth']);
        }
        const headers = { authorization: 'Bearer right' };
        expect((await refusing.ask('/a', { isOtherUser, headers })).status).to.equal(200);
        expect((await refusing.ask('/a', { isOtherUser, isLocal: true })).status).to.equal(200);
      }
      const isOtherUser = () => Promise.resolve(false);
      expect((await refusing.ask('/a', { isOtherUser })).status).to.equal(isRequired ? 401 : 200);
      expect((await refusing.ask('/nowhere', { isOtherUser })).status).to.equal(isRequired ? 401 : 404);
    }
    const open = testApp(ROUTES, { otherUsers: true });
    expect((await open.ask('/a', { isOtherUser: () => true })).status).to.equal(200);
  });

  it('refuses two routes for one path', () => {
    const row: Route = { method: 'GET', path: '/a', run: () => 1 };
    expect(() => testApp([row, row])).to.throw('Two routes for GET /a');
  });
});
