import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { gitFolderAt, repositoryOf } from '../../../../src/lib/platform/files/git-folder';
import { gitBox, type GitBox } from '../../../helpers/git';
import { NOON } from '../../../helpers/git-watch';

describe('platform/git-folder', () => {
  let box: GitBox;
  beforeEach(() => (box = gitBox()));
  afterEach(() => box.remove());
  const at = (...names: string[]): string => join(box.folder, ...names);

  it('finds the repository around a path, also one that is gone', () => {
    const repo = box.init('app');
    mkdirSync(join(repo, 'src/deep'), { recursive: true });
    const found = { name: 'app', root: repo };
    expect(repositoryOf(repo)).to.deep.equal(found);
    expect(repositoryOf(join(repo, 'src/deep'))).to.deep.equal(found);
    expect(repositoryOf(join(repo, 'src/removed/below'))).to.deep.equal(found);
    expect(repositoryOf(join(repo, '.git/refs'))).to.deep.equal(found);
    expect(repositoryOf(box.folder)).to.equal(undefined);
    expect(repositoryOf(at('nowhere'))).to.equal(undefined);
  });

  it('gives the main checkout of a worktree, and a submodule for itself', () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON });
    box.git(repo, ['worktree', 'add', '-q', '--detach', at('wt')]);
    expect(repositoryOf(at('wt', 'x'))).to.deep.equal({ name: 'app', root: repo });
    expect(gitFolderAt(at('wt'))).to.deep.include({
      root: at('wt'),
      commonDir: join(repo, '.git'),
      gitDir: join(repo, '.git/worktrees/wt'),
      id: gitFolderAt(repo)?.id,
    });
    const outer = box.init('outer');
    box.git(outer, ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', repo, 'inner']);
    expect(repositoryOf(at('outer/inner'))).to.deep.equal({ name: 'inner', root: at('outer/inner') });
  });

  it('names bare repositories, and those whose worktrees lie beside them', () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON });
    box.git(box.folder, ['clone', '-q', '--bare', repo, 'lib.git']);
    expect(repositoryOf(at('lib.git'))).to.deep.equal({ name: 'lib', root: at('lib.git') });
    mkdirSync(at('project'));
    box.git(at('project'), ['clone', '-q', '--bare', repo, '.bare']);
    writeFileSync(at('project/.git'), 'gitdir: ./.bare\n');
    box.git(at('project/.bare'), ['worktree', 'add', '-q', at('project/main')]);
    expect(repositoryOf(at('project/main'))?.name).to.equal('project');
    expect(repositoryOf(at('project'))?.name).to.equal('project');
    box.git(box.folder, ['clone', '-q', '--separate-git-dir', at('apart.git'), repo, 'apart']);
    expect(repositoryOf(at('apart'))).to.deep.equal({ name: 'apart', root: at('apart') });
  });

  it('takes nothing for a repository that only looks like one, and walks on', () => {
    const outer = box.init('outer');
    const found = { name: 'outer', root: outer };
    mkdirSync(join(outer, 'a/.git'), { recursive: true });
    expect(repositoryOf(join(outer, 'a'))).to.deep.equal(found);
    mkdirSync(join(outer, 'b/objects'), { recursive: true });
    mkdirSync(join(outer, 'b/refs'));
    expect(repositoryOf(join(outer, 'b'))).to.deep.equal(found);
    mkdirSync(join(outer, 'c'));
    for (const text of ['', 'gitdir: ', 'gitdir: /nowhere\n', 'x'.repeat(20_000), 'gitdir: a\0b']) {
      writeFileSync(join(outer, 'c/.git'), text);
      expect(repositoryOf(join(outer, 'c')), text.slice(0, 20)).to.deep.equal(found);
    }
    mkdirSync(join(outer, 'd'));
    symlinkSync('.git', join(outer, 'd/.git'));
    expect(repositoryOf(join(outer, 'd'))).to.deep.equal(found);
    expect(repositoryOf(join(outer, 'd', 'x'.repeat(300)))).to.deep.equal(found);
    expect(repositoryOf(`${outer}\0`)).to.equal(undefined);
    if (process.platform === 'win32') return;
    mkdirSync(join(outer, 'e'));
    execFileSync('mkfifo', [join(outer, 'e/.git')]);
    expect(repositoryOf(join(outer, 'e'))).to.deep.equal(found);
  });
});
