import { expect } from 'chai';
import { readFileSync, statSync, writeFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { parseLabels, planSeed, readLabels, seedLabels } from '../../../src/lib/work/labels';
import { FLAGS, PRIORITIES, PROPERTIES, STATUSES, TYPES } from '../../../src/lib/work/label';
import { propertyOfProject } from '../../../src/lib/work/project';
import { setUp } from '../../../src/lib/work/setup';
import { startGitHub, type GitHub } from '../../helpers/github';
import { rejection } from '../../helpers/rejection';
import { readyWorld, TEMPLATES, workWorld, type WorkWorld } from '../../helpers/work';

describe('work: labels and setup', function () {
  this.timeout(60_000);
  let github: GitHub;
  let world: WorkWorld;
  before(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }] });
  });
  after(() => github.close());
  beforeEach(async () => {
    github.fault = () => undefined;
    world = await readyWorld(github);
  });
  afterEach(() => world.remove());

  it('ship the whole taxonomy of the specification', async () => {
    const labels = await parseLabels(readFileSync(join(TEMPLATES, 'work', 'labels.yml'), 'utf8').replaceAll('{{da}}', 'nova'), 'labels.yml'); // prettier-ignore
    expect(labels.map(({ name }) => name).sort()).to.deep.equal(
      [
        ...TYPES.map((name) => `Type:${name}`),
        ...STATUSES.map((name) => `Status:${name}`),
        ...PRIORITIES.map((name) => `Priority:${name}`),
        ...PROPERTIES.map((name) => `Property:${name}`),
        ...FLAGS,
        'Agent:nova',
        'nova-can-take',
      ].sort(),
    );
    for (const { description } of labels) expect(description).not.to.equal('');
  });

  it('are seeded once; setup run twice changes nothing at all', async () => {
    const snapshot = (): Record<string, string> =>
      Object.fromEntries(
        readdirSync(world.at.area.work.root, { recursive: true, encoding: 'utf8' })
          .map((name) => join(world.at.area.work.root, name))
          .filter((path) => statSync(path).isFile() && !/(?:poll|cache)\.json$/.test(path))
          .map((path) => [path, readFileSync(path, 'utf8')]),
      );
    const before = snapshot();
    expect(Object.keys(before)).to.have.length(5);
    const again = await setUp(world.deps, { repo: 'ann/work', create: true });
    expect(again).to.deep.include({ created: false, files: [] });
    expect(again.labels).to.deep.include({ created: [], updated: [] });
    expect(snapshot()).to.deep.equal(before);
    expect(github.seen.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
  });

  it('are added and mended, never deleted; a dry run writes nothing', async () => {
    const host = await world.deps.host();
    await github.api('POST', '/repos/ann/work/labels', { name: 'mine', color: '123456' });
    await github.api('PATCH', '/repos/ann/work/labels/stale', { color: '000000' });
    await github.api('DELETE', '/repos/ann/work/labels/core-sync');
    const wanted = await readLabels(world.deps.area.labels);
    const dry = await seedLabels(host, 'ann/work', wanted, { dryRun: true });
    expect(dry).to.deep.include({ created: ['core-sync'], updated: ['stale'] });
    expect(github.seen.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
    const done = await seedLabels(host, 'ann/work', wanted, { dryRun: false });
    expect(done).to.deep.equal({ ...dry, dryRun: false });
    const names = ((await github.api('GET', '/repos/ann/work/labels?per_page=100')) as { name: string }[]).map(({ name }) => name); // prettier-ignore
    expect(names).to.include.members(['mine', 'core-sync']);
    expect(github.seen.filter(({ method }) => method === 'DELETE')).to.deep.equal([]);
    const label = { name: 'type:FEATURE', color: 'abcdef', description: '' };
    expect(planSeed([{ ...label, name: 'Type:feature' }], [label])).to.deep.include({
      unchanged: ['type:FEATURE'],
    });
  });

  it('of a broken labels.yml name every problem and the file', async () => {
    const cases: [string, RegExp][] = [
      ['labels: [', /labels\.yml/],
      ['nothing: 1', /expected a list called labels/],
      ['labels:\n  - {name: "a,b", color: "ffffff", description: x}', /labels\[0\]: name has to be/],
      ['labels:\n  - {name: a, color: red, description: x}', /color of a has to be six hex digits/],
      ['labels:\n  - {name: a, color: "ffffff"}', /description of a/],
      [
        'labels:\n  - {name: a, color: "ffffff", description: x}\n  - {name: A, color: "ffffff", description: x}',
        /A stands there twice/,
      ],
    ];
    for (const [text, words] of cases) {
      writeFileSync(world.deps.area.labels, text);
      const error = await rejection(readLabels(world.deps.area.labels));
      expect([error.kind, words.test(error.message)], `${text}: ${error.message}`).to.deep.equal([
        'config',
        true,
      ]);
    }
  });

  it('takes the address of a page for the repository, and refuses what is no name', async () => {
    const fresh = await workWorld(github);
    try {
      const result = await setUp(fresh.deps, { repo: 'https://github.com/ann/work.git', create: false });
      expect(result.repo).to.equal('ann/work');
      for (const repo of ['work', 'ann/', '../..', 'ann/..', 'a b/c', 'ann/work/x'])
        expect((await rejection(setUp(fresh.deps, { repo, create: true }))).kind, repo).to.equal('usage');
    } finally {
      fresh.remove();
    }
  });

  it('makes a private repository with --create only', async () => {
    const fresh = await workWorld(github);
    try {
      const error = await rejection(setUp(fresh.deps, { repo: 'ann/later', create: false }));
      expect([error.kind, error.hint]).to.deep.equal([
        'not_found',
        'Add --create to make ann/later as a private repository, or check the spelling and `gh auth status`.',
      ]);
      const made = await setUp(fresh.deps, { repo: 'ann/later', create: true });
      expect(made).to.include({ created: true });
      expect(await github.api('GET', '/repos/ann/later')).to.include({ private: true });
    } finally {
      fresh.remove();
    }
  });

  it('gives a project its Property by PROJECT_PROPERTY, else by its name', async () => {
    await world.set('WORK.PROJECT_PROPERTY', { 'My Blog': 'Website' });
    const map = world.deps.config.PROJECT_PROPERTY;
    expect(propertyOfProject('my blog', map)).to.equal('website');
    expect(propertyOfProject('Open Source', map)).to.equal('open-source');
    expect(propertyOfProject('else', map)).to.equal(null);
    expect(propertyOfProject(null, map)).to.equal(null);
  });
});
