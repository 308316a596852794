import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';

import { findRepositories, SCAN } from '../../../src/lib/setup/init/step-sense';
import { bareEnvironment } from '../../helpers/git';
import { scratch } from '../../helpers/scratch';

describe('init: repositories below a folder', () => {
  const folder = scratch();
  const clock = { monotonic: () => 0 };
  const repository = (...names: string[]): string => {
    const path = folder.path(...names);
    mkdirSync(path, { recursive: true });
    execFileSync('git', ['init', '-q'], { cwd: path, env: bareEnvironment(folder.path()) });
    return path;
  };

  it('finds them, and not what is hidden, linked, brought by a package manager, or inside of one', () => {
    const own = [repository('a'), repository('work', 'b')];
    repository('a', 'vendored');
    repository('.hidden', 'c');
    repository('site', 'node_modules', 'd');
    symlinkSync(own[0] ?? '', folder.path('link'));
    expect(findRepositories(clock, folder.path())).to.deep.equal({ repositories: own, cut: false });
  });

  it('is the folder itself where that is one', () => {
    const own = repository('a');
    expect(findRepositories(clock, own).repositories).to.deep.equal([own]);
  });

  it('stops at each bound, and says so', () => {
    repository('a');
    repository('b');
    mkdirSync(folder.path('1', '2', '3', '4', '5'), { recursive: true });
    expect(findRepositories(clock, folder.path(), { ...SCAN, repositories: 1 })).to.have.property(
      'cut',
      true,
    );
    expect(findRepositories(clock, folder.path(), { ...SCAN, folders: 2 })).to.have.property('cut', true);
    let now = 0;
    const slow = { monotonic: () => (now += 1000) };
    expect(findRepositories(slow, folder.path(), { ...SCAN, ms: 1500 })).to.have.property('cut', true);
    const shallow = repository('1', '2', 'deep');
    expect(findRepositories(clock, folder.path(), { ...SCAN, depth: 2 }).repositories).to.not.include(
      shallow,
    );
  });
});
