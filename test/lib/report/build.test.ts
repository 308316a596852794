import { expect } from 'chai';
import fc from 'fast-check';

import { blocksOf } from '../../../src/lib/report/blocks';
import { buildReport } from '../../../src/lib/report/build';
import { reportMarkdown } from '../../../src/lib/report/view';
import type { DayFacts, ReportInput } from '../../../src/lib/report/model';
import { captured, day, issue, reportInput, session } from '../../helpers/report';
import { long } from '../../helpers/long';

const FRI = '2026-11-20T10:00:00.000Z';
const THU = '2026-11-19T10:00:00.000Z';

describe('a report', () => {
  it('shows your time beside that of agents if a repository is known', () => {
    const row = (key: string) => ({ key, minutes: 60, working: 90, waiting: 5, heldUp: 4 });
    const time = [row('shop'), row('notes'), row('unknown')];
    expect(buildReport(reportInput({ time })).time).to.deep.equal(time);
    expect(buildReport(reportInput({ time, repo: 'Shop' })).time).to.deep.equal([row('shop')]);
    expect(buildReport(reportInput({ time: [row('unknown')] }))).not.to.have.property('time');
    const text = reportMarkdown(blocksOf(buildReport(reportInput({ time })), 'Standup'));
    expect(text).to.include('- **1 h 00 m** shop (agents working 1 h 30 m, waiting 5 m, held up 4 m)');
  });

  it('shows one figure of the time of agents in a repository', () => {
    const polled = ['shop', 'notes'].map((repo) => ({ repo, session: repo, atMs: Date.parse(FRI) }));
    const days = [
      day('2026-11-20', { raw: { commits: [captured('Fix', FRI, { repo: 'shop' })], activity: polled } }),
    ];
    const time = [{ key: 'shop', minutes: 60, working: 90, waiting: 5, heldUp: 4 }];
    const textWith = (more: object): string =>
      reportMarkdown(blocksOf(buildReport(reportInput({ days, ...more })), 'Week'));
    expect(textWith({ time })).to.match(/- shop: 1 commit\n- notes: 2 m with the assistant\n/);
    expect(textWith({})).to.include('- shop: 1 commit, 2 m with the assistant\n');
  });

  const withRaw = (date: string, raw: Partial<NonNullable<DayFacts['raw']>>, more: Partial<DayFacts> = {}) =>
    day(date, { raw: { commits: [], activity: [], ...raw }, ...more });

  const discarded = (date: string, commits: DayFacts['commits']): DayFacts => {
    const facts = day(date, { commits });
    delete facts.raw;
    return facts;
  };

  it('sums the time by application in tenths', () => {
    const app = (name: string, minutes: number) => ({ app: name, kind: 'creation' as const, minutes });
    const report = buildReport(
      reportInput({
        days: [
          day('2026-11-20', {
            apps: [app('Code', 0.1), app('vim', 5)],
            totalMinutes: 5.1,
            creationMinutes: 5.1,
          }),
          day('2026-11-19', { apps: [app('code', 0.2)], totalMinutes: 0.2, creationMinutes: 0.2 }),
          day('2026-11-18', { apps: [app('Code', 99)], totalMinutes: 99 }),
        ],
        spelling: (name) => (name === 'code' ? 'Code' : name),
      }),
    );
    expect(report.apps).to.deep.equal([app('vim', 5), app('Code', 0.3)]);
    expect([report.totalMinutes, report.creationMinutes]).to.deep.equal([5.3, 5.3]);
  });

  it('counts a rewritten commit once, on its first day', () => {
    const report = buildReport(
      reportInput({
        days: [
          withRaw('2026-11-20', {
            commits: [{ ...captured('Fix', FRI, { sha: 'b' }), change: `${THU}\nFix` }],
          }),
          withRaw('2026-11-19', { commits: [captured('Fix', THU, { sha: 'a' })] }),
        ],
      }),
    );
    expect(report.commits).to.deep.equal({
      count: 1,
      items: [{ repo: 'website', sha: 'a', subject: 'Fix', at: THU }],
    });
  });

  it('distinguishes repositories with the same folder name, and counts commits without subjects', () => {
    const report = buildReport(
      reportInput({
        days: [
          discarded('2026-11-19', [{ repo: 'notes', commits: 3 }]),
          withRaw('2026-11-20', {
            commits: [captured('A', FRI, { path: '/a/site' }), captured('B', FRI, { path: '/b/site' })],
          }),
        ],
      }),
    );
    expect(report.repos.map(({ repo, commits }) => [repo, commits])).to.deep.equal([
      ['notes', 3],
      ['a/site', 1],
      ['b/site', 1],
    ]);
    expect(report.notKnown).to.include(
      'No subjects for 3 commits: the event logs for those days were deleted.',
    );
  });

  it('lists the active sessions with their phases in the period', () => {
    const phases = [
      { phase: 'plan', at: '2026-11-01T10:00:00.000Z', source: 'artifact' },
      { phase: 'build', at: THU, source: 'artifact' },
      { phase: 'complete', at: '2026-11-25T10:00:00.000Z', source: 'artifact' },
    ] as const;
    const report = buildReport(
      reportInput({
        days: [day('2026-11-19'), withRaw('2026-11-20', {}, { sessions: ['id-quiet', 'gone'] })],
        sessions: [
          session('later', { startedAt: '2026-11-22T10:00:00.000Z' }),
          session('quiet', { startedAt: '2026-11-01T10:00:00.000Z', phaseHistory: phases.slice(0, 1) }),
          session('long', { startedAt: '2026-11-01T10:00:00.000Z', phaseHistory: [...phases] }),
          session('untold', { task: null }),
        ],
      }),
    );
    expect(report.sessions.count).to.equal(4);
    expect(report.sessions.items.map(({ slug, phases: own }) => [slug, own])).to.deep.equal([
      ['long', ['plan', 'build']],
      ['quiet', ['plan']],
      ['untold', ['verify']],
    ]);
    expect(reportMarkdown(blocksOf(report, 'Standup'))).to.include('- 2 sessions without a task');
  });

  it('counts the polls with activity, parallel sessions once', () => {
    const at = Date.parse(FRI);
    const activity = [0, 1000, 120_000, 600_000].map((ms, index) => ({
      ...{ repo: 'website', session: `s${index % 2}`, atMs: at + ms },
    }));
    const [row] = buildReport(reportInput({ days: [withRaw('2026-11-20', { activity })] })).repos;
    expect(row).to.include({ repo: 'website', assistantMinutes: 6 });
    const none = buildReport(reportInput({ sessions: [session('a')], days: [] })).repos[0];
    expect(none).to.include({ sessions: 1, assistantMinutes: null });
  });

  it('lists each issue once, with the commits that mention it', () => {
    const issues = [
      issue(1, { state: 'closed', closedAt: FRI, createdAt: THU }),
      issue(2, { state: 'closed', closedAt: '2026-11-18T22:59:59.000Z' }),
      issue(3, { status: 'in-progress', createdAt: FRI }),
      issue(4, { createdAt: '2026-11-18T23:00:00.000Z' }),
      issue(5, { state: 'closed', closedAt: FRI, completed: false }),
      issue(6),
    ];
    const commits = [captured('Fix it (#1), see ann/other#4 and #12', FRI, { sha: 'abcdef0123' })];
    const input = reportInput({ issues, days: [withRaw('2026-11-20', { commits })] });
    const report = buildReport({ ...input, evidence: new Map([[1, 'All tests\npass']]) });
    const numbers = Object.values(report.issues ?? {}).map((rows) => rows.map(({ number }) => number));
    expect(numbers).to.deep.equal([[1, 5], [3], [4]]);
    expect(report.issues?.closed[0]).to.deep.include({
      evidence: 'All tests\npass',
      commits: ['abcdef0123'],
    });
    const shown = reportMarkdown(blocksOf(report, 'Standup'));
    expect(shown).to.include(
      '- [#1](https://example.org/issues/1) Issue 1 (abcdef0) — All tests pass\n- [#5](https://example.org/issues/5) Issue 5 (not planned)\n',
    );
    const past = buildReport({ ...input, period: { ...input.period, current: false } });
    expect(past.issues?.inProgress, 'what is in progress now is no news of a past week').to.deep.equal([]);
  });

  it('limits a report to one repository', () => {
    const report = buildReport(
      reportInput({
        repo: 'Website',
        days: [
          withRaw(
            '2026-11-20',
            {
              commits: [captured('Mine #7', FRI), captured('Other', FRI, { repo: 'notes' })],
              activity: [
                { repo: 'notes', session: 'x', atMs: Date.parse(FRI) },
                { repo: 'website', session: 'y', atMs: Date.parse(FRI) },
              ],
            },
            { totalMinutes: 60, sessions: ['x', 'y'] },
          ),
        ],
        sessions: [session('a', { github_issue: 8 }), session('b', { repo: 'notes' })],
        issues: [7, 8, 9, 10].map((number) =>
          issue(number, { createdAt: FRI, property: number === 9 ? 'website' : null }),
        ),
      }),
    );
    expect(report).to.deep.include({ totalMinutes: null, apps: [] });
    expect(report.commits.count).to.equal(1);
    expect(report.sessions.count).to.equal(2);
    expect(report.issues?.opened.map(({ number }) => number)).to.deep.equal([7, 8, 9]);
    expect(report.notKnown).to.include(
      'No time by application: application time is not recorded per repository.',
    );
  });

  it('has no totals if no day was recorded', () => {
    const empty = { totalMinutes: null, creationMinutes: null, consumptionMinutes: null };
    const days = [day('2026-11-20', { backfilled: true })];
    for (const input of [reportInput({ days: [] }), reportInput({ days })])
      expect(buildReport(input)).to.deep.include(empty);
  });

  it('lists missing data', () => {
    const input = reportInput({ days: [day('2026-11-20')], notes: ['Sessions: broken.'] });
    expect(buildReport({ ...input, issues: undefined }).notKnown).to.deep.equal([
      'No data for Thu 19 Nov 2026.',
      'No issues: work tracking is not set up (run "steward work setup OWNER/REPO").',
      'Sessions: broken.',
    ]);
    const period = { ...input.period, from: '2026-01-01', to: '2026-01-20' };
    const days = [2, 4, 6, 8, 10, 12].map((n) => day(`2026-01-${String(n).padStart(2, '0')}`));
    expect(buildReport({ ...input, issues: [], period, days }).notKnown[0]).to.equal(
      'No data for Thu 1 Jan 2026, Sat 3 Jan 2026, Mon 5 Jan 2026, Wed 7 Jan 2026 and 10 more days.',
    );
  });

  long('does not depend on the order of its input', () => {
    const name = fc.constantFrom('Code', 'vim', 'a*b', '#x');
    const instant = fc
      .integer({ min: Date.parse('2026-11-18T12:00:00Z'), max: Date.parse('2026-11-21T12:00:00Z') })
      .map((ms) => new Date(ms).toISOString());
    const days = fc.tuple(
      ...['2026-11-19', '2026-11-20'].map((date) =>
        fc
          .record({
            apps: fc.array(
              fc.record({
                app: name,
                kind: fc.constantFrom('creation', 'neutral'),
                minutes: fc.integer({ min: 1, max: 900 }).map((n) => n / 10),
              }),
            ),
            commits: fc.array(
              fc.tuple(name, instant, name).map(([subject, at, repo]) => captured(subject, at, { repo })),
            ),
            activity: fc.array(
              fc.record({ repo: name, session: name, atMs: fc.integer({ min: 0, max: 1e7 }) }),
            ),
          })
          .map(({ apps, commits, activity }) =>
            day(date, { apps: apps as DayFacts['apps'], raw: { commits, activity } }),
          ),
      ),
    );
    const sessions = fc
      .uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), instant), { selector: ([slug]) => slug })
      .map((rows) => rows.map(([slug, startedAt]) => session(slug, { startedAt })));
    const issues = fc
      .uniqueArray(fc.tuple(fc.nat({ max: 50 }), instant), { selector: ([number]) => number })
      .map((rows) =>
        rows.map(([number, at]) =>
          issue(number + 1, number % 2 === 0 ? { createdAt: at } : { state: 'closed', closedAt: at }),
        ),
      );
    const bytes = (input: ReportInput): string => {
      const report = buildReport(input);
      return JSON.stringify(report) + reportMarkdown(blocksOf(report, 'Week'));
    };
    const turned = <T>(list: readonly T[]): T[] => [...list].reverse();
    fc.assert(
      fc.property(days, sessions, issues, (d, s, i) => {
        const input = reportInput({ days: d, sessions: s, issues: i });
        const other = reportInput({
          days: turned(d).map((one) => ({
            ...one,
            apps: turned(one.apps),
            raw: { commits: turned(one.raw?.commits ?? []), activity: turned(one.raw?.activity ?? []) },
          })),
          sessions: turned(s),
          issues: turned(i),
        });
        expect(bytes(other)).to.equal(bytes(input));
        const report = buildReport(input);
        expect(report.repos.reduce((sum, { commits }) => sum + commits, 0)).to.equal(report.commits.count);
      }),
    );
  });
});
