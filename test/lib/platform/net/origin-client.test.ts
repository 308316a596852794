import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';

import { boundFetch } from '../../../../src/lib/platform/net/fetch';
import { networkFailureOf } from '../../../../src/lib/platform/net/network-failure';
import { loadHttp, openOrigin, type OwnOrigin } from '../../../../src/lib/platform/net/origin-client';
import { refusingProxy, withProxies, type RefusingProxy } from '../../../helpers/proxy';
import { rejection } from '../../../helpers/errors';
import { long } from '../../../helpers/long';

const WORDS = { hint: 'Look at the test.' };
const BOUNDS = { timeoutMs: 20_000, maxBytes: 1000 };

describe('platform/origin-client', () => {
  let server: Server;
  let url: string;
  let got: { method: string; url: string; headers: Record<string, unknown>; body: string }[];
  let reply: RequestListener;
  let client: OwnOrigin;
  beforeEach(async () => {
    got = [];
    reply = (_request, response) => response.writeHead(201, { 'x-a': 'b' }).end('{"ok":true}');
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (part: string) => (body += part));
      request.on('end', () => {
        got.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
        reply(request, response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = await openOrigin(url, WORDS);
  });
  afterEach(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });

  it('posts JSON in UTF-8 and gives status, headers and text', async () => {
    const answer = await client.request({ method: 'POST', path: '/x', body: { a: 'ü😀' }, ...BOUNDS });
    expect(answer).to.include({ status: 201, text: '{"ok":true}' });
    expect(answer.headers['x-a']).to.equal('b');
    expect(got[0]).to.include({ method: 'POST', url: '/x' });
    expect(JSON.parse(got[0]?.body ?? '')).to.deep.equal({ a: 'ü😀' });
    expect(got[0]?.headers).to.include({ 'content-type': 'application/json', 'user-agent': 'steward' });
  });

  it('asks below its base address, and the address itself for an empty path', async () => {
    const { origin, close } = await loadHttp();
    try {
      const below = origin(`${url}/base/`, WORDS);
      await below.request({ method: 'GET', path: '/v1/x', query: [['a', 'b c']], ...BOUNDS });
      await origin(`${url}/hook/?wait=1`, WORDS).request({ method: 'POST', path: '', body: 1, ...BOUNDS });
      expect(got.map((asked) => asked.url)).to.deep.equal(['/base/v1/x?a=b+c', '/hook/?wait=1']);
    } finally {
      await close();
    }
  });

  it('goes to no other host, whatever the path', async () => {
    const error = await rejection(client.request({ method: 'GET', path: '//127.0.0.2/x', ...BOUNDS }));
    expect(error).to.include({ kind: 'internal' });
    expect(got).to.deep.equal([]);
  });

  it('follows no redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      reply = (_request, response) => response.writeHead(status, { location: `${url}/other` }).end();
      const answer = await client.request({ method: 'POST', path: '/x', body: {}, ...BOUNDS });
      expect(answer.status).to.equal(status);
    }
    expect(got.filter((asked) => asked.url === '/other')).to.deep.equal([]);
  });

  it('refuses a body that is too long, cuts it where its end is of no use, and that of an error always', async () => {
    reply = (_request, response) => response.end('x'.repeat(1001));
    const error = await rejection(client.request({ method: 'GET', path: '/', ...BOUNDS }));
    expect(error.message).to.match(/sent a response that is too large\.$/);
    expect(networkFailureOf(error)).to.deep.equal({ code: 'TOO_LARGE', sent: true });
    expect((await client.request({ method: 'GET', path: '/', ...BOUNDS, cut: true })).text).to.have.length(
      1000,
    );
    reply = (_request, response) => {
      response.writeHead(500);
      const more = (): void => void (response.destroyed || response.write(Buffer.alloc(1 << 16), more));
      more();
    };
    const endless = await client.request({ method: 'GET', path: '/', ...BOUNDS });
    expect([endless.status, endless.bytes.length]).to.deep.equal([500, 64 * 1024]);
  }).timeout(60_000);

  long('says what kept an answer from coming, with the host and never the address', async () => {
    reply = (_request, response) =>
      response.writeHead(200, { 'content-length': '9' }).write('cut', () => response.destroy());
    const broken = await rejection(client.request({ method: 'GET', path: '/hush', ...BOUNDS }));
    expect(broken.message).to.match(
      /^127\.0\.0\.1:\d+ closed the connection before its response was complete\.$/,
    );
    reply = () => undefined;
    const late = await rejection(
      client.request({ method: 'GET', path: '/hush', ...BOUNDS, timeoutMs: 1500 }),
    );
    expect(late.message).to.match(/ did not respond in time\.$/);
    expect(networkFailureOf(late)).to.deep.equal({ code: 'TIMEOUT', sent: true });
    const nobody = await openOrigin('http://127.0.0.1:1', { hint: 'Look.', name: 'The server at' });
    const dead = await rejection(nobody.request({ method: 'GET', path: '/hush', ...BOUNDS }));
    expect(dead).to.include({ kind: 'unavailable', hint: 'Look.' });
    expect(dead.message).to.equal('The server at 127.0.0.1:1 refused the connection.');
    expect(networkFailureOf(dead)).to.deep.equal({ code: 'ECONNREFUSED', sent: false });
    await nobody.close();
  }).timeout(60_000);

  it('tells a server of another protocol from one without a certificate to trust', async () => {
    const plain = await openOrigin(url.replace('http:', 'https:'), { hint: 'Look.' });
    const noTls = await rejection(plain.request({ method: 'GET', path: '/hush', ...BOUNDS }));
    expect(noTls.message).to.match(/^127\.0\.0\.1:\d+ is not a TLS server \(ERR_SSL_\w+\)\.$/);
    await plain.close();
    const other = createTcpServer((socket) => socket.on('error', () => undefined).end('220 mail\r\n\r\n'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    try {
      const at = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
      const mail = await openOrigin(at, { hint: 'Look.' });
      const noHttp = await rejection(mail.request({ method: 'GET', path: '/hush', ...BOUNDS }));
      expect(noHttp.message).to.match(/^127\.0\.0\.1:\d+ is not an HTTP server \(\w+\)\.$/);
      await mail.close();
    } finally {
      other.close();
    }
  });

  it('reaches no other machine without encryption', async () => {
    for (const other of ['http://192.0.2.1/hush', 'http://127.example.com/hush', 'ftp://127.0.0.1/hush']) {
      const error = await rejection(openOrigin(other, WORDS));
      expect(error.kind).to.equal('config');
      expect(error.message)
        .to.match(/ requires encryption\.$/)
        .and.not.include('hush');
    }
    const bound = boundFetch({ origin: 'http://192.0.2.1', ...BOUNDS, env: {} });
    expect((await rejection(bound('http://192.0.2.1/'))).kind).to.equal('config');
  });

  describe('with a proxy in the environment', () => {
    let proxy: RefusingProxy;
    beforeEach(async () => (proxy = await refusingProxy()));
    afterEach(() => proxy.close());

    /** What the proxy was asked for: by a client and by a fetch, each for another machine and for this one. */
    async function asked(proxies: Record<string, string>): Promise<string[]> {
      await withProxies(proxies, async () => {
        const { origin, close } = await loadHttp();
        const far = origin('https://push.example/hush', WORDS);
        const error = await rejection(far.request({ method: 'POST', path: '', body: {}, ...BOUNDS }));
        expect(error.message).to.match(/^push\.example /);
        const near = await origin(url, WORDS).request({ method: 'POST', path: '/', body: {}, ...BOUNDS });
        expect(near.status).to.equal(201);
        await close();
        const limits = { ...BOUNDS, env: process.env };
        await boundFetch({ origin: 'https://api.example', ...limits })('https://api.example/').catch(
          () => undefined,
        );
        expect((await boundFetch({ origin: url, ...limits })(`${url}/`)).status).to.equal(201);
      });
      return proxy.asked;
    }
    const BOTH = ['CONNECT push.example:443 HTTP/1.1', 'CONNECT api.example:443 HTTP/1.1'];

    it('asks it for other machines, and never for this one', async () => {
      expect(await asked({ HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url })).to.deep.equal(BOTH);
    }).timeout(60_000);

    it('takes the one for all, and passes over one of a kind that it does not speak', async () => {
      expect(await asked({ https_proxy: 'socks5://127.0.0.1:1', ALL_PROXY: proxy.url })).to.deep.equal(BOTH);
    }).timeout(60_000);

    it('asks none for what is excepted', async () => {
      expect(await asked({ https_proxy: proxy.url, NO_PROXY: 'push.example,api.example' })).to.deep.equal([]);
    }).timeout(60_000);
  });
});
