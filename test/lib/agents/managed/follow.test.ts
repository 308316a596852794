import { expect } from 'chai';
import { readFileSync } from 'node:fs';

import { confirmation } from '../../../../src/lib/agents/managed/send';
import { follow, type FollowInput } from '../../../../src/lib/agents/managed/follow';
import type { FollowEnd } from '../../../../src/lib/agents/managed/view';
import { prepareFirst, sendMessage, type SendDeps } from '../../../../src/lib/agents/managed/outbox';
import { openSessionLog, sessionLogPath } from '../../../../src/lib/agents/managed/session-log';
import { wakeSession } from '../../../../src/lib/agents/managed/sessions';
import { wait } from '../../../../src/lib/platform/time/wait';
import { startFake, type Fake } from '../../../helpers/fake-managed/server';
import type { FakeSession } from '../../../helpers/fake-managed/session';
import { sendDeps } from '../../../helpers/managed';
import { rejection } from '../../../helpers/errors';
import { scratch } from '../../../helpers/scratch';
import { long } from '../../../helpers/long';

describe('managed: late answers', function () {
  this.timeout(60_000);
  const box = scratch();
  let fake: Fake;
  let deps: SendDeps & { close: () => Promise<void> };
  beforeEach(async () => {
    fake = await startFake({ script: () => [{ waitFor: { kind: 'tool', name: 'bash', count: 2 } }] });
    deps = await sendDeps(fake.url, box.path('managed'));
  });
  afterEach(async () => {
    await deps.close();
    await fake.stop();
  });

  /** Follows a turn; `meanwhile` is what happens while a person thinks about the questions. */
  async function followed(
    meanwhile: (session: FakeSession, ids: readonly string[]) => Promise<unknown>,
    answer: (id: string) => string = (id) => id,
  ): Promise<FollowEnd> {
    const session = fake.makeSession();
    await deps.client.send(session.id, [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }]);
    const output = { chunkBytes: 4096, file: () => undefined, write: () => Promise.resolve() };
    const log = openSessionLog(deps.folder, session.id, { output, render: () => '' });
    try {
      return await follow(
        {
          ...deps,
          log,
          answer: async (pending) => {
            await meanwhile(
              session,
              pending.map(({ id }) => id),
            );
            return pending.map(({ id }) => confirmation(answer(id), 'allow'));
          },
          say: () => undefined,
        },
        { session: session.id, until: 'turn' },
      );
    } finally {
      log.close();
    }
  }

  long('reports an interruption that happened meanwhile', async () => {
    const end = await followed(({ id }) => deps.client.send(id, [{ type: 'user.interrupt' }]));
    expect(end.outcome).to.include({ kind: 'canceled', message: 'The agent was interrupted' });
  });

  it('continues if everything was answered meanwhile', async () => {
    const end = await followed(({ id }, ids) =>
      deps.client.send(
        id,
        ids.map((use) => confirmation(use, 'deny')),
      ),
    );
    expect(end.outcome).to.include({ kind: undefined, reason: 'end_turn' });
  });

  it('reports an answer that the service refuses', async () => {
    const error = await rejection(
      followed(
        () => Promise.resolve(),
        (id) => `${id}x`,
      ),
    );
    expect(error).to.include({ kind: 'conflict' });
    expect(error.message).to.match(/rejected events for session/);
  });
});

