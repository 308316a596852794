import { expect } from 'chai';

import { constantOf, hardTexts, made, msFor, written, type Pattern } from '../helpers/patterns';

/** Texts of this length are matched within this time. */
const LENGTH = 100_000;
const LIMIT_MS = 50;

/** Patterns that see shorter texts alone: the constants of the source that cut the text before they do. */
const CUT: readonly { at: RegExp; source: RegExp; file: string; constants: string[] }[] = [
  {
    at: /^src\/lib\/work\/capture\/prompt\.ts:/,
    source: /^\^\(\?:\(\?:please/,
    file: 'src/lib/work/capture/prompt.ts',
    constants: ['MAX_LINE'],
  },
  {
    at: /^src\/lib\/agents\/(?:routing|text)/,
    source: /^/,
    file: 'src/lib/agents/text.ts',
    constants: ['HEAD', 'TAIL'],
  },
  {
    at: /^src\/lib\/notify\/speech\/homographs\.ts:/,
    source: /^\^|\$$/,
    file: 'src/lib/notify/speech/homographs.ts',
    constants: ['REACH'],
  },
];

function lengthFor({ at, source }: Pattern): number {
  const cut = CUT.find((one) => one.at.test(at) && one.source.test(source));
  if (cut === undefined) return LENGTH;
  return cut.constants.reduce((sum, name) => sum + constantOf(cut.file, name), 0);
}

describe('regular expressions', function () {
  this.timeout(300_000);
  let patterns: Pattern[];
  let makers: string[];
  let seen: Set<string>;

  before(() => {
    const found = written();
    const built = made();
    ({ makers } = found);
    seen = new Set(built.flatMap(({ at }) => at));
    const all = [...found.literals, ...built.map((one) => ({ ...one, at: one.at[0] ?? '' }))];
    patterns = [...new Map(all.map((one) => [`/${one.source}/${one.flags}`, one])).values()];
  });

  it('are all found: those of the syntax trees, and those that are made while steward runs', () => {
    expect(patterns.length).to.be.greaterThan(500);
    expect(makers.filter((at) => !seen.has(at))).to.deep.equal([]);
  });

  it(`take at most ${LIMIT_MS} ms for ${LENGTH / 1000} kB of text that is hard for them, or for what a cut leaves of it`, () => {
    const suspects = patterns.flatMap((pattern) =>
      [...hardTexts(pattern, lengthFor(pattern))]
        .filter((text) => msFor(pattern, text, LIMIT_MS) > LIMIT_MS)
        .map((text) => ({ pattern, text })),
    );
    // Garbage collection on another thread counts as CPU time, so measure a suspect again later.
    const slow = suspects.flatMap(({ pattern, text }) => {
      const ms = msFor(pattern, text, LIMIT_MS);
      if (ms <= LIMIT_MS) return [];
      const of = JSON.stringify(text.slice(0, 40));
      return [`${pattern.at}: ${Math.round(ms)} ms for ${of}: /${pattern.source.slice(0, 200)}/`];
    });
    expect(slow).to.deep.equal([]);
  });

  it('are caught where they take longer', () => {
    const caught = ['-+$', '^(?:a+)+$', '<!--.*?-->', String.raw`^(?:#[^\n]*(?:\r?\n|$))*$`].map((source) =>
      [...hardTexts({ source, flags: '' }, LENGTH / 2)].some(
        (text) => msFor({ source, flags: '' }, text, LIMIT_MS) > LIMIT_MS,
      ),
    );
    expect(caught).to.deep.equal([true, true, true, true]);
  });

  it('see what their cut leaves, and no cut is named in vain', () => {
    const used = CUT.filter((cut) =>
      patterns.some((one) => cut.at.test(one.at) && cut.source.test(one.source)),
    );
    expect(used).to.deep.equal(CUT);
  });
});
