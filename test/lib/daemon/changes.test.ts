import { expect } from 'chai';
import { writeFileSync } from 'node:fs';

import { changeFeed, streamRoute, type Topic } from '../../../src/lib/daemon/changes';
import { httpServer } from '../../../src/lib/platform/net/http-server';
import { testApp } from '../../helpers/daemon-app';
import { scratch } from '../../helpers/scratch';

describe('daemon: the stream of changes', () => {
  const box = scratch();
  const topic = (name: string, more: Partial<Topic> = {}): Topic => ({
    ...{ name, path: `/${name}`, files: () => [box.path(name)], everySec: 60 },
    ...more,
  });
  const etags: Record<string, string> = {};
  const asked: string[] = [];
  const ask = (path: string) => {
    asked.push(path);
    const etag = etags[path];
    const headers = etag === undefined ? [] : ['etag', etag];
    return Promise.resolve({ status: 200, headers, body: JSON.stringify({ at: asked.length, path }) });
  };
  const onFault = (error: unknown): void => expect.fail(String(error));
  let nowMs = 0;
  const clock = { monotonic: () => nowMs };

  it('tells the ETags at first, then those that change; asks only after a file has changed', async () => {
    Object.assign(etags, { '/a': '"1"', '/b': '"1"' });
    const feed = changeFeed({ clock, topics: [topic('a'), topic('b')], ask, onFault });
    const lines: object[] = [];
    const stop = feed.listen((line) => lines.push(line));
    try {
      await feed.check();
      expect(lines.splice(0)).to.deep.equal([
        { topic: 'a', etag: '"1"' },
        { topic: 'b', etag: '"1"' },
      ]);
      asked.length = 0;
      etags['/a'] = '"2"';
      await feed.check();
      expect([asked, lines]).to.deep.equal([[], []]);
      writeFileSync(box.path('a'), 'changed');
      await feed.check();
      expect(asked).to.deep.equal(['/a']);
      expect(lines.splice(0)).to.deep.equal([{ topic: 'a', etag: '"2"' }]);
      writeFileSync(box.path('b'), 'changed, but the document is the same');
      await feed.check();
      expect([asked.at(-1), lines]).to.deep.equal(['/b', []]);
    } finally {
      stop();
    }
  });

  it('looks again after some time, and hashes what pages show of a document without an ETag', async () => {
    const shown = ({ path }: { path: string }): unknown => path;
    const topics = [topic('c', { everySec: 3 }), topic('d', { everySec: 3, shown })];
    const feed = changeFeed({ clock, topics, ask, onFault });
    const lines: { topic?: string }[] = [];
    const stop = feed.listen((line) => lines.push(line));
    try {
      for (let i = 0; i < 4; i += 1) {
        await feed.check();
        nowMs += 1000;
      }
      await feed.check();
      expect(lines.map(({ topic }) => topic)).to.deep.equal(['c', 'd', 'c']);
    } finally {
      stop();
    }
  });

  it('asks for nothing again when a page reloads, and for everything that changed meanwhile', async () => {
    const feed = changeFeed({ clock, topics: [topic('e', { everySec: 5 }), topic('f')], ask, onFault });
    const listened = async (): Promise<[asked: string[], lines: object[]]> => {
      const lines: object[] = [];
      asked.length = 0;
      const stop = feed.listen((line) => lines.push(line));
      await feed.check();
      stop();
      return [[...asked], lines];
    };
    Object.assign(etags, { '/e': '"1"', '/f': '"1"' });
    const both = ['e', 'f'].map((name) => ({ topic: name, etag: '"1"' }));
    expect(await listened()).to.deep.equal([['/e', '/f'], both]);
    expect(await listened()).to.deep.equal([[], both]);
    nowMs += 5000;
    expect(await listened()).to.deep.equal([['/e'], both.toReversed()]);
    writeFileSync(box.path('f'), 'changed');
    etags['/f'] = '"2"';
    expect(await listened()).to.deep.equal([['/f'], [both[0], { topic: 'f', etag: '"2"' }]]);
  });

  it('asks for nothing more when the last listener goes', async () => {
    asked.length = 0;
    const feed = changeFeed({ clock, topics: [topic('g'), topic('h')], ask, onFault });
    feed.listen(() => undefined)();
    await feed.check();
    expect(asked).to.deep.equal(['/g']);
  });

  it('refuses more listeners than there can be browsers', async () => {
    const hasPageSecret = (): boolean => true;
    const route = streamRoute({ clock, topics: [], ask, onFault, run: '1', version: '2', hasPageSecret });
    const stops: (() => void)[] = [];
    try {
      for (let i = 0; i < 32; i += 1) {
        const answer = await route.serve({ head: HEAD, query: new URLSearchParams(), body: undefined });
        const lines: string[] = [];
        const stop = answer.stream?.((line) => lines.push(line));
        if (stop !== undefined) stops.push(stop);
        expect(lines).to.deep.equal(['{"run":"1","version":"2","signedIn":true}\n']);
      }
      expect((await testApp([route]).ask('/api/stream')).status).to.equal(503);
    } finally {
      for (const stop of stops) stop();
    }
    expect((await testApp([route]).ask('/api/stream')).status).to.equal(200);
  });

  it('ends first when the server closes, and is no request in progress', async () => {
    let stopped = 0;
    let late = (_: string): void => undefined;
    const server = httpServer({
      admit: () => undefined,
      answer: () => ({
        ...{ status: 200, headers: [], body: '' },
        stream(write) {
          late = write;
          write('first\n');
          return () => (stopped += 1);
        },
      }),
      refuse: (status) => ({ status, headers: [], body: '' }),
    });
    const port = await server.listenTcp('127.0.0.1', 0);
    const response = await fetch(`http://127.0.0.1:${port}/`);
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).to.equal('first\n');
    expect(server.load()).to.deep.equal({ open: 0, answered: 1 });
    const closing = server.close(60_000);
    // A check that was in progress when the server began to close.
    late('late\n');
    const [, last] = await Promise.all([closing, reader?.read()]);
    expect([last?.done, stopped]).to.deep.equal([true, 1]);
  });
});

const HEAD = {
  ...{ method: 'GET', target: '/api/stream', headers: {}, rawHeaders: [], isLocal: true },
  isOtherUser: () => false,
};
