import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';

import { askLocalNow } from '../../../../src/lib/platform/net/local-http';
import { scratch } from '../../../helpers/scratch';

/** Says its pieces to each client, a moment apart, and hangs up; without any it says nothing. */
const SERVER = `
const pieces = JSON.parse(process.argv[2]);
require('node:net').createServer((socket) => {
  socket.on('error', () => {});
  let heard = '';
  socket.on('data', (chunk) => {
    heard += chunk;
    if (!heard.includes('"end"') || pieces.length === 0) return;
    const say = ([piece, ...rest]) => {
      if (piece === undefined) return socket.end();
      socket.write(piece.replace('BODY', String(heard.length)), () => setTimeout(say, 5, rest));
    };
    say(pieces);
  });
}).listen(process.argv[1], () => console.log('listens'));`;

describe('the client that waits', function () {
  if (process.platform === 'win32') return;
  const box = scratch();
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** In a process of its own: this one waits. */
  async function answering(pieces: string[], timeoutMs = 20_000, more = ''): Promise<unknown> {
    const path = box.path(`s${children.length}`);
    const child = spawn(process.execPath, ['-e', SERVER, path, JSON.stringify(pieces)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    await once(child.stdout, 'data');
    try {
      return askLocalNow({ socket: path, method: 'POST', path: '/', body: { more, say: 'end' }, timeoutMs });
    } catch (error) {
      return (error as Error).message;
    }
  }

  it('reads an answer, whole or in pieces', async () => {
    const whole = { status: 202, json: { a: 'ü' } };
    const text = 'HTTP/1.1 202 Accepted\r\nContent-Length: 10\r\n\r\n{"a":"ü"}';
    expect(await answering([text])).to.deep.equal(whole);
    expect(await answering([text.slice(0, 30), text.slice(30, 50), text.slice(50)])).to.deep.equal(whole);
  });

  it('sends what is larger than a socket holds', async () => {
    const found = await answering(
      ['HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nBODY'],
      20_000,
      'x'.repeat(2_000_000),
    );
    expect(found).to.have.property('status', 200);
    expect((found as { json: number }).json).to.be.within(2_000_000, 2_001_000);
  });

  it('says what is no answer, and does not wait for ever', async () => {
    for (const text of [
      'nonsense',
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n{"a":',
      'HTTP/1.1 200 OK\r\n\r\n',
    ])
      expect(await answering([text]), text).to.include('invalid response');
    expect(await answering([], 200)).to.include('did not respond within 200 ms');
  });

  it('sends nothing where nobody is', () => {
    writeFileSync(box.path('file'), '');
    for (const socket of [box.path('none'), box.path('file'), box.path('x'.repeat(200))])
      expect(askLocalNow({ socket, method: 'GET', path: '/', timeoutMs: 10_000 })).to.equal(undefined);
  });
});
