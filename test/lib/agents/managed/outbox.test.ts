import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

import {
  outboxPath,
  sendMessage,
  sendPending,
  type SendDeps,
} from '../../../../src/lib/agents/managed/outbox';
import { sendAnswers } from '../../../../src/lib/agents/managed/send';
import { resumeStart, startSession } from '../../../../src/lib/agents/managed/sessions';
import { NO_FAULTS, type RequestFault } from '../../../helpers/fake-managed/faults';
import { startFake, type Fake } from '../../../helpers/fake-managed/server';
import { QUICK, sendDeps } from '../../../helpers/managed';
import { rejection } from '../../../helpers/errors';
import { scratch } from '../../../helpers/scratch';
import { long } from '../../../helpers/long';

describe('managed: sending once over a connection that loses answers', () => {
  const box = scratch();
  let fake: Fake;
  let deps: SendDeps & { close: () => Promise<void> };
  /** What happens to the next POSTs, in turn. */
  let faults: (RequestFault | undefined)[];
  beforeEach(async () => {
    faults = [];
    const request = (method: string): RequestFault | undefined =>
      method === 'POST' ? faults.shift() : undefined;
    fake = await startFake({
      faults: { ...NO_FAULTS, request },
      script: () => [{ waitFor: { kind: 'tool', name: 'bash', count: 1 } }],
      pageSize: 2,
    });
    deps = await sendDeps(fake.url, box.path('managed'));
  });
  afterEach(async () => {
    await deps.close();
    await fake.stop();
  });

  const received = (session: string): unknown[] =>
    (fake.sessions.get(session)?.log ?? [])
      .filter(({ type }) => type === 'user.message')
      .map(({ content }) => (content as { text: string }[])[0]?.text);
  const posts = (): number => fake.requests.filter(({ method }) => method === 'POST').length;

  for (const fault of [{ kind: 'landed-then-reset' }, { kind: 'landed-then-status', status: 500 }] as const) {
    it(`does not send again what has arrived (${fault.kind})`, async () => {
      const { id } = fake.makeSession();
      faults = [fault];
      const sent = await sendMessage(deps, id, 'hello');
      expect(received(id)).to.deep.equal(['hello']);
      expect(sent.id).to.equal(fake.sessions.get(id)?.log[0]?.id);
      expect(posts()).to.equal(1);
    });
  }

  long('retries a message that has not arrived', async () => {
    const { id } = fake.makeSession();
    faults = [{ kind: 'reset' }, { kind: 'status', status: 529 }, { kind: 'status', status: 429 }];
    await sendMessage(deps, id, 'hello');
    expect(received(id)).to.deep.equal(['hello']);
    expect(posts()).to.equal(4);
  });

  it('sends the same text twice if it is given twice', async () => {
    const { id } = fake.makeSession([{ type: 'user.message', content: [{ type: 'text', text: 'go on' }] }]);
    faults = [{ kind: 'reset' }];
    await sendMessage(deps, id, 'go on');
    expect(received(id)).to.deep.equal(['go on', 'go on']);
  });

  it('sends the pending message of a killed process only if it did not arrive', async () => {
    mkdirSync(box.path('managed'));
    const left = JSON.stringify({ version: 1, pending: { text: 'hello', before: 0 }, sent: [] });
    const arrived = fake.makeSession([{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }]);
    const lost = fake.makeSession();
    for (const { id } of [arrived, lost]) {
      writeFileSync(outboxPath(box.path('managed'), id), left);
      await sendPending(deps, id);
      expect(received(id)).to.deep.equal(['hello']);
      expect(await sendPending(deps, id)).to.equal(undefined);
    }
  });

  it('treats the same message after a kill as the same message', async () => {
    mkdirSync(box.path('managed'));
    const { id } = fake.makeSession([{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }]);
    writeFileSync(
      outboxPath(box.path('managed'), id),
      JSON.stringify({ version: 1, pending: { text: 'hello', before: 0 }, sent: [] }),
    );
    await sendMessage(deps, id, 'hello');
    expect(received(id)).to.deep.equal(['hello']);
  });

  it('drops a refused message', async () => {
    const { id } = fake.makeSession();
    await sendMessage(deps, id, 'hello');
    // The fake's agent waits for a confirmation as soon as it has begun.
    while ((fake.sessions.get(id)?.pending.size ?? 0) === 0)
      await new Promise((resolve) => setImmediate(resolve));
    expect(await rejection(sendMessage(deps, id, 'more'))).to.include({ kind: 'conflict' });
    expect(await sendPending(deps, id)).to.equal(undefined);
  });

  it('answers a tool once, and checks before a retry', async () => {
    const { id } = fake.makeSession();
    await sendMessage(deps, id, 'hello');
    while ((fake.sessions.get(id)?.pending.size ?? 0) === 0)
      await new Promise((resolve) => setImmediate(resolve));
    const [use = ''] = fake.sessions.get(id)?.pending ?? [];
    faults = [{ kind: 'landed-then-reset' }];
    const answer = { type: 'user.tool_confirmation', tool_use_id: use, result: 'allow' } as const;
    const taken = await sendAnswers(deps, id, [answer]);
    expect(taken.map(({ type }) => type)).to.deep.equal(['user.tool_confirmation']);
    const log = fake.sessions.get(id)?.log ?? [];
    expect(log.filter(({ type }) => type === 'user.tool_confirmation')).to.have.length(1);
  });

  long('sends the remaining answers if a killed process sent some', async () => {
    const { id } = fake.makeSession();
    const session = fake.sessions.get(id);
    for (const use of ['one', 'two', 'three', 'four']) session?.pending.add(use);
    const answer = (use: string) =>
      ({ type: 'user.tool_confirmation', tool_use_id: use, result: 'allow' }) as const;
    await sendAnswers(deps, id, [answer('one')]);
    await sendAnswers(deps, id, [answer('one'), answer('two'), answer('three'), answer('four')]);
    // The service shows two at once.
    await sendAnswers(deps, id, [answer('one'), answer('two'), answer('three'), answer('four')]);
    const targets = session?.log.flatMap((event) => event['tool_use_id'] ?? []);
    expect(targets).to.deep.equal(['one', 'two', 'three', 'four']);
    expect(await rejection(sendAnswers(deps, id, [answer('five')]))).to.include({ kind: 'conflict' });
  });

  describe('a session', () => {
    const input = { agent: 'agent_1', environment: 'env_1', message: 'hello' };
    beforeEach(() => {
      fake.agents.set('agent_1', {});
      fake.environments.set('env_1', {});
    });

    it('is created once if the answer is lost', async () => {
      faults = [{ kind: 'landed-then-reset' }];
      const id = await startSession(deps, input);
      expect([...fake.sessions.keys()]).to.deep.equal([id]);
    });

    it('leaves no empty session of a start that the service answered with an error', async () => {
      faults = [{ kind: 'landed-then-status', status: 429 }];
      const id = await startSession(deps, input);
      const open = [...fake.sessions.values()].filter(({ archived }) => archived === null);
      expect(open.map((session) => session.id)).to.deep.equal([id]);
    });

    it('is found by the process after a kill', async () => {
      const hopeless = { ...deps, timing: { ...QUICK, tries: 1 } };
      const client = { ...deps.client, list: () => Promise.reject(new Error('killed')) };
      faults = [{ kind: 'landed-then-reset' }];
      await rejection(startSession({ ...hopeless, client }, input));
      const id = await resumeStart(deps);
      expect([...fake.sessions.keys()]).to.deep.equal([id]);
      await sendPending(deps, id ?? '');
      expect(received(id ?? '')).to.deep.equal(['hello']);
      expect(await resumeStart(deps)).to.equal(undefined);
    });

    it('leaves no file if it is refused', async () => {
      const refused = await rejection(startSession(deps, { ...input, agent: 'nobody' }));
      expect(refused).to.include({ kind: 'not_found' });
      expect(await resumeStart(deps)).to.equal(undefined);
    });
  });

  it('refuses an outbox of a newer format', async () => {
    const { id } = fake.makeSession();
    const text = '{"version":2,"pending":{"text":"x","before":0}}';
    mkdirSync(box.path('managed'), { recursive: true });
    writeFileSync(outboxPath(box.path('managed'), id), text);
    for (const tried of [sendMessage(deps, id, 'hello'), sendPending(deps, id)])
      expect(await rejection(tried)).to.include({ kind: 'config' });
    expect(readFileSync(outboxPath(box.path('managed'), id), 'utf8')).to.equal(text);
    expect(posts()).to.equal(0);
  });

  it('buries an incomplete start file, and creates one session of a renamed one', async () => {
    mkdirSync(box.path('managed'), { recursive: true });
    fake.agents.set('agent_1', {});
    fake.environments.set('env_1', {});
    const outside = box.path('outside.start.json');
    writeFileSync(outside, 'mine');
    const sound = { nonce: '../outside', agent: 'agent_1', environment: 'env_1', message: 'go' };
    for (const [index, start] of [{ nonce: 5 }, { nonce: 'n' }, { ...sound, agent: null }, sound].entries())
      writeFileSync(box.path('managed', `${index}.start.json`), JSON.stringify(start));
    expect(await resumeStart(deps)).to.match(/^sesn_/);
    expect(await resumeStart(deps)).to.equal(undefined);
    expect(fake.sessions.size).to.equal(1);
    expect(readFileSync(outside, 'utf8')).to.equal('mine');
  });
});
