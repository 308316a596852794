import { expect } from 'chai';
import fc from 'fast-check';

import { LANES } from '../../../src/lib/config/schema';
import {
  agentName,
  agentsOf,
  canTakeLabel,
  labelFacts,
  laneOf,
  sourceOf,
  STATUSES,
  statusEdit,
  statusOf,
} from '../../../src/lib/work/label';

describe('work: labels and lanes', () => {
  const lane = (...labels: string[]): string => laneOf({ state: 'open' }, labelFacts(labels));

  it('put each Status into its lane', () => {
    const lanes = Object.fromEntries(STATUSES.map((status) => [status, lane(`Status:${status}`)]));
    expect(lanes).to.deep.equal({
      queued: 'Queued',
      'needs-triage': 'Queued',
      ready: 'Queued',
      'in-progress': 'In-Progress',
      'in-review': 'In-Review',
      blocked: 'Blocked',
      'needs-human': 'In-Review',
      done: 'Complete',
    });
    expect(lane()).to.equal('Queued');
    expect(laneOf({ state: 'closed' }, labelFacts(['Status:blocked']))).to.equal('Complete');
  });

  it('read common aliases', () => {
    const cases: [string, string[]][] = [
      ['Complete', ['done', 'complete', 'closed']],
      ['In-Progress', ['in-progress', 'wip', 'doing', 'ai-working', 'In Progress', 'WIP']],
      ['In-Review', ['in-review', 'review']],
      ['Blocked', ['blocked', 'on-hold', 'waiting', 'On Hold']],
      ['Queued', ['inbox', 'todo', 'ready', 'triaged', 'queued', 'backlog', 'needs-triage']],
    ];
    for (const [expected, names] of cases)
      for (const name of names) expect(lane(name), name).to.equal(expected);
    expect(labelFacts(['P2-medium'])).to.include({ priority: 'P2' });
    expect(labelFacts(['p0', 'Priority:P3'])).to.include({ priority: 'P0' });
    expect(labelFacts(['feature', 'internal'])).to.include({ type: 'feature', property: 'internal' });
    // Whole names only.
    for (const name of ['reviewed-by-x', 'undone', 'P2P', 'core-sync', 'bug P1'])
      expect(labelFacts([name]), name).to.include({
        status: null,
        priority: null,
        type: null,
        property: null,
      });
  });

  it('use the rightmost of several Status labels', () => {
    const order = ['Queued', 'In-Progress', 'In-Review', 'Blocked', 'Complete'];
    const some = fc.uniqueArray(fc.constantFrom(...STATUSES), { minLength: 1 });
    fc.assert(
      fc.property(some, fc.array(fc.string(), { maxLength: 3 }), (statuses, noise) => {
        const labels = [...statuses.map((status) => `Status:${status}`), ...noise.map((text) => `x-${text}`)];
        const expected = statuses.map((status) => lane(`Status:${status}`)).sort((a, b) => order.indexOf(b) - order.indexOf(a))[0]; // prettier-ignore
        expect(lane(...labels)).to.equal(expected);
        expect(lane(...[...labels].reverse())).to.equal(expected);
        expect(statusOf([...labels].reverse())).to.equal(statusOf(labels));
      }),
    );
  });

  it('give every set of labels a lane and values', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.constantFrom('open' as const, 'closed' as const), (labels, state) => {
        const facts = labelFacts(labels);
        expect(LANES).to.include(laneOf({ state }, facts));
        expect(facts).to.deep.equal(labelFacts([...labels].reverse()));
      }),
    ); // prettier-ignore
  });

  it('give the origin of an issue', () => {
    const source = (title: string, ...labels: string[]): string => sourceOf({ title }, labelFacts(labels));
    expect(source('x', 'core-sync', 'Type:reminder')).to.equal('core-sync');
    expect(source('x', 'auto-native')).to.equal('auto-native');
    expect(source('x', 'auto-sweep')).to.equal('auto-sweep');
    expect(source('x', 'Type:reminder')).to.equal('reminder');
    expect(source('[Reminder] x')).to.equal('reminder');
    expect(source('x', 'Type:feature')).to.equal('manual');
  });

  it('replace only the Status label', () => {
    expect(statusEdit(['Status:queued', 'blocked', 'Type:feature', 'mine'], 'in-review')).to.deep.equal({
      add: ['Status:in-review'],
      remove: ['Status:queued'],
    });
    expect(statusEdit(['status:In-Review'], 'in-review')).to.deep.equal({ add: [], remove: [] });
  });

  it('normalise agent names', () => {
    expect(canTakeLabel('My DA, the 2nd')).to.equal('my-da-the-2nd-can-take');
    expect(agentName('Zoë')).to.equal('zoë');
    expect(agentsOf(['Agent:kai', 'agent: bo', 'Agent:', 'Agents:x'])).to.deep.equal(['bo', 'kai']);
  });
});
