import { expect } from 'chai';
import fc from 'fast-check';

import type { AppDeps } from '../../../src/lib/daemon/app';
import { HTTP_STATUS, route, wholeNumber, type Route } from '../../../src/lib/daemon/route';
import { ERROR_KINDS, StewardError, type ErrorKind } from '../../../src/lib/errors';
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

describe('the daemon app', () => {
  const app = testApp(ROUTES);

  it('answers JSON, with what keeps it from being embedded, guessed or kept', async () => {
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

  it('answers 304 to who has the bytes, and 200 to who has others', async () => {
    const etag = (await app.ask('/a')).header('etag') ?? '';
    expect(etag).to.match(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const answer = await app.ask('/a', { headers: { 'if-none-match': known } });
      expect([answer.status, answer.body, answer.header('etag')], known).to.deep.equal([304, '', etag]);
    }
    expect((await app.ask('/a', { headers: { 'if-none-match': '"other"' } })).status).to.equal(200);
  });

  it('keeps what is live out of every cache', async () => {
    const answer = await app.ask('/live');
    expect(answer.header('cache-control')).to.equal('no-store');
    expect(answer.header('etag')).to.equal(undefined);
  });

  it('knows no other paths: 404', async () => {
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

  it('knows no other methods: 405 with Allow', async () => {
    for (const method of ['PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'x']) {
      const answer = await app.ask('/a', { method });
      expect(answer.status, method).to.equal(405);
      expect(answer.header('allow')).to.equal('GET, HEAD, POST');
      expect(answer.error()).to.include({ kind: 'usage', hint: 'Use GET, HEAD, POST.' });
    }
    expect((await app.ask('/notify')).header('allow')).to.equal('POST');
    expect((await app.ask('/a', { method: 'HEAD' })).status).to.equal(200);
  });

  it('names the parameter that is wrong, or given twice: 400', async () => {
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

  it('ignores unknown query parameters of a GET, and refuses those of a POST', async () => {
    expect((await app.ask('/days?days=3&utm_source=mail&days2=x')).json()).to.deep.equal({ days: 3 });
    expect((await app.ask('/a?x=1')).status).to.equal(200);
    const posted = await app.ask('/notify?message=x', { method: 'POST', body: '{"message":"x"}' });
    expect(posted.status).to.equal(400);
    expect(posted.error().message).to.include('"message"');
  });

  it('takes any bytes as a query and any path, and answers as it should', async () => {
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

  it('takes a JSON body, whatever its type is called, from what is no page', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type };
      const answer = await app.ask('/notify', { method: 'POST', headers, body: '{"message":"Héllo"}' });
      expect(answer.status).to.equal(202);
      expect(answer.json()).to.deep.equal({ status: 'accepted', message: 'Héllo' });
    }
  });

  it('says what is wrong with a body: 400', async () => {
    for (const [body, message] of [
      ['{"message":', 'not JSON'],
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

  it('never breaks on a body, and answers each with a status of its own', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (body) => {
        const answer = await app.ask('/notify', { method: 'POST', body });
        return answer.status === 202 || answer.status === 400;
      }),
    );
  });

  it('shows what leads it to the local socket alone', async () => {
    expect((await app.ask('/local', { method: 'POST' })).status).to.equal(404);
    expect((await app.ask('/local', { method: 'POST', isLocal: true })).json()).to.deep.equal({
      local: true,
    });
  });

  it('has a status for every kind of error, and the one shape', async () => {
    expect(Object.keys(HTTP_STATUS).sort()).to.deep.equal([...ERROR_KINDS].sort());
    for (const kind of ERROR_KINDS) {
      const answer = await app.ask(`/kind/${kind}`);
      expect(answer.status, kind).to.equal(HTTP_STATUS[kind]);
      const shown: Partial<Record<ErrorKind, string>> = { internal: 'Something went wrong in steward.' };
      expect(answer.error().kind).to.equal(kind);
      expect(answer.error().message).to.equal(shown[kind] ?? 'What is wrong\nand where');
    }
  });

  it('lives through a route that throws, tells the log and not the client', async () => {
    for (const path of ['/throws', '/rejects']) {
      const before = app.faults.length;
      const answer = await app.ask(path);
      expect(answer.status).to.equal(500);
      expect(answer.body).not.to.include('secret detail');
      expect(app.faults.slice(before).map(({ message }) => message)).to.deep.equal(['secret detail']);
    }
    expect((await app.ask('/a')).status).to.equal(200);
  });

  it('does nothing for a page of another origin', async () => {
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

  it('asks for a token before it says what there is', async () => {
    const closed = testApp(
      [...ROUTES, { method: 'GET', path: '/door', isOpen: true, run: () => ({ open: true }) }],
      { gate: { isRequired: true, hasKey: ({ headers }) => headers['authorization'] === 'Bearer right' } },
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

  it('refuses another user of the machine, but with a token, over the socket, or where they are allowed', async () => {
    const hasKey: AppDeps['gate']['hasKey'] = ({ headers }) => headers['authorization'] === 'Bearer right';
    const page: Route = { method: 'GET', path: '/page', isOpen: true, run: () => 'page' };
    for (const isRequired of [false, true]) {
      const refusing = testApp([...ROUTES, page], { gate: { isRequired, hasKey } });
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

  it('refuses a table with two rows for one address', () => {
    const row: Route = { method: 'GET', path: '/a', run: () => 1 };
    expect(() => testApp([row, row])).to.throw('Two routes answer GET /a');
  });
});
