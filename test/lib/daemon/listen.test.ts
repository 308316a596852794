import { expect } from 'chai';

import { listenTcp } from '../../../src/lib/daemon/daemon';
import { rejection } from '../../helpers/errors';

describe('daemon: the address it listens on', () => {
  /** A machine with these addresses only. */
  function machine(...addresses: string[]) {
    const asked: string[] = [];
    const server = {
      listenTcp(host: string, port: number): Promise<number> {
        asked.push(host);
        if (addresses.includes(host)) return Promise.resolve(port);
        return Promise.reject(Object.assign(new Error('no address'), { code: 'EADDRNOTAVAIL' }));
      },
    };
    const said: string[] = [];
    const listen = (host: string) =>
      listenTcp(server, { host, port: 31_337, say: (text) => said.push(text) });
    return { listen, asked, said };
  }

  it('is the configured one, or else the other loopback, and says so', async () => {
    const usual = machine('127.0.0.1', '::1');
    expect(await usual.listen('127.0.0.1')).to.deep.equal({ host: '127.0.0.1', port: 31_337 });
    expect(usual.asked).to.deep.equal(['127.0.0.1']);
    expect(usual.said).to.deep.equal([]);
    for (const [has, lacks] of [
      ['::1', '127.0.0.1'],
      ['127.0.0.1', '::1'],
    ] as const) {
      const { listen, said } = machine(has);
      expect(await listen(lacks)).to.deep.equal({ host: has, port: 31_337 });
      expect(said.join()).to.include(lacks).and.include(`Listening on ${has}`);
    }
  });

  it('is named with its setting if the machine does not have it', async () => {
    const none = await rejection(machine().listen('127.0.0.1'));
    expect(none.message).to.equal('This machine does not have the address 127.0.0.1 or ::1.');
    expect(none.hint).to.include('daemon.host');
    // An address that others can reach is never replaced.
    const { listen, asked } = machine('127.0.0.1', '::1');
    const other = await rejection(listen('192.0.2.1'));
    expect(other.hint).to.equal('Choose another address: steward config set daemon.host 127.0.0.1');
    expect(asked).to.deep.equal(['192.0.2.1']);
  });
});
