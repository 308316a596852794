import { expect } from 'chai';
import { get } from 'node:http';

import { runDaemon } from '../../../src/lib/daemon/daemon';
import { testArea } from '../../helpers/area';
import { ask, until } from '../../helpers/daemon';

describe('daemon: its end', () => {
  it('comes after what it still makes for a client that is gone', async () => {
    const { deps, remove } = testArea();
    const order: string[] = [];
    const client = new AbortController();
    const gone = new Promise<void>((resolve) => client.signal.addEventListener('abort', () => resolve()));
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const run = async (): Promise<object> => {
      client.abort();
      await finished;
      order.push('made');
      return {};
    };
    const isClosed = (url: string): Promise<boolean> =>
      ask(`${url}/healthz`).then(
        () => false,
        () => true,
      );
    const goes = async (url: string, socket: string): Promise<void> => {
      await gone;
      await ask('http://localhost/api/stop', { method: 'POST', socket });
      await until('it no longer listens', () => isClosed(url));
      // What comes first without it is the end.
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      finish();
    };
    try {
      await runDaemon(
        {
          ...{ ...deps, version: '1', build: '1', host: '127.0.0.1', port: 0, requireToken: false },
          ...{ otherUsers: true, topics: [], modules: [], jobs: () => [], say: () => undefined },
          routes: [{ method: 'GET', path: '/api/long', run }],
          sessions: () => Promise.resolve(0),
          outbox: () => ({ waiting: 0, failed: 0 }),
          spool: () => ({ waiting: 0, dead: 0, oldest: null }),
          installedBuild: () => undefined,
        },
        ({ url, socket }) => {
          get(`${url}/api/long`, { agent: false, signal: client.signal }).on('error', () => undefined);
          void goes(url, socket);
        },
      );
      order.push('ended');
      await finished;
      expect(order).to.deep.equal(['made', 'ended']);
    } finally {
      remove();
    }
  });
});
