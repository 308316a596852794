import { expect } from 'chai';
import fc from 'fast-check';

import { costOf, newMeter, totalUsage } from '../../../../src/lib/agents/managed/turn';
import {
  permissionText,
  eventText,
  pendingLines,
  resourcesText,
  sessionText,
} from '../../../../src/lib/agents/managed/view';
import { displayWidth } from '../../../../src/lib/platform/terminal/text-width';

describe('managed: views', () => {
  const said = (text: string, columns = 40, type = 'agent.message'): string =>
    eventText({ type, content: [{ type: 'text', text }] }, { columns, color: false });

  it('keeps the shape of code', () => {
    const code = 'if (a) {\n    b();\n\n\tc =  1;\n}';
    expect(said(code)).to.equal('if (a) {\n    b();\n\n    c =  1;\n}\n');
    expect(said(code, 40, 'user.message')).to.match(/^> if \(a\) \{\n> {5}b\(\);\n>\n/);
  });

  it('wraps long lines by words, with a hanging indent', () => {
    expect(said('  one two three four five six seven eight nine', 24)).to.equal(
      '  one two three four\n  five six seven eight\n  nine\n',
    );
  });

  it('shows nothing for a message without text', () => {
    expect(said('')).to.equal('');
    for (const content of [undefined, {}, [null, 5, { type: 'image' }]])
      expect(eventText({ type: 'agent.message', content }, { columns: 40, color: false })).to.equal('');
  });

  it('does not break an address', () => {
    const address = `https://example.org/${'a'.repeat(60)}`;
    expect(said(`See ${address} for more.`, 30)).to.equal(`See\n${address}\nfor more.\n`);
    expect(said(address, 30)).to.equal(`${address}\n`);
  });

  it('loses no word, and fits the terminal', () => {
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

  it('lists resources with local times', () => {
    const session = { id: 'sesn_01', status: 'idle', created_at: '2026-11-20T23:30:00Z', title: 'A plan' };
    const text = (columns: number): string =>
      resourcesText([session, { id: 'sesn_02' }], 'None.', { columns, zone: 'Europe/Paris' });
    expect(text(80)).to.equal('sesn_01  idle  A plan  2026-11-21 00:30\nsesn_02');
    for (const line of text(30).split('\n')) expect(displayWidth(line)).to.be.at.most(30);
    expect(resourcesText([], 'None.', { columns: 80, zone: 'UTC' })).to.equal('None.');
  });

  it('removes control characters from the service', () => {
    const evil = '\u001b[2J\u001b]0;x\u0007\u202eup\ndown';
    const session = { id: evil, status: evil, agent: { name: evil }, environment_id: evil };
    const cost = costOf(totalUsage(newMeter()));
    const shown = sessionText({ session, localEvents: 0, unsent: false, cost, pending: [] });
    const listed = resourcesText([session], 'None.', { columns: 80, zone: 'UTC' });
    for (const text of [shown, listed]) expect(text).not.to.match(/[\u001b\u0007\u202e]/);
    expect(listed).not.to.include('\n');
    expect(shown.split('\n')).to.have.length(5);
  });

  it('quotes ids for a shell', () => {
    const lines = (id: string, kind: 'tool' | 'custom' = 'tool'): string =>
      pendingLines('sesn_1', [{ id, name: 'bash', kind, input: null }])[1]!.trim();
    expect(lines('sevt_1')).to.match(/^steward agents managed wake sesn_1 --allow sevt_1 {4}/);
    expect(lines('$(rm x); `y`')).to.include("--allow '$(rm x); `y`' ");
    expect(lines("a'b", 'custom')).to.include(`--tool-result 'a'\\''b=@FILE' --follow`);
    for (const id of ['-rf', 'a\nb', 'a\u001b[2K', '\u202eb'])
      expect(lines(id)).to.equal('This id cannot be used in a command.');
  });

  it('shows a whole input, escaped', () => {
    const input = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom(
        'ls \u009d; rm -rf ~ \u009c',
        '\u202etxt.exe',
        'a\nb\tc',
        'tag \u{e0041}',
        '\u001b]0;x\u0007',
      ),
    );
    fc.assert(
      fc.property(input, fc.integer({ min: 24, max: 120 }), (command, columns) => {
        const use = { id: 'u1', name: 'bash', kind: 'tool' as const, input: { command } };
        const { lines, question } = permissionText(use, columns);
        const shown = lines === '' ? question.slice('Allow bash '.length, -1) : restored(lines);
        expect(JSON.parse(shown)).to.deep.equal(use.input);
        expect(lines + question).not.to.match(/[^\P{C}\n]|\p{Zl}|\p{Zp}/u);
        for (const line of [...lines.split('\n'), `${question} [y/N]`])
          expect(displayWidth(line)).to.be.at.most(columns);
      }),
    );
  });

  it('reports how much of a long input is not shown', () => {
    const use = { id: 'u1', name: 'write', kind: 'tool' as const, input: { text: 'x'.repeat(10_000) } };
    const { lines, question } = permissionText(use, 80);
    expect(lines).to.match(/\n {2}… 6 011 more characters not shown$/);
    expect(question).to.equal('Allow it?');
  });

  it('escapes control sequences in a listed command', () => {
    const use = {
      id: 'u1',
      name: 'bash',
      kind: 'tool' as const,
      input: { command: 'ls \u009d; rm -rf ~ \u009c' },
    };
    expect(pendingLines('sesn_1', [use])[0]).to.equal('  bash ls \\u009d; rm -rf ~ \\u009c');
  });

  it('escapes invisible characters in a command', () => {
    const command = 'curl a.example\u200b\u{e0041}\u034f\ufe01\u3164';
    const use = { id: 'u1', name: 'bash', kind: 'tool' as const, input: { command } };
    expect(pendingLines('sesn_1', [use])[0]).to.equal(
      '  bash curl a.example\\u200b\\udb40\\udc41\\u034f\\ufe01\\u3164',
    );
  });
});

/** The input that was cut into lines below the name of its tool. */
function restored(lines: string): string {
  return lines
    .split('\n')
    .slice(1)
    .map((line) => line.slice(2))
    .join('');
}
