import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'chai';

import { recordTally } from '../../src/lib/time/record';
import { DAY, NOON, watchGit, type Watch, type WatchOptions } from '../helpers/git-watch';
import { dates, gitBox, ME, OTHER, type GitBox } from '../helpers/git';

describe('sense/git: situations', () => {
  let box: GitBox;
  beforeEach(() => (box = gitBox()));
  afterEach(() => box.remove());

  const watch = (repos: string[], options: WatchOptions = {}): Watch =>
    watchGit(repos, { env: box.env, ...options });

  it("returns today's commits first, then new ones, each once", async () => {
    const repo = box.init('app');
    box.commit(repo, { at: DAY / 1000 - 1, subject: 'yesterday' });
    const sha = box.commit(repo, { at: NOON, authoredAt: NOON - 60, subject: 'today' });
    const watched = watch([repo]);
    const first = await watched.capture();
    expect(first.state).to.equal('ok');
    expect(first.reason).to.equal(undefined);
    expect(first.events[0]?.detail?.['identity']).to.match(/^[\w-]{10}$/);
    expect(first.events).to.deep.equal([
      {
        ts: '2026-03-10T12:00:00.000Z',
        type: 'git-commit',
        source: 'git',
        repo: 'app',
        detail: {
          sha,
          subject: 'today',
          branch: 'main',
          authoredAt: '2026-03-10T11:59:00.000Z',
          identity: first.events[0]?.detail?.['identity'],
          patch: sha.slice(0, 16),
          path: repo,
          machine: 'm1',
        },
      },
    ]);
    expect(await watched.subjects()).to.deep.equal([]);
    box.commit(repo, { at: NOON + 5, subject: 'next' });
    expect(await watched.subjects()).to.deep.equal(['next']);
    expect(await watched.subjects()).to.deep.equal([]);
  });

  it('counts commits dated yesterday, and everything after weeks without a capture', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'a' });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.deep.equal(['a']);
    box.commit(repo, { at: NOON - 86_400, subject: 'clock was wrong' });
    expect(await watched.subjects()).to.deep.equal(['clock was wrong']);
    for (let i = 1; i <= 3; i += 1) box.commit(repo, { at: NOON + i * 604_800, subject: `week ${i}` });
    const later = DAY + 22 * 86_400_000;
    expect(await watched.subjects({ nowMs: later + 1, dayStartMs: later })).to.deep.equal([
      'week 1',
      'week 2',
      'week 3',
    ]);
  });

  it('ignores your old work pulled from another clone', async () => {
    const elsewhere = box.init('elsewhere');
    for (let i = 0; i < 5; i += 1)
      box.commit(elsewhere, { at: NOON - (10 - i) * 604_800, subject: `old ${i}` });
    box.commit(elsewhere, { at: NOON + 1, subject: 'fresh' });
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'a' });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.deep.equal(['a']);
    box.git(repo, ['fetch', '-q', elsewhere, 'main:theirs']);
    expect(await watched.subjects()).to.deep.equal(['fresh']);
  });

  it('reads local branches, a detached HEAD and worktrees, and names the branch', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'base' });
    box.git(repo, ['checkout', '-q', '-b', 'feature/x']);
    box.commit(repo, { at: NOON + 1, subject: 'on feature' });
    box.git(repo, ['checkout', '-q', '--detach', 'main']);
    box.commit(repo, { at: NOON + 2, subject: 'detached' });
    box.git(repo, ['worktree', 'add', '-q', '--detach', join(box.folder, 'wt'), 'main']);
    box.commit(join(box.folder, 'wt'), { at: NOON + 3, subject: 'in a worktree' });
    const got = await watch([repo]).capture();
    expect(got.events.map((event) => [event.detail?.['subject'], event.detail?.['branch']])).to.deep.equal([
      ['base', 'main'],
      ['on feature', 'feature/x'],
      ['detached', undefined],
      ['in a worktree', undefined],
    ]);
  });

  it('treats a worktree, its main checkout and a link as one repository', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'base' });
    const worktree = join(box.folder, 'wt');
    box.git(repo, ['worktree', 'add', '-q', '-b', 'side', worktree]);
    box.commit(worktree, { at: NOON + 1, subject: 'side' });
    symlinkSync(repo, join(box.folder, 'link'));
    const watched = watch([worktree, repo, join(box.folder, 'link')]);
    const got = await watched.capture();
    expect(
      got.events.map((event) => [event.repo, event.detail?.['path'], event.detail?.['subject']]),
    ).to.deep.equal([
      ['app', repo, 'base'],
      ['app', repo, 'side'],
    ]);
    watched.config.repos.reverse();
    box.commit(worktree, { at: NOON + 2, subject: 'more' });
    expect(await watched.subjects()).to.deep.equal(['more']);
  });

  it('reads bare repositories, submodules, shallow clones and a separate .git', async () => {
    const origin = box.init('origin');
    box.commit(origin, { at: NOON - 1_000_000, subject: 'old' });
    box.commit(origin, { at: NOON, subject: 'new' });
    box.git(box.folder, ['clone', '-q', '--bare', origin, 'bare.git']);
    box.git(box.folder, ['clone', '-q', '--depth=1', `file://${origin}`, 'shallow']);
    box.git(box.folder, [
      'clone',
      '-q',
      '--separate-git-dir',
      join(box.folder, 'elsewhere.git'),
      origin,
      'apart',
    ]);
    const outer = box.init('outer');
    box.git(outer, ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', origin, 'inner']);
    const paths = ['bare.git', 'shallow', 'apart', 'outer/inner'].map((name) => join(box.folder, name));
    for (const path of paths) box.git(path, ['config', 'user.email', ME]);
    const got = await watch(paths).capture();
    expect(got.reason).to.equal(undefined);
    expect(got.events.map((event) => `${event.repo} ${event.detail?.['subject']}`).sort()).to.deep.equal([
      'apart new',
      'bare new',
      'inner new',
      'shallow new',
    ]);
  });

  it('reads an empty repository, and its first commits', async () => {
    const repo = box.init('app');
    const watched = watch([repo]);
    expect((await watched.capture()).state).to.equal('ok');
    box.commit(repo, { at: NOON, subject: 'first' });
    expect(await watched.subjects()).to.deep.equal(['first']);
  });

  it('counts an amended, rebased, squashed or picked commit once', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'base' });
    box.git(repo, ['checkout', '-q', '-b', 'topic']);
    box.commit(repo, { at: NOON + 1, subject: 'one' });
    box.commit(repo, { at: NOON + 2, subject: 'two' });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.have.length(3);

    box.git(
      repo,
      ['commit', '-q', '--amend', '--allow-empty', '-m', 'two, in better words'],
      dates(NOON + 100, NOON + 2),
    );
    expect(await watched.subjects()).to.deep.equal([]);
    box.git(repo, ['checkout', '-q', 'main']);
    box.commit(repo, { at: NOON + 101, subject: 'meanwhile', files: { a: 'text\n' } });
    box.git(repo, ['checkout', '-q', 'topic']);
    box.git(repo, ['rebase', '-q', '--keep-empty', 'main'], { GIT_COMMITTER_DATE: `@${NOON + 102} +0000` });
    expect(await watched.subjects()).to.deep.equal(['meanwhile']);
    box.git(repo, ['checkout', '-q', '-b', 'release', 'main~1']);
    box.git(repo, ['cherry-pick', '--allow-empty', 'main'], { GIT_COMMITTER_DATE: `@${NOON + 103} +0000` });
    expect(await watched.subjects()).to.deep.equal([]);
    box.git(repo, ['checkout', '-q', 'topic']);
    box.git(repo, ['reset', '-q', '--soft', 'HEAD~2']);
    box.git(repo, ['commit', '-q', '--allow-empty', '-C', 'ORIG_HEAD'], dates(NOON + 104, NOON + 2));
    expect(await watched.subjects()).to.deep.equal([]);
  });

  it('ignores commits before the first capture that are rebased or amended', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON - 900_000, subject: 'base' });
    for (let i = 0; i < 5; i += 1) box.commit(repo, { at: NOON - 604_800 + i, subject: `old ${i}` });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.deep.equal([]);
    box.git(repo, ['rebase', '-q', '--force-rebase', '--keep-empty', '--root'], {
      GIT_COMMITTER_DATE: `@${NOON} +0000`,
    });
    expect(await watched.subjects()).to.deep.equal([]);
    box.commit(repo, { at: NOON + 1, subject: 'new' });
    expect(await watched.subjects()).to.deep.equal(['new']);
  });

  it('names the patch of a commit, so that other machines tell commits of one second apart', async () => {
    const [first, second] = [box.init('first'), box.init('second')];
    const patches: unknown[] = [];
    const count = async (repo: string): Promise<void> => {
      const { events } = await watch([repo]).capture();
      for (const { detail } of events) patches.push(detail?.['patch']);
    };
    box.commit(first, { at: NOON, files: { log: 'x' } });
    box.commit(second, { at: NOON, files: { log: 'y' } });
    await count(first);
    await count(second);
    expect(new Set(patches)).to.have.length(2);
    // A pulled commit keeps its patch, also if it is rebased.
    const base = box.init('base');
    box.commit(base, { at: NOON - 90_000, files: { readme: 'z' } });
    box.git(base, ['fetch', '-q', first, 'main']);
    box.git(base, ['cherry-pick', 'FETCH_HEAD'], dates(NOON + 1, NOON));
    await count(base);
    expect(patches[2]).to.equal(patches[0]);
  });

  it('counts six commits in two seconds, also after an amend', async () => {
    const repo = box.init('app');
    for (let i = 0; i < 6; i += 1)
      box.commit(repo, {
        at: NOON + Math.floor(i / 3),
        subject: 'checkpoint',
        files: { log: 'x\n'.repeat(i) },
      });
    const watched = watch([repo]);
    const { events } = await watched.capture();
    const tally = recordTally('2026-03-10', {
      timezone: 'UTC',
      pollIntervalSec: 120,
      classify: () => ({ kind: 'neutral' }),
    });
    for (const event of events) tally.add(event, Date.parse(event.ts));
    expect(tally.result({ version: '', generatedAt: '', final: true }).commits.count).to.equal(6);
    // Once for all of them, to name their patches.
    expect(watched.runs.filter((line) => line.includes('diff-tree'))).to.have.length(1);
    box.git(repo, ['commit', '-q', '--amend', '--allow-empty', '-m', 'reworded'], dates(NOON + 9, NOON + 1));
    expect(await watched.subjects()).to.deep.equal([]);
    box.commit(repo, { at: NOON + 10, authoredAt: NOON + 1, subject: 'reworded' });
    expect(await watched.subjects()).to.deep.equal(['reworded']);
  });

  it('counts a pick as the same change, and other work of that second as new', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON - 9, subject: 'base', files: { a: 'a\n' } });
    const fix = box.commit(repo, { at: NOON, subject: 'fix', files: { b: 'b\n' } });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.have.length(2);
    box.git(repo, ['checkout', '-q', '-b', 'release', 'main~1']);
    box.commit(repo, { at: NOON + 1, subject: 'before it' });
    box.git(repo, ['cherry-pick', fix], { GIT_COMMITTER_DATE: `@${NOON + 2} +0000` });
    expect(await watched.subjects()).to.deep.equal(['before it']);
    box.git(repo, ['checkout', '-q', '-b', 'other', 'main~1']);
    box.commit(repo, { at: NOON + 3, authoredAt: NOON, subject: 'fix', files: { b: 'c\n' } });
    expect(await watched.subjects()).to.deep.equal(['fix']);
    // On top of its like: the file was taken back in between, and the same was done again.
    box.commit(repo, { at: NOON + 4, subject: 'back', args: ['-a'], files: { b: 'b\n' } });
    box.git(repo, ['checkout', '-q', 'main']);
    box.git(repo, ['rm', '-q', 'b']);
    box.commit(repo, { at: NOON + 5, authoredAt: NOON, subject: 'fix' });
    box.commit(repo, { at: NOON + 6, authoredAt: NOON, subject: 'fix', files: { b: 'b\n' } });
    expect(await watched.subjects()).to.deep.equal(['back', 'fix', 'fix']);
  });

  it('counts commits of one second as two changes when their patches are unreadable', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON - 9, subject: 'base' });
    const one = box.commit(repo, { at: NOON, subject: 'one', files: { a: 'a\n' } });
    box.git(repo, ['checkout', '-q', '-b', 'side', 'main~1']);
    const two = box.commit(repo, { at: NOON, subject: 'two', files: { b: 'b\n' } });
    const blob = box.git(repo, ['rev-parse', `${one}:a`]);
    rmSync(join(repo, '.git/objects', blob.slice(0, 2), blob.slice(2)), { force: true });
    const watched = watch([repo]);
    const { events, state, reason } = await watched.capture();
    expect({ state, reason }).to.deep.equal({ state: 'ok', reason: undefined });
    expect(events.map((event) => event.detail?.['sha'])).to.include.members([one, two]);
  });

  it('distinguishes commits of one second from rewritten ones', async () => {
    const repo = box.init('app');
    for (const subject of ['a', 'b', 'same', 'same']) box.commit(repo, { at: NOON, subject });
    box.git(repo, ['checkout', '-q', '-b', 'side', 'main~2']);
    box.commit(repo, { at: NOON, subject: 'on side' });
    const watched = watch([repo]);
    expect((await watched.subjects()).sort()).to.deep.equal(['a', 'b', 'on side', 'same', 'same']);
    box.commit(repo, { at: NOON, subject: 'after the capture' });
    expect(await watched.subjects()).to.deep.equal(['after the capture']);
    box.git(repo, ['commit', '-q', '--amend', '--allow-empty', '-m', 'reworded'], dates(NOON));
    box.commit(repo, { at: NOON, subject: 'on top of it' });
    expect(await watched.subjects()).to.deep.equal(['on top of it']);
    box.git(repo, ['commit', '-q', '--amend', '--allow-empty', '-m', 'in another capture'], dates(NOON));
    expect(await watched.subjects()).to.deep.equal([]);
    box.commit(repo, { at: NOON, subject: 'and on' });
    expect(await watched.subjects()).to.deep.equal(['and on']);
  });

  it('distinguishes commits rebased onto an uncaptured commit of their second', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON - 9, subject: 'base' });
    box.git(repo, ['checkout', '-q', '-b', 'topic']);
    for (const name of ['a', 'b'])
      box.commit(repo, { at: NOON, subject: name, files: { [name]: `${name}\n` } });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.deep.equal(['base', 'a', 'b']);
    box.git(repo, ['checkout', '-q', 'main']);
    box.commit(repo, { at: NOON, subject: 'below', files: { c: 'c\n' } });
    box.git(repo, ['rebase', '-q', 'main', 'topic'], { GIT_COMMITTER_DATE: `@${NOON + 5} +0000` });
    expect(await watched.subjects()).to.deep.equal(['below']);
    expect(await watched.subjects()).to.deep.equal([]);
  });

  it('counts a merge once, and all commits of a late merge', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'base' });
    const clone = join(box.folder, 'clone');
    box.git(box.folder, ['clone', '-q', repo, clone]);
    box.commit(clone, { at: NOON + 1, subject: 'offline 1' });
    box.commit(clone, { at: NOON + 2, subject: 'offline 2' });
    box.commit(repo, { at: NOON + 50, subject: 'here' });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.deep.equal(['base', 'here']);
    box.git(repo, ['fetch', '-q', clone, 'main']);
    expect(await watched.subjects()).to.deep.equal([]);
    box.git(repo, ['merge', '-q', '--no-ff', '-m', 'merge', 'FETCH_HEAD'], dates(NOON + 60));
    expect(await watched.subjects()).to.deep.equal(['offline 1', 'offline 2', 'merge']);
    expect(await watched.subjects()).to.deep.equal([]);
  });

  it('recognizes a deleted and restored branch, and a forced one', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'base' });
    box.git(repo, ['checkout', '-q', '-b', 'topic']);
    const sha = box.commit(repo, { at: NOON + 1, subject: 'topic' });
    const backup = join(box.folder, 'backup');
    box.git(box.folder, ['clone', '-q', '--bare', repo, backup]);
    const watched = watch([repo]);
    expect(await watched.subjects()).to.deep.equal(['base', 'topic']);
    box.git(repo, ['checkout', '-q', 'main']);
    box.git(repo, ['branch', '-q', '-D', 'topic']);
    expect(await watched.subjects()).to.deep.equal([]);
    box.git(repo, ['branch', 'topic', sha]);
    expect(await watched.subjects()).to.deep.equal([]);
    box.git(repo, ['branch', '-q', '-D', 'topic']);
    box.git(repo, ['reflog', 'expire', '--expire=now', '--all']);
    box.git(repo, ['gc', '-q', '--prune=now']);
    box.commit(repo, { at: NOON + 9, subject: 'next' });
    expect(await watched.subjects()).to.deep.equal(['next']);
    box.git(repo, ['fetch', '-q', backup, 'topic:topic']);
    expect(await watched.subjects()).to.deep.equal([]);
    box.git(repo, ['update-ref', 'refs/heads/main', 'refs/heads/topic']);
    box.git(repo, ['reflog', 'expire', '--expire=now', '--all']);
    box.git(repo, ['gc', '-q', '--prune=now']);
    box.commit(repo, { at: NOON + 20, subject: 'after the force' });
    expect(await watched.subjects()).to.deep.equal(['after the force']);
  });

  it('loses no commit made during a scan', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'before' });
    let made = 0;
    const watched = watch([repo], {
      before: (line) => {
        if (/ (?:cat-file|log) /.test(line))
          box.commit(repo, { at: NOON + ++made, subject: `during ${made}` });
      },
    });
    const found: string[] = [];
    for (let i = 0; i < 4; i += 1) found.push(...(await watched.subjects()));
    expect(made).to.be.greaterThan(6);
    const last = made;
    const quiet = watch([repo]);
    quiet.cursor = watched.cursor;
    found.push(...(await quiet.subjects()));
    expect(found).to.deep.equal(['before', ...Array.from({ length: last }, (_, i) => `during ${i + 1}`)]);
  });

  it('counts the configured authors', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'mine', email: ME.toUpperCase() });
    box.commit(repo, { at: NOON + 1, subject: 'hers', email: OTHER });
    box.commit(repo, { at: NOON + 2, subject: 'like mine', email: `x${ME}` });
    const subjects = async (authors: 'mine' | 'all' | string[]): Promise<string[]> => {
      const watched = watch([repo]);
      watched.config.git.authors = authors;
      const first = await watched.subjects();
      box.commit(repo, { at: NOON + 3, subject: 'mine 2', email: ME.toUpperCase() });
      box.commit(repo, { at: NOON + 4, subject: 'hers 2', email: OTHER });
      const all = [...first, '|', ...(await watched.subjects())];
      box.git(repo, ['reset', '-q', '--hard', 'HEAD~2']);
      return all;
    };
    expect(await subjects('mine')).to.deep.equal(['mine', '|', 'mine 2']);
    expect(await subjects([OTHER.toUpperCase()])).to.deep.equal(['hers', '|', 'hers 2']);
    expect(await subjects('all')).to.deep.equal(['mine', 'hers', 'like mine', '|', 'mine 2', 'hers 2']);
    box.git(repo, ['config', '--unset', 'user.email']);
    expect(await subjects('mine')).to.deep.equal(['mine', 'hers', 'like mine', '|', 'mine 2', 'hers 2']);
    writeFileSync(join(box.folder, 'gitconfig'), `[user]\n\temail = ${OTHER}\n`);
    expect(await subjects('mine')).to.deep.equal(['hers', '|', 'hers 2']);
  });

  it('handles odd subjects, names and dates', async () => {
    const repo = box.init('app');
    const raw = (fields: {
      author?: string;
      committer?: string;
      message: string | Buffer;
      encoding?: string;
    }): void => {
      const head = box.git(repo, ['rev-parse', '--verify', '-q', 'HEAD']);
      const lines = [
        `tree ${box.git(repo, ['rev-parse', 'HEAD^{tree}'])}`,
        `parent ${head}`,
        `author ${fields.author ?? `Me <${ME}> ${NOON} +0000`}`,
        `committer ${fields.committer ?? `Me <${ME}> ${NOON} +0000`}`,
        ...(fields.encoding === undefined ? [] : [`encoding ${fields.encoding}`]),
        '',
        '',
      ].join('\n');
      const sha = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], {
        cwd: repo,
        env: box.env,
        input: Buffer.concat([Buffer.from(lines), Buffer.from(fields.message)]),
        encoding: 'utf8',
      }).trim();
      box.git(repo, ['update-ref', 'HEAD', sha]);
    };
    const at = (seconds: number | string): string => `Me <${ME}> ${seconds} +0000`;
    box.commit(repo, { at: NOON - 1, subject: 'base' });
    const watched = watch([repo]);
    await watched.capture();
    raw({ author: at(NOON), message: Buffer.from('caf\xe9\n', 'latin1'), encoding: 'ISO-8859-1' });
    raw({ author: at(NOON + 1), message: Buffer.from([0x66, 0xff, 0xfe, 0x0a]) });
    raw({ author: at(NOON + 2), message: '' });
    raw({ author: at(NOON + 3), message: '\u001b]0;evil\u0007red \u001b[31mtext\u202e\n\nbody' });
    raw({ author: at(NOON + 4), message: `${'long '.repeat(500_000)}\n` });
    raw({ author: at(NOON + 5), message: `${'\u{1f600}'.repeat(150)}\n` });
    raw({ author: `"; rm -rf / %x00 <<${ME}> ${NOON + 6} +0000`, message: 'odd name' });
    raw({ author: at('-5'), message: 'negative author date' });
    raw({ author: at('99999999999999999999'), message: 'huge author date' });
    raw({ author: at(NOON + 7), committer: at('99999999999999999999'), message: 'huge date' });
    raw({ author: at(NOON + 8), committer: at('-77'), message: 'negative date' });
    raw({ author: at(NOON + 9), committer: at('soon'), message: 'no date' });
    raw({ author: at(NOON + 10), committer: at(NOON + 10 * 365 * 86_400), message: 'in ten years' });
    const nowMs = (NOON + 3600) * 1000;
    const got = await watched.capture({ nowMs });
    expect(got.state).to.equal('ok');
    const seen = got.events.map((event) => String(event.detail?.['subject']));
    expect(seen).to.include.members([
      'caf\u00e9',
      '',
      'red text',
      'negative author date',
      'huge author date',
    ]);
    expect(seen).to.include('in ten years');
    expect(seen).to.not.include('negative date');
    expect(seen.some((subject) => subject.startsWith('long long') && subject.length <= 200)).to.equal(true);
    expect(seen.some((subject) => /^\u{1f600}{50,100}$/u.test(subject.replace(/\.\.$/, '')))).to.equal(true);
    for (const event of got.events) {
      expect(Date.parse(event.ts)).to.be.within(DAY, nowMs);
      expect(String(event.detail?.['authoredAt'])).to.match(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
    }
    expect((await watched.capture()).events).to.deep.equal([]);
  });

  it('starts nothing for unchanged refs', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON });
    // A clock far ahead: the files count as settled.
    const clock = { now: () => Date.now() + 60_000, monotonic: () => performance.now() };
    const watched = watch([repo], { clock });
    await watched.capture();
    watched.runs.length = 0;
    expect(await watched.subjects()).to.deep.equal([]);
    expect(watched.runs).to.deep.equal([]);
    const changes: [string, () => void][] = [
      ['a commit', () => box.commit(repo, { at: NOON + 1 })],
      ['a branch', () => box.git(repo, ['branch', 'a/b/c'])],
      ['packing', () => box.git(repo, ['pack-refs', '--all'])],
      ['a checkout', () => box.git(repo, ['checkout', '-q', 'a/b/c'])],
      [
        'a ref written in place',
        () => writeFileSync(join(repo, '.git/refs/heads/main'), `${box.git(repo, ['rev-parse', 'main'])}\n`),
      ],
      ['a worktree', () => box.git(repo, ['worktree', 'add', '-q', '--detach', join(box.folder, 'wt')])],
      ['a commit in it', () => box.commit(join(box.folder, 'wt'), { at: NOON + 2 })],
      ['its end', () => box.git(repo, ['worktree', 'remove', '--force', join(box.folder, 'wt')])],
      ['a branch without a checkout', () => box.git(repo, ['branch', 'd', 'HEAD~1'])],
      ['a branch in an old folder', () => box.git(repo, ['branch', 'a/b/e', 'HEAD~1'])],
    ];
    for (const [name, change] of changes) {
      change();
      watched.runs.length = 0;
      await watched.capture();
      expect(watched.runs, name).to.not.deep.equal([]);
      watched.runs.length = 0;
      await watched.capture();
      expect(watched.runs, `after ${name}`).to.deep.equal([]);
    }
  });

  it('reads another repository under the same path', async () => {
    const repo = box.init('app');
    const other = box.init('other');
    box.commit(repo, { at: NOON, subject: 'one' });
    box.commit(other, { at: NOON + 1, subject: 'another' });
    const clock = { now: () => Date.now() + 60_000, monotonic: () => performance.now() };
    const watched = watch([repo], { clock });
    for (let i = 0; i < 2; i += 1) await watched.capture();
    renameSync(join(repo, '.git'), join(repo, 'git-before'));
    renameSync(join(other, '.git'), join(repo, '.git'));
    expect(await watched.subjects()).to.deep.equal(['another']);
  });

  it('does not trust files that have just changed', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON });
    const watched = watch([repo]);
    await watched.capture();
    watched.runs.length = 0;
    await watched.capture();
    expect(watched.runs).to.not.deep.equal([]);
  });

  it('remembers a repository that is away, broken, renamed or unwatched', async () => {
    const repo = box.init('app');
    const away = join(box.folder, 'away');
    const well = box.init('well');
    box.commit(repo, { at: NOON, subject: 'a' });
    const watched = watch([repo, well]);
    expect(await watched.subjects()).to.deep.equal(['a']);
    renameSync(repo, away);
    box.commit(away, { at: NOON + 1, subject: 'b' });
    box.commit(well, { at: NOON + 1, subject: 'w' });
    const without = await watched.capture();
    expect(without.state).to.equal('ok');
    expect(without.reason).to.contain(repo).and.to.contain('1 of 2');
    expect(without.events.map((event) => event.repo)).to.deep.equal(['well']);
    const later = DAY + 9 * 86_400_000;
    await watched.capture({ nowMs: later + 1, dayStartMs: later });
    renameSync(away, repo);
    expect(await watched.subjects({ nowMs: later + 2, dayStartMs: later })).to.deep.equal(['b']);

    renameSync(join(repo, '.git/HEAD'), join(repo, '.git/HEAD.gone'));
    box.commit(well, { at: NOON + 2, subject: 'w2' });
    expect(await watched.subjects()).to.deep.equal(['w2']);
    renameSync(join(repo, '.git/HEAD.gone'), join(repo, '.git/HEAD'));
    box.commit(repo, { at: NOON + 3, subject: 'c' });
    expect(await watched.subjects()).to.deep.equal(['c']);

    renameSync(repo, away);
    watched.config.repos.splice(0, 1, away);
    box.commit(away, { at: NOON + 4, subject: 'd' });
    expect(await watched.subjects()).to.deep.equal(['d']);
    watched.config.repos.splice(0, 1);
    expect(await watched.subjects()).to.deep.equal([]);
    watched.config.repos.push(away);
    expect(await watched.subjects()).to.deep.equal([]);
  });

  it('counts nothing twice after a new clone or a replacement', async () => {
    const origin = box.init('origin');
    box.commit(origin, { at: NOON, subject: 'a' });
    const repo = join(box.folder, 'app');
    const clone = (): void => {
      box.git(box.folder, ['clone', '-q', origin, repo]);
      box.git(repo, ['config', 'user.email', ME]);
    };
    clone();
    const watched = watch([repo]);
    box.commit(repo, { at: NOON + 1, subject: 'never pushed' });
    expect(await watched.subjects()).to.deep.equal(['a', 'never pushed']);
    rmSync(repo, { recursive: true });
    box.commit(origin, { at: NOON + 2, subject: 'b' });
    clone();
    expect(await watched.subjects()).to.deep.equal(['b']);
    rmSync(repo, { recursive: true });
    box.init('app');
    const month = 30 * 86_400;
    for (let i = 1; i < 20; i += 1) box.commit(repo, { at: NOON + i * 86_400, subject: `other ${i}` });
    box.commit(repo, { at: NOON + month, subject: 'other, today' });
    // It was last looked at on the day before this one.
    const nowMs = DAY + month * 1000;
    const stored = watched.cursor as { repositories: Record<string, { scannedMs: number }> };
    for (const memory of Object.values(stored.repositories)) memory.scannedMs = nowMs - 86_400_000;
    expect(await watched.subjects({ nowMs: nowMs + 50_000_000, dayStartMs: nowMs })).to.deep.equal([
      'other, today',
    ]);
  });

  it('starts over with an invalid cursor', async () => {
    const repo = box.init('app');
    box.commit(repo, { at: NOON, subject: 'a' });
    const bad = [
      null,
      7,
      'x',
      [],
      {},
      { version: 1 },
      { version: 1, repositories: [] },
      { version: 99, repositories: {} },
    ];
    const tips = { [join(repo, '.git')]: { tips: ['--output=/tmp/x'] } };
    for (const cursor of [...bad, { version: 1, repositories: tips }]) {
      const watched = watch([repo]);
      watched.cursor = cursor;
      expect(await watched.subjects(), JSON.stringify(cursor)).to.deep.equal(['a']);
    }
  });

  it('reports no repositories, missing ones, and a missing git', async () => {
    expect(await watch([]).capture()).to.include({ state: 'idle' });
    mkdirSync(join(box.folder, 'plain'));
    const none = await watch([join(box.folder, 'plain'), 'relative/path']).capture();
    expect(none.state).to.equal('error');
    const repo = box.init('app');
    const missing = await watch([repo], { env: { PATH: join(box.folder, 'empty') } }).capture();
    expect(missing.state).to.equal('unsupported');
    expect(missing.reason).to.contain('Install git');
  });

  it('bounds its cursor', async () => {
    const repo = box.init('app');
    const lines: string[] = [];
    for (let i = 1; i <= 900; i += 1) {
      lines.push(`commit refs/heads/${i <= 600 ? 'main' : `b${i}`}`);
      lines.push(`author Me <${ME}> ${NOON + i} +0000`, `committer Me <${ME}> ${NOON + i} +0000`);
      lines.push('data 1', 'x', '');
    }
    execFileSync('git', ['fast-import', '--quiet'], { cwd: repo, env: box.env, input: lines.join('\n') });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.have.length(900);
    expect(JSON.stringify(watched.cursor).length).to.be.lessThan(30_000);
    expect(await watched.subjects()).to.deep.equal([]);
    box.commit(repo, { at: NOON + 901, subject: 'one more' });
    expect(await watched.subjects()).to.deep.equal(['one more']);
    expect(await watched.subjects()).to.deep.equal([]);
  });

  it('recognizes a restored branch by its tip without identities', async () => {
    const repo = box.init('app');
    const lines = Array.from({ length: 600 }, (_, i) => {
      const who = `Me <${ME}> ${NOON + i} +0000`;
      return `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata 1\nx\n`;
    });
    execFileSync('git', ['fast-import', '--quiet'], { cwd: repo, env: box.env, input: lines.join('') });
    const watched = watch([repo]);
    expect(await watched.subjects()).to.have.length(600);
    const behind = { nowMs: DAY - 3 * 86_400_000 + 1, dayStartMs: DAY - 3 * 86_400_000 };
    expect(await watched.subjects(behind), 'with a clock that is behind').to.deep.equal([]);
    expect(await watched.subjects(), 'when the clock is back').to.deep.equal([]);
    const sha = box.git(repo, ['rev-parse', 'main']);
    box.git(repo, ['checkout', '-q', '-b', 'start', 'main~590']);
    box.git(repo, ['branch', '-q', '-D', 'main']);
    expect(await watched.subjects()).to.deep.equal([]);
    box.git(repo, ['branch', 'main', sha]);
    expect(await watched.subjects()).to.deep.equal([]);
  });
});
