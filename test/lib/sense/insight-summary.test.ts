import { expect } from 'chai';
import fc from 'fast-check';

import type { SenseEvent } from '../../../src/lib/time/event';
import {
  insightPrompt,
  insightSummary,
  isEmptySummary,
  type SummaryOptions,
} from '../../../src/lib/sense/insight-prompt';
import { commit, focus } from '../../helpers/sense';
import { long } from '../../helpers/long';

/** No prompt is longer, whatever a day holds. */
const MAX_PROMPT_BYTES = 24 * 1024;

const OPTIONS: SummaryOptions = {
  slugOf: (id) => (id.startsWith('x') ? undefined : `slug-${id}`),
  excludes: () => false,
};
const session = (ts: string, id: string, events = 1): SenseEvent => ({
  ts,
  type: 'agent-session',
  source: 'agentSession',
  repo: 'secret-repository',
  detail: { session: id, events, machine: 'secret-machine' },
});
const bytes = (text: string): number => Buffer.byteLength(text, 'utf8');

describe('sense: the summary for an insight', () => {
  it('has applications with counts, subjects and slugs, and nothing else', () => {
    const events = [
      focus('2026-11-20T09:00:00Z', 'Ghostty'),
      focus('2026-11-20T09:02:00Z', 'Firefox'),
      focus('2026-11-20T09:04:00Z', 'ghostty'),
      focus('2026-11-20T09:06:00Z', 'Ghostty'),
      commit('2026-11-20T09:10:00Z', 'secret-repository', 'a1'),
      commit('2026-11-20T09:12:00Z', 'secret-repository', 'b2'),
      session('2026-11-20T09:13:00Z', 's1', 2),
      session('2026-11-20T09:14:00Z', 's2', 5),
      session('2026-11-20T09:15:00Z', 'x3'),
    ];
    const summary = insightSummary(events, OPTIONS);
    expect(summary).to.deep.equal({
      apps: [{ app: 'Ghostty', samples: 3 }, { app: 'Firefox', samples: 1 }],
      otherApps: { apps: 0, samples: 0 },
      commits: ['Commit b2', 'Commit a1'],
      otherCommits: 0,
      sessions: ['slug-s2', 'slug-s1'],
      otherSessions: 1,
    }); // prettier-ignore
    const prompt = insightPrompt(summary);
    expect(prompt).not.to.match(/secret|\/src|2026|x3/);
    expect(prompt).to.match(/no score, no rating, no praise, no blame, no advice/);
  });

  it('counts a rewritten commit once, and leaves out excluded applications', () => {
    const first = commit('2026-11-20T09:10:00Z', 'app', 'a1');
    const again = { ...first, ts: '2026-11-20T10:00:00.000Z', detail: { ...first.detail, sha: 'other' } };
    const events = [first, again, focus('2026-11-20T09:00:00Z', 'Solitaire')];
    const summary = insightSummary(events, { ...OPTIONS, excludes: ({ app }) => app === 'Solitaire' });
    expect(summary.commits).to.deep.equal(['Commit a1']);
    expect(summary.apps).to.deep.equal([]);
    expect(isEmptySummary(summary)).to.equal(false);
    expect(isEmptySummary(insightSummary([], OPTIONS))).to.equal(true);
  });

  it('names sites only if it is asked to', () => {
    const visit = (ts: string, site?: string): SenseEvent => ({
      ...{ ts, type: 'web-focus', source: 'web', detail: { via: 'firefox' } },
      ...(site === undefined ? {} : { app: `site:${site}` }),
    });
    const events = [
      focus('2026-11-20T09:00:00Z', 'Firefox'),
      visit('2026-11-20T09:00:00Z', 'github.com'),
      visit('2026-11-20T09:01:00Z', 'github.com'),
      visit('2026-11-20T09:02:00Z'),
      ...Array.from({ length: 40 }, (_, i) => visit('2026-11-20T09:03:00Z', `a${i}.example.org`)),
    ];
    expect(insightPrompt(insightSummary(events, OPTIONS))).to.not.match(/github|example\.org|sites/);
    const { sites = [] } = insightSummary(events, { ...OPTIONS, sites: true });
    expect(sites).to.have.length(15);
    expect(sites[0]).to.deep.equal({ app: 'site:github.com', samples: 2 });
  });

  long('stays bounded for 10,000 events, and counts what it leaves out', () => {
    const wide = '漢'.repeat(300);
    const events = Array.from({ length: 10_000 }, (_, n): SenseEvent => {
      const ts = new Date(Date.parse('2026-11-20T00:00:00Z') + n * 8000).toISOString();
      if (n % 3 === 0) return focus(ts, `${n % 60}${wide}`);
      if (n % 3 === 1)
        return { ...commit(ts, 'app', `${n}`), detail: { sha: `${n}`, subject: `${n}"\\${wide}` } };
      return session(ts, `${n}${wide}`);
    });
    const summary = insightSummary(events, OPTIONS);
    expect(summary.apps).to.have.length(15);
    expect(summary.otherApps).to.deep.equal({ apps: 5, samples: 5 * 166 });
    expect([summary.commits.length, summary.otherCommits]).to.deep.equal([30, 3303]);
    expect([summary.sessions.length, summary.otherSessions]).to.deep.equal([20, 3313]);
    expect(bytes(insightPrompt(summary))).to.be.within(10_000, MAX_PROMPT_BYTES);
  });

  it('is bounded, clean and independent of the order (property)', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 400 });
    const ts = fc.date({
      min: new Date('2026-11-20T00:00:00Z'),
      max: new Date('2026-11-20T23:59:59Z'),
      noInvalidDate: true,
    });
    const event = fc.oneof(
      fc.record({ ts, app: text }).map(({ ts: at, app }) => focus(at.toISOString(), app)),
      fc.record({ ts, subject: text, sha: text }).map(({ ts: at, subject, sha }): SenseEvent => ({ ...commit(at.toISOString(), 'app', sha), detail: { sha, subject } })),
      fc.record({ ts, id: text }).map(({ ts: at, id }) => session(at.toISOString(), id)),
    ); // prettier-ignore
    const day = fc.array(event, { maxLength: 120 });
    fc.assert(
      fc.property(
        day.chain((events) =>
          fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })),
        ),
        ([events, shuffled]) => {
          const prompt = insightPrompt(insightSummary(events, OPTIONS));
          expect(insightPrompt(insightSummary(shuffled, OPTIONS))).to.equal(prompt);
          expect(bytes(prompt)).to.be.at.most(MAX_PROMPT_BYTES);
          expect(prompt).not.to.match(
            /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]|\p{Surrogate}/u,
          );
        },
      ),
    );
  });
});
