import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { peerLookup } from '../../../../src/lib/platform/net/peer';
import { long } from '../../../helpers/long';

/** `nobody` where it is usual; any number that is neither root nor this user will do. */
const OTHER_UID = 65_534;

describe('platform/peer', function () {
  this.timeout(30_000);
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  const listen = async (host: string): Promise<{ port: number; next: () => Promise<Socket> }> => {
    const server = createServer({ allowHalfOpen: true });
    servers.push(server);
    const accepted: Socket[] = [];
    server.on('connection', (socket: Socket) => accepted.push(socket.on('error', () => undefined)));
    server.listen(0, host);
    await once(server, 'listening');
    const next = async (): Promise<Socket> => {
      if (accepted.length === 0) await once(server, 'connection');
      const socket = accepted.shift() as Socket;
      sockets.push(socket);
      return socket;
    };
    return { port: (server.address() as AddressInfo).port, next };
  };

  const own = async (host: string, to: string, from?: string): Promise<boolean> => {
    const { port, next } = await listen(host);
    const client = connect({ port, host: to, ...(from === undefined ? {} : { localAddress: from }) });
    sockets.push(client);
    await once(client, 'connect');
    return peerLookup()(await next())();
  };

  /** Connects as another user, or this one, says hello, and ends: at once, or when it is answered. */
  const CLIENT = `const [port, host, stays] = process.argv.slice(1);
    const socket = require('node:net').connect(Number(port), host, () => {
      socket.write('hello', () => {
        if (stays === 'no') return process.exit();
        console.log('sent');
      });
    });
    socket.on('end', () => process.exit()).resume();`;

  for (const [name, host, to, from] of [
    ['IPv4', '127.0.0.1', '127.0.0.1', undefined],
    ['another loopback address', '127.0.0.1', '127.0.0.1', '127.0.0.7'],
    ['IPv6', '::1', '::1', undefined],
    ['IPv4 to a server of both', '::', '127.0.0.1', undefined],
    ['IPv4 over an IPv6 socket', '127.0.0.1', '::ffff:127.0.0.1', undefined],
  ] as const) {
    it(`knows this user: ${name}`, async () => {
      expect(await own(host, to, from)).to.equal(false);
    });
  }

  it('knows this user among many connections at once, and keeps each answer', async () => {
    const { port, next } = await listen('127.0.0.1');
    const lookup = peerLookup();
    const questions = [];
    for (let i = 0; i < 300; i += 1) {
      const client = connect(port, '127.0.0.1');
      sockets.push(client);
      questions.push(lookup(await next()));
    }
    const answers = await Promise.all(questions.map((question) => question()));
    expect(answers.filter((isOther) => isOther)).to.deep.equal([]);
    expect(questions[0]?.(), 'no promise any more').to.equal(false);
  });

  for (const host of ['127.0.0.1', '::1']) {
    it(`knows another user: ${host}`, async function () {
      if (process.getuid?.() !== 0) this.skip();
      const { port, next } = await listen(host);
      const { spawn } = await import('node:child_process');
      const child = spawn(process.execPath, ['-e', CLIENT, String(port), host, 'yes'], {
        cwd: '/',
        env: {},
        uid: OTHER_UID,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const socket = await next();
      expect(await peerLookup()(socket)()).to.equal(true);
      socket.end();
      await once(child, 'exit');
    });
  }

  // A closed connection of this user may be listed with its user or with root, so only another user's decides.
  long(
    "does not take another user's connection that was closed meanwhile for one of root",
    async function () {
      if (process.getuid?.() !== 0) this.skip();
      const { port, next } = await listen('127.0.0.1');
      // Nothing is accepted here until the client has ended.
      const asOther = { cwd: '/', env: {}, uid: OTHER_UID };
      spawnSync(process.execPath, ['-e', CLIENT, String(port), '127.0.0.1', 'no'], asOther);
      const question = peerLookup()(await next());
      expect(await question()).to.equal(true);
    },
  );
});
