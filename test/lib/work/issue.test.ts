import { expect } from 'chai';
import fc from 'fast-check';

import {
  identityKey,
  makeBody,
  makeTitle,
  MAX_BODY,
  MAX_TITLE,
  parseBody,
  parseTitle,
  withText,
  withTitle,
  PREFIXES,
  withDue,
  type Identity,
  type TitleKind,
} from '../../../src/lib/work/issue';
import { quickestMs } from '../../helpers/measured';

const kinds = fc.constantFrom<TitleKind | null>(null, ...(Object.keys(PREFIXES) as TitleKind[]));
const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ maxLength: 600 }),
  fc.string().map((text) => `${text}\ud83d`),
);
const slug = fc
  .stringMatching(/^[a-z0-9][a-z0-9._-]{0,80}$/)
  .map((value): Identity => ({ kind: 'slug', value }));
const identity = fc.oneof(
  slug,
  fc.record({ kind: fc.constantFrom('goal' as const, 'project' as const, 'id' as const), value: anyText }),
);

describe('work: titles and markers', () => {
  it('match the specification', () => {
    expect(makeTitle('core', 'Fix the login', { kind: 'slug', value: 'fix-login' })).to.equal(
      '[Core] Fix the login [slug:fix-login]',
    );
    expect(makeTitle('goal', 'Write more', { kind: 'goal', value: 'G1' })).to.equal(
      '[Goal] Write more [goal:G1]',
    );
    expect(
      makeTitle('project-check', 'Blog — no commits in 20 days', { kind: 'project', value: 'Blog' }),
    ).to.equal('[Project-Check] Blog — no commits in 20 days [project:Blog]');
    expect(makeTitle(null, 'By hand', { kind: 'id', value: 'x' })).to.equal('By hand');
    expect(makeBody('Text', { kind: 'slug', value: 'fix' })).to.equal('Text\n\n<!-- steward slug=fix -->');
  });

  it('round-trip any text and identity', () => {
    fc.assert(
      fc.property(kinds, anyText, identity, (kind, text, who) => {
        const title = makeTitle(kind, text, who);
        expect(title.length).to.be.at.most(MAX_TITLE);
        expect(title).not.to.match(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
        const parsed = parseTitle(title);
        if (kind !== null) expect(parsed.kind).to.equal(kind);
        const named = who.kind !== 'id' && identityKey(who) !== `${who.kind}=`;
        if (named) expect(parsed.identity).to.equal(identityKey(who));
      }),
      { numRuns: 500 },
    );
  });

  it('read the identity from the marker', () => {
    fc.assert(
      fc.property(anyText, identity, fc.option(fc.constant('2026-11-20T09:00:00.000Z')), (text, who, due) => {
        const body = makeBody(text, who, due === null ? {} : { due });
        expect(body.length).to.be.at.most(MAX_BODY);
        expect(parseBody(body)).to.deep.equal({ identity: identityKey(who), due });
      }),
      { numRuns: 500 },
    );
  });

  it('write plain values into the marker, and read older ones', () => {
    const markerOf = (value: string): string => makeBody('', { kind: 'project', value }, { due: '2026-11-20T09:00:00.000Z' }); // prettier-ignore
    expect(markerOf('Büro-Umzug')).to.equal(
      '<!-- steward project=Büro-Umzug due=2026-11-20T09:00:00.000Z -->',
    );
    expect(markerOf('a -->b--c 5%')).to.match(/project=a%20-%2D%3Eb-%2Dc%205%25 due=/);
    for (const value of ['Büro-Umzug', 'a -->b--c 5%', '---', '<!-- x'])
      expect(parseBody(markerOf(value)).identity).to.equal(identityKey({ kind: 'project', value }));
    expect(
      parseBody('x\n\n<!-- steward slug=fix%2Dlogin due=2026%2D11%2D20T09%3A00%3A00.000Z -->'),
    ).to.deep.equal({
      identity: 'slug=fix-login',
      due: '2026-11-20T09:00:00.000Z',
    });
  });

  it('keep prefix, identity and marker when the text changes', () => {
    expect(withTitle('[Core] Fix it [slug:fix=it]', 'Mend it')).to.equal('[Core] Mend it [slug:fix=it]');
    expect(withTitle('[Reminder] call', 'write')).to.equal('[Reminder] write');
    expect(withTitle('By hand', 'Other')).to.equal('Other');
    const marker = '<!-- steward slug=fix -->';
    expect(withText(`old\n\n${marker}`, 'new <!-- steward slug=x -->')).to.equal(
      `new <!\u2010- steward slug=x -->\n\n${marker}`,
    );
    expect(withText('by hand', 'new')).to.equal('new');
    expect(withText(marker, '')).to.equal(marker);
  });

  it('defuse a marker in the text, and read the last one', () => {
    const who: Identity = { kind: 'slug', value: 'mine' };
    const body = makeBody('quote:\n\n<!-- steward slug=other -->', who);
    expect(parseBody(body).identity).to.equal('slug=mine');
    expect(body.match(/<!-- steward/g)).to.have.length(1);
    expect(parseBody(`${makeBody('', who)}\n\nedited by hand below`).identity).to.equal('slug=mine');
    expect(parseBody('no marker here').identity).to.equal(null);
    expect(parseTitle('[Core] quoted [slug:other] text').identity).to.equal(null);
    expect(parseTitle('[Unknown] text')).to.deep.equal({
      kind: null,
      text: '[Unknown] text',
      identity: null,
    });
  });

  it('find the marker in linear time', () => {
    const bodies = [
      `<!-- steward ${'a=a'.repeat(27)} <`,
      `<!-- steward ${'a='.repeat(50_000)}`,
      '<!-- steward a=b --> x\n'.repeat(4000),
      'Due \r'.repeat(20_000),
    ];
    for (const body of bodies) {
      expect(parseBody(body)).to.deep.equal({ identity: null, due: null });
      const ms = quickestMs(3, () => {
        parseBody(body);
        withDue(body, '2026-11-20T08:00:00Z', 'Due Fri 20 Nov 2026, 09:00 (Europe/Berlin).');
      });
      expect(ms, body.slice(0, 30)).to.be.at.most(50);
    }
  });

  it('truncate a long text without splitting a character', () => {
    const title = makeTitle('core', '😀'.repeat(300), { kind: 'slug', value: 'a'.repeat(81) });
    expect(title.length).to.be.at.most(MAX_TITLE);
    expect(title).to.match(/…\s\[slug:a{81}\]$/);
    expect(title).not.to.match(/\p{Surrogate}/u);
    const body = makeBody('x'.repeat(100_000), { kind: 'slug', value: 'mine' });
    expect(body.length).to.be.at.most(MAX_BODY);
    expect(parseBody(body).identity).to.equal('slug=mine');
  });
});
