import { expect } from 'chai';

import { splitByMachine, type MachineUse } from '../../../../src/lib/time/machines/split';

interface Use extends MachineUse {
  text: string;
}

const use = (machine: string, from: number, to: number, input: number | null = to, text = machine): Use => ({
  ...{ machine, from, to, input, text },
});

/** The parts in their order, such as `a 0-5`, and those that are dropped, such as `-b 0-5`. */
function split(...spans: Use[]): string[] {
  const parts: string[] = [];
  const add = (sign: string) => (span: Use, from: number, to: number) =>
    parts.push(`${sign}${span.text} ${from}-${to}`);
  splitByMachine(spans, ({ text }) => text, add(''), add('-'));
  return parts;
}

describe('time on several machines', () => {
  const rows: [what: string, Use[], parts: string[]][] = [
    ['is nothing without spans', [], []],
    ['is each span without overlaps', [use('b', 5, 9), use('a', 0, 4)], ['a 0-4', 'b 5-9']],
    ['is each span that follows another at once', [use('a', 0, 5), use('b', 5, 9)], ['a 0-5', 'b 5-9']],
    ['is of the later input', [use('a', 0, 9, 5), use('b', 2, 9, 6)], ['a 0-2', '-a 2-9', 'b 2-9']],
    ['is of the lower id at the same input', [use('b', 0, 9, 5), use('a', 0, 9, 5)], ['-b 0-9', 'a 0-9']],
    ['is of a known input', [use('a', 0, 9, null), use('b', 0, 9, 0)], ['-a 0-9', 'b 0-9']],
    ['is of the lower id without inputs', [use('b', 0, 9, null), use('a', 0, 9, null)], ['-b 0-9', 'a 0-9']],
    ['is of the other again at the end', [use('a', 0, 9, 1), use('b', 3, 5, 4)], ['a 0-3', '-a 3-5', 'b 3-5', 'a 5-9']],
    [
      'is of one of three',
      [use('a', 0, 9, 1), use('b', 0, 6, 2), use('c', 0, 3, 3)],
      ['-a 0-3', '-b 0-3', 'c 0-3', '-a 3-6', 'b 3-6', 'a 6-9'],
    ],
    ['is what begins first on one machine', [use('a', 3, 9, 9, 'y'), use('a', 0, 5, 5, 'x')], ['x 0-5', 'y 5-9']],
    ['is not twice what lies within a span', [use('a', 0, 9, 9, 'x'), use('a', 3, 5, 9, 'y')], ['x 0-9']],
    [
      'is not twice what lies within an earlier span, which another follows',
      [use('a', 0, 9, 9, 'x'), use('a', 3, 5, 9, 'y'), use('a', 7, 12, 9, 'z')],
      ['x 0-9', 'z 9-12'],
    ],
    ['is the shorter first at one start', [use('a', 0, 9, 9, 'x'), use('a', 0, 5, 9, 'y')], ['y 0-5', 'x 5-9']],
    ['is the first text of the same spans', [use('a', 0, 9, 9, 'y'), use('a', 0, 9, 9, 'x')], ['x 0-9']],
    ['is never empty', [use('a', 4, 4)], []],
    [
      'is in order when the start of a span is cut',
      [use('a', 0, 6, 9, 'x'), use('a', 2, 9, 9, 'y'), use('b', 4, 9, 1)],
      ['x 0-4', 'x 4-6', '-b 4-6', '-b 6-9', 'y 6-9'],
    ],
  ]; // prettier-ignore
  for (const [what, spans, parts] of rows)
    it(what, () => {
      expect(split(...spans)).to.deep.equal(parts);
    });

  it('may ignore what is dropped', () => {
    const parts: string[] = [];
    splitByMachine([use('a', 0, 9), use('b', 0, 9)], ({ text }) => text, ({ text }) => parts.push(text)); // prettier-ignore
    expect(parts).to.deep.equal(['a']);
  });
});
