import { expect } from 'chai';

import { secret } from '../../../../src/lib/config/secret';
import type { Outcome, Parcel } from '../../../../src/lib/notify/channels/channel';
import { pushBodies, pushChannel } from '../../../../src/lib/notify/channels/push';
import { rootOf } from '../../../../src/lib/notify/channels/web';
import { NINE, httpDeps, parcel } from '../../../helpers/notify';
import { notifyServer, ntfyError, ntfyOk, type NotifyServer } from '../../../helpers/notify-server';
import { long } from '../../../helpers/long';

const TOPIC = 'steward-topic-3f9a1c';

describe('notify: push', () => {
  let server: NotifyServer;
  let deps: ReturnType<typeof httpDeps>;
  beforeEach(async () => {
    server = await notifyServer(ntfyOk);
    deps = httpDeps(server.url);
  });
  afterEach(() => server.close());

  const send = (
    more: Partial<Parcel> = {},
    onPart: (sent: number) => void = () => undefined,
  ): Promise<Outcome> => pushChannel(deps.deps).send(parcel(more), onPart);

  it("posts ntfy's JSON to the root, with token, priority, tags and click", async () => {
    deps.push.token = secret('notifications.push.token', 'tk_123');
    const more = {
      title: 'Bäu',
      priority: 4,
      tags: ['tada'],
      url: 'https://example.org/1',
      event: 'longTask' as const,
    };
    expect(await send(more)).to.deep.equal({ outcome: 'delivered' });
    expect(server.got).to.have.length(1);
    const [{ path, headers, body } = server.got[0]!] = server.got;
    expect(path).to.equal('/');
    expect(headers.authorization).to.equal('Bearer tk_123');
    expect(body).to.deep.equal({
      topic: TOPIC,
      message: 'The build is done.',
      title: 'Bäu',
      priority: 4,
      tags: ['white_check_mark', 'tada'],
      click: 'https://example.org/1',
      sequence_id: '20261120T090000000Z-0123456789ab',
    });
  });

  it('sends only the kind of event by default', async () => {
    deps.push.detail = 'generic';
    const secretWords = {
      message: 'payroll of Ann',
      title: 'payroll',
      url: 'https://pay.example',
      tags: ['payroll'],
    };
    await send({ ...secretWords, event: 'error' });
    expect(server.got[0]?.text).to.not.match(/payroll|Ann|pay\.example/);
    expect(server.got[0]?.body).to.include({ message: 'Something failed.', priority: 3 });
    await send({ ...secretWords, count: 5 });
    expect(server.got[1]?.body).to.include({ message: '5 notifications arrived during quiet hours.' });
  });

  it('stays within 4,096 bytes a message and 8,192 a body', () => {
    for (const char of ['x', '"', '\\', '\n', 'é', '😀', '日']) {
      const extremes = {
        title: '"'.repeat(250),
        url: `https://example.org/${'q'.repeat(1900)}`,
        tags: ['t'.repeat(64)],
      };
      const message = `${char.repeat(3998)}ab`;
      const bodies = pushBodies(parcel({ message, ...extremes }), TOPIC, 'full');
      for (const body of bodies) {
        expect(Buffer.byteLength(String(body['message'])), char).to.be.at.most(4096);
        expect(Buffer.byteLength(JSON.stringify(body)), char).to.be.at.most(8192);
      }
      const joined = bodies.map((body) => String(body['message']).replace(/^\(\d+\/\d+\) /, '')).join('');
      expect(joined.replace(/\s/g, ''), char).to.equal(message.replace(/\s/g, ''));
    }
  });

  it('sends a long message in parts, and resumes after a failure', async () => {
    const message = 'é'.repeat(4000);
    const parts: number[] = [];
    server.replies = [{ status: 200 }, { status: 500 }];
    expect(await send({ message }, (sent) => parts.push(sent))).to.include({ outcome: 'again' });
    expect(parts).to.deep.equal([1]);
    expect(await send({ message, sentParts: 1 }, (sent) => parts.push(sent))).to.deep.equal({
      outcome: 'delivered',
    });
    const ids = server.got.map(({ body }) => body['sequence_id']);
    expect(ids).to.deep.equal([parcel().id, `${parcel().id}-2`, `${parcel().id}-2`]);
    expect(server.got.map(({ body }) => String(body['message']).slice(0, 5))).to.deep.equal([
      '(1/2)',
      '(2/2)',
      '(2/2)',
    ]);
  });

  it('gives messages with one key the same id, without revealing the key', async () => {
    await send({ dedupe: 'nightly backup' });
    await send({ dedupe: 'nightly backup', id: '20261120T090001000Z-ffffffffffff', message: 'other' });
    await send({ dedupe: 'something else' });
    const ids = server.got.map(({ body }) => String(body['sequence_id']));
    expect(ids[0]).to.equal(ids[1]);
    expect(ids[2]).to.not.equal(ids[0]);
    expect(ids[0])
      .to.match(/^[-_A-Za-z0-9]{1,64}$/)
      .and.not.include('backup');
  });

  describe('faults', () => {
    it('pauses the channel for some seconds on 42901', async () => {
      server.replies = [ntfyError(42901)];
      expect(await send()).to.include({ outcome: 'again', afterMs: 5000, all: true });
    });

    it('waits until midnight UTC on 42908', async () => {
      server.replies = [ntfyError(42908)];
      const outcome = await send();
      expect(outcome).to.include({ outcome: 'again', all: true });
      expect(outcome).to.have.property('afterMs', Date.UTC(2026, 10, 21) - NINE + 5000);
    });

    it('gives up if the server rejects the topic', async () => {
      server.replies = [ntfyError(40009)];
      expect(await send()).to.include({ outcome: 'failed' });
    });

    for (const status of [401, 403]) {
      it(`asks for a token on ${status}`, async () => {
        server.replies = [
          { status, body: { code: status * 100 + 1, http: status, error: `topic ${TOPIC}` } },
        ];
        const outcome = await send();
        expect(outcome)
          .to.include({ outcome: 'failed' })
          .and.property('hint')
          .to.include('notifications.push.token');
      });
    }

    for (const [what, reply] of [
      ['500', { status: 500 }],
      ['503 with a body that is no JSON', { status: 503, body: undefined }],
      ['408', { status: 408 }],
    ] as const) {
      it(`retries after ${what}`, async () => {
        server.replies = [reply];
        expect(await send()).to.include({ outcome: 'again', all: true });
      });
    }

    it('retries after a broken connection', async () => {
      server.replies = ['reset'];
      const outcome = await send();
      expect(outcome).to.include({ outcome: 'again' });
      expect(outcome).to.have.property('reason').that.includes('closed the connection');
    });

    long('times out if the server never answers, and sends the next message', async () => {
      server.replies = ['hang'];
      const impatient = pushChannel({ ...deps.deps, answerMs: 1500 });
      const outcome = await impatient.send(parcel(), () => undefined);
      expect(outcome).to.include({ outcome: 'again' });
      expect(outcome)
        .to.have.property('reason')
        .that.matches(/^127\.0\.0\.1:\d+ did not respond in time\.$/);
      expect(await send()).to.deep.equal({ outcome: 'delivered' });
    });

    it('gives a server ten seconds to answer', async () => {
      const asked: unknown[] = [];
      const { origin } = await deps.deps.http();
      const listened: typeof origin = (base, words) => {
        const client = origin(base, words);
        return { ...client, request: (wanted) => (asked.push(wanted.timeoutMs), client.request(wanted)) };
      };
      const http = () => Promise.resolve({ origin: listened });
      await pushChannel({ ...deps.deps, http }).send(parcel(), () => undefined);
      expect(asked).to.deep.equal([10_000]);
    });

    it('does not read an endless answer', async () => {
      server.replies = ['endless'];
      expect(await send()).to.deep.equal({ outcome: 'delivered' });
    }).timeout(60_000);

    it('follows no redirect, which would leak the token', async () => {
      const other = await notifyServer(ntfyOk);
      try {
        deps.push.token = secret('notifications.push.token', 'tk_123');
        for (const status of [301, 302, 307, 308]) {
          server.replies = [{ status, headers: { location: `${other.url}/` } }];
          expect(await send()).to.include({ outcome: 'failed' });
        }
        expect(other.got).to.deep.equal([]);
      } finally {
        await other.close();
      }
    });

    it('refuses plain HTTP to another machine before sending', async () => {
      deps.push.server = 'http://192.0.2.1/';
      const outcome = await send();
      expect(outcome).to.include({
        outcome: 'failed',
        reason: '192.0.2.1 requires encryption.',
      });
    });

    it('never shows topic and token', async () => {
      deps.push.token = secret('notifications.push.token', 'tk_hush');
      const told: unknown[] = [];
      for (const reply of [
        ntfyError(42901),
        ntfyError(42908),
        { status: 404 },
        { status: 500 },
        'reset',
      ] as const) {
        server.replies = [reply];
        told.push(await send());
      }
      deps.push.topic = secret('notifications.push.topic', 'not a topic of hush');
      told.push(await send());
      expect(JSON.stringify(told)).to.not.match(/hush|3f9a1c/);
    });
  });

  it('uses https for other hosts, and http for this machine', () => {
    expect(rootOf('ntfy.sh')).to.equal('https://ntfy.sh/');
    expect(rootOf('push.example:8443')).to.equal('https://push.example:8443/');
    expect(rootOf('localhost:8080')).to.equal('http://localhost:8080/');
    expect(rootOf('https://push.example')).to.equal('https://push.example/');
  });
});
