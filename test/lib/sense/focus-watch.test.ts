import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

import { watchFocus } from '../../../src/lib/sense/focus-watch';
import { terminal } from '../../../src/lib/sense/front-app/terminal';

describe('watchFocus', () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'steward-watch-'))));
  afterEach(() => rmSync(root, { recursive: true }));

  it('ends when it is closed before it has started to watch', async () => {
    let answer: (isWanted: boolean) => void = () => undefined;
    const problems: string[] = [];
    const watch = watchFocus({
      clock: { now: () => 1_800_000_000_000, monotonic: () => performance.now() },
      machineId: 'm',
      desktop: { platform: 'linux', env: {}, run: () => Promise.reject(new Error('nothing runs here')) },
      lease: join(root, 'focus.lock'),
      isWanted: () => new Promise((resolve) => (answer = resolve)),
      observe: () => Promise.resolve({ state: 'none' }),
      onProblem: (problem) => problems.push(problem),
      adapters: [{ ...terminal, detect: () => true }],
    });
    const closed = watch.close();
    answer(true);
    await closed;
    expect(watch.isLive()).to.equal(false);
    expect(problems).to.deep.equal([]);
  });
});
