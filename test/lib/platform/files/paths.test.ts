import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { resolve } from 'node:path';

import { StewardError } from '../../../../src/lib/errors';
import {
  cachePath,
  machineStateOf,
  machineStatePath,
  processHost,
  userAreaPath,
  type PathHost,
} from '../../../../src/lib/platform/files/paths';
import { hasAccount } from '../../../helpers/account';
import { scratch } from '../../../helpers/scratch';
import { long } from '../../../helpers/long';

const linux = (env: NodeJS.ProcessEnv = {}): PathHost => ({ platform: 'linux', env, home: '/home/ada' });
const mac = (env: NodeJS.ProcessEnv = {}): PathHost => ({ platform: 'darwin', env, home: '/Users/ada' });
const windows = (env: NodeJS.ProcessEnv = {}): PathHost => ({
  platform: 'win32',
  env,
  home: 'C:\\Users\\Ada',
});

describe('platform/paths', () => {
  const box = scratch();

  it('has the user area in the home folder of each system', () => {
    expect(userAreaPath(linux())).to.equal('/home/ada/.steward');
    expect(userAreaPath(mac())).to.equal('/Users/ada/.steward');
    expect(userAreaPath(windows())).to.equal('C:\\Users\\Ada\\.steward');
  });

  it('has it where STEWARD_HOME says, absolute, with ~ for the home folder', () => {
    expect(userAreaPath(linux({ STEWARD_HOME: '/data/steward/' }))).to.equal('/data/steward');
    expect(userAreaPath(linux({ STEWARD_HOME: '' }))).to.equal('/home/ada/.steward');
    expect(userAreaPath(linux({ STEWARD_HOME: '~/notes/../me' }))).to.equal('/home/ada/me');
    expect(userAreaPath(linux({ STEWARD_HOME: '~' }))).to.equal('/home/ada');
    expect(userAreaPath(linux({ STEWARD_HOME: '/x/~ada' }))).to.equal('/x/~ada');
    expect(userAreaPath(windows({ STEWARD_HOME: 'D:\\me' }))).to.equal('D:\\me');
    expect(userAreaPath(windows({ STEWARD_HOME: '~\\me' }))).to.equal('C:\\Users\\Ada\\me');
  });

  it('is never a folder of the one that one stands in', () => {
    for (const set of ['here', './here', '.', '..', '~ada/x', ' /x'])
      expect(() => userAreaPath(linux({ STEWARD_HOME: set })), set)
        .to.throw(StewardError, 'not an absolute path')
        .with.property('kind', 'config');
    expect(() => userAreaPath(windows({ STEWARD_HOME: 'me' }))).to.throw(StewardError);
  });

  it('keeps what belongs to the machine outside of it, where each system has it', () => {
    expect(machineStatePath(linux())).to.equal('/home/ada/.local/state/steward');
    expect(machineStatePath(linux({ XDG_STATE_HOME: '/s' }))).to.equal('/s/steward');
    expect(machineStatePath(linux({ XDG_STATE_HOME: 'relative' }))).to.equal(
      '/home/ada/.local/state/steward',
    );
    expect(machineStatePath(mac({ XDG_STATE_HOME: '/s' }))).to.equal(
      '/Users/ada/Library/Application Support/steward/state',
    );
    expect(machineStatePath(windows())).to.equal('C:\\Users\\Ada\\AppData\\Local\\steward\\state');
    expect(machineStatePath(windows({ LOCALAPPDATA: 'E:\\L' }))).to.equal('E:\\L\\steward\\state');
    expect(cachePath(linux())).to.equal('/home/ada/.cache/steward');
    expect(cachePath(linux({ XDG_CACHE_HOME: '/c' }))).to.equal('/c/steward');
    expect(cachePath(mac())).to.equal('/Users/ada/Library/Caches/steward');
    expect(cachePath(windows({ LOCALAPPDATA: 'E:\\L' }))).to.equal('E:\\L\\steward\\cache');
  });

  it('gives every area a folder of its own, the same before the area is made and after', () => {
    const area = box.path('one', 'area');
    const before = machineStateOf(area, linux());
    expect(before).to.match(/^\/home\/ada\/\.local\/state\/steward\/[0-9a-f]{12}$/);
    mkdirSync(area, { recursive: true });
    expect(machineStateOf(area, linux())).to.equal(before);
    expect(machineStateOf(box.path('two'), linux())).not.to.equal(before);
    expect(machineStateOf('C:\\Users\\Ada\\.steward', windows())).to.match(/\\state\\[0-9a-f]{12}$/);
  });

  it('gives one area one folder, also through a link', function () {
    if (process.platform === 'win32') this.skip();
    mkdirSync(box.path('real'));
    symlinkSync(box.path('real'), box.path('link'));
    expect(machineStateOf(box.path('link', 'area'), linux())).to.equal(
      machineStateOf(box.path('real', 'area'), linux()),
    );
    symlinkSync('circle', box.path('circle'));
    expect(machineStateOf(box.path('circle'), linux())).to.be.a('string');
  });

  long('never takes the current folder for the home folder', function () {
    // A user without an account has no other home folder.
    if (process.platform === 'win32' || !hasAccount()) this.skip();
    for (const HOME of ['', 'relative', undefined]) {
      const script = "console.log(require('./src/lib/platform/files/paths').userAreaPath())";
      const said = execFileSync(process.execPath, ['--require', 'tsx/cjs', '-e', script], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], ...(HOME === undefined ? {} : { HOME }) },
      });
      expect(said).to.match(/^\/.*\/\.steward\n$/);
      expect(said.startsWith(process.cwd())).to.equal(false);
    }
  });

  it('asks for the home folder only where it is needed', () => {
    const host = {
      ...linux({ STEWARD_HOME: '/data', XDG_STATE_HOME: '/s' }),
      get home(): string {
        return expect.fail('asked');
      },
    };
    expect(userAreaPath(host)).to.equal('/data');
    expect(machineStatePath(host)).to.equal('/s/steward');
  });

  it('is about this process when nothing is said', () => {
    expect(processHost()).to.include({ platform: process.platform, env: process.env });
    expect(userAreaPath({ ...processHost(), env: {} })).to.equal(resolve(processHost().home, '.steward'));
  });
});
