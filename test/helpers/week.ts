import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { BIN, cleanEnv, emptyHome, jsonOf, steward } from './cli';
import { fakeTime } from './faketime';
import { startGitHub, type GitHub } from './github';
import { notifyServer, type NotifyServer } from './notify-server';

const ZONE = 'Europe/Berlin';
/** Local midnight of Thursday, 22 October 2026; on the Sunday the clocks go back, so the week has 169 hours. */
export const START = Date.parse('2026-10-21T22:00:00Z');
export const HOURS = 169;
export const MINUTE = 60_000;

/** A home in which a week is lived by the clock of libfaketime, with a repository, a work repository and a chat. */
export interface Week {
  home: string;
  repo: string;
  github: GitHub;
  chat: NotifyServer;
  /** The environment at a moment; `standing`: the clock stays there. */
  at: (ms: number, options?: { standing?: boolean }) => Record<string, string>;
  /** Runs a command at a moment, expects it to end with 0, and gives its JSON. */
  run: (ms: number, args: readonly string[], input?: string) => Promise<unknown>;
  git: (ms: number, ...args: string[]) => void;
  /** Says which application is in front, by the program that one desktop asks. */
  front: (app: string) => void;
  /** Starts commands at once, and kills all of them after so many ms. */
  cutPower: (
    ms: number,
    afterMs: number,
    commands: readonly (readonly [readonly string[], string?])[],
  ) => Promise<void>;
  close: () => Promise<void>;
}

export function dayOf(ms: number): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone: ZONE }).format(ms);
}

export async function openWeek(): Promise<Week> {
  const home = emptyHome();
  const github = await startGitHub({ labels: true });
  const chat = await notifyServer(() => ({ status: 200 }));
  const repo = join(home.path, 'repo');
  const bin = join(home.path, 'programs');
  const shown = join(home.path, 'front.json');
  mkdirSync(repo);
  mkdirSync(bin);
  writeFileSync(join(bin, 'hyprctl'), `#!/bin/sh\nexec cat '${shown}'\n`);
  chmodSync(join(bin, 'hyprctl'), 0o755);
  const at: Week['at'] = (ms, options) => ({
    ...fakeTime(ms, options),
    GITHUB_API_URL: github.url,
    GH_TOKEN: github.token,
    HYPRLAND_INSTANCE_SIGNATURE: 'week',
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
  });
  const run: Week['run'] = async (ms, args, input = '') => {
    const env = at(ms, { standing: true });
    const done = await steward([...args, '--json'], { home: home.path, env, input });
    expect(done.code, `${new Date(ms).toISOString()} ${args.join(' ')}: ${done.stderr}`).to.equal(0);
    return done.stdout === '' ? undefined : jsonOf(done);
  };
  return {
    home: home.path,
    repo,
    github,
    chat,
    at,
    run,
    git(ms, ...args) {
      const date = new Date(ms).toISOString();
      const env = cleanEnv(home.path, { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date });
      const { status, stderr } = spawnSync('git', args, { cwd: repo, env, encoding: 'utf8' });
      expect(status, stderr).to.equal(0);
    },
    front: (app) => writeFileSync(shown, JSON.stringify({ class: app, title: 'a title that nobody reads' })),
    async cutPower(ms, afterMs, commands) {
      const children = commands.map(([args, input = '']) => {
        const child = spawn(process.execPath, [BIN, ...args], {
          env: cleanEnv(home.path, at(ms)),
          stdio: ['pipe', 'ignore', 'ignore'],
        });
        child.stdin.on('error', () => child.stdin.destroy());
        child.stdin.end(input);
        return child;
      });
      const ended = Promise.all(children.map((child) => new Promise((resolve) => child.on('exit', resolve))));
      const timer = setTimeout(() => {
        for (const child of children) child.kill('SIGKILL');
      }, afterMs);
      await ended;
      clearTimeout(timer);
    },
    async close() {
      await github.close();
      await chat.close();
      home.remove();
    },
  };
}

/** Sets up what both weeks have in common. */
export async function beginWeek(week: Week, settings: readonly (readonly [string, string])[]): Promise<void> {
  const { git, run, repo, chat } = week;
  git(START, 'init', '-q');
  git(START, 'config', 'user.email', 'me@example.org');
  git(START, 'config', 'user.name', 'Me');
  for (const [key, value] of [
    ['timezone', ZONE],
    ['sense.repos', repo],
    ['notify.voice.engine', 'none'],
    ['notifications.push.enabled', 'false'],
    ['notifications.chat.webhook', `${chat.url}/hook`],
    ['notifications.chat.enabled', 'true'],
    ...settings,
  ] as const)
    await run(START, ['config', 'set', key, value]);
  await run(START, ['work', 'setup', 'ann/work']);
}

/** The one session of a day. */
export function sessionOf(day: string): string {
  return `0f0e9d1c-8a7b-4c6d-9e5f-${day.replaceAll('-', '').padStart(12, '0')}`;
}
