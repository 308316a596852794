import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

import { setUp } from '../../../src/lib/work/setup';
import { startGitHub, type GitHub } from '../../helpers/github';
import { workWorld, type WorkWorld } from '../../helpers/work';

describe('work: setup', () => {
  let github: GitHub;
  let world: WorkWorld;
  beforeEach(async () => {
    github = await startGitHub({ repos: [{ name: 'work' }] });
    world = await workWorld(github);
  });
  afterEach(async () => {
    world.remove();
    await github.close();
  });

  it('creates the files of the work folder', async () => {
    const { root } = world.at.area.work;
    expect(existsSync(root)).to.equal(false);
    const { files } = await setUp(world.deps, { repo: 'ann/work', create: false });
    expect(files.map((path) => relative(root, path).split(sep).join('/')).sort()).to.deep.equal([
      'README.md',
      'customers/RESTRICTED.md',
      'labels.yml',
    ]);
    expect(readdirSync(root)).to.include.members(['work_repo.json', 'labels.yml', 'customers']);
    expect(readFileSync(world.at.area.config, 'utf8')).to.include('repo: ann/work');
    const { privacy } = JSON.parse(readFileSync(join(root, 'work_repo.json'), 'utf8')) as { privacy: object };
    expect(privacy).to.include({ verifiedPrivate: true, visibility: 'private' });
    expect(privacy)
      .to.have.property('verifiedAt')
      .that.match(/^\d{4}-.*Z$/);
  });
});
