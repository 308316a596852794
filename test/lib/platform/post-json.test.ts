import { expect } from 'chai';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { loadPostJson } from '../../../src/lib/platform/post-json';
import { notifyServer, type NotifyServer } from '../../helpers/notify-server';
import { rejection } from '../../helpers/rejection';

describe('platform/post-json', () => {
  let server: NotifyServer;
  const kept = new Map<string, string | undefined>();
  const set = (name: string, value: string | undefined): void => {
    if (!kept.has(name)) kept.set(name, process.env[name]);
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  beforeEach(async () => {
    server = await notifyServer(() => ({ status: 201, body: { ok: true }, headers: { 'x-a': 'b' } }));
    for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']) {
      set(name, undefined);
    }
  });
  afterEach(async () => {
    for (const [name, value] of kept) set(name, value);
    await server.close();
  });

  it('posts JSON in UTF-8 and gives status, headers and text', async () => {
    const post = await loadPostJson();
    const answer = await post({ url: `${server.url}/x`, body: { a: 'ü😀' }, timeoutMs: 10_000 });
    expect(answer).to.deep.include({ status: 201, text: '{"ok":true}' });
    expect(answer.headers['x-a']).to.equal('b');
    expect(server.got[0]).to.deep.include({ path: '/x', body: { a: 'ü😀' } });
    expect(server.got[0]?.headers['content-type']).to.equal('application/json; charset=utf-8');
  });

  it('asks the proxy of the environment for other machines, and never for this one', async () => {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', (chunk) => {
        asked.push(chunk.toString('latin1').split('\r\n')[0] ?? '');
        socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n');
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      set('HTTPS_PROXY', address);
      set('HTTP_PROXY', address);
      const post = await loadPostJson();
      const error = await rejection(post({ url: 'https://push.example/hush', body: {}, timeoutMs: 10_000 }));
      expect(error.kind).to.equal('unavailable');
      expect(error.message)
        .to.match(/^push\.example /)
        .and.not.include('hush');
      expect(asked).to.deep.equal(['CONNECT push.example:443 HTTP/1.1']);
      expect((await post({ url: server.url, body: {}, timeoutMs: 10_000 })).status).to.equal(201);
      expect(asked).to.have.length(1);
    } finally {
      proxy.close();
    }
  }).timeout(40_000);

  it('names the host and what is wrong, never the address', async () => {
    const post = await loadPostJson();
    const dead = await rejection(post({ url: 'http://127.0.0.1:1/hush', body: {}, timeoutMs: 10_000 }));
    expect(dead.message).to.equal('127.0.0.1 refused the connection.');
    const plain = await rejection(post({ url: 'http://192.0.2.1/hush', body: {}, timeoutMs: 10_000 }));
    expect(plain).to.include({ kind: 'config', message: '192.0.2.1 is to be reached without encryption.' });
  });
});
