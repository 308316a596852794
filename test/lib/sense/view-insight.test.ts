import { expect } from 'chai';

import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import type { Insight } from '../../../src/lib/sense/insight-reads';
import { buildText, insightText, previewText } from '../../../src/lib/sense/view-insight';

const OPTIONS = { columns: 80, color: false, timezone: 'UTC' };
const INSIGHT: Insight = {
  available: true,
  stale: false,
  date: '2026-11-20',
  narrative: 'Programming with a terminal beside it, then some reading.',
  contentTypes: [
    { label: 'programming', share: 0.75, evidence: 'Ghostty and commit subjects' },
    { label: 'reading', share: 0.25, evidence: '' },
  ],
  since: '2026-11-20T08:02:00.000Z',
  generatedAt: '2026-11-20T12:00:00.000Z',
  model: 'small-model',
};
const NONE: Insight = { ...INSIGHT, available: false, narrative: null, contentTypes: [], since: null, generatedAt: null, model: null, reason: 'no insight has been built yet' }; // prettier-ignore

describe('sense: the view of an insight', () => {
  it('shows the day, the times, the narrative, and a bar per kind', () => {
    expect(insightText(INSIGHT, OPTIONS)).to.equal(
      [
        'Fri 20 Nov 2026 · built at 12:00 · since 08:02 · small-model',
        '',
        'Programming with a terminal beside it, then some reading.',
        '',
        '  programming   75 %  ██████████████████████████████',
        '    Ghostty and commit subjects',
        '  reading       25 %  ██████████',
      ].join('\n'),
    );
  });

  it('explains an earlier day, a failed build, and no insight', () => {
    expect(insightText({ ...INSIGHT, stale: true }, OPTIONS)).to.match(
      /\nThis insight is from an earlier day; there is none for today yet\.\n/,
    );
    expect(insightText({ ...INSIGHT, reason: 'no answer' }, OPTIONS)).to.match(
      /\nThe last build failed: no answer\.\n/,
    );
    expect(insightText(NONE, OPTIONS)).to.match(
      /^Insight unavailable: no insight has been built yet\.\nBuild an insight with "steward sense insight build"/,
    );
    const skipped = {
      status: 'skipped',
      date: '2026-11-20',
      reason: 'no new events since the last insight',
    } as const;
    expect(buildText(skipped, INSIGHT, OPTIONS)).to.equal(
      'Nothing was sent: no new events since the last insight.',
    );
  });

  it('fits a narrow terminal, and cleans the texts of the file', () => {
    const evil = '\u001b[2J\u202e漢字 '.repeat(30);
    const insight = {
      ...INSIGHT,
      narrative: evil,
      model: evil,
      reason: evil,
      contentTypes: [{ label: evil, share: 1, evidence: evil }],
    };
    for (const columns of [10, 32, 40, 80, 200]) {
      const text = insightText(insight, { ...OPTIONS, columns });
      for (const line of text.split('\n'))
        expect(displayWidth(line), line).to.be.at.most(Math.max(32, columns));
      expect(text).not.to.match(/[\u001b\u202e]/);
    }
  });

  it('names the program that would get the prompt', () => {
    const preview = {
      date: '2026-11-20',
      prompt: 'p',
      skipped: null,
      command: ['/opt/a b', '', '--x=1', '\u001b[1m"'],
    };
    expect(previewText(preview)).to.equal(
      'Nothing was sent. A build would send this text to:\n  "/opt/a b" "" --x=1 "\\""',
    );
    expect(previewText({ ...preview, skipped: 'idle' })).to.equal('A build would send nothing now: idle.');
  });
});
