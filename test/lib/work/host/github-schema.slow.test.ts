import { expect } from 'chai';
import * as v from 'valibot';

import { closeIssue } from '../../../../src/lib/work/actions';
import { claimIssue } from '../../../../src/lib/work/claim';
import { ensureIssue } from '../../../../src/lib/work/ensure';
import {
  CommentData,
  EventData,
  issueIn,
  LabelData,
  repositoryOn,
} from '../../../../src/lib/work/host/github-read';
import { refresh } from '../../../../src/lib/work/poll';
import { setUp } from '../../../../src/lib/work/setup';
import { startGitHub } from '../../../helpers/github';
import { githubSchema } from '../../../helpers/github-graphql';
import { rejection } from '../../../helpers/errors';
import { workWorld } from '../../../helpers/work';

const REPO = 'ann/work';
const PLACE = { site: 'https://github.com', repo: 'octocat/Hello-World' };

describe("work: GitHub's published schema", function () {
  this.timeout(60_000);
  const { faultsOf, operations } = githubSchema();

  it('covers every request', async () => {
    const github = await startGitHub({ repos: [] });
    const world = await workWorld(github);
    try {
      await setUp(world.deps, { repo: REPO, create: true });
      const host = await world.deps.host();
      await rejection(host.createRepository('somebody/else'));
      const { issue } = await ensureIssue(
        { deps: world.deps, host, repo: REPO },
        {
          identity: { kind: 'slug', value: 'fix-login' },
          kind: 'core',
          text: 'Fix the login',
          body: 'What it is about.',
          labels: ['core-sync', 'Type:feature', 'Status:ready', 'Priority:P1'],
        },
      );
      await claimIssue(world.deps, { number: issue.number, agent: 'kai' });
      await host.comments(REPO, issue.number);
      await host.issue(REPO, issue.number);
      await refresh(world.deps);
      await closeIssue(world.deps, { number: issue.number, evidence: 'Done in 3f2a91c' });
      for (const request of github.seen)
        expect(faultsOf(request), `${request.method} ${request.path} ${request.body}`).to.deep.equal([]);
      const used = Object.keys(operations).filter((name) =>
        github.seen.some(({ method, path }) => {
          const pattern = new RegExp(`^${name.replace(/\{\w+\}/g, '[^/]+')}$`);
          return pattern.test(`${method} ${path.split('?')[0]}`);
        }),
      );
      expect(used).to.have.members(Object.keys(operations));
    } finally {
      world.remove();
      await github.close();
    }
  });

  it('reports deviations', () => {
    const request = { method: 'POST', path: `/repos/${REPO}/issues`, body: '{"title":"x"}' };
    expect(faultsOf(request)).to.deep.equal([]);
    for (const wrong of [
      { ...request, body: '{"body":"no title"}' },
      { ...request, body: '{"title":"x","label":["a"]}' },
      { ...request, body: '{"title":"x","labels":"a"}' },
      { ...request, path: `${request.path}?state=all` },
      { ...request, path: `/repos/${REPO}/isues` },
      { method: 'GET', path: `/repos/${REPO}/issues?state=every`, body: '' },
    ])
      expect(faultsOf(wrong), JSON.stringify(wrong)).to.have.length.at.least(1);
  });

  it('contains only responses that steward can parse', () => {
    const answers = (name: string): Record<string, unknown>[] =>
      (operations[name]?.answers ?? []).flat() as Record<string, unknown>[];
    const one = '/repos/{owner}/{repo}/issues/{issue_number}';
    const issues = [
      `GET /repos/{owner}/{repo}/issues`,
      'POST /repos/{owner}/{repo}/issues',
      `GET ${one}`,
      `PATCH ${one}`,
    ];
    // The published event is of another kind; the parts of one that labels are added.
    const labelled = (event: Record<string, unknown>): unknown =>
      v.parse(EventData, event) === null &&
      v.parse(EventData, { ...event, event: 'labeled', label: { name: 'bug' } });
    const table: [names: string[], read: (data: Record<string, unknown>) => unknown, keys: object][] = [
      [issues, (data) => v.parse(issueIn(PLACE), data), { number: 1347, title: 'Found a bug', labels: ['bug'] }],
      [['GET /repos/{owner}/{repo}'], (data) => v.parse(repositoryOn(PLACE.site), data), { repo: 'octocat/Hello-World', visibility: 'public' }],
      [[`GET ${one}/comments`, `POST ${one}/comments`], (data) => v.parse(CommentData, data), { author: 'octocat', body: 'Me too' }],
      [[`GET ${one}/events`], labelled, { event: 'labeled', label: 'bug' }],
      [['GET /repos/{owner}/{repo}/labels', `POST ${one}/labels`, `DELETE ${one}/labels/{name}`], (data) => v.parse(LabelData, data), {}],
    ]; // prettier-ignore
    for (const [names, read, keys] of table) {
      for (const name of names) {
        const found = answers(name).map(read);
        expect(found, name).to.have.length.at.least(1);
        for (const value of found) expect(value, name).to.be.an('object').that.deep.includes(keys);
      }
    }
  });
});
