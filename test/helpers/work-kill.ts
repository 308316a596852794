import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { TestArea } from './area';
import type { Fault, GitHub } from './github';
import type { Random } from './random';

interface Row {
  number: number;
  title: string;
  state: string;
  body: string;
  labels: { name: string }[];
}

/** Every issue of a repository, as the service has it. */
export async function issuesOf(github: GitHub, repo: string): Promise<Row[]> {
  const all: Row[] = [];
  for (let page = 1; ; page += 1) {
    const rows = (await github.api(
      'GET',
      `/repos/${repo}/issues?state=all&per_page=100&page=${page}`,
    )) as Row[];
    all.push(...rows);
    if (rows.length < 100) return all;
  }
}

/**
 * Kills a process that creates one batch of issues after the other, again and again: some time after it has begun one,
 * or just as a request is there, before or after it takes effect. In the end each identity has exactly one issue.
 */
export async function killCreating(
  bundle: string,
  github: GitHub,
  at: TestArea,
  kills: number,
  random: Random,
): Promise<void> {
  const begun = new Set<number>();
  let next = 0;
  for (let kill = 0; kill <= kills; kill += 1) {
    const isLast = kill === kills;
    const child = spawn(
      process.execPath,
      [bundle, at.home, String(next), isLast ? String(next + 1) : '1000000'],
      {
        env: {
          PATH: process.env['PATH'],
          STEWARD_HOME: at.area.root,
          XDG_STATE_HOME: `${at.home}/state`,
          HOME: at.home,
          GITHUB_API_URL: github.url,
          GH_TOKEN: github.token,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    // Not `exit`: what it has said may still be on its way then.
    const ended = once(child, 'close') as Promise<[number | null]>;
    // What was begun and not done is begun again by the next process.
    let text = '';
    let afterMs: number | undefined;
    const die = (): void => {
      child.kill('SIGKILL');
    };
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (isLast || afterMs !== undefined || !text.includes('begin')) return;
      afterMs = random.next() * 60;
      if (kill % 3 === 0) setTimeout(die, afterMs);
    });
    const wait = random.below(4);
    let creations = 0;
    github.fault = ({ method, path }): Fault | undefined => {
      if (isLast || kill % 3 === 0 || method !== 'POST' || !path.endsWith('/issues')) return undefined;
      if (creations++ < wait) return undefined;
      // Dead before it took effect, or after.
      setImmediate(die);
      return kill % 3 === 1 ? 'reset' : 'drop';
    };
    const [code] = await ended;
    expect(code, 'it did not end by itself').to.equal(isLast ? 0 : null);
    for (const [, n] of text.matchAll(/begin (\d+)/g)) begun.add(Number(n));
    for (const [, n] of text.matchAll(/done (\d+)/g)) next = Math.max(next, Number(n) + 1);
  }
  github.fault = () => undefined;
  const titles = (await issuesOf(github, 'ann/work')).map(({ title }) => title);
  const expected = [...begun].map((n) => `[Core] Task ${n} [slug:s${n}]`);
  expect({
    missing: expected.filter((title) => !titles.includes(title)),
    unasked: titles.filter((title) => !expected.includes(title)),
    twice: titles.filter((title, index) => titles.indexOf(title) !== index),
  }).to.deep.equal({ missing: [], unasked: [], twice: [] });
}
