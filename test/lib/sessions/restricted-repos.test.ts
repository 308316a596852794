import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { checkRepos, mergeChecked, type RepoCheck } from '../../../src/lib/sessions/restricted-repos';
import { gitBox, type GitBox } from '../../helpers/git';

describe('restricted repositories (lib)', () => {
  let box: GitBox;
  const path = (...names: string[]): string => join(box.folder, ...names);
  const check = (...watched: string[]): RepoCheck => checkRepos(path('state', 'checked.json'), watched);
  const repo = (...names: string[]): string => {
    const folder = box.init(join(...names));
    box.commit(folder, { at: 1_795_168_800 });
    return folder;
  };

  beforeEach(() => {
    box = gitBox();
    mkdirSync(path('clients'));
    writeFileSync(path('clients', 'RESTRICTED.md'), '');
  });

  afterEach(() => box.remove());

  it('remembers what it found when the folder is missing later', () => {
    const [acme, shop] = [repo('clients', 'acme'), repo('work', 'shop')];
    check(acme, shop).save();
    renameSync(path('clients'), path('unmounted'));
    renameSync(path('work'), path('moved'));
    for (const watched of [[acme, shop], []]) {
      const { isRestrictedRepo, isCheckedRepo } = check(...watched);
      expect(isRestrictedRepo('acme', acme)).to.equal(true);
      expect(isRestrictedRepo('acme')).to.equal(true);
      expect(isRestrictedRepo('shop', shop)).to.equal(false);
      expect(isRestrictedRepo('shop')).to.equal(false);
      expect([isCheckedRepo('acme'), isCheckedRepo('shop'), isCheckedRepo('other')]).to.deep.equal([
        ...[false, true, false],
      ]);
    }
    // An empty mount point isn't a repository.
    mkdirSync(acme, { recursive: true });
    expect(check(acme).isRestrictedRepo('acme', acme)).to.equal(true);
  });

  it('counts a repository that was never checked as restricted', () => {
    const { isRestrictedRepo, isCheckedRepo } = check(path('usb', 'acme'));
    expect(isRestrictedRepo('acme', path('usb', 'acme'))).to.equal(true);
    expect(isRestrictedRepo('acme')).to.equal(true);
    expect(isCheckedRepo('acme')).to.equal(false);
    expect(isRestrictedRepo('unwatched')).to.equal(false);
    // A repository that was moved.
    expect(check(repo('work', 'acme')).isRestrictedRepo('acme', path('usb', 'acme'))).to.equal(false);
    repo('clients', 'acme');
    expect(check(path('work', 'acme'), path('clients', 'acme')).isRestrictedRepo('acme')).to.equal(true);
  });

  it('shows a repository again once it was found without the marker', () => {
    const acme = repo('clients', 'acme');
    const before = check(acme);
    before.save();
    rmSync(path('clients', 'RESTRICTED.md'));
    const after = check(acme);
    expect(after.isRestrictedRepo('acme', acme)).to.equal(false);
    expect(after.mark).to.not.equal(before.mark);
    after.save();
    renameSync(path('clients'), path('unmounted'));
    expect(check(acme).isRestrictedRepo('acme')).to.equal(false);
  });

  it('forgets the name of a restricted repository that was moved and is watched elsewhere', () => {
    const acme = repo('clients', 'acme');
    check(acme).save();
    mkdirSync(path('work'));
    renameSync(acme, path('work', 'acme'));
    const { isRestrictedRepo } = check(path('work', 'acme'));
    expect(isRestrictedRepo('acme')).to.equal(false);
    expect(isRestrictedRepo('acme', path('work', 'acme'))).to.equal(false);
    expect(isRestrictedRepo('acme', acme)).to.equal(true);
  });

  it('hides the sessions of a restricted repository after another one with its name is watched', () => {
    const [acme, other] = [repo('clients', 'acme'), repo('work', 'acme')];
    check(acme).save();
    const { isRestrictedRepo } = check(other);
    expect(isRestrictedRepo('acme')).to.equal(true);
    expect(isRestrictedRepo('acme', other)).to.equal(false);
  });

  it('merges the results of two machines, and restricted wins', () => {
    const [a, b] = [path('a.json'), path('b.json')];
    const write = (file: string, restricted: Record<string, boolean>): void =>
      writeFileSync(
        file,
        JSON.stringify(
          Object.fromEntries(
            Object.entries(restricted).map(([name, is]) => [path(name), { name, restricted: is }]),
          ),
        ),
      );
    write(a, { one: true, two: false, three: false });
    write(b, { one: false, two: true, four: true });
    mergeChecked(a, b);
    const { isRestrictedRepo } = checkRepos(b, []);
    const found = ['one', 'two', 'three', 'four'].map((name) => isRestrictedRepo(name, path(name)));
    expect(found).to.deep.equal([true, true, false, true]);
    mergeChecked(path('missing.json'), path('none.json'));
    expect(existsSync(path('none.json'))).to.equal(false);
  });

  it('follows symbolic links', () => {
    repo('clients', 'acme');
    symlinkSync(path('clients', 'acme'), path('link'));
    expect(check(path('link')).isRestrictedRepo('acme', path('link'))).to.equal(true);
    expect(check(path('link')).isRestrictedRepo('link')).to.equal(true);
  });

  it('counts a repository as restricted if its watched worktree is', () => {
    const main = repo('work', 'shop');
    const tree = path('clients', 'shop-acme');
    box.git(main, ['worktree', 'add', '-q', tree]);
    // Events have the path of the main repository.
    expect(check(tree).isRestrictedRepo('shop', main)).to.equal(true);
    expect(check(tree).isRestrictedRepo('shop')).to.equal(true);
    expect(check(main).isRestrictedRepo('shop', main)).to.equal(false);
  });

  it('counts a worktree as restricted if its repository is', () => {
    const main = repo('clients', 'acme');
    box.git(main, ['worktree', 'add', '-q', path('elsewhere')]);
    expect(check(path('elsewhere')).isRestrictedRepo('acme', path('elsewhere'))).to.equal(true);
  });

  it('writes its results only if they changed, and survives a damaged file', () => {
    const shop = repo('shop');
    check(shop).save();
    const stored = readFileSync(path('state', 'checked.json'), 'utf8');
    writeFileSync(path('state', 'checked.json'), 'broken');
    expect(check(shop).isRestrictedRepo('shop', shop)).to.equal(false);
    check(shop).save();
    expect(readFileSync(path('state', 'checked.json'), 'utf8')).to.equal(stored);
    writeFileSync(path('state', 'checked.json'), JSON.stringify({ [path('gone')]: { name: 'gone' } }));
    expect(check().isRestrictedRepo('gone')).to.equal(true);
  });
});
