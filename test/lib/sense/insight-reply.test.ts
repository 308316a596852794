import { expect } from 'chai';
import fc from 'fast-check';

import { parseReply, type Reply } from '../../../src/lib/sense/insight-prompt';
import { GOOD_REPLY } from '../../helpers/assistant';

const MAX_NARRATIVE = 320;
const TYPES = [{ label: 'a', share: 1, evidence: '' }];
const reply = (contentTypes: unknown, narrative: unknown = 'It was so.'): Reply =>
  parseReply(JSON.stringify({ narrative, contentTypes }));
const reasonOf = (found: Reply): string => ('reason' in found ? found.reason : 'a read');
const sharesOf = (found: Reply): [string, number][] =>
  'text' in found ? found.text.contentTypes.map(({ label, share }) => [label, share]) : [];
const hundredths = (shares: readonly number[]): number[] => shares.map((share) => Math.round(share * 100));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

describe('sense: the reply for an insight', () => {
  const good = parseReply(GOOD_REPLY);

  it('accepts one JSON object: bare, in a fence, or in the output of the assistant', () => {
    expect(sharesOf(good)).to.deep.equal([['programming', 0.75], ['reading', 0.25]]); // prettier-ignore
    expect(good).to.include({ model: null });
    const fenced = [
      `\`\`\`json\n${GOOD_REPLY}\n\`\`\``,
      `Here it is:\r\n\r\n\`\`\`\r\n${GOOD_REPLY}\r\n\`\`\`\r\n`,
      `\n  ${GOOD_REPLY}\n`,
    ];
    for (const text of fenced) expect(parseReply(text), text).to.deep.equal(good);
    const modelUsage = { 'claude-haiku-4-5': { outputTokens: 90 }, other: { outputTokens: 3 } };
    const outer = { type: 'result', subtype: 'success', is_error: false, result: fenced[0], modelUsage };
    expect(parseReply(JSON.stringify(outer))).to.deep.equal({ ...good, model: 'claude-haiku-4-5' });
    expect(parseReply(JSON.stringify({ ...outer, modelUsage: undefined }))).to.deep.equal(good);
  });

  it('refuses anything else with a reason', () => {
    const reasons: [stdout: string, reason: RegExp][] = [
      ['', /empty/],
      [' \n', /empty/],
      ['It was a good day.', /not a JSON object/],
      ['[1]', /not a JSON object/],
      ['null', /not a JSON object/],
      [`${GOOD_REPLY}${GOOD_REPLY}`, /not a JSON object/],
      [`So: ${GOOD_REPLY}`, /not a JSON object/],
      [`\`\`\`\n${GOOD_REPLY}\n\`\`\`\n\`\`\`\n${GOOD_REPLY}\n\`\`\``, /not a JSON object/],
      [GOOD_REPLY.replace('0.75', 'NaN'), /not a JSON object/],
      [GOOD_REPLY.slice(0, -1), /not a JSON object/],
      ['{}', /no valid narrative/],
      [JSON.stringify({ type: 'result', result: '' }), /empty/],
      [JSON.stringify({ type: 'result', result: null }), /empty/],
    ];
    for (const [stdout, reason] of reasons) expect(reasonOf(parseReply(stdout)), stdout).to.match(reason);
    const failed = { type: 'result', is_error: true, subtype: 'error_max_turns' };
    expect(parseReply(JSON.stringify(failed))).to.deep.equal({
      reason: 'the assistant failed: error_max_turns',
      refused: true,
    });
    expect(parseReply(JSON.stringify({ ...failed, result: '\u001b[1mNot logged in' }))).to.include({
      reason: 'the assistant failed: Not logged in',
    });
  });

  it('refuses invalid parts by their path', () => {
    expect(reasonOf(reply(TYPES, ''))).to.match(/no valid narrative/);
    expect(reasonOf(reply(TYPES, '\u001b[0m \u202e'))).to.match(/no valid narrative/);
    expect(reasonOf(reply(TYPES, 5))).to.match(/no valid narrative/);
    expect(reasonOf(reply(undefined))).to.match(/no valid contentTypes$/);
    expect(reasonOf(reply({}))).to.match(/no valid contentTypes$/);
    expect(reasonOf(reply([]))).to.match(/lists no content types/);
    expect(reasonOf(reply([null]))).to.match(/no valid contentTypes\.0$/);
    expect(reasonOf(reply([{ share: 1 }]))).to.match(/contentTypes\.0\.label$/);
    for (const share of [-0.1, '1', null, undefined]) {
      expect(reasonOf(reply([...TYPES, { label: 'b', share }])), String(share)).to.match(
        /contentTypes\.\d\.share$/,
      );
    }
    expect(reasonOf(parseReply('{"narrative":"n","contentTypes":[{"label":"b","share":1e999}]}'))).to.match(
      /contentTypes\.\d\.share$/,
    );
    expect(reasonOf(reply([{ label: 'b', share: 1, evidence: 4 }]))).to.match(/contentTypes\.0\.evidence$/);
    expect(reasonOf(reply([{ label: 'b', share: 0 }]))).to.match(/lists no content types/);
  });

  it('normalizes shares of any scale, joins labels, and collects the smallest as other', () => {
    expect(sharesOf(reply([{ label: 'a', share: 60 }, { label: 'b', share: 40 }]))).to.deep.equal([['a', 0.6], ['b', 0.4]]); // prettier-ignore
    expect(sharesOf(reply([{ label: 'a', share: 0.2 }, { label: 'b', share: 0.2 }, { label: 'c', share: 0.2 }]))).to.deep.equal([['a', 0.34], ['b', 0.33], ['c', 0.33]]); // prettier-ignore
    expect(sharesOf(reply([{ label: 'Mail', share: 0.3 }, { label: 'code', share: 0.4 }, { label: 'mail', share: 0.3 }]))).to.deep.equal([['Mail', 0.6], ['code', 0.4]]); // prettier-ignore
    expect(sharesOf(reply([{ label: 'a', share: 1000 }, { label: 'b', share: 1 }]))).to.deep.equal([['a', 1]]); // prettier-ignore
    const many = Array.from({ length: 12 }, (_, n) => ({ label: `t${n}`, share: 1 }));
    const found = sharesOf(reply(many));
    expect(found).to.have.length(8);
    expect(found[0]).to.deep.equal(['other', 0.42]);
  });

  it('cleans and truncates texts', () => {
    const found = reply(
      [
        {
          label: `\u001b]0;title\u0007code\n${'x'.repeat(99)}`,
          share: 1,
          evidence: '\u202eé\ud800 '.repeat(99),
        },
      ],
      `${'🙂'.repeat(200)}`,
    );
    if (!('text' in found)) throw new Error(reasonOf(found));
    const { narrative, contentTypes } = found.text;
    expect(narrative).to.have.length.at.most(MAX_NARRATIVE);
    expect(narrative).to.match(/^(?:🙂)+…$/u);
    expect(contentTypes[0]?.label).to.match(/^code x+…$/);
    expect(contentTypes[0]?.evidence).to.match(/^é\ufffd(?: é\ufffd)*(?: é)?…$/);
  });

  it('returns valid insights for any entries (property)', () => {
    const entry = fc.record({
      label: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
      share: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      evidence: fc.string({ unit: 'binary', maxLength: 300 }),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), fc.string({ unit: 'binary' }), (entries, narrative) => {
        const found = reply(entries, narrative);
        if (!('text' in found)) return;
        const { contentTypes } = found.text;
        expect(sum(hundredths(contentTypes.map(({ share }) => share)))).to.equal(100);
        expect(new Set(contentTypes.map(({ label }) => label.toLowerCase())).size).to.equal(
          contentTypes.length,
        );
        for (const { share, label, evidence } of contentTypes) {
          expect(share).to.be.within(0.01, 1);
          expect(Math.abs(share * 100 - Math.round(share * 100))).to.be.below(1e-9);
          expect(`${label}${evidence}`).not.to.match(
            /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]|\p{Surrogate}/u,
          );
          expect(label).to.have.length.within(1, 40);
          expect(evidence).to.have.length.at.most(160);
        }
        expect(contentTypes.length).to.be.at.most(8);
        expect(found.text.narrative).to.have.length.within(1, MAX_NARRATIVE);
      }),
    );
  });

  it('never throws for any text (property)', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => void parseReply(text)),
    );
  });

  it('keeps each share within a hundredth (property)', () => {
    const shares = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(shares, (weights) => {
        const total = sum(weights);
        fc.pre(total > 0);
        const rows = sharesOf(reply(weights.map((share, n) => ({ label: `t${n}`, share }))));
        for (const [n, weight] of weights.entries()) {
          const share = rows.find(([label]) => label === `t${n}`)?.[1] ?? 0;
          expect(Math.abs(share - weight / total)).to.be.below(0.01 + 1e-9);
        }
      }),
    );
  });
});
