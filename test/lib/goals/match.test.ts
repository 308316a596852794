import { expect } from 'chai';
import { readFileSync } from 'node:fs';

import { goalMatcher, hasRules } from '../../../src/lib/goals/match';
import { parseGoals } from '../../../src/lib/goals/record';
import { workNames } from '../../../src/lib/time/ledger/names';

const MONTH = 'test/fixtures/goals-month';

describe('goal rules', () => {
  const goals = parseGoals(
    [
      '## Active Goals',
      '- **G1**: Keep it up',
      '  - labels: Priority:P0, ops ,',
      '- **G2**: Ship it',
      '  REPOS: shop, shop-theme',
      '  target: December',
      '  labels: ops',
      '  repos: site',
      '- **G3**: A newsletter',
      '  projects: Newsletter',
      '- **G4**: No rules: at all',
    ].join('\n'),
  );
  const match = goalMatcher(goals);

  it('are lists of names below a goal', () => {
    expect(goals).to.deep.equal([
      { id: 'G1', text: 'Keep it up', reported: null, target: null, labels: ['Priority:P0', 'ops'] },
      {
        ...{ id: 'G2', text: 'Ship it', reported: null, target: 'December' },
        ...{ repos: ['shop', 'shop-theme', 'site'], labels: ['ops'] },
      },
      { id: 'G3', text: 'A newsletter', reported: null, target: null, projects: ['Newsletter'] },
      { id: 'G4', text: 'No rules: at all', reported: null, target: null },
    ]);
    expect(hasRules(goals)).to.equal(true);
    expect(hasRules(goals.slice(3))).to.equal(false);
  });

  it('match the first goal with its reason', () => {
    const none = { repo: null, project: null, labels: [], sites: [] };
    expect(match({ ...none, repo: 'Shop' })).to.deep.equal({ goal: 'G2', reason: 'repos: shop' });
    expect(match({ ...none, repo: 'shop', labels: ['OPS'] })).to.deep.equal({
      goal: 'G1',
      reason: 'labels: ops',
    });
    expect(match({ ...none, project: 'newsletter' })).to.deep.equal({
      goal: 'G3',
      reason: 'projects: Newsletter',
    });
    expect(match({ ...none, repo: 'shop-x', project: 'shop' })).to.equal(undefined);
    expect(match(none)).to.equal(undefined);
  });

  it('match a site, and the sites below it', () => {
    const [goal] = parseGoals('## Active Goals\n- **G1**: Learn\n  sites: docs.rs, github.com, Müller.de');
    const names = workNames({
      sessions: [],
      items: [],
      projects: [],
      goals: goal === undefined ? [] : [goal],
    });
    const goalOf = (app: string) =>
      names.goal({ app, repo: null, branch: null, session: null, assistant: null });
    expect(goalOf('Firefox: docs.rs')).to.deep.equal({ goal: 'G1', reason: 'sites: docs.rs' });
    expect(goalOf('Firefox: gist.github.com')).to.deep.equal({ goal: 'G1', reason: 'sites: github.com' });
    expect(goalOf('Firefox: xn--mller-kva.de')).to.have.property('goal', 'G1');
    for (const app of ['Firefox', 'Firefox: other sites', 'Firefox: notgithub.com', 'github.com'])
      expect(goalOf(app), app).to.equal(undefined);
  });

  it('agree with at least 90 % of the intervals of a month that was labeled before', () => {
    const rules = goalMatcher(parseGoals(readFileSync(`${MONTH}/goals.md`, 'utf8')));
    const [, ...rows] = readFileSync(`${MONTH}/month.csv`, 'utf8').trimEnd().split('\n');
    const table = new Map<string, Map<string, number>>();
    let agreed = 0;
    for (const row of rows) {
      const [, , , repo = '', , project = '', label = '', wanted = ''] = row.split(',');
      const labels = label === '' ? [] : [label];
      const found = rules({ repo: repo || null, project: project || null, labels, sites: [] })?.goal ?? '';
      if (found === wanted) agreed += 1;
      const counts = table.get(wanted) ?? new Map<string, number>();
      table.set(wanted, counts.set(found, (counts.get(found) ?? 0) + 1));
    }
    const columns = ['G1', 'G2', 'G3', 'G4', ''];
    const lines = columns.map((wanted) =>
      [wanted || 'none', ...columns.map((found) => String(table.get(wanted)?.get(found) ?? 0))]
        .map((cell) => cell.padStart(5))
        .join(' '),
    );
    const head = ['label', ...columns.map((goal) => goal || 'none')]
      .map((cell) => cell.padStart(5))
      .join(' ');
    const text = [head, ...lines].join('\n');
    const share = `${((agreed / rows.length) * 100).toFixed(1)} %`;
    console.log(`${text}\n${share} of ${rows.length}`);
    const page = readFileSync('docs/sense.md', 'utf8');
    expect(page, 'the page shows this table').to.include(text).and.to.include(share);
    expect(rows).to.have.length(2000);
    expect(agreed / rows.length).to.be.at.least(0.9);
  });
});
