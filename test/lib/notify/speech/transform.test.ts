import { expect } from 'chai';
import fc from 'fast-check';

import { termFinder } from '../../../../src/lib/notify/speech/pronunciation';
import { transform } from '../../../../src/lib/notify/speech/pronunciation';
import { manyTerms } from '../../../helpers/large-data';
import { quickestMs } from '../../../helpers/measured';
import { long } from '../../../helpers/long';

const spoken = (text: string, terms: Record<string, string> = {}): string =>
  transform(text, termFinder(new Map(Object.entries(terms)))).spoken;

describe('notify/speech: transform', () => {
  it('returns the text as sent and as spoken', () => {
    expect(transform(' We are live\n', termFinder(new Map()))).to.deep.equal({
      text: ' We are live\n',
      spoken: 'We are lyve',
    });
  });

  it('protects terms from homographs', () => {
    expect(spoken('Live Nation is live', { 'Live Nation': 'the promoter' })).to.equal('the promoter is lyve');
    expect(spoken('Live Nation is live', { 'Live Nation': 'Live Nation' })).to.equal('Live Nation is lyve');
    expect(spoken('the site is live', { live: 'LIVE' })).to.equal('the site is LIVE');
    // A respelling contains neither homographs nor other terms.
    expect(spoken('SQL and X', { SQL: 'the site is live', X: 'SQL' })).to.equal('the site is live and SQL');
  });

  it('reads the context of a homograph as sent', () => {
    expect(spoken('Prod is live on Twitch', { Prod: 'where you', Twitch: 'a farm' })).to.equal(
      'where you is lyve on a farm',
    );
  });

  it('removes what no engine can speak', () => {
    expect(spoken('a\u001b[31mb\u0007 c\u0000\ud83d d\r\ne\u202ef')).to.equal('ab c  d ef');
    expect(spoken(' \u0007\n ')).to.equal('');
    expect(spoken('🙂', { '🙂': '' })).to.equal('');
  });

  it('returns whole characters and no controls for any text and terms', () => {
    const text = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('live', ' ', '\ud83d', '\ude00', 'is')), { maxLength: 30 }).map((parts) => parts.join('')); // prettier-ignore
    fc.assert(
      fc.property(
        text,
        fc.dictionary(fc.string({ minLength: 1 }), fc.constantFrom('$&', 'x', '')),
        (sent, terms) => {
          const result = transform(sent, termFinder(new Map(Object.entries(terms))));
          expect(result.text).to.equal(sent);
          expect(result.spoken).not.to.match(/\p{Cs}|[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/u);
          expect(result.spoken).to.equal(result.spoken.trim());
        },
      ),
    );
  });

  long('takes at most 5 ms for 4,000 characters and 1,000 terms', () => {
    const { terms, text } = manyTerms(1000);
    const find = termFinder(terms);
    const { spoken: said } = transform(text, find);
    expect(said).to.include('spoken 8 $&').and.include('is lyve where they live');
    expect(quickestMs(40, () => transform(text, find))).to.be.at.most(5);
  });
});
