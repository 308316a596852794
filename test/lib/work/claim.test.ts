import { expect } from 'chai';

import { StewardError } from '../../../src/lib/errors';
import { readCache } from '../../../src/lib/work/cache';
import { claimIssue } from '../../../src/lib/work/claim';
import { refusalOf } from '../../helpers/errors';
import {
  failed,
  issueHost,
  issueWorld,
  REPO,
  type IssueHost,
  type IssueWorld,
} from '../../helpers/issue-host';

const READY = 'Status:ready';
const BEGAN = 'Status:in-progress';
const ANOTHER = 'Choose another issue: `steward work ready`.';

describe('a claim on an issue', () => {
  let github: IssueHost;
  let world: IssueWorld;
  beforeEach(() => {
    github = issueHost();
    world = issueWorld(github);
  });
  afterEach(() => world.area.remove());

  const claim = (number: number, agent = 'kai') => claimIssue(world.deps, { number, agent });
  const refusal = (number: number, agent = 'kai') => refusalOf(claim(number, agent));
  /** What happened to an agent's label, such as `+ -`. */
  const changesOf = (label: string): string =>
    github.events
      .flatMap((one) => (one.label === label ? (one.event === 'labeled' ? '+' : '-') : []))
      .join(' ');
  /** Does something once, before the next request of a kind. */
  const meanwhile = (request: string, work: () => unknown): void => {
    github.before = (name) => {
      if (name !== request) return undefined;
      github.before = () => undefined;
      return work();
    };
  };
  /** Lists the events since the claim's request, and what comes just before it, only after some readings. */
  const delayEvents = (readings: number, justBefore: () => void = () => undefined): void => {
    let left = readings;
    let known = Infinity;
    let late: IssueHost['events'] | undefined;
    github.before = (request) => {
      if (request === 'addLabels') {
        known = github.events.length;
        justBefore();
      }
      if (request !== 'labelEvents' || known === Infinity) return;
      late ??= github.events.splice(known);
      if (left === 0) github.events.push(...late);
      left -= 1;
    };
  };

  it('sets its labels, and keeps the issue as it is then', async () => {
    const number = github.open(READY, 'mine');
    const { url, title } = github.issues[0] ?? expect.fail();
    expect(await claim(number)).to.deep.equal({
      ...{ number, title, url, agent: 'kai', already: false },
      labels: ['mine', BEGAN, 'Agent:kai'],
    });
    expect(github.labelsOf(number)).to.deep.equal(['mine', BEGAN, 'Agent:kai']);
    expect(changesOf('Agent:kai')).to.equal('+');
    expect(world.slept).to.deep.equal([]);
    const cached = readCache(world.deps.paths.cache, REPO).issues;
    expect(cached.map((issue) => issue.labels)).to.deep.equal([['mine', BEGAN, 'Agent:kai']]);
  });

  for (const status of ['needs-triage', 'in-review', 'blocked', 'needs-human', 'done'])
    it(`is refused if the issue is ${status}`, async () => {
      const number = github.open(`Status:${status}`);
      expect(await refusal(number)).to.deep.equal([
        'conflict',
        `#1 is ${status}; only ready or queued issues can be claimed.`,
        'Set Status:ready first, or choose another issue: `steward work ready`.',
      ]);
      expect(github.labelsOf(number)).to.deep.equal([`Status:${status}`]);
    });

  for (const labels of [[], ['Status:queued'], ['todo']])
    it(`is granted if the issue has ${labels[0] ?? 'no Status'}`, async () => {
      expect((await claim(github.open(...labels))).already).to.equal(false);
    });

  it('is refused if the issue is closed', async () => {
    const number = github.open(READY);
    Object.assign(github.issues[0] ?? {}, { state: 'closed' });
    expect(await refusal(number)).to.deep.equal([
      'conflict',
      '#1 is closed.',
      'Reopen it first, or choose another issue: `steward work ready`.',
    ]);
  });

  for (const agent of ['', ' kai', 'kai ', 'a,b', 'a\nb', 'x\u001b[2J', 'x'.repeat(41)])
    it(`is refused for an agent named ${JSON.stringify(agent)}`, async () => {
      expect(await refusal(github.open(READY), agent)).to.deep.equal([
        'usage',
        `Invalid agent name ${JSON.stringify(agent)}.`,
        'Use at most 40 characters on one line, without a comma.',
      ]);
      expect(github.labels).to.have.length(4);
    });

  it('creates the label of a new agent, whose name may have 40 characters', async () => {
    const agent = 'x'.repeat(40);
    const { labels } = await claim(github.open(READY), agent);
    expect(labels).to.deep.equal([BEGAN, `Agent:${agent}`]);
    expect(github.labels.at(-1)).to.equal(`Agent:${agent}`);
    await claim(github.open(READY), agent);
    expect(github.labels).to.have.length(5);
  });

  it('continues if another process has just created the label', async () => {
    const response = { status: 422, headers: {}, data: { message: 'already_exists' } };
    meanwhile('createLabel', () => {
      throw failed(Object.assign(new Error('Unprocessable'), { response }));
    });
    expect((await claim(github.open(READY), 'cy')).labels).to.deep.equal([BEGAN, 'Agent:cy']);
  });

  it('leaves the issue alone if the label cannot be created, or the repository has no Status label', async () => {
    const number = github.open(READY);
    meanwhile('createLabel', () => {
      throw new StewardError('unavailable', 'The server is down.', { hint: 'Try again.' });
    });
    expect((await refusal(number, 'cy'))[1]).to.equal('The server is down.');
    github.labels = [READY, 'Agent:cy'];
    expect((await refusal(number, 'cy')).slice(0, 2)).to.deep.equal([
      'config',
      `${REPO} has no label ${BEGAN}.`,
    ]);
    expect(github.labelsOf(number)).to.deep.equal([READY]);
  });

  it('counts from now for an agent whose label was there before', async () => {
    const number = github.open(READY, 'Agent:kai', 'Agent:bo');
    github.events.length = 0;
    expect((await claim(number)).labels).to.include('Agent:kai');
    expect([changesOf('Agent:kai'), changesOf('Agent:bo')]).to.deep.equal(['- +', '']);
  });

  it('is withdrawn if another agent was first', async () => {
    const number = github.open(READY);
    meanwhile('addLabels', () => github.add(number, [BEGAN, 'Agent:leeAnn']));
    expect(await refusal(number)).to.deep.equal(['conflict', '#1 is claimed by leeAnn.', ANOTHER]);
    expect(github.labelsOf(number)).to.have.members([READY, BEGAN, 'Agent:leeAnn']);
  });

  it('holds against an agent that comes later, whichever way its name is spelled', async () => {
    const number = github.open(READY);
    const isClaimed = (): boolean => github.labelsOf(number).includes('Agent:KAI');
    github.before = (request) => {
      if (request === 'labelEvents' && isClaimed()) github.add(number, ['Agent:bo']);
    };
    expect(await claim(number, 'KAI')).to.include({ agent: 'KAI', already: false });
    expect(github.labelsOf(number)).to.include('Agent:KAI');
  });

  it('waits for its own event, which may be listed late', async () => {
    const number = github.open(READY, 'Agent:kai');
    // The labels that an issue was created with have no events.
    github.events.length = 0;
    github.add(number, ['Agent:bo']);
    delayEvents(2);
    expect((await claim(number)).already).to.equal(false);
    expect(world.slept).to.deep.equal([500, 1000]);
  });

  it('is not confirmed by an earlier claim, whose events are listed', async () => {
    const number = github.open(READY);
    github.add(number, [BEGAN, 'Agent:kai']);
    for (const label of [BEGAN, 'Agent:kai']) github.remove(number, label);
    delayEvents(1, () => github.add(number, [BEGAN, 'Agent:bo']));
    expect(await refusal(number)).to.deep.equal(['conflict', '#1 is claimed by bo.', ANOTHER]);
    expect(github.labelsOf(number)).to.have.members([READY, BEGAN, 'Agent:bo']);
  });

  for (const request of ['labels', 'labelEvents'])
    it(`is shared with another machine of the agent that claims it before the request for ${request}`, async () => {
      const number = github.open(READY);
      meanwhile(request, () => github.add(number, [BEGAN, 'Agent:kai']));
      expect((await claim(number)).labels).to.deep.equal([BEGAN, 'Agent:kai']);
      expect(world.slept).to.deep.equal([]);
    });

  it('is withdrawn if its event is never listed', async () => {
    const number = github.open(READY);
    github.before = (request) => request === 'labelEvents' && (github.events = []);
    expect(await refusal(number)).to.deep.equal([
      'unavailable',
      'GitHub did not confirm the claim on #1.',
      'The claim was withdrawn; try again in a minute.',
    ]);
    expect(world.slept).to.deep.equal([500, 1000, 2000, 4000, 0]);
    expect(github.labelsOf(number)).to.deep.equal([READY]);
    github.before = () => undefined;
    expect((await claim(number)).already).to.equal(false);
  });

  it('that is withdrawn leaves the issue to another agent that has claimed it', async () => {
    const number = github.open(READY);
    github.before = (request) => {
      if (request === 'labelEvents') github.events = [];
      if (request === 'removeLabel') github.add(number, ['Agent:bo']);
    };
    expect((await refusal(number))[0]).to.equal('unavailable');
    expect(github.labelsOf(number)).to.have.members([READY, BEGAN, 'Agent:bo']);
  });

  describe('on an issue in progress', () => {
    const held = (...agents: string[]): number => {
      const number = github.open(BEGAN);
      for (const agent of agents) github.add(number, [`Agent:${agent}`]);
      return number;
    };

    it('is granted again to its holder, and removes what an interrupted claim left', async () => {
      const number = github.open(READY, 'Agent:Kai', BEGAN);
      expect(await claim(number, 'KAI')).to.include({ already: true, agent: 'KAI' });
      expect(github.labelsOf(number)).to.deep.equal(['Agent:Kai', BEGAN]);
      expect(changesOf('Agent:Kai')).to.equal('+');
    });

    for (const [what, agents, holder] of [
      ['if it has no agent', [], 'already in progress but has no Agent label'],
      ['if another agent has it', ['Bo'], 'claimed by Bo'],
      ['if another agent claimed it first', ['Bo', 'kai'], 'claimed by Bo'],
    ] as const)
      it(`is refused ${what}`, async () => {
        const number = held(...agents);
        const before = [...github.labelsOf(number)];
        expect(await refusal(number)).to.deep.equal(['conflict', `#1 is ${holder}.`, ANOTHER]);
        expect(github.labelsOf(number)).to.deep.equal(before);
      });

    it('is granted again if others came later', async () => {
      expect((await claim(held('kai', 'bo'))).already).to.equal(true);
    });
  });

  it('lets another process that acts for the same agent see it', async () => {
    const number = github.open(READY);
    const results = await Promise.all([claim(number), claim(number)]);
    expect(results.map(({ already }) => already).sort()).to.deep.equal([false, true]);
    expect(changesOf('Agent:kai')).to.equal('+');
  });
});
