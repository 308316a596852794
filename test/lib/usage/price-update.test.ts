import { expect } from 'chai';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { changesText, fetchPrices, priceChanges } from '../../../src/lib/usage/price-update';
import { readTable, storeTable } from '../../../src/lib/usage/prices';
import { rejection } from '../../helpers/errors';
import { notifyServer, type NotifyServer, type Reply } from '../../helpers/notify-server';
import { scratch } from '../../helpers/scratch';

const entry = (more: object = {}): object => ({
  ...{ litellm_provider: 'openai', mode: 'chat' },
  ...{ input_cost_per_token: 1.25e-6, output_cost_per_token: 1e-5, ...more },
});
const SPEC = { litellm_provider: 'one of https://docs.litellm.ai/docs/providers', input_cost_per_token: 0 };

describe('updating the model prices (lib)', () => {
  const box = scratch();
  let server: NotifyServer;
  let reply: Reply = { status: 200 };
  before(async () => (server = await notifyServer(() => reply)));
  after(() => server.close());
  const fetched = (body: unknown, more: Partial<Exclude<Reply, string>> = {}) => {
    reply = { status: 200, body, ...more };
    return fetchPrices({}, `${server.url}/prices.json`);
  };

  it('takes the prices of the vendors, per million tokens, and leaves out what is not one price', async () => {
    const cache = {
      ...{ cache_read_input_token_cost: 5e-7, cache_creation_input_token_cost: 6.25e-6 },
      ...{ cache_creation_input_token_cost_above_1hr: 1e-5 },
    };
    const prices = await fetched({
      sample_spec: SPEC,
      'gpt-6': entry({ input_cost_per_token_above_272k_tokens: null }),
      'claude-next': entry({ litellm_provider: 'anthropic', ...cache }),
      'us/claude-next': entry({ litellm_provider: 'anthropic' }),
      'dashscope/qwen3-coder-plus': entry({ litellm_provider: 'dashscope' }),
      'azure/gpt-6': entry({ litellm_provider: 'azure' }),
      'gpt-tiers': entry({
        ...{
          input_cost_per_token_above_272k_tokens: 2.5e-6,
          output_cost_per_token_above_272k_tokens: 1.5e-5,
        },
        ...{ input_cost_per_token_above_272k_tokens_priority: 9e-6 },
      }),
      'gpt-odd': entry({ input_cost_per_token_above_33k_tokens: 2.5e-6 }),
      'gpt-free': entry({ input_cost_per_token: 0 }),
      'gpt-half': entry({ output_cost_per_token: null }),
      'gpt-image': entry({ mode: 'image_generation' }),
      'gpt-\u001b[31m': entry(),
      none: null,
    });
    const usual = { input: 1.25, output: 10 };
    expect(prices).to.deep.equal({
      'gpt-6': usual,
      'claude-next': { ...usual, cacheRead: 0.5, cacheWrite: 6.25, cacheWrite1h: 10 },
      'us/claude-next': usual,
      'gpt-tiers': { ...usual, above: { '272k': { input: 2.5, output: 15 } } },
      'qwen3-coder-plus': usual,
    });
    expect(server.got.map(({ method, path }) => [method, path])).to.deep.equal([['GET', '/prices.json']]);
  });

  it('refuses a table that is damaged, absurd or not there, and says why', async () => {
    const whole = JSON.stringify({ 'gpt-6': entry(), 'gpt-7': entry() });
    const cases: [() => Promise<unknown>, string][] = [
      [() => fetched(whole.slice(0, -20)), 'sent no complete price table'],
      [
        () => fetched(whole, { headers: { 'content-length': '9999', connection: 'close' } }),
        'closed the connection before',
      ],
      [() => fetched([entry()]), 'sent no complete price table'],
      [() => fetched({ models: { 'gpt-6': entry() } }), 'sent a table without prices'],
      [() => fetched({ 'gpt-6': entry({ input_cost_per_token: -1e-6 }) }), 'sent an invalid price of gpt-6'],
      [() => fetched({ 'gpt-6': entry({ output_cost_per_token: 10 }) }), 'sent an invalid price of gpt-6'],
      [
        () => fetched({ 'gpt-6': entry({ input_cost_per_token: 'cheap' }) }),
        'sent an invalid price of gpt-6',
      ],
      [() => fetched('', { status: 404 }), 'answered with status 404'],
      [
        () => fetched('', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
        'answered with status 302',
      ],
    ];
    for (const [answer, why] of cases) {
      const { kind, message, hint } = await rejection(answer());
      expect(kind).to.equal('unavailable');
      expect(message).to.include(why);
      expect(message).to.include(new URL(server.url).host);
      expect(hint).not.to.equal(undefined);
    }
    reply = 'endless';
    expect((await rejection(fetchPrices({}, server.url))).message).to.include('too large');
    reply = 'reset';
    expect((await rejection(fetchPrices({}, server.url))).kind).to.equal('unavailable');
    const closed = await notifyServer(() => reply);
    await closed.close();
    expect((await rejection(fetchPrices({}, closed.url))).message).to.include('refused the connection');
  });

  it('shows added, changed and removed models with the old and the new price', () => {
    const [old, now] = [
      { input: 5, output: 25 },
      { input: 5, output: 30 },
    ];
    const spelled = { ...old, cacheRead: 0.5, cacheWrite: 6.25, cacheWrite1h: 10 };
    const before = { same: old, dearer: old, gone: old };
    const after = { same: spelled, dearer: { ...now, above: { '200k': { input: 6 } } }, constructor: old };
    expect(changesText(priceChanges(before, after)).split('\n')).to.deep.equal([
      'added constructor: 5 in, 25 out, cache 0.5/6.25/10',
      'changed dearer: 5 in, 25 out, cache 0.5/6.25/10 -> 5 in, 30 out, cache 0.5/6.25/10; above 200k 6 in, 30 out, cache 0.6/7.5/12',
      'removed gone: 5 in, 25 out, cache 0.5/6.25/10',
      '1 added, 1 changed, 1 removed (USD per million tokens; cache: read, write, write for an hour).',
    ]);
  });

  it('keeps an update with its date and source, and the shipped prices beside it', () => {
    const state = box.path('usage');
    const shipped = readTable(state);
    const models = { 'gpt-6': { input: 2, output: 8 }, 'gpt-5': { input: 9, output: 9 } };
    storeTable(state, { asOf: '2026-11-20', source: 'mirror.example', models });
    const table = readTable(state);
    expect(table).to.include({ asOf: '2026-11-20', source: 'mirror.example' });
    expect(table.models).to.deep.equal({ ...shipped.models, ...models });
    storeTable(state, undefined);
    expect(readTable(state)).to.deep.equal(shipped);
  });

  it('falls back to the shipped prices if the stored ones are damaged', () => {
    const path = box.path('usage', 'prices.json');
    mkdirSync(dirname(path), { recursive: true });
    const shipped = readTable(box.path('none'));
    const good = { asOf: '2026-11-20', source: 'x', models: { 'gpt-6': { input: 2, output: 8 } } };
    const damaged: unknown[] = [
      ...['', '{"asOf": "2026', '[]'],
      ...[
        { ...good, asOf: 'soon' },
        { ...good, models: { 'gpt-6': { input: -2, output: 8 } } },
      ],
      ...[
        { ...good, models: { 'gpt-6': { input: 2e9, output: 8 } } },
        { ...good, models: { 'gpt-6': null } },
        { ...good, models: { 'gpt-6': { input: 2, output: 8, above: { '200k': { input: 'x' } } } } },
      ],
    ];
    for (const text of damaged) {
      writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text));
      const { problems, ...table } = readTable(dirname(path));
      expect(problems[0], JSON.stringify(text)).to.include('damaged, so prices as of');
      expect({ ...table, problems: [] }).to.deep.equal(shipped);
    }
  });
});
