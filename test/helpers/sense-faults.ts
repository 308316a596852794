import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import type { SenseEvent } from '../../src/lib/time/event';
import { bundleChild } from './bundle';
import { bareEnvironment } from './git';
import type { Random } from './random';
import { type World, captureOnce, commit, filesIn, focus } from './sense';

export type FaultMode = 'kill' | 'half' | 'fail';

const NOW = '2026-11-21T09:00:00Z';

/**
 * A capture that has everything to do: lines for today and for two recorded days, one of a day that was
 * discarded, an empty day and two others to roll, one to discard, a torn line, an unfinished append, new
 * work events and goals.
 */
async function prepareScene(folder: string): Promise<void> {
  mkdirSync(join(folder, 'area', 'sense'), { recursive: true, mode: 0o700 });
  const config = { version: 1, sources: { appFocus: true, git: true, agentSession: true } };
  writeFileSync(join(folder, 'area', 'sense', 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'area', 'config.yaml'), 'timezone: UTC\n');
  mkdirSync(join(folder, 'area', 'goals'));
  writeFileSync(join(folder, 'area', 'goals', 'goals.md'), '# Active Goals\n\n- **G1**: Ship it\n');
  const world: World = { appFocus: [], git: [] };
  const captureAt = async (iso: string, more: World): Promise<void> => {
    world.appFocus?.push(...(more.appFocus ?? []));
    world.git?.push(...(more.git ?? []));
    writeFileSync(join(folder, 'world.json'), JSON.stringify(world));
    await captureOnce(folder, iso);
  };
  await captureAt('2026-10-01T10:00:00Z', { git: [commit('2026-10-01T09:00:00Z', 'app', 'gone')] });
  await captureAt('2026-11-15T10:00:00Z', { appFocus: [focus('2026-11-15T09:00:00Z', 'Code')] });
  workEvents(folder, '2026-11-18T09:00:00Z', 3);
  await captureAt('2026-11-18T10:00:00Z', { git: [commit('2026-11-18T09:30:00Z', 'app', 'a')] });
  await captureAt('2026-11-19T10:00:00Z', { appFocus: [focus('2026-11-19T09:00:00Z', 'Code')] });
  appendFileSync(join(folder, 'area', 'sense', 'events', '2026-11-19.jsonl'), '{"ts":"2026-11-19T1');
  workEvents(folder, '2026-11-19T23:00:00Z', 2);
  workEvents(folder, '2026-11-21T08:00:00Z', 4);
  world.appFocus?.push(focus('2026-11-21T08:58:00Z', 'Code'), focus('2026-11-21T08:59:00Z', 'Firefox'));
  world.git?.push(
    commit('2026-10-01T20:00:00Z', 'app', 'too late'),
    commit('2026-11-18T20:00:00Z', 'app', 'late'),
    commit('2026-11-21T08:30:00Z', 'app', 'today'),
  );
  writeFileSync(join(folder, 'world.json'), JSON.stringify(world));
  // Shorter than before: the day of the 15th is discarded by the capture that is to be disturbed.
  writeFileSync(
    join(folder, 'area', 'sense', 'config.json'),
    JSON.stringify({ ...config, retentionDays: 5 }),
  );
}

function workEvents(folder: string, iso: string, count: number): void {
  mkdirSync(join(folder, 'area', 'state'), { recursive: true });
  for (let n = 0; n < count; n += 1) {
    const ts = new Date(Date.parse(iso) + n * 1000).toISOString();
    const line = JSON.stringify({ ts, type: 'subagent-stop', session: `s${n % 2}`, repo: 'app' });
    appendFileSync(join(folder, 'area', 'state', 'work-events.jsonl'), `${line}\n`);
  }
}

/** All that is stored; what the sources said of themselves at the last of some captures is left out. */
function storedIn(folder: string): Record<string, string> {
  const files = filesIn(join(folder, 'area'));
  const state = JSON.parse(files['sense/state.json'] ?? '{}') as Record<string, unknown>;
  return { ...files, 'sense/state.json': sorted({ ...state, sources: undefined }) };
}

/** As JSON; the order in which days came into the state means nothing. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/**
 * Disturbs a capture at each of its calls that change files, one after the other; the next capture then has
 * to leave exactly what an undisturbed one leaves. The number of calls.
 */
export async function disturbEachCall(folder: string, mode: FaultMode, every = 1): Promise<number> {
  const child = bundleChild('capture-once');
  const preload = bundleChild('fault');
  try {
    const scene = join(folder, 'scene');
    mkdirSync(scene);
    await prepareScene(scene);
    const play = (name: string, at: number) => {
      const copy = join(folder, name);
      rmSync(copy, { recursive: true, force: true });
      cpSync(scene, copy, { recursive: true });
      const ended = spawnSync(process.execPath, ['--require', preload.path, child.path, copy, NOW], {
        env: {
          ...process.env,
          TZ: 'UTC',
          // Each finds an empty cache, so that all have the same calls.
          XDG_CACHE_HOME: join(copy, 'cache'),
          FAULT_AT: String(at),
          FAULT_MODE: mode,
        },
        encoding: 'utf8',
      });
      return { copy, ...ended };
    };
    const whole = play('whole', 0);
    expect(whole.stdout).to.equal('[]\n');
    const calls = Number(/calls (\d+)/.exec(whole.stderr)?.[1]);
    await captureOnce(whole.copy, NOW);
    const expected = storedIn(whole.copy);
    expectScene(expected);
    for (let at = 1; at <= calls; at += every) {
      const { copy, signal } = play('disturbed', at);
      if (mode !== 'fail') expect(signal, `call ${at}`).to.equal('SIGKILL');
      const { problems } = await captureOnce(copy, NOW);
      expect(problems, `after call ${at}`).to.deep.equal([]);
      const stored = storedIn(copy);
      expect(Object.keys(stored).sort(), `after call ${at}`).to.deep.equal(Object.keys(expected).sort());
      for (const [name, text] of Object.entries(expected))
        expect(stored[name], `${name} after call ${at}`).to.equal(text);
    }
    return calls;
  } finally {
    child.remove();
    preload.remove();
  }
}

/** The scene does what it is there for. */
function expectScene(files: Record<string, string>): void {
  const recordOf = (day: string): Record<string, unknown> =>
    JSON.parse(files[`sense/daily/${day}.json`] ?? '{}') as Record<string, unknown>;
  expect(files).not.to.have.property('sense/events/2026-11-15.jsonl');
  expect(recordOf('2026-11-15')).to.include({ totalMinutes: 2, final: true });
  expect(recordOf('2026-11-18')['commits']).to.deep.include({ count: 2 });
  expect(recordOf('2026-11-19')['sessions']).to.deep.include({ count: 2 });
  expect(recordOf('2026-11-20')).to.include({ totalMinutes: 0, final: true });
  expect(files['sense/quarantine/late.jsonl']?.split('\n')).to.have.length(2);
  expect(files['sense/quarantine/2026-11-19.jsonl']?.split('\n')).to.have.length(2);
  expect(files['sense/events/2026-11-21.jsonl']?.split('\n')).to.have.length(6);
  expect(files['goals/state.json']).to.include('Ship it');
}

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
