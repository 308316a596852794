import { execFileSync } from 'node:child_process';

import { expect } from 'chai';

import { dates, gitBox, ME, OTHER } from './git';
import { DAY, NOON, watchGit } from './git-watch';

/**
 * A random history with captures between its steps: bursts of one second, empty commits, amended, rebased, picked,
 * merged and dropped ones. Each change has been reported exactly once at the end, as `gitOracle` counts changes. With
 * `settled` the clock is ahead, so that files which changed just now are trusted and the short looks are taken.
 */
export async function checkRandomHistory(seed: number, steps: number, settled = false): Promise<void> {
  const random = generator(seed);
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const box = gitBox();
  const done: string[] = [];
  try {
    const repo = box.init('app');
    const peer = box.init('peer');
    const oracle = gitOracle(repo, box.env);
    let second = NOON;
    let authored = NOON - 1_000_000;
    let name = 0;
    const commit = (where: string, at: number = second, email = random() < 0.8 ? ME : OTHER): void => {
      authored += 1;
      const files = { [`f${authored}`]: `${authored}\n` };
      box.commit(where, { at, authoredAt: authored, email, subject: `c${authored}`, files });
    };
    // A file that goes on and off gives the same patch again; every fourth commit is empty.
    const burst = (): void => {
      authored += 1;
      const count = 2 + Math.floor(random() * 4);
      for (let i = 0; i < count; i += 1) {
        const files = random() < 0.25 ? {} : { toggled: i % 2 === 0 ? `${authored}\n` : 'off\n' };
        box.commit(repo, { at: second, authoredAt: authored, email: ME, subject: 'checkpoint', files });
      }
    };
    const git = (...args: string[]): string => {
      authored += 1;
      return box.git(repo, args, dates(second, authored));
    };
    const branches = (): string[] =>
      git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
    const others = (): string[] => {
      const head = git('rev-parse', '--abbrev-ref', 'HEAD');
      return branches().filter((branch) => branch !== head);
    };

    for (let i = 0; i < 4; i += 1) commit(repo, DAY / 1000 - 90_000 + i * 40_000);
    commit(peer, DAY / 1000 + 5);
    let during = false;
    const meanwhile = new Set<number>();
    const watched = watchGit([repo], {
      env: box.env,
      ...(settled ? { clock: { now: () => Date.now() + 60_000, monotonic: () => performance.now() } } : {}),
      before: () => {
        if (!during || random() >= 0.15) return;
        commit(repo);
        meanwhile.add(authored);
      },
    });
    const identities: string[] = [];
    const reported: number[] = [];
    const capture = async (): Promise<void> => {
      oracle.look();
      const got = await watched.capture({ nowMs: second * 1000 });
      expect(got, got.reason).to.include({ state: 'ok' }).and.not.to.have.property('reason');
      for (const { detail } of got.events) {
        reported.push(Date.parse(String(detail?.['authoredAt'])) / 1000);
        identities.push(String(detail?.['identity']));
      }
    };
    const operations: Record<string, () => void | Promise<void>> = {
      commit: () => commit(repo),
      burst,
      burstAgain: burst,
      merge: () => void git('merge', '-q', '--no-ff', '-m', `merge ${authored}`, pick(branches()) ?? 'HEAD'),
      skewed: () => commit(repo, second - Math.floor(random() * 120_000)),
      amend: () => void git('commit', '-q', '--amend', '--allow-empty', '--no-edit'),
      branch: () => void git('checkout', '-q', '-b', `b${++name}`),
      detach: () => void git('checkout', '-q', '--detach'),
      checkout: () => void git('checkout', '-q', pick(others()) ?? 'HEAD'),
      rebase: () =>
        void git('rebase', '-q', '--keep-empty', '--reapply-cherry-picks', pick(branches()) ?? 'HEAD'),
      pick: () =>
        void git('cherry-pick', '--allow-empty', '--keep-redundant-commits', pick(branches()) ?? 'HEAD'),
      reset: () => void git('reset', '-q', '--hard', 'HEAD~1'),
      remove: () => {
        const other = pick(others());
        if (other !== undefined) git('branch', '-q', '-D', other);
      },
      collect: () => {
        git('reflog', 'expire', '--expire=now', '--all');
        git('gc', '-q', '--prune=now');
      },
      pack: () => void git('pack-refs', '--all'),
      fetch: () => {
        commit(peer, second - Math.floor(random() * 50_000));
        git('fetch', '-q', peer, `+main:peer${random() < 0.5 ? '' : ++name}`);
      },
      capture,
      captureMore: capture,
      captureWhileCommitting: async () => {
        during = true;
        await capture();
        during = false;
      },
    };
    for (let i = 0; i < steps; i += 1) {
      second += 1 + Math.floor(random() * 30);
      const chosen = pick(Object.keys(operations)) ?? 'commit';
      done.push(chosen);
      try {
        await operations[chosen]?.();
      } catch (error) {
        if (!(error instanceof Error && 'status' in error)) throw error;
        // Git refuses some: a pick of a merge, a rebase without a base, a reset of a root, a fetch into HEAD.
        done.push('(refused)');
        abandon(git);
      }
    }
    second += 10;
    await capture();
    // Whether a capture saw what was made while it ran is open.
    const settledOnes = (seconds: readonly number[]): number[] =>
      seconds.filter((at) => !meanwhile.has(at)).sort((a, b) => a - b);
    expect(settledOnes(reported)).to.deep.equal(settledOnes(oracle.expected));
    const timesIn = (seconds: readonly number[], at: number): number =>
      seconds.filter((other) => other === at).length;
    // A later pick of such a commit may count as another change.
    for (const at of meanwhile)
      expect(timesIn(reported, at)).to.be.at.most(Math.max(1, timesIn(oracle.expected, at)));
    expect(new Set(identities).size, 'identities').to.equal(reported.length);
    expect(reported.length).to.be.greaterThan(0);
  } catch (error) {
    if (error instanceof Error) error.message = `seed ${seed}: ${error.message}\nafter ${done.join(', ')}`;
    throw error;
  } finally {
    box.remove();
  }
}

