import { expect } from 'chai';
import fc from 'fast-check';

import { eventText, resourcesText } from '../../../../src/lib/agents/managed/view';
import { displayWidth } from '../../../../src/lib/platform/text-width';

describe('managed: what is shown', () => {
  const said = (text: string, columns = 40, type = 'agent.message'): string =>
    eventText({ type, content: [{ type: 'text', text }] }, { columns, color: false });

  it('keeps the shape of code', () => {
    const code = 'if (a) {\n    b();\n\n\tc =  1;\n}';
    expect(said(code)).to.equal('if (a) {\n    b();\n\n    c =  1;\n}\n');
    expect(said(code, 40, 'user.message')).to.match(/^> if \(a\) \{\n> {5}b\(\);\n>\n/);
  });

  it('wraps what is too long, by words, under its own beginning', () => {
    expect(said('  one two three four five six seven eight nine', 24)).to.equal(
      '  one two three four\n  five six seven eight\n  nine\n',
    );
  });

  it('leaves an address whole', () => {
    const address = `https://example.org/${'a'.repeat(60)}`;
    expect(said(`See ${address} for more.`, 30)).to.equal(`See\n${address}\nfor more.\n`);
    expect(said(address, 30)).to.equal(`${address}\n`);
  });

  it('loses no word, and is no wider than the terminal but for words that are', () => {
    const words = fc.array(fc.constantFrom('a', 'word', '界界', 'é', ' ', '  indented', 'x'.repeat(50)));
    fc.assert(
      fc.property(words, fc.integer({ min: 20, max: 100 }), (some, columns) => {
        const text = some.join(' ');
        const shown = said(text, columns);
        const split = (all: string): string[] => all.split(/\s+/).filter((word) => word !== '');
        expect(split(shown)).to.deep.equal(split(text));
        const lines = shown.split('\n').filter((line) => split(line).length > 1);
        for (const line of lines) expect(displayWidth(line)).to.be.at.most(columns);
      }),
    );
  });

  it('is a line each of what the service has, in the time of the zone', () => {
    const session = { id: 'sesn_01', status: 'idle', created_at: '2026-11-20T23:30:00Z', title: 'A plan' };
    const text = (columns: number): string =>
      resourcesText([session, { id: 'sesn_02' }], 'None.', { columns, zone: 'Europe/Paris' });
    expect(text(80)).to.equal('sesn_01  idle  A plan  2026-11-21 00:30\nsesn_02');
    for (const line of text(30).split('\n')) expect(displayWidth(line)).to.be.at.most(30);
    expect(resourcesText([], 'None.', { columns: 80, zone: 'UTC' })).to.equal('None.');
  });
});
