import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { BIN, cleanEnv, emptyHome, steward } from '../helpers/cli';
import { until } from '../helpers/daemon';
import { startGitHub, type Fault, type GitHub } from '../helpers/github';
import { hookJson } from '../helpers/hooks';
import { issuesOf } from '../helpers/work-kill';

describe('crash: work capture by the hooks (built)', function () {
  this.timeout(180_000);
  let github: GitHub;
  let home: ReturnType<typeof emptyHome>;
  const env = (): Record<string, string> => ({ GITHUB_API_URL: github.url, GH_TOKEN: github.token });
  beforeEach(async () => {
    home = emptyHome();
    github = await startGitHub({ labels: true });
  });
  afterEach(async () => {
    home.remove();
    await github.close();
  });

  const done = async (...args: string[]): Promise<void> => {
    const { code, stderr } = await steward([...args, '--json'], { home: home.path, env: env() });
    expect(code, stderr).to.equal(0);
  };
  const titles = async (): Promise<string[]> =>
    (await issuesOf(github, 'ann/work')).map(({ title }) => title);

  it('each capture becomes exactly one issue, wherever it is killed', async () => {
    await done('work', 'setup', 'ann/work');
    const count = 6;
    for (let index = 0; index < count; index += 1) {
      // Nobody sends them yet: what is started by the hook finds no service.
      const input = hookJson('prompt', { cwd: home.path, prompt: `remind me to do thing ${index}` });
      const kept = await steward(['hook', 'prompt', '--no-tab'], {
        home: home.path,
        env: { GITHUB_API_URL: 'http://127.0.0.1:9', GH_TOKEN: github.token },
        input,
      });
      expect(kept.stdout).to.include(`thing ${index}`);
    }
    for (let kill = 0; kill < 8; kill += 1) {
      const child = spawn(process.execPath, [BIN, 'work', 'deliver'], {
        env: cleanEnv(home.path, env()),
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      let creations = 0;
      github.fault = ({ method, path }): Fault | undefined => {
        if (method !== 'POST' || !path.endsWith('/issues') || creations++ < kill % 2) return undefined;
        child.kill('SIGKILL');
        return kill % 3 === 0 ? 'reset' : 'drop';
      };
      await ended;
    }
    github.fault = () => undefined;
    await until('all are sent', async () => {
      await done('work', 'deliver');
      return (await titles()).length >= count;
    }, 120_000); // prettier-ignore
    expect((await titles()).sort()).to.deep.equal(
      Array.from({ length: count }, (_, index) => `[Reminder] do thing ${index}`),
    );
    expect(existsSync(join(home.path, '.steward', 'state', 'spool', 'dead'))).to.equal(false);
  });

  it('each issue that a command sends becomes exactly one issue, wherever it is killed', async () => {
    await done('work', 'setup', 'ann/work');
    const count = 6;
    for (let kill = 0; kill < count * 2; kill += 1) {
      // Every command runs twice, so the second run also resumes what the first one left.
      const args = ['work', 'add', `Task ${Math.floor(kill / 2)}`];
      const child = spawn(process.execPath, [BIN, ...args], {
        env: cleanEnv(home.path, env()),
        stdio: 'ignore',
      });
      const ended = once(child, 'exit');
      github.fault = ({ method, path }): Fault | undefined => {
        if (method !== 'POST' || !path.endsWith('/issues')) return undefined;
        child.kill('SIGKILL');
        return kill % 3 === 0 ? 'drop' : 'reset';
      };
      await ended;
      github.fault = () => undefined;
    }
    await until('the queue is empty', async () => {
      const { stdout } = await steward(['work', 'deliver', '--json'], { home: home.path, env: env() });
      const { later, failed } = JSON.parse(stdout) as { later: number; failed: number };
      return later + failed === 0;
    }, 120_000); // prettier-ignore
    const status = await steward(['work', 'status', '--json'], { home: home.path, env: env() });
    expect(JSON.parse(status.stdout)).to.deep.include({ unfinished: 0, waiting: [] });
    expect((await titles()).sort()).to.deep.equal(
      Array.from({ length: count }, (_, index) => `Task ${index}`),
    );
  });
});
