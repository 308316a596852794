import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { SenseEvent } from '../../src/lib/sense/event';
import { bareEnvironment } from './git';
import type { Random } from './random';
import { captureOnce, type World } from './sense-once';

/**
 * Kills a process that captures a real repository, growing work events and samples, again and again at random
 * points. What is stored in the end is what happened: each thing exactly once.
 */
export async function killCapturing(
  bundle: string,
  folder: string,
  kills: number,
  random: Random,
): Promise<void> {
  const repo = join(folder, 'repo');
  const git = (...args: string[]): string => {
    const result = spawnSync('git', args, { cwd: repo, env: bareEnvironment(folder), encoding: 'utf8' });
    expect(result.status, result.stderr).to.equal(0);
    return result.stdout.trim();
  };
  mkdirSync(repo);
  for (const name of ['sense', 'state'])
    mkdirSync(join(folder, 'area', name), { recursive: true, mode: 0o700 });
  git('init', '-q', '-b', 'main');
  git('config', 'user.email', 'me@example.org');
  git('config', 'user.name', 'Me');
  writeFileSync(join(folder, 'world.json'), '{"appFocus":[]}');
  writeFileSync(join(folder, 'area', 'config.yaml'), 'timezone: UTC\n');
  writeFileSync(join(folder, 'area', 'sense', 'config.json'), JSON.stringify({ version: 1, repos: [repo] }));
  for (let kill = 0; kill < kills; kill += 1) {
    const child = spawn(process.execPath, [bundle, folder], {
      env: { ...process.env, TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit') as Promise<[number | null]>;
    await Promise.race([once(child.stdout, 'data'), ended]);
    await new Promise((resolve) => setTimeout(resolve, random.next() * 120));
    child.kill('SIGKILL');
    expect((await ended)[0], 'it did not end by itself').to.equal(null);
  }
  await quiet(repo);
  await captureOnce(folder, new Date().toISOString());
  expectTruth(folder, git('log', '--all', '--format=%H').split('\n'));
}

/** Waits for a commit that outlived its parent. */
async function quiet(repo: string): Promise<void> {
  for (let round = 0; round < 200 && existsSync(join(repo, '.git', 'index.lock')); round += 1)
    await new Promise((resolve) => setTimeout(resolve, 25));
}

function expectTruth(folder: string, commits: string[]): void {
  const events = join(folder, 'area', 'sense', 'events');
  const stored = readdirSync(events).flatMap((name) => {
    const text = readFileSync(join(events, name), 'utf8');
    expect(text.endsWith('\n'), `${name} ends in a whole line`).to.equal(true);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as SenseEvent);
  });
  const of = (type: string): SenseEvent[] => stored.filter((event) => event.type === type);
  expect(of('git-commit').map(({ detail }) => detail?.['sha']).sort()).to.deep.equal(commits.sort()); // prettier-ignore
  const world = JSON.parse(readFileSync(join(folder, 'world.json'), 'utf8')) as World;
  expect(of('app-focus')).to.deep.equal(world.appFocus);
  const happened = new Map<unknown, number>();
  for (const line of readFileSync(join(folder, 'area', 'state', 'work-events.jsonl'), 'utf8').split('\n')) {
    if (line === '') continue;
    const { session } = JSON.parse(line) as { session: string };
    happened.set(session, (happened.get(session) ?? 0) + 1);
  }
  const counted = new Map<unknown, number>();
  for (const { detail } of of('agent-session'))
    counted.set(detail?.['session'], (counted.get(detail?.['session']) ?? 0) + Number(detail?.['events']));
  expect(counted).to.deep.equal(happened);
}
