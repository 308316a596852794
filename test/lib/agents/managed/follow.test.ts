import { expect } from 'chai';

import { confirmation } from '../../../../src/lib/agents/managed/answers';
import { follow, type FollowEnd } from '../../../../src/lib/agents/managed/follow';
import type { SendDeps } from '../../../../src/lib/agents/managed/outbox';
import { openSessionLog } from '../../../../src/lib/agents/managed/session-log';
import { startFake, type Fake } from '../../../helpers/fake-managed/server';
import type { FakeSession } from '../../../helpers/fake-managed/session';
import { sendDeps } from '../../../helpers/managed';
import { rejection } from '../../../helpers/rejection';
import { scratch } from '../../../helpers/scratch';

describe('managed: answers that come too late', function () {
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
          prices: { input: undefined, output: undefined },
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

  it('tells how the turn ended when somebody has interrupted it meanwhile', async () => {
    const end = await followed(({ id }) => deps.client.send(id, [{ type: 'user.interrupt' }]));
    expect(end.outcome).to.include({ kind: 'canceled', message: 'The agent was interrupted' });
  });

  it('goes on when somebody else has answered all of it meanwhile', async () => {
    const end = await followed(({ id }, ids) =>
      deps.client.send(
        id,
        ids.map((use) => confirmation(use, 'deny')),
      ),
    );
    expect(end.outcome).to.include({ kind: undefined, reason: 'end_turn' });
  });

  it('tells of an answer that the service refuses while it still waits', async () => {
    const error = await rejection(
      followed(
        () => Promise.resolve(),
        (id) => `${id}x`,
      ),
    );
    expect(error).to.include({ kind: 'conflict' });
    expect(error.message).to.match(/refuses events for session/);
  });
});
