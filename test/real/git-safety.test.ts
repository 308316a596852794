import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { run as realRun, type Run } from '../../src/lib/platform/process/process';
import { gitBox, ME, OTHER, type GitBox } from '../helpers/git';
import { DAY, NOON, watchGit, type Watch, type WatchOptions } from '../helpers/git-watch';

describe('sense/git: hostile and broken repositories', () => {
  let box: GitBox;
  let repo: string;
  let marker: string;
  let trap: string;
  beforeEach(() => {
    box = gitBox();
    repo = box.init('app');
    marker = join(box.folder, 'marker');
    trap = join(box.folder, 'trap.sh');
    writeFileSync(trap, `#!/bin/sh\necho "$@" >> ${marker}\n`);
    chmodSync(trap, 0o755);
  });
  afterEach(() => box.remove());

  const watch = (repos: string[], options: WatchOptions = {}): Watch =>
    watchGit(repos, { env: box.env, ...options });
  const configure = (key: string, value: string): void => void box.git(repo, ['config', key, value]);
  /** Does plain git walk into it? Whatever else it says does not matter. */
  const springs = (args: string[], input?: string, env: NodeJS.ProcessEnv = {}): boolean => {
    try {
      execFileSync('git', args, {
        cwd: repo,
        env: { ...box.env, ...env },
        stdio: ['pipe', 'ignore', 'ignore'],
        input,
      });
    } catch (error) {
      expect(error).to.have.property('status');
    }
    const sprung = existsSync(marker);
    rmSync(marker, { force: true });
    return sprung;
  };
  const signedCommit = (): void => {
    const tree = box.git(repo, ['rev-parse', 'HEAD^{tree}']);
    const who = `Me <${ME}> ${NOON + 1} +0000`;
    const text = `tree ${tree}\nparent ${box.git(repo, ['rev-parse', 'HEAD'])}\nauthor ${who}\ncommitter ${who}\n`;
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n';
    const sha = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
      cwd: repo,
      env: box.env,
      input: `${text}${signature}\nsigned\n`,
      encoding: 'utf8',
    }).trim();
    box.git(repo, ['update-ref', 'HEAD', sha]);
  };
  const promisor = (url: string): void => {
    configure('core.repositoryFormatVersion', '1');
    configure('extensions.partialClone', 'evil');
    configure('remote.evil.url', url);
    configure('remote.evil.promisor', 'true');
    configure('remote.evil.uploadpack', trap);
    configure('protocol.allow', 'always');
    configure('protocol.ext.allow', 'always');
    configure('protocol.file.allow', 'always');
  };
  const absent = '1'.repeat(40);

  interface Trap {
    name: string;
    set: () => void;
    /** Plain git executes it. */
    live?: () => boolean;
    /** Run the capture as a git would that does not know the variable against lazy fetches. */
    oldGit?: boolean;
  }
  const traps: Trap[] = [
    {
      name: 'core.fsmonitor',
      set: () => configure('core.fsmonitor', trap),
      live: () => springs(['status']),
    },
    {
      name: 'a signature to verify with gpg.program',
      set: () => {
        signedCommit();
        configure('log.showSignature', 'true');
        for (const key of ['gpg.program', 'gpg.openpgp.program', 'gpg.ssh.program']) configure(key, trap);
      },
      live: () => springs(['log', '-1']),
    },
    {
      name: 'a promisor remote over ext::',
      set: () => promisor(`ext::${trap} x`),
      live: () => springs(['cat-file', '--batch-check'], `${absent}\n`),
    },
    {
      name: 'a promisor remote over ext::, with an old git',
      set: () => promisor(`ext::${trap} x`),
      live: () => springs(['-c', 'protocol.allow=never', 'cat-file', '--batch-check'], `${absent}\n`),
      oldGit: true,
    },
    {
      name: 'a promisor remote with an upload-pack of its own, with an old git',
      set: () => promisor(repo),
      live: () => springs(['cat-file', '--batch-check'], `${absent}\n`),
      oldGit: true,
    },
    {
      name: 'pagers',
      set: () => {
        for (const key of ['core.pager', 'pager.log', 'pager.config', 'pager.for-each-ref'])
          configure(key, trap);
      },
    },
    {
      name: 'external diffs and text conversions',
      set: () => {
        for (const key of ['diff.external', 'diff.evil.textconv', 'diff.evil.command']) configure(key, trap);
        mkdirSync(join(repo, '.git/info'), { recursive: true });
        writeFileSync(join(repo, '.git/info/attributes'), '* diff=evil\n');
        configure('log.diffMerges', 'on');
        writeFileSync(join(repo, 'f'), 'x');
        box.git(repo, ['add', 'f']);
        box.commit(repo, { at: NOON + 2, subject: 'with a file' });
        // Another commit of the same second beside it: the two are compared.
        box.git(repo, ['checkout', '-q', '-b', 'side', 'main~1']);
        box.commit(repo, { at: NOON + 2, subject: 'with a file', files: { f: 'y' } });
      },
      live: () => springs(['log', '-p', '--ext-diff', '-1']),
    },
    {
      name: 'hooks',
      set: () => {
        const hooks = join(box.folder, 'hooks');
        mkdirSync(hooks);
        for (const name of [
          'post-index-change',
          'reference-transaction',
          'post-checkout',
          'fsmonitor-watchman',
        ]) {
          symlinkSync(trap, join(hooks, name));
        }
        configure('core.hooksPath', hooks);
      },
      live: () => springs(['update-ref', 'refs/heads/other', 'HEAD']),
    },
    {
      name: 'aliases, transports, askpass, editors, credential helpers',
      set: () => {
        for (const name of ['log', 'config', 'cat-file', 'for-each-ref'])
          configure(`alias.${name}`, `!${trap}`);
        for (const key of ['core.sshCommand', 'core.askPass', 'core.gitProxy', 'core.alternateRefsCommand']) {
          configure(key, trap);
        }
        configure('core.editor', trap);
        configure('credential.helper', `!${trap}`);
        configure('trace2.eventTarget', marker);
        configure('uploadpack.packObjectsHook', trap);
      },
    },
    {
      name: 'a configuration that includes another',
      set: () => {
        const more = join(box.folder, 'more');
        writeFileSync(
          more,
          `[core]\n\tfsmonitor = ${trap}\n[gpg]\n\tprogram = ${trap}\n[log]\n\tshowSignature = true\n`,
        );
        configure('include.path', more);
        configure('includeIf.gitdir:**.path', more);
        signedCommit();
      },
      live: () => springs(['log', '-1']),
    },
  ];
  for (const { name, set, live, oldGit } of traps) {
    it(`executes nothing: ${name}`, async () => {
      box.commit(repo, { at: NOON, subject: 'a' });
      set();
      rmSync(marker, { force: true });
      if (live !== undefined) expect(live(), 'plain git walks into it').to.equal(true);
      const run: Run = (file, args, options) => {
        const env = { ...options.env };
        if (oldGit === true) delete env['GIT_NO_LAZY_FETCH'];
        return realRun(file, args, { ...options, env });
      };
      const watched = watch([repo], { run });
      expect(await watched.subjects()).to.include('a');
      // A tip that is not there any more makes git look for a missing object.
      const memories = (watched.cursor as { repositories: Record<string, { tips: string[] }> }).repositories;
      for (const memory of Object.values(memories)) memory.tips.push(absent);
      execFileSync('git', ['update-ref', 'refs/heads/more', commitTree(repo)], { cwd: repo, env: quiet() });
      rmSync(marker, { force: true });
      expect(await watched.subjects()).to.include('by plumbing');
      expect(existsSync(marker) ? readFileSync(marker, 'utf8') : '').to.equal('');
    });
  }

  it('uses dates and identities when git fails on a missing tip', async () => {
    box.commit(repo, { at: NOON, subject: 'a' });
    const run: Run = async (file, args, options) => {
      const result = await realRun(file, args, options);
      const dies =
        args.includes('--batch-check=%(objectname) %(objecttype)') && options.input?.includes(absent);
      return dies === true ? { ...result, code: null, signal: 'SIGPIPE' } : result;
    };
    const watched = watch([repo], { run });
    expect(await watched.subjects()).to.deep.equal(['a']);
    const memories = (watched.cursor as { repositories: Record<string, { tips: string[] }> }).repositories;
    for (const memory of Object.values(memories)) memory.tips.push(absent);
    box.commit(repo, { at: NOON + 1, subject: 'b' });
    expect(await watched.subjects()).to.deep.equal(['b']);
    expect(await watched.subjects()).to.deep.equal([]);
  });

  /** Git without the traps of the repository, for preparing. */
  function quiet(): NodeJS.ProcessEnv {
    return {
      ...box.env,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: '/dev/null',
      GIT_ALLOW_PROTOCOL: 'none',
    };
  }

  function commitTree(path: string): string {
    const who = {
      GIT_AUTHOR_EMAIL: ME,
      GIT_COMMITTER_EMAIL: ME,
      GIT_AUTHOR_NAME: 'x',
      GIT_COMMITTER_NAME: 'x',
      GIT_AUTHOR_DATE: `@${NOON + 77} +0000`,
      GIT_COMMITTER_DATE: `@${NOON + 77} +0000`,
    };
    return execFileSync('git', ['commit-tree', '-p', 'HEAD', '-m', 'by plumbing', 'HEAD^{tree}'], {
      cwd: path,
      env: { ...quiet(), ...who },
      encoding: 'utf8',
    }).trim();
  }

  const pipe = (path: string): void => {
    rmSync(path, { force: true });
    mkdirSync(join(path, '..'), { recursive: true });
    execFileSync('mkfifo', [path]);
  };
  const ODD = ['HEAD', 'config', 'packed-refs', 'refs/heads/pipe', 'info/grafts', 'shallow', 'commondir'];
  for (const name of [...ODD, 'objects/info/alternates', 'worktrees/x/HEAD', 'config.worktree']) {
    it(`reports a pipe at .git/${name} without hanging`, async function () {
      if (process.platform === 'win32') this.skip();
      const well = box.init('well');
      for (const path of [repo, well]) box.commit(path, { at: NOON, subject: 'a' });
      pipe(join(repo, '.git', name));
      const got = await watch([repo, well], { timeoutMs: 55_000 }).capture();
      expect(got.reason).not.to.contain('took longer');
      expect(got.events.map((event) => event.repo)).to.include('well');
      expect(got.state).to.equal('ok');
      expect(got.reason).to.contain(repo);
    });
  }

  it('needs no reflog: one that is a pipe is left alone', async function () {
    if (process.platform === 'win32') this.skip();
    box.commit(repo, { at: NOON, subject: 'a' });
    pipe(join(repo, '.git/logs/HEAD'));
    const got = await watch([repo], { timeoutMs: 55_000 }).capture();
    expect(got).to.include({ state: 'ok' }).and.to.not.have.property('reason');
    expect(got.events.map((event) => event.detail?.['subject'])).to.deep.equal(['a']);
  });

  it('reads no device or pipe through a linked ref', async function () {
    if (process.platform === 'win32') this.skip();
    box.commit(repo, { at: NOON });
    symlinkSync('/dev/zero', join(repo, '.git/refs/heads/zero'));
    const other = join(box.folder, 'other');
    pipe(join(other, '.git'));
    const watched = watch([repo, other]);
    const got = await watched.capture();
    expect(got.state).to.equal('error');
    expect(got.reason).to.contain('refs/heads/zero').and.to.contain(other);
    expect(watched.runs).to.deep.equal([]);
  });

  it('kills a git that hangs, pauses that repository, and scans the others', async () => {
    const well = box.init('well');
    for (const path of [repo, well]) box.commit(path, { at: NOON, subject: 'a' });
    pipe(join(box.folder, 'include'));
    configure('include.path', join(box.folder, 'include'));
    // For the sound one, too: it may take its time.
    const watched = watch([repo, well], { timeoutMs: 4000 });
    const nowMs = DAY + 40_000_000;
    const got = await watched.capture({ nowMs });
    expect(got.events.map((event) => event.repo)).to.deep.equal(['well']);
    expect(got.reason).to.contain('took longer than 4 s');
    watched.runs.length = 0;
    const resting = await watched.capture({ nowMs: nowMs + 60_000 });
    expect(watched.runs.filter((line) => line.includes(repo))).to.deep.equal([]);
    expect(resting.reason).to.contain(repo);
    writeFileSync(join(repo, '.git/config'), `[user]\n\temail = ${ME}\n`);
    expect(await watched.subjects({ nowMs: nowMs + 121_000 })).to.deep.equal(['a']);
  });

  it('stops at its deadline, and scans the rest first next time', async () => {
    const repos = Array.from({ length: 8 }, (_, i) => box.init(`r${i}`));
    repos.forEach((path, i) => box.commit(path, { at: NOON + i, subject: `r${i}` }));
    let time = 0;
    // In long steps: what is left of the time is what a real git may take.
    const clock = { now: () => Date.now(), monotonic: () => (time += 20_000) };
    const watched = watch(repos, { clock, deadlineMs: 560_000, timeoutMs: 100_000 });
    const found: string[] = [];
    const first = await watched.capture();
    expect(first.reason).to.contain('ran out of time');
    found.push(...first.events.map((event) => String(event.repo)));
    expect(found.length).to.be.lessThan(8);
    for (let i = 0; i < 8; i += 1)
      found.push(...(await watched.capture()).events.map((event) => String(event.repo)));
    expect(found.sort()).to.deep.equal(repos.map((_, i) => `r${i}`));
  });

  it('ignores inherited variables, a broken .git and core.worktree', async () => {
    const outer = box.init('outer');
    box.commit(outer, { at: NOON, subject: 'outer' });
    box.commit(repo, { at: NOON, subject: 'a' });
    configure('core.worktree', outer);
    const inner = join(outer, 'inner');
    mkdirSync(join(inner, '.git/objects'), { recursive: true });
    mkdirSync(join(inner, '.git/refs'));
    writeFileSync(join(inner, '.git/HEAD'), 'rubbish\n');
    const env = {
      ...box.env,
      GIT_DIR: join(outer, '.git'),
      GIT_WORK_TREE: outer,
      GIT_INDEX_FILE: '/nowhere',
      GIT_OBJECT_DIRECTORY: '/nowhere',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: trap,
      GIT_TRACE: marker,
      GIT_NAMESPACE: 'x',
      GIT_EXTERNAL_DIFF: trap,
    };
    const got = await watch([repo, inner, join(outer, 'nothing')], { env }).capture();
    expect(got.events.map((event) => event.detail?.['subject'])).to.deep.equal(['a']);
    expect(got.reason).to.contain(inner).and.to.contain('2 of 3');
    expect(existsSync(marker)).to.equal(false);
  });

  it('ignores replacements, grafts and mailmaps', async () => {
    const a = box.commit(repo, { at: NOON, subject: 'a' });
    const b = box.commit(repo, { at: NOON + 1, subject: 'b', email: OTHER });
    const c = box.commit(repo, { at: NOON + 2, subject: 'c' });
    box.git(repo, ['replace', c, b]);
    mkdirSync(join(repo, '.git/info'), { recursive: true });
    writeFileSync(join(repo, '.git/info/grafts'), `${c}\n`);
    writeFileSync(join(box.folder, 'mailmap'), `Me <${ME}> <${OTHER}>\n`);
    configure('log.mailmap', 'true');
    configure('mailmap.file', join(box.folder, 'mailmap'));
    configure('log.date', 'relative');
    configure('format.pretty', 'oneline');
    configure('i18n.logOutputEncoding', 'UTF-16');
    const got = await watch([repo]).capture();
    expect(got.events.map((event) => event.detail?.['sha'])).to.deep.equal([a, c]);
  });

  it('reports each failed repository, and that all failed', async () => {
    const names = ['owned', 'corrupt', 'config', 'away'];
    const paths = names.map((name) => box.init(name));
    const [owned, corrupt, config, away] = paths as [string, string, string, string];
    for (const path of paths) box.commit(path, { at: NOON });
    const sha = box.git(corrupt, ['rev-parse', 'HEAD']);
    const object = join(corrupt, '.git/objects', sha.slice(0, 2), sha.slice(2));
    chmodSync(object, 0o644);
    writeFileSync(object, 'rubbish');
    appendFileSync(join(config, '.git/config'), '[core\n');
    renameSync(away, `${away}-moved`);
    const run: Run = (file, args, options) => {
      const env = {
        ...options.env,
        ...(args.includes(owned) ? { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } : {}),
      };
      return realRun(file, args, { ...options, env });
    };
    const got = await watch(paths, { run }).capture();
    expect(got.events).to.deep.equal([]);
    expect(got.reason).to.match(/owned: the repository belongs to another user.*safe\.directory/);
    expect(got.reason).to.match(/corrupt: missing commit on branch main.*git fsck/);
    expect(got.reason).to.match(/config: git rejects the repository's configuration/);
    expect(got.reason).to.match(/away: not a git repository/);
    const alone = await watch([owned, config, away], { run }).capture();
    expect(alone.state).to.equal('error');
  });

  it('reads intact branches beside a damaged one, and reports it each time', async () => {
    box.commit(repo, { at: NOON, subject: 'sound' });
    writeFileSync(join(repo, '.git/refs/heads/lost'), `${absent}\n`);
    writeFileSync(join(repo, '.git/refs/heads/rubbish'), 'rubbish\n');
    const clock = { now: () => Date.now() + 60_000, monotonic: () => performance.now() };
    const watched = watch([repo], { clock });
    const got = await watched.capture();
    expect(got).to.include({ state: 'ok' });
    expect(got.events).to.have.length(1);
    expect(got.reason).to.contain('lost');
    expect((await watched.capture()).reason).to.contain('lost');
  });

  it('scans 49 repositories beside a broken one, and starts nothing without changes', async function () {
    this.timeout(240_000);
    box.commit(repo, { at: NOON, subject: 'a' });
    const paths = Array.from({ length: 50 }, (_, i) => join(box.folder, `many-${i}`));
    for (const path of paths) execFileSync('cp', ['-r', repo, path]);
    writeFileSync(join(paths[27]!, '.git/HEAD'), 'rubbish');
    const clock = { now: () => Date.now() + 60_000, monotonic: () => performance.now() };
    const watched = watch(paths, { clock, deadlineMs: 60_000 });
    const got = await watched.capture();
    expect(got.events).to.have.length(49);
    expect(got.state).to.equal('ok');
    expect(got.reason).to.contain('1 of 50').and.to.contain('many-27');
    watched.config.repos.splice(27, 1);
    watched.runs.length = 0;
    expect((await watched.capture()).events).to.deep.equal([]);
    expect(watched.runs).to.deep.equal([]);
  });
});
