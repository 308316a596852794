import { expect } from 'chai';
import { connect, type Socket } from 'node:net';
import { Agent, get } from 'node:http';

import { httpServer, type HttpServer } from '../../../../src/lib/platform/net/http-server';
import {
  SERVER_LIMITS,
  type Application,
  type HttpAnswer,
  type ServerLimits,
} from '../../../../src/lib/platform/net/http-application';
import { ask, until } from '../../../helpers/daemon';

const text = (status: number, body: string): HttpAnswer => ({
  status,
  headers: ['content-type', 'text/plain'],
  body,
});

describe('the HTTP server', function () {
  this.timeout(60_000);
  let server: HttpServer;
  let port = 0;
  const seen: string[] = [];
  const faults: unknown[] = [];
  let release: (() => void)[] = [];

  const app: Application = {
    admit: ({ target }) => (target === '/refused' ? text(403, 'refused') : undefined),
    answer: async ({ method, target }, body) => {
      seen.push(`${method} ${target}`);
      if (target === '/slow') await new Promise<void>((resolve) => release.push(resolve));
      if (target === '/throws') throw new Error('thrown');
      if (target === '/large') return text(200, 'x'.repeat(32 * 1024 * 1024));
      if (target === '/bytes') return { ...text(200, ''), body: Buffer.from([0xe2, 0x82, 0xac]) };
      return text(200, `${target} ${body.toString()}`);
    },
    refuse: (status, cause) => {
      if (status === 500) faults.push(cause);
      return text(status, `refused with ${status}`);
    },
  };
  const start = async (limits: Partial<ServerLimits> = {}): Promise<void> => {
    server = httpServer(app, { ...SERVER_LIMITS, ...limits });
    port = await server.listenTcp('127.0.0.1', 0);
  };
  const url = (path: string): string => `http://127.0.0.1:${port}${path}`;
  beforeEach(() => {
    seen.length = 0;
    faults.length = 0;
    release = [];
  });
  afterEach(() => server.close(1000));

  it('answers what Node would refuse by itself in words of the application', async () => {
    await start();
    const said = async (bytes: string): Promise<string> => {
      const one = raw();
      one.socket.write(bytes);
      await one.closed;
      return one.text();
    };
    expect(await said('GET /x HTTP/1.1\r\nConnection: close\r\n\r\n')).to.match(/^HTTP\/1\.1 200 /);
    expect(await said('GET /x HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n')).to.contain(
      'refused with 417',
    );
    expect(await said('CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n')).to.contain('refused with 400');
  });

  it('takes the address whole, as a client of a proxy sends it, for its own host only', async () => {
    await start();
    const said = async (target: string): Promise<string> => {
      const one = raw();
      one.socket.write(`GET ${target} HTTP/1.1\r\nHost: a:80\r\nConnection: close\r\n\r\n`);
      await one.closed;
      return one.text();
    };
    expect(await said('http://a:80/x?y')).to.contain('/x?y ');
    expect(await said('http://b:80/x')).to.contain('http://b:80/x ');
    expect(await said('http://a:8080/x')).to.contain('http://a:8080/x ');
  });

  it('does not wait for a refused body that says it is too large to be dropped', async () => {
    await start();
    const one = raw();
    one.socket.write('POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000000\r\n\r\n');
    await one.closed;
    expect(one.text()).to.match(/^HTTP\/1\.1 403 /);
  });

  it('cuts no new connection of clients that all come back while it closes', async () => {
    for (let round = 0; round < 5; round += 1) {
      await start();
      const lost: string[] = [];
      let answered = 0;
      const client = async (): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        for (let isOpen = true; isOpen;) {
          isOpen = await new Promise<boolean>((resolve) => {
            const request = get(url('/again'), { agent }, (response) => {
              response.resume().on('end', () => {
                answered += 1;
                resolve(true);
              });
            });
            request.on('error', (error: NodeJS.ErrnoException) => {
              if (error.code !== 'ECONNREFUSED') lost.push(`${error.code} ${String(request.reusedSocket)}`);
              resolve(false);
            });
          });
        }
        agent.destroy();
      };
      const clients = Array.from({ length: 50 }, client);
      await until('they are at it', () => answered > 200);
      await server.close(5000);
      await Promise.all(clients);
      expect(lost).to.deep.equal([]);
    }
  });

  /** A connection as bytes. */
  const raw = (): { socket: Socket; text: () => string; closed: Promise<void> } => {
    const socket = connect(port, '127.0.0.1');
    let got = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (got += chunk));
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    return { socket, text: () => got, closed };
  };

  it('hands over the request, and answers texts and bytes', async () => {
    await start();
    expect(await ask(url('/x?y=1'), { method: 'POST', body: 'héllo' })).to.include({
      status: 200,
      text: '/x?y=1 héllo',
    });
    expect((await ask(url('/bytes'))).text).to.equal('€');
    const head = await ask(url('/x'), { method: 'HEAD' });
    expect([head.status, head.text, head.headers['content-length']]).to.deep.equal([200, '', '3']);
  });

  it('lives through an application that throws', async () => {
    await start();
    expect((await ask(url('/throws'))).status).to.equal(500);
    expect(faults.map(String)).to.deep.equal(['Error: thrown']);
    expect((await ask(url('/x'))).status).to.equal(200);
  });

  it('takes 64 KiB and not a byte more, with a length and in chunks, and answers at the end of what is too much', async () => {
    await start();
    const most = 'x'.repeat(64 * 1024);
    expect((await ask(url('/x'), { method: 'POST', body: most })).status).to.equal(200);
    for (const body of [`${most}x`, 'x'.repeat(900_000)]) {
      expect((await ask(url('/x'), { method: 'POST', body })).status).to.equal(413);
      const headers = { 'transfer-encoding': 'chunked' };
      expect((await ask(url('/x'), { method: 'POST', body, headers })).status).to.equal(413);
    }
    const before = seen.length;
    expect((await ask(url('/refused'), { method: 'POST', body: most })).text).to.equal('refused');
    expect(seen.length, 'a refused request goes no further').to.equal(before);
  });

  it('refuses too many headers and too long ones: 431', async () => {
    await start();
    const many = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, '1']));
    expect((await ask(url('/x'), { headers: many(90) })).status).to.equal(200);
    expect((await ask(url('/x'), { headers: many(101) })).status).to.equal(431);
    expect((await ask(url('/x'), { headers: many(1500) })).status).to.equal(431);
    expect((await ask(url('/x'), { headers: { long: 'x'.repeat(17_000) } })).status).to.equal(431);
  });

  it('answers what is no HTTP with 400, and hangs up', async () => {
    await start();
    for (const bytes of ['\x16\x03\x01\x02\x00', 'HELO me\r\n\r\n']) {
      const connection = raw();
      connection.socket.write(bytes, 'latin1');
      await connection.closed;
      expect(connection.text(), JSON.stringify(bytes)).to.match(/^HTTP\/1\.1 400 /);
    }
  });

  it('hangs up on slow headers, slow bodies and silence with 408, and serves others meanwhile', async () => {
    await start({ requestMs: 2500 });
    const slow = [
      '',
      'GET / HTTP/1.1\r\nhost: x\r\n',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nab',
    ];
    const connections = slow.map((bytes) => {
      const connection = raw();
      connection.socket.write(bytes);
      return connection;
    });
    expect((await ask(url('/x'))).status).to.equal(200);
    await Promise.all(connections.map(({ closed }) => closed));
    expect(connections.map((connection) => connection.text().slice(9, 12))).to.deep.equal([
      '408',
      '408',
      '408',
    ]);
    expect(seen).to.deep.equal(['GET /x']);
  });

  it('keeps ten seconds as the time of a request', () => {
    expect(SERVER_LIMITS).to.include({ requestMs: 10_000, maxBodyBytes: 65_536 });
  });

  it('cuts who sends request after request and reads no answer', async () => {
    await start({ maxUnanswered: 4 });
    const four = raw();
    four.socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(4));
    await until('all four are answered', () => four.text().split('HTTP/1.1 200').length === 5);
    // Answers that were read make room for others.
    four.socket.write('GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await four.closed;
    expect(four.text().split('HTTP/1.1 200')).to.have.length(6);
    seen.length = 0;
    const many = raw();
    many.socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1000));
    await many.closed;
    expect(seen.length).to.be.at.most(4);
    expect((await ask(url('/x'))).status).to.equal(200);
    await until('none is open', () => server.load().open === 0);
  });

  it('forgets the requests of a client that has left, also those in line behind another one', async () => {
    await start();
    const two = raw();
    two.socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
    await until('both are worked on', () => release.length === 2);
    two.socket.destroy();
    await until('none is open', () => server.load().open === 0);
    release.forEach((one) => one());
    await server.close(60_000);
  });

  it('cuts who does not read an answer, and nobody whose answer takes its time', async () => {
    await start({ unreadMs: 300, idleMs: 600_000 });
    const slow = ask(url('/slow'));
    await until('it is worked on', () => release.length === 1);
    const deaf = connect(port, '127.0.0.1');
    deaf.on('error', () => undefined).pause();
    deaf.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await until('its answer is under way', () => server.load().open === 2);
    await until('it is cut', () => server.load().open === 1);
    release[0]?.();
    expect((await slow).status).to.equal(200);
    deaf.destroy();
  });

  it('survives clients that leave in the midst of a request or an answer', async () => {
    await start();
    for (const bytes of [
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nab',
      'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n',
    ]) {
      const connection = raw();
      await new Promise<void>((resolve) => connection.socket.write(bytes, () => resolve()));
      connection.socket.destroy();
      await connection.closed;
    }
    expect((await ask(url('/x'))).status).to.equal(200);
    release.forEach((go) => go());
    await until('nothing is open', () => server.load().open === 0);
    expect(faults).to.deep.equal([]);
  });

  it('serves while 200 connections do nothing', async () => {
    await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 200 });
    const fetchOne = (path: string): Promise<number> =>
      new Promise((resolve, reject) => {
        get(url(path), { agent }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0));
        }).on('error', reject);
      });
    expect(await Promise.all(Array.from({ length: 200 }, () => fetchOne('/x')))).to.satisfy((all: number[]) =>
      all.every((status) => status === 200),
    );
    expect((await ask(url('/x'))).status).to.equal(200);
    agent.destroy();
  });

  it('closes without losing a request: those that have arrived are answered, and no connection stays', async () => {
    await start();
    const slow = Array.from({ length: 20 }, () =>
      ask(url('/slow'), { headers: { connection: 'keep-alive' } }),
    );
    await until('they have arrived', () => release.length === 20);
    const idle = raw();
    await until('it is connected', () => idle.socket.readyState === 'open');
    // Never cut: browsers keep such connections, and a daemon that ends must not wait for them.
    const closing = server.close(2 ** 31 - 1);
    release.forEach((go) => go());
    const answers = await Promise.all(slow);
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
    await closing;
    await idle.closed;
    expect(
      await ask(url('/x')).then(
        () => 'answered',
        () => 'refused',
      ),
    ).to.equal('refused');
  });

  it('answers every request that clients send over open connections while it closes', async () => {
    await start();
    const lost: string[] = [];
    let answered = 0;
    const client = async (agent: Agent): Promise<void> => {
      // Until the server says that this was the last one.
      for (;;) {
        const last = await new Promise<boolean>((resolve) => {
          get(url('/x'), { agent }, (response) => {
            response.resume().on('end', () => {
              answered += 1;
              resolve(response.headers.connection === 'close');
            });
          }).on('error', (error) => {
            lost.push(error.message);
            resolve(true);
          });
        });
        if (last) return;
      }
    };
    const clients = Array.from({ length: 50 }, () => client(new Agent({ keepAlive: true, maxSockets: 1 })));
    await until('they are at it', () => answered > 500);
    await Promise.all([server.close(20_000), ...clients]);
    expect(lost).to.deep.equal([]);
    expect(answered).to.be.greaterThan(500);
  });

  it('cuts what is left after the grace', async () => {
    await start();
    const slow = ask(url('/slow')).then(
      () => 'answered',
      () => 'cut',
    );
    await until('it has arrived', () => release.length === 1);
    await server.close(100);
    expect(await slow).to.equal('cut');
  });
});
