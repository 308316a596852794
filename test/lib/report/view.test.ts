import { expect } from 'chai';
import fc from 'fast-check';
import { shownOn } from '../../../src/lib/platform/terminal/fold';

import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { blocksOf, type Block } from '../../../src/lib/report/blocks';
import { buildReport } from '../../../src/lib/report/build';
import { plain, reportMarkdown, reportText } from '../../../src/lib/report/view';
import { captured, day, issue, reportInput, session } from '../../helpers/report';

/** A reference that was made code; no text of one has a backtick. */
const CODE = /(?<!\\)`((?:@|#|gh-|http|www)[^`]*)`/gi;
const AT = '2026-11-20T10:00:00.000Z';

describe('the text of a report', () => {
  const full = (): Block[] =>
    blocksOf(
      buildReport(
        reportInput({
          days: [
            day('2026-11-19'),
            day('2026-11-20', {
              apps: [{ app: 'Code\u001b[31m', kind: 'creation', minutes: 90 }],
              ...{ totalMinutes: 90, creationMinutes: 90 },
              raw: {
                commits: Array.from({ length: 14 }, (_, n) =>
                  captured(`# Make ${n} <b>`, AT, { sha: `a${n}` }),
                ),
                activity: [],
              },
            }),
          ],
          sessions: [session('a', { task: 'Fix *the* login', phaseHistory: [], github_issue: 3 })],
          issues: [issue(3, { status: 'in-review', priority: 'P1', url: 'javascript:alert(1)' })],
        }),
      ),
      'Standup',
    );

  it('writes Markdown to a pipe, without foreign markup', () => {
    const text = reportText(full(), { isTTY: false, columns: 80, color: false, unicode: true });
    expect(text).to.equal(reportMarkdown(full()));
    expect(text).to.match(
      /^# Standup · Thu 19 Nov 2026 to Fri 20 Nov 2026\n\n0 issues closed, 14 commits, 1 session\. /,
    );
    expect(text).to.include('## In progress\n\n- **#3** Issue 3 (in-review, P1)\n\n## Sessions\n\n');
    expect(text).to.include('- Fix \\*the\\* login (verify, website, `#3`)\n');
    expect(text).to.include('- \\# Make 0 \\<b>\n');
    expect(text).to.include('- 2 more\n');
    expect(text).to.include('- **1 h 30 m** Code (creation)\n');
    expect(text.endsWith('\n') && !text.endsWith('\n\n')).to.equal(true);
  });

  it('says of all assistants together what has no price', () => {
    const sums = { input: 5, output: 1, cacheRead: 0, cacheWrite: 0 };
    const rows = [
      { key: 'claude-code', ...sums, cost: 1 },
      { key: 'qwen', ...sums, cost: 0.004 },
      { key: 'codex', ...sums, cost: null },
    ];
    const usage = { rows, total: { ...sums, cost: 1, unpriced: 6 } };
    expect(reportMarkdown(blocksOf(buildReport(reportInput({ usage })), 'Week'))).to.include(
      '- **under 0.01 USD**, qwen: 5 in, 1 out\n- **unknown cost**, codex: 5 in, 1 out\n- unknown price for 6 tokens\n',
    );
  });

  it('wraps to the width of the terminal', () => {
    for (const columns of [24, 40, 80, 200]) {
      const text = reportText(full(), { isTTY: true, columns, color: false, unicode: true });
      for (const line of text.split('\n')) expect(displayWidth(line)).to.be.at.most(columns);
      expect(text.replace(/\s+/g, ' ')).to.include('Fix *the* login (verify, website, #3)');
    }
    const colored = reportText(full(), { isTTY: true, columns: 40, color: true, unicode: true });
    const bare = reportText(full(), { isTTY: true, columns: 40, color: false, unicode: true });
    expect(colored).to.include('\u001b[1m1 h 30 m');
    expect(colored.replace(/\u001b\[\d+m/g, '')).to.equal(bare);
    const shown = shownOn({ columns: 80, unicode: false }, bare);
    expect(shown).to.match(/^[\0-\x7f]*$/);
  });

  it('escapes only markup', () => {
    const said: [text: string, markdown: string][] = [
      ['fix-login in snake_case, 3 > 2 & more', 'fix-login in snake_case, 3 > 2 & more'],
      ['_emphasis_ and `code`', '\\_emphasis\\_ and \\`code\\`'],
      ['&lt; stays', '&amp;lt; stays'],
      ['[x](y) ![z]', '\\[x\\](y) !\\[z\\]'],
      ['a | b ~~c~~', 'a \\| b \\~\\~c\\~\\~'],
    ];
    for (const [text, markdown] of said) expect(plain(text, true)).to.equal(markdown);
    for (const start of ['# a', '- a', '+ a', '> a', '---', '===']) {
      expect(plain(start, true)).to.equal(`\\${start}`);
      expect(plain(start, false).startsWith('\\')).to.equal(false);
    }
    expect(plain('12. a', true)).to.equal('12\\. a');
    expect(plain('title ##', false)).to.equal('title \\##');
  });

  it('creates no mention or link when pasted', () => {
    const said: [text: string, markdown: string][] = [
      [
        'Thank @ann and @acme/web_team, not ann@example.org',
        'Thank `@ann` and `@acme/web_team`, not ann@example.org',
      ],
      ['@here: Merge pull request #12 from ann/x', '`@here`: Merge pull request `#12` from ann/x'],
      ['Fixes acme/web#7 and GH-8 (#9)', 'Fixes acme/web`#7` and `GH-8` (`#9`)'],
      ['see https://example.org/a_b?c=*d* now', 'see `https://example.org/a_b?c=*d*` now'],
      ['*www.example.org*', '\\*`www.example.org*`'],
      ['# 5 @ noon, C# and a#b', '\\# 5 @ noon, C# and a#b'],
    ];
    for (const [text, markdown] of said) expect(plain(text, true)).to.equal(markdown);
    const blocks: Block[] = [
      { kind: 'item', parts: [{ text: '#3', url: 'https://example.org/3' }, { text: ' @ann' }] },
    ];
    expect(reportMarkdown(blocks)).to.equal('- [#3](https://example.org/3) `@ann`\n');
    const terminal = { isTTY: true, columns: 80, color: false, unicode: true };
    expect(reportText(blocks, terminal)).to.equal('  #3 @ann');
  });

  it('renders back to the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.boolean(), (text, isStart) => {
        const read = plain(text, isStart)
          .replace(CODE, '$1')
          .replace(/\\([!-/:-@[-`{-~])/g, (whole, char: string) => (text.includes('\\') ? whole : char))
          .replace(/&amp;/g, '&');
        if (!text.includes('\\') && !text.includes('&amp;')) expect(read).to.equal(text);
        expect(plain(text, isStart).replace(CODE, '')).not.to.match(/(?<!\\)[<`*[\]]/);
      }),
    );
  });
});
