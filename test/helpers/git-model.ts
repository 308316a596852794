import { expect } from 'chai';

import { dates, gitBox, ME, OTHER } from './git';
import { DAY, NOON, watchGit } from './git-watch';

/**
 * A random history with captures between its steps. Whatever was reachable by a capture, is mine, and was made
 * since the day of the first capture, has been reported exactly once at the end: by author date, as the
 * specification counts. Author dates are distinct here; commits of one second have their own test. With
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
    let second = NOON;
    let authored = NOON - 1_000_000;
    let name = 0;
    const commit = (where: string, at: number = second): void => {
      authored += 1;
      const email = random() < 0.8 ? ME : OTHER;
      box.commit(where, { at, authoredAt: authored, email, subject: `c${authored}` });
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
    // By author date, with the newest committer date under which it is reachable.
    const reachable = (): Map<number, number> => {
      const mine = new Map<number, number>();
      for (const line of git('log', '--branches', 'HEAD', '--format=%ae %at %ct').split('\n')) {
        const [email, at, committed] = line.split(' ');
        if (email !== ME) continue;
        mine.set(Number(at), Math.max(mine.get(Number(at)) ?? 0, Number(committed)));
      }
      return mine;
    };

    for (let i = 0; i < 4; i += 1) commit(repo, DAY / 1000 - 90_000 + i * 40_000);
    commit(peer, DAY / 1000 + 5);
    let during = false;
    const watched = watchGit([repo], {
      env: box.env,
      ...(settled ? { clock: { now: () => Date.now() + 60_000, monotonic: () => performance.now() } } : {}),
      before: () => {
        if (during && random() < 0.15) commit(repo);
      },
    });
    const before = new Set<number>();
    const expected = new Set<number>();
    const reported: number[] = [];
    const capture = async (): Promise<void> => {
      const first = watched.cursor === undefined;
      for (const [at, committed] of reachable()) {
        if (first && committed < DAY / 1000) before.add(at);
        else if (!before.has(at)) expected.add(at);
      }
      const got = await watched.capture({ nowMs: second * 1000 });
      expect(got, got.reason).to.include({ state: 'ok' }).and.not.to.have.property('reason');
      for (const event of got.events) reported.push(Date.parse(String(event.detail?.['authoredAt'])) / 1000);
    };
    const operations: Record<string, () => void | Promise<void>> = {
      commit: () => commit(repo),
      another: () => commit(repo),
      skewed: () => commit(repo, second - Math.floor(random() * 120_000)),
      amend: () => void git('commit', '-q', '--amend', '--allow-empty', '--no-edit'),
      branch: () => void git('checkout', '-q', '-b', `b${++name}`),
      detach: () => void git('checkout', '-q', '--detach'),
      checkout: () => void git('checkout', '-q', pick(others()) ?? 'HEAD'),
      merge: () => void git('merge', '-q', '--no-ff', '-m', `merge ${authored}`, pick(branches()) ?? 'HEAD'),
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
    const twice = reported.filter((at, i) => reported.indexOf(at) !== i);
    const missing = [...expected].filter((at) => !reported.includes(at));
    const old = reported.filter((at) => before.has(at));
    expect({ twice, missing, old }).to.deep.equal({ twice: [], missing: [], old: [] });
    expect(reported.length).to.be.greaterThan(0);
  } catch (error) {
    if (error instanceof Error) error.message = `seed ${seed}: ${error.message}\nafter ${done.join(', ')}`;
    throw error;
  } finally {
    box.remove();
  }
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
