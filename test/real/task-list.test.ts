import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { LANES } from '../../src/lib/config/schema';
import { run } from '../../src/lib/platform/process/process';
import { toItem } from '../../src/lib/work/board';
import { STATUSES } from '../../src/lib/work/label';
import {
  sectionOf,
  SECTIONS,
  taskList,
  regenerateTaskList,
  type TaskListResult,
} from '../../src/lib/work/task-list';
import type { Issue } from '../../src/lib/work/issue';
import { startGitHttp, type GitHttp, bareEnvironment } from '../helpers/git';
import { startGitHub, type GitHub } from '../helpers/github';
import { rejection } from '../helpers/errors';
import { scratch } from '../helpers/scratch';
import { readyWorld, type WorkWorld } from '../helpers/work';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const HEAD = ['# Tasks', ''];

const anyIssue = fc.record({
  number: fc.integer({ min: 1, max: 5000 }),
  title: fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant('[Core] x [slug:y]\n## Blocked')),
  url: fc.oneof(
    fc.constant('https://github.com/ann/work/issues/1'),
    fc.constant('javascript:x) <b>'),
    fc.string(),
  ),
  state: fc.constantFrom('open' as const, 'closed' as const),
  labels: fc.uniqueArray(
    fc.constantFrom(
      ...STATUSES.map((s) => `Status:${s}`),
      'Type:reminder',
      'Type:project',
      'P1',
      'Agent:kai',
      'stale',
    ),
  ),
  days: fc.integer({ min: 0, max: 40 }),
});
type Some = typeof anyIssue extends fc.Arbitrary<infer T> ? T : never;

function issueOf({ days, ...some }: Some): Issue {
  const at = new Date(NOW - days * 86_400_000).toISOString();
  return {
    ...some,
    stateReason: null,
    createdAt: at,
    updatedAt: at,
    closedAt: some.state === 'closed' ? at : null,
    identity: null,
    due: null,
  };
}

