import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { steward, type StewardResult } from './cli';
import { lendCode } from './code-cache';
import { bareEnvironment } from './git';
import { hookJson, verbOf, type RecordedEvent } from './hooks';

/** A machine that uses an area: its own home and machine-local state, on this operating system. */
export interface TestMachine {
  id: string;
  home: string;
  /** The area, which several machines may share, or a copy that a sync tool keeps. */
  area: string;
  run: (args: readonly string[], input?: string) => Promise<StewardResult>;
  json: <T>(...args: string[]) => Promise<T>;
  hook: (event: RecordedEvent, session: string, cwd?: string) => Promise<void>;
  /** Commits to one of this machine's repositories; returns the hash. */
  commit: (repo: string, subject: string) => string;
}

export interface MachineOptions {
  /** 12 hex digits. A fresh state on the same system would be the owner's wiped state. */
  id: string;
  home: string;
  area: string;
  /** More variables, such as a skewed clock's. */
  env?: Record<string, string | undefined>;
}

const STARTED_SEC = Math.floor(Date.now() / 1000);
let commits = 0;

export function testMachine({ id, home, area, env = {} }: MachineOptions): TestMachine {
  const state = join(home, '.local', 'state', 'steward');
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, 'machine-id'), `${id}\n`);
  lendCode(home);
  const run: TestMachine['run'] = (args, input) =>
    steward(args, { home, env: { STEWARD_HOME: area, ...env }, ...(input === undefined ? {} : { input }) });
  return {
    ...{ id, home, area, run },
    async json<T>(...args: string[]) {
      const done = await run([...args, '--json']);
      if (!/^[[{]/.test(done.stdout))
        throw new Error(`steward ${args.join(' ')}: ${done.stderr}${done.stdout}`);
      return JSON.parse(done.stdout) as T;
    },
    async hook(event, session, cwd = home) {
      const done = await run(
        ['hook', verbOf(event), '--strict'],
        hookJson(event, { session_id: session, cwd }),
      );
      if (done.code !== 0) throw new Error(`steward hook ${event}: ${done.stderr}`);
    },
    commit(repo, subject) {
      const cwd = join(home, repo);
      mkdirSync(cwd, { recursive: true });
      const git = (...args: string[]): string => {
        const done = spawnSync('git', ['-c', 'user.email=me@example.org', '-c', 'user.name=Me', ...args], {
          cwd,
          env: bareEnvironment(home),
          encoding: 'utf8',
        });
        if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
        return done.stdout.trim();
      };
      if (!existsSync(join(cwd, '.git'))) git('init', '-q');
      // Two commits of one author in the same second count as one change.
      commits += 1;
      writeFileSync(join(cwd, `${id}-${commits}`), subject);
      git('add', '.');
      git('commit', '-q', '--date', `@${STARTED_SEC - commits} +0000`, '-m', subject);
      return git('rev-parse', 'HEAD');
    },
  };
}

/** The folders of an area to which machines write: the owner's, then the others'. */
export function foldersOf(area: string): string[] {
  const machines = join(area, 'machines');
  return [area, ...(existsSync(machines) ? readdirSync(machines).map((id) => join(machines, id)) : [])];
}

/** Returns the parsed lines of all machines' logs in a folder such as `sense/events`, conflict copies included. */
export function linesOf(
  area: string,
  folder: string,
  isLog: (name: string) => boolean,
): Record<string, unknown>[] {
  return foldersOf(area)
    .map((root) => join(root, folder))
    .filter((path) => existsSync(path))
    .flatMap((path) =>
      readdirSync(path)
        .filter(isLog)
        .map((name) => join(path, name)),
    )
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Returns the hashes of the commits in the event logs, as often as they are there. */
export function storedCommits(area: string): string[] {
  return linesOf(area, 'sense/events', (name) => name.includes('.jsonl')).flatMap(({ type, detail }) =>
    type === 'git-commit' ? [String((detail as Record<string, unknown>)['sha'])] : [],
  );
}

/** Returns the sessions of the hook events, as often as they are there. */
export function storedHooks(area: string): string[] {
  return linesOf(area, 'state', (name) => name.startsWith('work-events')).map(({ session }) =>
    String(session),
  );
}

/** Returns the texts of the notifications in the outboxes and the logs, one of each id. */
export function storedNotifications(area: string): string[] {
  const isFile = (name: string): boolean => /^\d.*\.json$/.test(name);
  const found = [
    ...linesOf(area, 'observability', (name) => name.startsWith('notify')),
    ...['', 'claimed', 'dead'].flatMap((place) => linesOf(area, join('state/outbox', place), isFile)),
  ];
  return [...new Map(found.map(({ id, text, message }) => [id, String(text ?? message)])).values()];
}

/** Returns how many commits the machines of the area publish to each other for a day. */
export function publishedCommits(area: string, day: string): number {
  const machines = join(area, 'exchange', 'machines');
  const files = readdirSync(machines).map((id) => join(machines, id, 'daily', `${day}.json`));
  const days = files
    .filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, 'utf8')) as { commits: { id: string }[] });
  return new Set(days.flatMap(({ commits: found }) => found.map(({ id }) => id))).size;
}
