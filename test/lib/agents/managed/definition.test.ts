import { expect } from 'chai';
import fc from 'fast-check';

import { answersBy } from '../../../../src/lib/agents/managed/send';
import { agentBody, createEnvironment, environmentBody } from '../../../../src/lib/agents/managed/definition';
import { checkedId } from '../../../../src/lib/agents/managed/event';
import { eventText } from '../../../../src/lib/agents/managed/view';
import { apiError, failureOf } from '../../../../src/lib/agents/managed/failure';
import { long } from '../../../helpers/long';

describe('managed: definitions', () => {
  it('overrides the file by flags, and adds the default toolset', () => {
    expect(agentBody({ name: 'a', model: 'm' }, { name: 'b' })).to.deep.equal({
      name: 'b',
      model: 'm',
      tools: [{ type: 'agent_toolset_20260401' }],
    });
    expect(agentBody({ name: 'a', model: { id: 'm' }, tools: [{ type: 'custom' }] }, {}).tools).to.deep.equal(
      [{ type: 'custom' }],
    );
    expect(agentBody({ name: 'a', model: 'm' }, { system: 'You review.' })).to.include({
      system: 'You review.',
    });
    expect(agentBody({ name: 'a', model: 'm' }, { noTools: true })).not.to.have.property('tools');
    expect(() => agentBody({ name: 'a', model: 'm', tools: ['bash'] }, {})).to.throw(
      /Invalid tools\.0 in the agent: expected an object with a type/,
    );
    expect(() => agentBody({ model: 'm' }, {})).to.throw(/The agent requires a name/);
  });

  it('merges packages, and limits networking to the given hosts', () => {
    const file = { name: 'e', config: { packages: { pip: ['a'] }, secrets: { T: 'env:T' } } };
    const made = environmentBody(file, { packages: ['pip:b', 'npm:@x/y'], hosts: ['h'] });
    expect(made.body['config']).to.deep.equal({
      type: 'cloud',
      networking: { type: 'limited', allowed_hosts: ['h'] },
      packages: { pip: ['a', 'b'], npm: ['@x/y'] },
    });
    expect(made.secrets).to.deep.equal([{ name: 'T', reference: 'env:T' }]);
    expect(() => environmentBody(file, { hosts: ['h'], networking: 'unrestricted' })).to.throw(
      /limited networking/,
    );
  });

  it('refuses a secret in plain text, and never repeats it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), (value) => {
        fc.pre(!/^(?:env|file):/.test(value));
        try {
          environmentBody({ name: 'e' }, { secrets: [`TOKEN=${value}`] });
        } catch (error) {
          expect((error as Error).message).to.equal('Secret TOKEN must be passed by reference.');
          return;
        }
        expect.fail('it was taken');
      }),
    );
  });

  it('sends the value of a secret, and masks it in the answer', async () => {
    const environment = environmentBody({ name: 'e' }, { secrets: ['T=env:T'] });
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 4 }),
        fc.string(),
        fc.string(),
        async (value, before, after) => {
          fc.pre(!'••••'.includes(value) && !value.includes('•') && !'env_1'.includes(value));
          const bodies: unknown[] = [];
          const create = (_: unknown, body: unknown) => {
            bodies.push(body);
            return Promise.resolve({ id: 'env_1', a: [`${before}${value}${after}`], [value]: { b: value } });
          };
          const told = await createEnvironment({ client: { create } }, environment, () => value);
          expect(bodies).to.have.nested.property('[0].config.secrets.T', value);
          expect(JSON.stringify({ ...told, id: '' })).not.to.include(JSON.stringify(value).slice(1, -1));
        },
      ),
    );
  });
});

describe('managed: permissions in advance', () => {
  const use = (id: string, name: string, kind: 'tool' | 'custom' = 'tool') => ({ id, name, kind, input: {} });
  const said = (allow: string[], deny: string[]): unknown[] =>
    answersBy({ allow, deny }, [
      use('1', 'bash'),
      use('2', 'docs.get'),
      use('3', 'ask', 'custom'),
      use('4', ''),
    ]).map((event) => ('result' in event ? [event.tool_use_id, event.result] : []));
  it('answers the listed tools, and deny wins over allow', () => {
    expect(said([], [])).to.deep.equal([]);
    expect(said(['bash'], [])).to.deep.equal([['1', 'allow']]);
    expect(said(['all'], ['bash'])).to.deep.equal([
      ['1', 'deny'],
      ['2', 'allow'],
      ['4', 'allow'],
    ]);
    expect(said(['docs.get', '4'], ['all'])).to.deep.equal([
      ['1', 'deny'],
      ['2', 'allow'],
      ['4', 'allow'],
    ]);
    expect(said(['all', 'bash'], ['bash'])).to.deep.include(['1', 'deny']);
  });
});

describe('managed: text from elsewhere', () => {
  long('reaches a terminal without control characters', () => {
    const types = [
      'agent.message',
      'user.message',
      'agent.tool_use',
      'agent.tool_result',
      'session.error',
      'x',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...types),
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 1, max: 200 }),
        (type, text, columns) => {
          const event = {
            type,
            name: text,
            input: text,
            content: [{ type: 'text', text }],
            is_error: true,
            error: { message: text },
          };
          const shown = eventText(event, { columns, color: false });
          expect(shown).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
          expect(shown === '' || shown.endsWith('\n')).to.equal(true);
        },
      ),
    );
  });

  it('is refused as an id if it is unsafe as a file name', () => {
    for (const id of ['', '../x', 'a/b', 'a\\b', 'CON', 'nul', 'a b', '-x', 'é', 'a'.repeat(129)]) {
      expect(() => checkedId(id), id).to.throw(/is not a valid id/);
    }
    expect(checkedId('sesn_01ABC-x')).to.equal('sesn_01ABC-x');
  });

  it('is parsed as a retry time in seconds or as a date', () => {
    const now = Date.parse('2026-11-20T10:00:00Z');
    const failed = { host: 'h', what: 'x', credentialFrom: undefined, nowMs: now };
    const retryAfter = (value: string | undefined): number | undefined => {
      const headers = value === undefined ? {} : { 'retry-after': value };
      return failureOf(apiError(failed, { status: 429, headers, text: '' }))?.retryAfterMs;
    };
    expect(retryAfter('7')).to.equal(7000);
    expect(retryAfter('Fri, 20 Nov 2026 10:00:30 GMT')).to.equal(30_000);
    expect(retryAfter('Fri, 20 Nov 2020 10:00:30 GMT')).to.equal(0);
    expect(retryAfter('soon')).to.equal(undefined);
    expect(retryAfter(undefined)).to.equal(undefined);
  });
});
