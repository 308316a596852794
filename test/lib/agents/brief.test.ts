import { expect } from 'chai';
import fc from 'fast-check';

import {
  MAX_BRIEFS,
  TRAIT_FAMILIES,
  composeBriefs,
  taskOf,
  traitIds,
  traitsIn,
} from '../../../src/lib/agents/brief';
import { checkInvocations } from '../../../src/lib/agents/check';
import { TYPES } from '../../helpers/agents';
import { thrown } from '../../helpers/errors';
import { long } from '../../helpers/long';

const BASE = { subagentType: 'general-purpose', model: 'balanced' } as const;

describe('briefs', () => {
  it('carry a role, a perspective, a voice and the task, and pass the check', () => {
    const [brief] = composeBriefs('Review the lease', { ...BASE, count: 1 });
    expect(brief?.prompt).to.include('Review the lease');
    expect(brief?.prompt).to.match(/You are an? .*\nPerspective: .*\nVoice: .*\nWork /);
    const planned = {
      subagentType: 'general-purpose',
      model: 'balanced',
      worker: 'custom',
      prompt: brief?.prompt ?? '',
      minutes: null,
      interactive: false,
      needsContext: false,
      effort: null,
      isCall: false,
    };
    expect(checkInvocations([planned], TYPES).breaches).to.deep.equal([]);
  });

  long('are distinct, and the same for the same request, whatever trait is set', () => {
    const some = <T extends { id: string }>(traits: readonly T[]) =>
      fc.option(fc.constantFrom(...traits.map(({ id }) => [id])), { nil: undefined });
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.integer({ min: 1, max: MAX_BRIEFS }),
        some(TRAIT_FAMILIES.expertise),
        some(TRAIT_FAMILIES.personality),
        some(TRAIT_FAMILIES.approach),
        (request, count, expertise, personality, approach) => {
          if ([expertise, personality, approach].filter((one) => one !== undefined).length > 1) return;
          const options = { ...BASE, count, ...(expertise === undefined ? {} : { expertise }), ...(personality === undefined ? {} : { personality }), ...(approach === undefined ? {} : { approach }) } as Parameters<typeof composeBriefs>[1]; // prettier-ignore
          const briefs = composeBriefs(request, options);
          expect(briefs).to.have.length(count);
          expect(new Set(briefs.map((one) => `${one.expertise} ${one.personality} ${one.approach}`)).size).to.equal(count); // prettier-ignore
          if (expertise !== undefined)
            expect(briefs.every((one) => one.expertise === expertise[0])).to.equal(true);
          expect(composeBriefs(request, options)).to.deep.equal(briefs);
        },
      ),
    );
  });

  it('are refused if so many cannot differ', () => {
    const fixed = { expertise: ['legal'], personality: ['bold'], approach: ['rapid'] } as const;
    expect(composeBriefs('x', { ...BASE, count: 1, ...fixed })).to.have.length(1);
    const error = thrown(() => composeBriefs('x', { ...BASE, count: 2, ...fixed }));
    expect(error).to.include({ kind: 'usage' });
    expect(error.hint).to.match(/lower --count to 1/);
  });

  it('begin with the traits that the request names', () => {
    const briefs = composeBriefs('a lawyer and an accountant, skeptical ones', { ...BASE, count: 2 });
    expect(briefs.map(({ expertise }) => expertise)).to.deep.equal(['legal', 'finance']);
    expect(briefs[0]?.personality).to.equal('skeptical');
    expect(traitsIn('expertise', 'Sécurité, LEGAL! data-driven')).to.deep.equal(['legal', 'data']);
  });

  it('contain no control characters, and a bounded task', () => {
    const [brief] = composeBriefs('a\u001b[2Jb\u202ec\nd', { ...BASE, count: 1 });
    expect(brief?.prompt).to.include('a[2Jbc\nd');
    const cut = taskOf(`x${'😀'.repeat(9000)}`);
    expect(Buffer.from(cut, 'utf8').toString('utf8')).to.equal(cut);
    expect(taskOf('x'.repeat(100_000)).length).to.be.lessThan(9000);
  });
});

describe('the trait vocabulary', () => {
  it('has ten kinds of expertise', () => {
    expect(traitIds('expertise').join(' ')).to.equal(
      'security legal finance medical technical research creative business data communications',
    );
  });

  it('has ten personalities', () => {
    expect(traitIds('personality').join(' ')).to.equal(
      'skeptical enthusiastic cautious bold analytical creative empathetic contrarian pragmatic meticulous',
    );
  });

  it('has eight approaches', () => {
    expect(traitIds('approach').join(' ')).to.equal(
      'thorough rapid systematic exploratory comparative synthesizing adversarial consultative',
    );
  });
});