describe('work: task list', () => {
  const items = fc
    .uniqueArray(anyIssue, { selector: ({ number }) => number, maxLength: 80 })
    .map((list) => list.map((some) => toItem(issueOf(some), LANES)));

  it('lists each open issue once, in one section, whatever its content', () => {
    fc.assert(
      fc.property(items, (list) => {
        const text = taskList(list, { repo: 'ann/work', nowMs: NOW });
        const lines = text.split('\n');
        expect(lines.slice(0, 2)).to.deep.equal(HEAD);
        expect(lines.filter((line) => line.startsWith('## '))).to.deep.equal(
          SECTIONS.map((name) => `## ${name}`),
        );
        const shown = lines.flatMap((line) => /^- \[[ x]\] \[?#(\d+)/.exec(line)?.[1] ?? []).map(Number);
        expect(new Set(shown).size, 'none twice').to.equal(shown.length);
        for (const item of list.filter(({ state }) => state === 'open'))
          expect(shown).to.include(item.number);
        expect(lines.filter((line) => line.startsWith('- [x]')).length).to.be.at.most(30);
        expect(text).not.to.match(/javascript:|<b>|[\u0000-\u0009\u000b-\u001f\u202e]/);
      }),
    );
  });

  it('creates no link or mention from a title', () => {
    const title = 'ask @ann about #1 at https://example.com and www.example.com';
    const some = { number: 1, title, url: 'https://github.com/ann/work/issues/1', state: 'open', labels: [], days: 0 } as const; // prettier-ignore
    const text = taskList([toItem(issueOf({ ...some, labels: [] }), LANES)], {
      repo: 'ann/work',
      nowMs: NOW,
    });
    expect(text).to.include('ask \\@ann about \\#1 at https:\\//example.com and www\\.example.com');
  });

  it('has the same bytes for the same issues in any order', () => {
    fc.assert(
      fc.property(items, fc.infiniteStream(fc.integer()), (list, order) => {
        const keys = new Map(list.map((item) => [item, order.next().value as number]));
        const mixed = [...list].sort((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0));
        const options = { repo: 'ann/work', nowMs: NOW };
        expect(taskList(mixed, options)).to.equal(taskList(list, options));
      }),
    );
  });

  it('uses the first matching section, in the documented order', () => {
    const section = (days: number, state: 'open' | 'closed', ...labels: string[]) =>
      sectionOf(toItem(issueOf({ number: 1, title: 'x', url: '', state, labels, days }), LANES), NOW);
    expect(section(0, 'open', 'Status:blocked', 'Type:reminder')).to.equal('Blocked');
    expect(section(0, 'open', 'Status:needs-human')).to.equal('Blocked');
    expect(section(0, 'open', 'Status:in-progress', 'Type:project')).to.equal('Active');
    expect(section(0, 'open', 'Status:in-review')).to.equal('Active');
    expect(section(0, 'open', 'Status:ready', 'Type:reminder')).to.equal('Reminders');
    expect(section(0, 'open', 'Status:ready', 'Type:project')).to.equal('Projects');
    expect(section(0, 'open', 'Status:ready')).to.equal('Triaged');
    expect(section(0, 'open')).to.equal('Queued');
    expect(section(30, 'open', 'Status:done')).to.equal('Recently Completed');
    expect([section(13, 'closed'), section(15, 'closed')]).to.deep.equal(['Recently Completed', undefined]);
  });

  describe('in a real repository', function () {
    this.timeout(120_000);
    const box = scratch();
    let github: GitHub;
    let world: WorkWorld;
    let http: GitHttp;
    const AUTH = 'Basic c2VjcmV0';
    beforeEach(async () => {
      github = await startGitHub({ labels: true });
      world = await readyWorld(github);
      mkdirSync(box.path('ann'));
      git('init', '-q', '--bare', '-b', 'main', box.path('ann', 'work.git'));
      http = await startGitHttp(box.path(), AUTH);
      await github.api('POST', '/repos/ann/work/issues', { title: 'First', labels: ['Status:ready'] });
    });
    afterEach(async () => {
      await http.close();
      world.remove();
      await github.close();
    });

    const git = (...args: string[]): string => {
      const result = spawnSync('git', args, { env: bareEnvironment(box.path()), encoding: 'utf8' });
      if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
      return result.stdout.trim();
    };
    const bare = (...args: string[]): string => git('-C', box.path('ann', 'work.git'), ...args);
    const clone = (): string => join(world.at.area.machine, 'tasklist');
    const file = (): string => join(world.at.area.work.tasklist, 'TASKLIST.md');
    const regenerated = (push = true) =>
      regenerateTaskList(
        {
          ...world.deps,
          workRepo: world.deps.workRepo,
          git: { run, env: bareEnvironment(box.path()), timeoutMs: 60_000 },
          remote: () =>
            Promise.resolve({
              url: `${http.url}/ann/work.git`,
              protocol: 'http',
              credential: { authorization: AUTH },
            }),
        },
        { push },
      );
    const regenerate = async (push?: boolean): Promise<TaskListResult> => (await regenerated(push)).result;
    const pushed = (): string => bare('show', 'main:TASKLIST.md');
    const local = (): string => readFileSync(file(), 'utf8').trim();

    it('commits and pushes changes, also as the first commit; no change makes no commit', async () => {
      expect(await regenerate()).to.deep.include({
        changed: true,
        committed: true,
        pushed: true,
        reason: null,
      });
      expect(pushed()).to.equal(local());
      expect(pushed()).to.include('First');
      expect(await regenerate()).to.deep.include({
        changed: false,
        committed: false,
        pushed: false,
        reason: null,
      });
      await github.api('POST', '/repos/ann/work/issues', { title: 'Second' });
      expect(await regenerate()).to.deep.include({ committed: true, pushed: true });
      expect(bare('rev-list', '--count', 'main')).to.equal('2');
      // The credential came by its header, and lies in no file of the clone.
      expect(new Set(http.seen)).to.deep.equal(new Set([AUTH]));
      expect(readFileSync(join(clone(), '.git', 'config'), 'utf8')).not.to.match(/c2VjcmV0|127\.0\.0\.1/);
    });

    it("continues on the repository's default or existing branch", async () => {
      const seed = (branch: string): void => {
        git('init', '-q', '-b', branch, box.path('seed'));
        git('-C', box.path('seed'), '-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'x'); // prettier-ignore
        git('-C', box.path('seed'), 'push', '-q', box.path('ann', 'work.git'), branch);
      };
      seed('trunk');
      expect(await regenerate()).to.deep.include({ pushed: true });
      expect(bare('show', 'trunk:TASKLIST.md')).to.equal(local());
      bare('symbolic-ref', 'HEAD', 'refs/heads/trunk');
      await github.api('POST', '/repos/ann/work/issues', { title: 'More' });
      expect(await regenerate()).to.deep.include({ pushed: true });
      expect(bare('rev-list', '--count', 'trunk')).to.equal('3');
    });

    it('only writes the file without --commit-push', async () => {
      expect(await regenerate(false)).to.deep.include({ changed: true, committed: false, pushed: false });
      expect(http.seen).to.deep.equal([]);
      expect(local()).to.include('First');
    });

    it('repairs a diverged remote, a dirty clone, a damaged one and a deleted one', async () => {
      await regenerate();
      git('clone', '-q', box.path('ann', 'work.git'), box.path('mine'));
      writeFileSync(box.path('mine', 'notes.txt'), 'mine');
      const mine = ['-C', box.path('mine'), '-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'];
      git(...mine, 'add', '.');
      git(...mine, 'commit', '-q', '-m', 'Notes');
      git(...mine, 'commit', '-q', '--amend', '-m', 'Notes, again');
      git(...mine, 'push', '-q', '--force');
      const spoil: (() => void)[] = [
        () => undefined,
        () => {
          writeFileSync(file(), 'by hand');
          writeFileSync(join(clone(), 'stray.txt'), 'x');
        },
        () => writeFileSync(join(clone(), '.git', 'HEAD'), 'nonsense'),
        () => rmSync(join(clone(), '.git'), { recursive: true }),
        () => rmSync(clone(), { recursive: true }),
      ];
      for (const [round, harm] of spoil.entries()) {
        harm();
        await github.api('POST', '/repos/ann/work/issues', { title: `Round ${round}` });
        expect(await regenerate(), `round ${round}`).to.deep.include({ pushed: true, reason: null });
        expect(pushed()).to.include(`Round ${round}`).and.to.equal(local());
        expect(bare('show', 'main:notes.txt')).to.equal('mine');
        expect(existsSync(join(clone(), 'stray.txt'))).to.equal(false);
      }
    });

    it('updates the local file if the push fails, explains why, and retries', async () => {
      await regenerate();
      await github.api('POST', '/repos/ann/work/issues', { title: 'Later' });
      writeFileSync(box.path('ann', 'work.git', 'hooks', 'pre-receive'), '#!/bin/sh\nexit 1\n', {
        mode: 0o755,
      });
      const refused = await regenerate();
      expect(refused).to.deep.include({ changed: true, committed: true, pushed: false });
      expect(refused.reason).to.match(/^git push failed: .*pre-receive/);
      expect(local()).to.include('Later');
      rmSync(box.path('ann', 'work.git', 'hooks', 'pre-receive'));
      http.refuse = 503;
      const away = await regenerated();
      expect(away.result).to.deep.include({ committed: false, pushed: false });
      expect(away.result.reason).to.match(/git could not read the repository: .*503/);
      expect(away.trouble).to.include({ kind: 'unavailable', message: away.result.reason });
      http.refuse = 401;
      const unsigned = await regenerated();
      expect(unsigned.result.reason).to.match(/: the server rejected the credential$/);
      expect(unsigned.trouble?.kind).to.equal('auth');
      expect(unsigned.trouble?.hint).to.match(/^The local file is up to date\. Run `gh auth login`/);
      http.refuse = undefined;
      expect(await regenerate()).to.deep.include({ committed: true, pushed: true });
      expect(pushed()).to.include('Later');
    });

    it('executes nothing from the repository', async () => {
      await regenerate();
      const mark = box.path('executed');
      const hooks = join(clone(), '.git', 'hooks');
      mkdirSync(hooks, { recursive: true });
      for (const name of ['pre-commit', 'post-checkout', 'pre-push', 'commit-msg'])
        writeFileSync(join(hooks, name), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
      git('-C', clone(), 'config', 'core.fsmonitor', `touch ${mark}`);
      git('-C', clone(), 'config', 'core.sshCommand', `touch ${mark}`);
      await github.api('POST', '/repos/ann/work/issues', { title: 'Again' });
      expect(await regenerate()).to.deep.include({ pushed: true });
      expect(existsSync(mark)).to.equal(false);
    });

    it('writes no list for a repository that was never read', async () => {
      github.fault = () => 'reset';
      rmSync(world.at.area.work.poll);
      expect((await rejection(regenerate(false))).kind).to.equal('unavailable');
      expect(existsSync(file())).to.equal(false);
    });
  });
});
