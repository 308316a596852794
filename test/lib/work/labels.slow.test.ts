import { expect } from 'chai';
import { readFileSync, statSync, writeFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import {
  LABEL_SETS,
  parseLabels,
  lackingLabels,
  readLabels,
  seedLabels,
  wantedLabels,
} from '../../../src/lib/work/labels';
import { FLAGS, PRIORITIES, PROPERTIES, STATUSES, propertyOfProject } from '../../../src/lib/work/label';
import { setUp } from '../../../src/lib/work/setup';
import { startGitHub, type GitHub } from '../../helpers/github';
import { rejection } from '../../helpers/errors';
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

  it('ship two sets with every label that the rules use', async () => {
    const namesOf = async (file: string): Promise<string[]> => {
      const labels = await parseLabels(readFileSync(join(TEMPLATES, 'work', file), 'utf8'), file);
      for (const { description } of labels) expect(description).not.to.equal('');
      return labels.map(({ name }) => name).sort();
    };
    const rules = [
      ...STATUSES.map((name) => `Status:${name}`),
      ...PRIORITIES.map((name) => `Priority:${name}`),
      ...FLAGS,
    ];
    const types = (...names: string[]): string[] => names.map((name) => `Type:${name}`);
    expect(await namesOf(LABEL_SETS.neutral)).to.deep.equal(
      [
        ...rules,
        ...types('feature', 'bug', 'chore', 'reminder', 'project', 'research', 'idea', 'queue'),
      ].sort(),
    );
    expect(await namesOf(LABEL_SETS.original)).to.deep.equal(
      [
        ...rules,
        ...types(
          'feature',
          'problem',
          'reminder',
          'research',
          'queue',
          'decision',
          'metric-alert',
          'project',
        ),
        ...PROPERTIES.map((name) => `Property:${name}`),
      ].sort(),
    );
  });

  it('include the assistant, you, each agent and each configured Property', async () => {
    await world.set('WORK.PROJECT_PROPERTY', { Shop: 'Store' });
    const host = await world.deps.host();
    const seed = async (daName: string) => {
      const deps = Object.create(world.deps, { daName: { value: daName }, agents: { value: [daName, 'Ann Lee', 'kai'] } }) as typeof world.deps; // prettier-ignore
      return (await seedLabels(host, 'ann/work', await wantedLabels(deps), { dryRun: false })).created;
    };
    expect(await seed('Nova')).to.deep.equal(['Property:store']);
    // Renamed: the old ones stay.
    expect(await seed('Mira')).to.deep.equal(['Agent:mira', 'mira-can-take']);
    const names = ((await github.api('GET', '/repos/ann/work/labels?per_page=100')) as { name: string }[]).map(({ name }) => name); // prettier-ignore
    expect(names).to.include.members(['Agent:nova', 'nova-can-take', 'Agent:ann-lee', 'Agent:kai']);
    expect(await seed('Mira')).to.deep.equal([]);
  });

  it('add another set without changing labels.yml', async () => {
    const path = world.deps.paths.labels;
    writeFileSync(path, 'labels:\n  - { name: mine, color: "123456", description: x }\n');
    const before = readFileSync(path, 'utf8');
    const names = (await wantedLabels(world.deps, 'original')).map(({ name }) => name);
    expect(names).to.include.members(['mine', 'Type:problem', 'Property:youtube', 'Agent:nova']);
    expect((await wantedLabels(world.deps)).map(({ name }) => name)).to.not.include('Type:problem');
    expect(readFileSync(path, 'utf8')).to.equal(before);
  });

  it('are seeded once; a second setup changes nothing', async () => {
    const snapshot = (): Record<string, string> =>
      Object.fromEntries(
        readdirSync(world.at.area.work.root, { recursive: true, encoding: 'utf8' })
          .map((name) => join(world.at.area.work.root, name))
          .concat(world.at.area.config)
          .filter((path) => statSync(path).isFile() && !/(?:poll|cache)\.json$/.test(path))
          .map((path) => [path, readFileSync(path, 'utf8')]),
      );
    const before = snapshot();
    expect(Object.keys(before)).to.have.length(5);
    const again = await setUp(world.deps, { repo: 'ann/work', create: true });
    expect(again).to.deep.include({ created: false, files: [] });
    expect(again.labels).to.deep.include({ created: [] });
    expect(snapshot()).to.deep.equal(before);
    expect(github.seen.filter(({ method }) => method !== 'GET')).to.deep.equal([]);
  });

  it('are only added, never changed or deleted; a dry run writes nothing', async () => {
    const host = await world.deps.host();
    const labels = async () => (await github.api('GET', '/repos/ann/work/labels?per_page=100')) as { name: string; color: string }[]; // prettier-ignore
    await github.api('POST', '/repos/ann/work/labels', { name: 'mine', color: '123456' });
    await github.api('PATCH', '/repos/ann/work/labels/stale', { color: '000000' });
    await github.api('DELETE', '/repos/ann/work/labels/core-sync');
    const before = await labels();
    const wanted = await wantedLabels(world.deps);
    const dry = await seedLabels(host, 'ann/work', wanted, { dryRun: true });
    expect(dry).to.deep.include({ created: ['core-sync'], unchanged: wanted.length - 1 });
    expect(await labels()).to.deep.equal(before);
    const done = await seedLabels(host, 'ann/work', wanted, { dryRun: false });
    expect(done).to.deep.equal({ ...dry, dryRun: false });
    expect((await labels()).filter(({ name }) => name !== 'core-sync')).to.deep.equal(before);
    expect(
      lackingLabels([{ name: 'Type:feature', color: '', description: '' }], ['type:FEATURE']),
    ).to.deep.equal([]);
  });

  it('report every problem of a broken labels.yml', async () => {
    const cases: [string, RegExp][] = [
      ['labels: [', /labels\.yml/],
      ['nothing: 1', /labels is missing/],
      [
        'labels:\n  - {name: "a,b", color: "ffffff", description: x}',
        /labels\.0\.name must be 1 to 50 characters/,
      ],
      ['labels:\n  - {name: a, color: red, description: x}', /labels\.0\.color must be six hex digits/],
      ['labels:\n  - {name: a, color: "ffffff"}', /labels\.0\.description is missing/],
      [
        'labels:\n  - {name: a, color: "ffffff", description: x}\n  - {name: A, color: "ffffff", description: x}',
        /duplicate labels .*: A/,
      ],
    ];
    for (const [text, words] of cases) {
      writeFileSync(world.deps.paths.labels, text);
      const error = await rejection(readLabels(world.deps.paths.labels));
      expect([error.kind, words.test(error.message)], `${text}: ${error.message}`).to.deep.equal([
        'config',
        true,
      ]);
    }
  });

  it('accepts a page address, and rejects invalid names', async () => {
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

  it('creates a private repository only with --create', async () => {
    const fresh = await workWorld(github);
    try {
      const error = await rejection(setUp(fresh.deps, { repo: 'ann/later', create: false }));
      expect([error.kind, error.hint]).to.deep.equal([
        'not_found',
        'Add --create to create ann/later, or check its name and run `gh auth status`.',
      ]);
      const made = await setUp(fresh.deps, { repo: 'ann/later', create: true });
      expect(made).to.include({ created: true });
      expect(await github.api('GET', '/repos/ann/later')).to.include({ private: true });
    } finally {
      fresh.remove();
    }
  });

  it('maps a project to its Property by PROJECT_PROPERTY or name', async () => {
    await world.set('WORK.PROJECT_PROPERTY', { 'My Blog': 'Website' });
    const map = world.deps.config.PROJECT_PROPERTY;
    expect(propertyOfProject('my blog', map)).to.equal('website');
    expect(propertyOfProject('Open Source', map)).to.equal('open-source');
    expect(propertyOfProject('else', map)).to.equal(null);
    expect(propertyOfProject(null, map)).to.equal(null);
  });
});