/**
 * What has to be reported, one author second for each change: at every look, a commit that is reachable now and was
 * not before is a new change, unless it has the author second of one whose commits are all unreachable, or of one
 * that holds its patch id and none of its ancestors or descendants.
 */
function gitOracle(repo: string, env: NodeJS.ProcessEnv): { look(): void; expected: number[] } {
  const git = (args: string[], input?: string): string =>
    execFileSync('git', args, {
      cwd: repo,
      env,
      encoding: 'utf8',
      ...(input === undefined ? {} : { input }),
    });
  const patchIds = new Map<string, string>();
  const patchIdOf = (sha: string): string => {
    const known =
      patchIds.get(sha) ??
      git(['patch-id', '--stable'], git(['diff-tree', '-p', '--root', sha])).split(' ')[0] ??
      '';
    patchIds.set(sha, known);
    return known;
  };
  const isAncestor = (a: string, b: string): boolean => git(['rev-list', b]).split('\n').includes(a);
  const looked = new Set<string>();
  const changes: { second: string; commits: string[] }[] = [];
  const expected: number[] = [];
  const look = (): void => {
    const isFirst = looked.size === 0;
    const lines = git(['log', '--reverse', '--topo-order', '--branches', 'HEAD', '--format=%H %ae %at %ct'])
      .trim()
      .split('\n');
    const rows = lines.map((line) => line.split(' ') as [string, string, string, string]);
    const mine = rows.filter(([, email]) => email === ME).sort((a, b) => Number(a[3]) - Number(b[3]));
    const reachable = new Set(mine.map(([sha]) => sha));
    const gone = changes.filter(({ commits }) => !commits.some((sha) => reachable.has(sha)));
    for (const [sha, , second, committed] of mine) {
      if (looked.has(sha)) continue;
      looked.add(sha);
      const alike = changes.filter((change) => change.second === second);
      const picked = alike.find(({ commits }) => {
        const held = commits.filter((other) => reachable.has(other));
        const hasPatch = patchIdOf(sha) !== '' && held.some((other) => patchIdOf(other) === patchIdOf(sha));
        return hasPatch && !held.some((other) => isAncestor(other, sha) || isAncestor(sha, other));
      });
      const rewritten = alike.find((change) => gone.includes(change));
      const known = picked ?? rewritten;
      if (known === undefined) {
        changes.push({ second, commits: [sha] });
        if (!isFirst || Number(committed) >= DAY / 1000) expected.push(Number(second));
        continue;
      }
      known.commits.push(sha);
      if (picked === undefined) gone.splice(gone.indexOf(known), 1);
    }
  };
  return { look, expected };
}

/** Ends whatever was left half done. */
function abandon(git: (...args: string[]) => string): void {
  for (const command of ['rebase', 'cherry-pick', 'merge']) {
    try {
      git(command, '--abort');
    } catch (error) {
      expect(error).to.have.property('status');
    }
  }
}

/** Mulberry32: numbers from 0 to 1, the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
