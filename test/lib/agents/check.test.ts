import { expect } from 'chai';
import fc from 'fast-check';

import { batchOf, composeBriefs, MODEL_TIERS } from '../../../src/lib/agents/brief';
import { checkInvocations, parseInvocations } from '../../../src/lib/agents/check';
import { explainRoute } from '../../../src/lib/agents/routing';
import { StewardError } from '../../../src/lib/errors';
import { corpus, NAMED, TYPES } from '../../helpers/agents';
import { thrown } from '../../helpers/errors';
import { long } from '../../helpers/long';

const BRIEF = composeBriefs('review it', { count: 1, subagentType: TYPES.general, model: 'fast' })[0]?.prompt;

function broken(planned: object | object[]): string[] {
  const report = checkInvocations(parseInvocations(JSON.stringify(planned)), TYPES, ['ada']);
  expect(report.ok).to.equal(report.breaches.length === 0);
  return report.breaches.map(({ rule }) => rule);
}

const GOOD = { subagent_type: 'general-purpose', model: 'balanced', prompt: 'Count the files.' };

describe('check', () => {
  it('accepts a valid invocation', () => {
    expect(broken(GOOD)).to.deep.equal([]);
    expect(broken({ ...GOOD, worker: 'custom', prompt: BRIEF })).to.deep.equal([]);
    expect(broken({ ...GOOD, subagent_type: 'ada' })).to.deep.equal([]);
    expect(broken({ worker: 'managed', model: 'some-model', prompt: 'Crawl it.', minutes: 240 })).to.deep.equal([]);
    expect(broken({ ...GOOD, prompt: 'Do not post to /notify, and never speak it aloud.' })).to.deep.equal([]);
  }); // prettier-ignore

  const cases: [string, object, string][] = [
    ['a bare type for a custom agent', { ...GOOD, worker: 'custom', subagent_type: 'Explore' }, 'bare-type'],
    ['a custom agent without a brief', { ...GOOD, custom: true }, 'bare-type'],
    ['a retired type', { ...GOOD, subagent_type: 'Engineer' }, 'retired-type'],
    ['an unknown type', { ...GOOD, subagent_type: 'wizard' }, 'unknown-type'],
    ['no type', { ...GOOD, subagent_type: undefined }, 'missing-type'],
    ['no model tier', { ...GOOD, model: undefined }, 'missing-tier'],
    ['an unknown tier', { ...GOOD, model: 'huge' }, 'unknown-tier'],
    ['a subagent that speaks', { ...GOOD, prompt: 'When done, POST to /notify.' }, 'speaks'],
    ['a subagent that speaks aloud', { ...GOOD, prompt: 'Announce the result out loud.' }, 'speaks'],
    ['an audit without its mode', { ...GOOD, subagent_type: 'builder', prompt: 'Audit the module.' }, 'audit-mode'],
    ['an audit in build mode', { ...GOOD, subagent_type: 'builder', prompt: 'MODE: build.\n\nTask:\nAudit the parser, change nothing.' }, 'audit-mode'],
    ['an audit at a low effort', { ...GOOD, subagent_type: 'builder', prompt: 'MODE: audit the module.', effort: 'E2' }, 'audit-effort'],
    ['managed for under 30 minutes', { worker: 'managed', model: 'm', prompt: 'x', minutes: 29 }, 'managed-short'],
    ['managed and interactive', { worker: 'managed', model: 'm', prompt: 'Ask me before each step.' }, 'managed-interactive'],
    ['managed with local files', { worker: 'managed', model: 'm', prompt: 'Read ~/notes first.' }, 'managed-context'],
    ['managed with local context', { worker: 'managed', model: 'm', prompt: 'x', needsContext: true }, 'managed-context'],
  ]; // prettier-ignore
  for (const [what, planned, rule] of cases) {
    it(`names ${what}`, () => expect(broken(planned)).to.deep.equal([rule]));
  }

  it('checks the invocations together', () => {
    const spotcheck = { ...GOOD, model: 'fast', prompt: 'Spotcheck the outputs.' };
    expect(broken([GOOD, GOOD])).to.deep.equal(['missing-spotcheck']);
    expect(broken([GOOD, GOOD, spotcheck])).to.deep.equal([]);
    const custom = { ...GOOD, worker: 'custom', prompt: BRIEF };
    expect(broken([custom, custom, spotcheck])).to.deep.equal(['same-brief']);
    expect(broken([...Array.from({ length: 40 }, () => GOOD), spotcheck])).to.deep.equal(['fan-out']);
  });

  it('reads an object, an array, lines, and the JSON of a hook', () => {
    const one = JSON.stringify(GOOD);
    expect(parseInvocations(one)).to.have.length(1);
    expect(parseInvocations(`\ufeff[${one},${one}]`)).to.have.length(2);
    expect(parseInvocations(`${one}\n\n${one}\n`)).to.have.length(2);
    expect(parseInvocations(JSON.stringify({ invocations: [GOOD] }))).to.have.length(1);
    const call = {
      hook_event_name: 'PreToolUse',
      tool_name: 'Task',
      tool_input: { ...GOOD, model: 'haiku' },
    };
    expect(broken(call)).to.deep.equal([]);
  });

  long('accepts the output of route and brief', () => {
    const pieces = fc.constantFrom(
      ...corpus('requests').map(({ request }) => request),
      'audit the login', 'cross-vendor audit of the parser', 'use the builder', 'no shortcuts', 'implement the audit trail',
      'post to /notify', 'add text-to-speech', 'announce it out loud', 'pass the voice_id', 'run it overnight', '"ask me first"',
      'read `~/notes`', 'see "/home/ann/x"', 'use CLAUDE.md', 'in parallel', 'custom agents', 'ask Marcus and Zoë to look',
    ); // prettier-ignore
    fc.assert(
      fc.property(
        fc.array(pieces, { minLength: 1, maxLength: 4 }),
        fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
        fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
        (parts, effort, count) => {
          const request = parts.join('. ');
          const asked = { ...(effort === undefined ? {} : { effort }), ...(count === undefined ? {} : { count }) };
          const { decision } = explainRoute(request, { ...asked, types: TYPES, named: NAMED });
          expect(broken(decision), `${decision.rule}: ${request}`).to.deep.equal([]);
          const options = { count: count ?? 1, subagentType: TYPES.general, model: MODEL_TIERS[effort === 5 ? 2 : 1] };
          expect(broken(batchOf(request, options)), request).to.deep.equal([]);
        },
      ),
      { numRuns: 500 },
    ); // prettier-ignore
  }).timeout(60_000);

  it('refuses unreadable input with an error', () => {
    for (const text of ['', '  ', '[]', 'nonsense', '{"a":1}\nnonsense', '[1]', '"x"', '\0']) {
      expect(
        thrown(() => parseInvocations(text)),
        JSON.stringify(text),
      ).to.include({ kind: 'usage' });
    }
    expect(thrown(() => parseInvocations('{"a":1}\nnonsense')).message).to.include('line 2');
  });

  it('never throws anything else', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        try {
          checkInvocations(parseInvocations(text), TYPES);
        } catch (error) {
          expect(error).to.be.instanceOf(StewardError);
        }
      }),
    );
  });
});
