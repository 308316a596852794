import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { isRestricted, unrestrictedRepos } from '../../../src/lib/sessions/restricted';
import { scratch } from '../../helpers/scratch';

describe('sessions: restricted folders', () => {
  const { path } = scratch();

  beforeEach(() => {
    mkdirSync(path('clients', 'acme', 'src'), { recursive: true });
    mkdirSync(path('work'));
    writeFileSync(path('clients', 'RESTRICTED.md'), '');
  });

  it('finds the marker in a folder and its parents', () => {
    const closed = [path('clients'), path('clients', 'acme', 'src'), path('clients', 'missing', 'folder')];
    expect([...closed, path('work')].map(isRestricted)).to.deep.equal([true, true, true, false]);
    expect([...unrestrictedRepos([...closed, ...closed, path('work')])]).to.deep.equal([
      [path('work'), undefined],
    ]);
  });

  it('finds the marker through a symbolic link, from either side', () => {
    symlinkSync(path('clients', 'acme'), path('work', 'linked'));
    symlinkSync(path('work'), path('clients', 'out'));
    expect(isRestricted(path('work', 'linked'))).to.equal(true);
    expect(isRestricted(path('work', 'linked', 'src'))).to.equal(true);
    expect(isRestricted(path('clients', 'out'))).to.equal(true);
  });

  it("finds the marker of a worktree's repository, also through a symbolic link", () => {
    const gitDir = path('clients', 'acme', '.git', 'worktrees', 'login');
    mkdirSync(gitDir, { recursive: true });
    mkdirSync(path('login', 'src'), { recursive: true });
    writeFileSync(path('login', '.git'), `gitdir: ${gitDir}\n`);
    writeFileSync(path('clients', 'acme', '.git', 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/login\n');
    writeFileSync(join(gitDir, 'commondir'), '../..\n');
    symlinkSync(path('login', 'src'), path('work', 'linked'));
    const found = [path('login'), path('login', 'src'), path('work', 'linked'), path('work')];
    expect(found.map((folder) => isRestricted(folder))).to.deep.equal([true, true, true, false]);
  });

  it('counts a folder that it cannot check as restricted', () => {
    symlinkSync(path('loop'), path('loop'));
    expect(isRestricted(path('loop'))).to.equal(true);
    expect(isRestricted(path('x'.repeat(5000)))).to.equal(true);
  });

  it('watches no repository that is restricted, nor one with a restricted worktree', () => {
    const repo = (...names: string[]): string => {
      mkdirSync(path(...names, '.git'), { recursive: true });
      writeFileSync(path(...names, '.git', 'HEAD'), 'ref: refs/heads/main\n');
      return path(...names);
    };
    const [open, closed, shop] = [repo('work', 'open'), repo('clients', 'acme'), repo('work', 'shop')];
    const gitDir = join(shop, '.git', 'worktrees', 'login');
    mkdirSync(gitDir, { recursive: true });
    mkdirSync(path('clients', 'login'));
    writeFileSync(path('clients', 'login', '.git'), `gitdir: ${gitDir}\n`);
    writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/login\n');
    writeFileSync(join(gitDir, 'commondir'), '../..\n');
    const missing = path('work', 'missing');
    const watched = (...paths: string[]): unknown[] =>
      [...unrestrictedRepos(paths)].map(([at, folder]) => [at, folder?.root]);
    expect(watched(open, closed, shop, missing)).to.deep.equal([
      [open, open],
      [shop, shop],
      [missing, undefined],
    ]);
    expect(watched(open, shop, path('clients', 'login'))).to.deep.equal([[open, open]]);
    expect(watched(path('work', 'open', 'src'))).to.deep.equal([[path('work', 'open', 'src'), undefined]]);
  });
});
