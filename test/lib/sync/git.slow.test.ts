import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { expect } from 'chai';

import { run } from '../../../src/lib/platform/process/process';
import { exchangeByGit, removeFromGit, type GitExchange } from '../../../src/lib/sync/git';
import { scratch } from '../../helpers/scratch';

const A = 'aaaaaaaaaaaa';
const B = 'bbbbbbbbbbbb';

describe('sync: exchange through git', () => {
  const { path } = scratch();
  let a: GitExchange;
  let b: GitExchange;

  beforeEach(() => {
    execFileSync('git', ['init', '--quiet', '--bare', path('remote.git')]);
    const at = (machineId: string): GitExchange => ({
      git: { run, env: process.env, timeoutMs: 60_000 },
      remote: { url: pathToFileURL(path('remote.git')).href, protocol: 'file', credential: 'none' },
      ...{ folder: path(machineId), clone: path(`${machineId}-clone`), machineId },
    });
    [a, b] = [at(A), at(B)];
    write(A, A, 'machine.json', 'a1');
    write(A, A, 'daily/2026-11-20.json', 'day 1');
    write(B, B, 'machine.json', 'b1');
  });

  function write(of: string, id: string, name: string, text: string): void {
    const file = join(path(of), 'machines', id, name);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, text);
  }
  const read = (of: string, id: string, name: string): string | undefined => {
    const file = join(path(of), 'machines', id, name);
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };

  it('carries the files of each machine to the others', async () => {
    expect(await exchangeByGit(a)).to.deep.equal({ received: [], sent: true });
    expect(await exchangeByGit(b)).to.deep.equal({ received: [A], sent: true });
    expect(await exchangeByGit(a)).to.deep.equal({ received: [B], sent: false });
    expect([read(A, B, 'machine.json'), read(B, A, 'daily/2026-11-20.json')]).to.deep.equal(['b1', 'day 1']);
  });

  it('does nothing if nothing changed, and carries only changes', async () => {
    await exchangeByGit(a);
    await exchangeByGit(b);
    await exchangeByGit(a);
    expect(await exchangeByGit(a)).to.deep.equal({ received: [], sent: false });
    write(A, A, 'daily/2026-11-20.json', 'day 1, longer');
    write(A, A, 'daily/2026-11-19.json', 'day 0');
    await exchangeByGit(a);
    rmSync(join(path(A), 'machines', A, 'daily', '2026-11-19.json'));
    expect(await exchangeByGit(a)).to.deep.equal({ received: [], sent: true });
    expect(await exchangeByGit(b)).to.deep.equal({ received: [A], sent: false });
    expect([read(B, A, 'daily/2026-11-19.json'), read(B, A, 'daily/2026-11-20.json')]).to.deep.equal([
      undefined,
      'day 1, longer',
    ]);
  });

  it('keeps no history of what was removed, and carries no other files', async () => {
    write(A, A, 'daily/2026-11-20.json', 'SECRET');
    write(A, A, 'secrets.txt', 'x');
    write(A, A, 'daily/.2026-11-20.json.0123456789ab.tmp', 'x');
    await exchangeByGit(a);
    write(A, A, 'daily/2026-11-20.json', 'clean');
    await exchangeByGit(a);
    execFileSync('git', ['-C', path('remote.git'), 'gc', '--quiet', '--prune=now']);
    const objects = execFileSync('git', ['-C', path('remote.git'), 'rev-list', '--all', '--objects'], {
      encoding: 'utf8',
    });
    const names = objects.split('\n').map((line) => line.split(' ')[1] ?? '');
    expect(names.filter((name) => name !== '').sort()).to.deep.equal([
      'daily',
      'daily/2026-11-20.json',
      'machine.json',
    ]);
  });

  /** The content of every object in a clone. */
  const objectsIn = ({ clone }: GitExchange): string =>
    execFileSync('git', ['-C', clone, 'cat-file', '--batch', '--batch-all-objects'], { encoding: 'utf8' });

  it('leaves nothing of a purge in any clone after the next exchange, not even in a pack', async () => {
    write(A, A, 'daily/2026-11-20.json', 'SECRET');
    // From 100 objects on, a fetch stores a pack.
    for (let day = 0; day < 120; day += 1) {
      const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
      write(A, A, `usage/${date}.json`, `day ${day}`);
    }
    for (const machine of [a, b, a]) await exchangeByGit(machine);
    for (const machine of [a, b]) expect(objectsIn(machine)).to.include('SECRET').and.include('day 119');
    write(A, A, 'daily/2026-11-20.json', 'clean');
    for (const machine of [a, b]) {
      await exchangeByGit(machine);
      expect(objectsIn(machine)).to.include('day 119').and.not.include('SECRET');
      expect(readdirSync(join(machine.clone, '.git', 'objects')).sort()).to.deep.equal(['info', 'pack']);
    }
    rmSync(join(path(A), 'machines', A, 'usage'), { recursive: true });
    await exchangeByGit(a);
    await removeFromGit(b, A);
    await exchangeByGit(b);
    expect(objectsIn(b)).to.not.include('day 119').and.not.include('clean');
  });

  it('deletes nothing while no branch changed', async () => {
    await exchangeByGit(a);
    execFileSync('git', ['-C', a.clone, 'hash-object', '-w', '--stdin'], { input: 'loose' });
    await exchangeByGit(a);
    expect(objectsIn(a)).to.include('loose');
  });

  it('ignores branches and files that steward does not write', async () => {
    const clone = path('other');
    mkdirSync(join(clone, 'daily'), { recursive: true });
    writeFileSync(join(clone, 'daily', 'run.sh'), 'x');
    writeFileSync(join(clone, 'machine.json'), 'c1');
    pushed(clone, 'nothex');
    pushed(clone, 'cccccccccccc');
    await exchangeByGit(a);
    expect(readdirSync(join(path(A), 'machines')).sort()).to.deep.equal([A, 'cccccccccccc']);
    expect(readdirSync(join(path(A), 'machines', 'cccccccccccc'))).to.deep.equal(['machine.json']);
  });

  /** Pushes the files of a folder as a machine's branch. */
  function pushed(clone: string, id: string): void {
    const git = (...args: string[]): unknown =>
      execFileSync('git', ['-C', clone, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
        stdio: 'ignore',
      });
    git('init', '--quiet');
    git('add', '--force', '.');
    git('commit', '--allow-empty', '-m', 'x');
    git('push', '--force', path('remote.git'), `HEAD:refs/heads/machine-${id}`);
  }

  it('receives the stored bytes and runs no filter, whatever attributes a branch has', async () => {
    const clone = path('other');
    mkdirSync(join(clone, 'daily'), { recursive: true });
    writeFileSync(join(clone, 'machine.json'), 'c1\n');
    writeFileSync(join(clone, 'daily', '2026-11-20.json'), 'day\n');
    writeFileSync(join(clone, '.gitattributes'), 'daily/* eol=crlf\nmachine.json filter=evil\n');
    pushed(clone, 'cccccccccccc');
    const config = path('config');
    writeFileSync(config, `[filter "evil"]\n\tsmudge = touch ${path('ran')}; cat\n`);
    await exchangeByGit({ ...a, git: { ...a.git, env: { ...process.env, GIT_CONFIG_GLOBAL: config } } });
    expect(existsSync(path('ran'))).to.equal(false);
    expect(read(A, 'cccccccccccc', 'machine.json')).to.equal('c1\n');
    expect(read(A, 'cccccccccccc', 'daily/2026-11-20.json')).to.equal('day\n');
  });

  it('names files that it cannot receive, and receives the rest', async () => {
    const clone = path('other');
    mkdirSync(join(clone, 'daily', '2026-11-19.json'), { recursive: true });
    mkdirSync(join(clone, 'others'));
    writeFileSync(join(clone, 'machine.json'), 'c1');
    writeFileSync(join(clone, 'daily', '2026-11-19.json', 'x'), 'x');
    writeFileSync(join(clone, 'daily', '2026-11-20.json'), Buffer.alloc(9 * 1024 * 1024));
    writeFileSync(join(clone, 'others', 'large.bin'), Buffer.alloc(16 * 1024 * 1024));
    symlinkSync('/etc/passwd', join(clone, 'daily', '2026-11-21.json'));
    pushed(clone, 'cccccccccccc');
    await exchangeByGit(b);
    const damaged: string[] = [];
    await exchangeByGit({ ...a, onDamaged: (name) => damaged.push(name.slice(path(A).length + 1)) });
    expect(damaged).to.deep.equal(['machines/cccccccccccc/daily/2026-11-20.json']);
    expect(readdirSync(join(path(A), 'machines', 'cccccccccccc'))).to.deep.equal(['machine.json']);
    expect(read(A, B, 'machine.json')).to.equal('b1');
    expect(readdirSync(join(a.clone, 'others', 'cccccccccccc'))).to.deep.equal([]);
  });

  it('notices that another machine pushes to its branch', async () => {
    let foreign = 0;
    a = { ...a, onForeign: () => Promise.resolve(void (foreign += 1)) };
    const copy = { ...a, clone: path('copy-clone'), onForeign: () => Promise.resolve() };
    await exchangeByGit(a);
    await exchangeByGit(a);
    write(A, A, 'daily/2026-11-20.json', 'the same machine');
    await exchangeByGit(a);
    await exchangeByGit(a);
    expect(foreign).to.equal(0);
    write(A, A, 'daily/2026-11-20.json', 'a copy of it');
    await exchangeByGit(copy);
    await exchangeByGit(a);
    expect(foreign).to.equal(1);
  });

  it('repairs a damaged clone', async () => {
    await exchangeByGit(a);
    writeFileSync(join(a.clone, '.git', 'HEAD'), 'nonsense');
    write(A, A, 'machine.json', 'a2');
    expect(await exchangeByGit(a)).to.deep.equal({ received: [], sent: true });
  });

  const heads = (remote = 'remote.git'): string[] =>
    execFileSync('git', ['-C', path(remote), 'for-each-ref', '--format=%(refname:short)'], {
      encoding: 'utf8',
    })
      .split('\n')
      .filter((name) => name !== '');

  it('does not recreate a missing folder, and leaves the published files in the repository', async () => {
    await exchangeByGit(a);
    await exchangeByGit(b);
    rmSync(path(A), { recursive: true });
    let message = '';
    await exchangeByGit(a).catch((error: unknown) => (message = String(error)));
    expect(message).to.contain(`Exchange folder not found: ${path(A)}`);
    expect(existsSync(path(A))).to.equal(false);
    await exchangeByGit(b);
    expect(read(B, A, 'daily/2026-11-20.json')).to.equal('day 1');
  });

  it('pushes nothing while its own files are missing', async () => {
    await exchangeByGit(a);
    rmSync(join(path(A), 'machines', A), { recursive: true });
    expect(await exchangeByGit(a)).to.deep.equal({ received: [], sent: false });
    write(A, A, 'told.jsonl', '{}');
    expect(await exchangeByGit(a)).to.deep.equal({ received: [], sent: false });
    await exchangeByGit(b);
    expect(read(B, A, 'daily/2026-11-20.json')).to.equal('day 1');
  });

  it('removes the files of a machine whose branch was deleted, on every machine', async () => {
    const c = { ...a, folder: path('c'), clone: path('c-clone'), machineId: 'cccccccccccc' };
    write('c', 'cccccccccccc', 'machine.json', 'c1');
    for (const machine of [a, b, c, a, b]) await exchangeByGit(machine);
    await removeFromGit(a, B);
    expect(heads()).to.deep.equal([`machine-${A}`, 'machine-cccccccccccc']);
    expect(await exchangeByGit(c)).to.deep.equal({ received: [B], sent: false });
    expect(readdirSync(join(path('c'), 'machines'))).to.have.members([A, 'cccccccccccc']);
    expect(await exchangeByGit(c)).to.deep.equal({ received: [], sent: false });
    // The forgotten machine still has its own files, and publishes them again.
    expect(await exchangeByGit(b)).to.deep.equal({ received: [], sent: true });
    expect(read(B, B, 'machine.json')).to.equal('b1');
  });

  it('keeps a machine that did not come through git', async () => {
    write(A, 'dddddddddddd', 'machine.json', 'd1');
    for (const machine of [b, a, a]) await exchangeByGit(machine);
    expect(readdirSync(join(path(A), 'machines'))).to.have.members([A, B, 'dddddddddddd']);
  });

  it('follows an empty repository, but removes nothing while the repository is unreachable', async () => {
    await exchangeByGit(b);
    await exchangeByGit(a);
    const empty = pathToFileURL(path('empty.git')).href;
    const swapped = { ...a, remote: { ...a.remote, url: empty } };
    await exchangeByGit(swapped).catch(() => undefined);
    expect(read(A, B, 'machine.json')).to.equal('b1');
    execFileSync('git', ['init', '--quiet', '--bare', path('empty.git')]);
    expect(await exchangeByGit(swapped)).to.deep.equal({ received: [B], sent: true });
    expect(read(A, B, 'machine.json')).to.equal(undefined);
    expect(heads('empty.git')).to.deep.equal([`machine-${A}`]);
  });

  it('deletes a branch without its clone, and if the clone never fetched it', async () => {
    await exchangeByGit(a);
    await exchangeByGit(b);
    await removeFromGit(a, B);
    expect(heads()).to.deep.equal([`machine-${A}`]);
    rmSync(a.clone, { recursive: true });
    await removeFromGit(a, A);
    expect(heads()).to.deep.equal([]);
    await removeFromGit(a, A);
  });

  it('reports an unreachable repository', async () => {
    rmSync(path('remote.git'), { recursive: true });
    let message = '';
    await exchangeByGit(a).catch((error: unknown) => (message = String(error)));
    expect(message).to.match(/Syncing through git failed: .*does not appear to be a git repository/);
  });
});