describe('managed: a lagging history', function () {
  this.timeout(60_000);
  const box = scratch();
  let fake: Fake;
  let deps: SendDeps & { close: () => Promise<void> };
  let lagMs: number;
  let shown: string[];
  let said: string[];
  beforeEach(async () => {
    [lagMs, shown, said] = [0, [], []];
    fake = await startFake({
      script: (message) => [
        { emit: { type: 'agent.message', content: [{ type: 'text', text: `to ${message}` }] } },
      ],
      lagMs: () => lagMs,
    });
    deps = await sendDeps(fake.url, box.path('managed'));
  });
  afterEach(async () => {
    await deps.close();
    await fake.stop();
  });

  const followed = async (
    input: FollowInput,
    timing: Partial<SendDeps['timing']> = {},
  ): Promise<FollowEnd> => {
    const output = {
      chunkBytes: 4096,
      file: () => undefined,
      write: (part: Uint8Array | string) => Promise.resolve(void shown.push(String(part))),
    };
    const render = ({ type, content }: Record<string, unknown>): string =>
      type === 'agent.message' ? `${JSON.stringify(content)}\n` : '';
    const log = openSessionLog(deps.folder, input.session, { output, render });
    const more = {
      timing: { ...deps.timing, ...timing },
      log,
      answer: () => Promise.resolve([]),
      say: (text: string) => void said.push(text),
    };
    try {
      return await follow({ ...deps, ...more }, input);
    } finally {
      log.close();
    }
  };

  /** A session with one turn that is over; then a second message, whose turn ends before anybody listens. */
  const woken = async (): Promise<{ session: string; sent: string[] }> => {
    const session = fake.makeSession();
    await sendMessage(deps, session.id, 'one');
    await followed({ session: session.id, until: 'turn' });
    lagMs = 400;
    const found = await wakeSession(deps, session.id, 'two');
    while (session.log.filter(({ type }) => type === 'session.status_idle').length < 2) await wait(2);
    return found;
  };

  long('is waited for, so that a wake shows the sent message and its turn', async () => {
    const found = await woken();
    const end = await followed({ ...found, until: 'turn' });
    expect(end.outcome).to.include({ kind: undefined, reason: 'end_turn' });
    expect(shown.join('')).to.contain('to one').and.contain('to two');
    expect(said).to.deep.equal([]);
  });

  long('is waited for a bounded time, then reported', async () => {
    const found = await woken();
    const end = await followed({ ...found, until: 'turn' }, { lagMs: 10 });
    expect(end.outcome).to.include({ reason: 'end_turn' });
    expect(shown.join('')).not.to.contain('to two');
    expect(said).to.have.length(1);
    expect(said[0]).to.contain(
      `The service accepted ${found.sent.join()}, but the history does not show it yet`,
    );
  });

  it('ends at once if the log already has the pending message and the end of its turn', async () => {
    const { id: session } = fake.makeSession();
    await deps.client.send(session, [{ type: 'user.message', content: [{ type: 'text', text: 'one' }] }]);
    await followed({ session, until: 'turn' });
    // The sender was killed before it noted that the service took the message.
    prepareFirst(deps.folder, session, 'one');
    const end = await followed({ session, until: 'turn' });
    expect(end.outcome).to.include({ reason: 'end_turn', kind: undefined });
  }).timeout(10_000);
});

describe('managed: a stream that tells nothing', function () {
  this.timeout(60_000);
  const box = scratch();

  /** Follows a turn of one large message; gives the texts that were shown. */
  async function shownOf(stream: (open: SendDeps['client']['stream']) => SendDeps['client']['stream']) {
    const text = 'é'.repeat(2_500_000);
    const fake = await startFake({
      script: () => [{ emit: { type: 'agent.message', content: [{ type: 'text', text }] } }],
    });
    const deps = await sendDeps(fake.url, box.path('managed'));
    const shown: string[] = [];
    const output = {
      chunkBytes: 4096,
      file: () => undefined,
      write: (part: Uint8Array | string) => Promise.resolve(void shown.push(String(part))),
    };
    const { id } = fake.makeSession();
    const log = openSessionLog(deps.folder, id, { output, render: ({ type }) => `${type}\n` });
    try {
      await sendMessage(deps, id, 'go');
      const client = { ...deps.client, stream: stream(deps.client.stream) };
      const end = await follow(
        {
          ...deps,
          client,
          log,
          answer: () => Promise.resolve([]),
          say: () => undefined,
        },
        { session: id, until: 'turn' },
      );
      expect(end.outcome).to.include({ reason: 'end_turn', kind: undefined });
      expect(readFileSync(sessionLogPath(deps.folder, id), 'utf8')).to.include(text);
      return shown.join('').trim().split('\n');
    } finally {
      log.close();
      await deps.close();
      await fake.stop();
    }
  }
  const TURN = ['user.message', 'session.status_running', 'agent.message', 'session.status_idle'];

  long('does not end a turn: the history gives a 5 MB event, too', async () => {
    const ping = Buffer.from('event: ping\ndata: {"type":"ping"}\n\n');
    const shown = await shownOf(
      () => () =>
        Promise.resolve({
          status: 200,
          headers: {},
          close: () => undefined,
          chunks: { next: async () => (await wait(5), { done: false as const, value: ping }) },
        }),
    );
    expect(shown).to.deep.equal(TURN);
  });

  long('shows a 5 MB event from the stream', async () => {
    expect(await shownOf((open) => open)).to.deep.equal(TURN);
  });
});
