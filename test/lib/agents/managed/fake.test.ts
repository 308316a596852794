import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';

import { openHistory, readHistory } from '../../../../src/lib/agents/managed/reader';
import { startFake, type Fake } from '../../../helpers/fake-managed/server';
import { sendDeps } from '../../../helpers/managed';
import { long } from '../../../helpers/long';

/** The vendor's own library is the judge of the server that the client is tested against. */
describe('managed: the server of the tests, driven by the vendor’s library', function () {
  this.timeout(60_000);
  let fake: Fake;
  let sdk: Anthropic;
  beforeEach(async () => {
    fake = await startFake({
      pageSize: 2,
      apiKey: 'the-key',
      script: () => [
        { emit: { type: 'agent.message', content: [{ type: 'text', text: 'hello' }] } },
        { waitFor: { kind: 'tool', name: 'bash', count: 2 } },
      ],
    });
    sdk = new Anthropic({ apiKey: 'the-key', baseURL: fake.url, maxRetries: 0, logLevel: 'off' });
  });
  afterEach(() => fake.stop());

  async function makeSession(): Promise<string> {
    const tools = [{ type: 'agent_toolset_20260401' as const }];
    const agent = await sdk.beta.agents.create({ name: 'a', model: 'claude-sonnet-4-5', tools });
    const environment = await sdk.beta.environments.create({
      name: 'e',
      config: { type: 'cloud', networking: { type: 'unrestricted' } },
    });
    const session = await sdk.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    expect(session.status).to.equal('idle');
    return session.id;
  }

  long('serves a turn with tool confirmations, by stream and by pages', async () => {
    const id = await makeSession();
    const stream = await sdk.beta.sessions.events.stream(id);
    await sdk.beta.sessions.events.send(id, {
      events: [{ type: 'user.message', content: [{ type: 'text', text: 'hi' }] }],
    });
    const seen: string[] = [];
    for await (const event of stream) {
      seen.push(event.type);
      if (event.type !== 'session.status_idle') continue;
      if (event.stop_reason?.type !== 'requires_action') break;
      const [use = ''] = event.stop_reason.event_ids;
      await sdk.beta.sessions.events.send(id, {
        events: [{ type: 'user.tool_confirmation', tool_use_id: use, result: 'allow' }],
      });
    }
    // The echo of a message comes twice, and a partial answer says again that it waits.
    expect(seen.filter((type) => type === 'user.message')).to.have.length(2);
    expect(seen.filter((type) => type === 'session.status_idle')).to.have.length(3);
    const listed: string[] = [];
    for await (const event of sdk.beta.sessions.events.list(id)) listed.push(event.id);
    expect(listed).to.deep.equal(fake.sessions.get(id)?.log.map((event) => event.id));
    const messages = [];
    for await (const event of sdk.beta.sessions.events.list(id, { types: ['user.message'] }))
      messages.push(event);
    expect(messages).to.have.length(1);
  });

  long('refuses what the service refuses', async () => {
    const id = await makeSession();
    const stranger = new Anthropic({ apiKey: 'another', baseURL: fake.url, maxRetries: 0, logLevel: 'off' });
    const status = async (promise: Promise<unknown>): Promise<unknown> =>
      promise.then(
        () => 200,
        (error: unknown) => (error instanceof Anthropic.APIError ? error.status : error),
      );
    expect(await status(stranger.beta.sessions.retrieve(id))).to.equal(401);
    expect(await status(sdk.beta.sessions.retrieve('sesn_none'))).to.equal(404);
    const confirm = { type: 'user.tool_confirmation', tool_use_id: 'x', result: 'allow' } as const;
    expect(await status(sdk.beta.sessions.events.send(id, { events: [confirm] }))).to.equal(400);
    const both = { headers: { 'x-api-key': 'the-key', authorization: 'Bearer the-key' } };
    expect((await fetch(`${fake.url}/v1/sessions`, both)).status).to.equal(401);
    const noBeta = { headers: { 'x-api-key': 'the-key' } };
    expect((await fetch(`${fake.url}/v1/sessions`, noBeta)).status).to.equal(404);
  });

  long('gets the same headers from steward as from the library', async () => {
    const id = await makeSession();
    await sdk.beta.sessions.events.list(id);
    const deps = await sendDeps(fake.url, '/nowhere', 'the-key');
    await readHistory(openHistory(deps.client, id), () => undefined);
    await deps.close();
    const [theirs, ours] = fake.requests
      .filter(({ path }) => path.endsWith('/events'))
      .map(({ headers }) => [headers['anthropic-beta'], headers['anthropic-version']]);
    expect(ours).to.deep.equal(theirs);
  });
});
