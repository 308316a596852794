import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

import type { SessionsReport, SessionRow } from '../../src/lib/sessions/rows';
import { BIN, cleanEnv, definedOnly, emptyHome } from './cli';
import { until } from './desktop-kit';
import { modelServer } from './model-server';
import { requirePart, requirePrograms } from './real-part';
import { closeScreen, startScreen, type Screen } from './screens';

const ASSISTANTS = resolve(__dirname, '../../node_modules/.cache/steward-assistants/node_modules/.bin');

/** Keys of tmux. */
export const KEY = { enter: 'Enter', escape: 'Escape', clear: 'C-u', shiftTab: 'BTab' } as const;

/** What the list says about a session that waits for the next prompt. */
export const DONE = 'waiting';

/** Ends a test that waits in vain, even on a busy machine. */
const PATIENCE_MS = 180_000;

/** How often a screen is looked at before a key is pressed again. */
const LOOKS = 100;

/** The pane of a person who does something else. */
export const NEXT_DOOR = 'next-door';

/** Skips a test without the real assistant, tmux or git. */
export function requireAssistant(context: Mocha.Context, program: string): void {
  requirePrograms(context, { tmux: 'tmux', git: 'git', script: 'bsdutils' });
  const isThere = existsSync(join(ASSISTANTS, program));
  requirePart(context, isThere, `${program} is not installed: npm run assistant-parts`);
}

export interface HourOptions {
  /** More variables of everything that runs in the hour. */
  env?: Record<string, string>;
  /** Variables of tmux's server alone, not of the programs in it. */
  tmuxEnv?: Record<string, string>;
  /** Words before each command line, for a namespace. */
  within?: readonly string[];
}

export type Hour = Awaited<ReturnType<typeof startHour>>;

/**
 * A home with a repository, a model on loopback, and a tmux server with one client, on a machine without a desktop. The
 * client shows a shell in the pane `next-door`.
 */
export async function startHour({ env: more = {}, tmuxEnv = {}, within = [] }: HourOptions = {}) {
  const own = emptyHome();
  const home = realpathSync(own.path);
  const folder = join(home, 'site');
  mkdirSync(folder);
  spawnSync('git', ['init', '-q', '-b', 'main', folder]);
  const model = await modelServer();
  const steps: { step: string; ms: number; readings: number }[] = [];
  const screens: Screen[] = [];
  // Assistants ask the terminal about its colors; tmux answers only with UTF-8.
  const env = {
    ...cleanEnv(home, { TERM: 'xterm-256color', SHELL: '/bin/sh', TMUX_TMPDIR: home }),
    ...more,
    PATH: `${ASSISTANTS}:${process.env['PATH'] ?? ''}`,
  };
  const TMUX = ['tmux', '-u', '-f', '/dev/null'];

  function tell(line: readonly string[], extra: Record<string, string> = {}): string {
    const [file = '', ...args] = [...within, ...line];
    const options = { env: definedOnly({ ...env, ...extra }), encoding: 'utf8' as const };
    return spawnSync(file, args, options).stdout;
  }
  const tmux = (...args: string[]): string => tell([...TMUX, ...args]);

  const hour = {
    home,
    folder,
    model,
    env,
    tmux,
    tell,

    /** Opens a pane with a program in it, in a tmux session of that name. */
    open(pane: string, command: readonly string[], variables: Record<string, string> = {}): void {
      const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
      const size = ['-x', '100', '-y', '40'];
      tmux('new-session', '-d', '-s', pane, ...size, '-c', folder, 'env', ...set, ...command);
    },
    screen: (pane: string): string => tmux('capture-pane', '-p', '-t', pane),
    async shows(pane: string, text: string | RegExp): Promise<void> {
      const isThere = (): boolean => {
        const shown = hour.screen(pane);
        return typeof text === 'string' ? shown.includes(text) : text.test(shown);
      };
      await hour.becomes(pane, String(text), isThere);
    },
    /** Waits for what a pane is to show, or throws what it shows. */
    async becomes(pane: string, text: string, isThere: () => boolean): Promise<void> {
      try {
        await until(`${text} in ${pane}`, isThere, PATIENCE_MS);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${hour.screen(pane)}`, { cause: error });
      }
    },
    press(pane: string, ...keys: string[]): void {
      for (const key of keys) tmux('send-keys', '-t', pane, key);
    },
    /**
     * Types a prompt, and sends it once it is in the last line of input.
     * @param input the text before the input, or what the screen shows with a prompt in the input
     */
    async say(pane: string, text: string, input: string | ((text: string) => RegExp) = '❯'): Promise<void> {
      const typed =
        typeof input === 'string' ? new RegExp(`${input}\\s${text}\\s*\\n[^${input}]*$`) : input(text);
      hour.press(pane, KEY.clear);
      tmux('send-keys', '-t', pane, '-l', text);
      await hour.shows(pane, typed);
      hour.press(pane, KEY.enter);
    },
    /** Presses a key until the pane shows the text: a program that is drawing may miss a key. */
    async pressUntil(pane: string, key: string, text: string): Promise<void> {
      let looks = 0;
      const isThere = (): boolean => {
        if (hour.screen(pane).includes(text)) return true;
        if (looks % LOOKS === 0) hour.press(pane, key);
        looks += 1;
        return false;
      };
      await hour.becomes(pane, `${text} after ${key}`, isThere);
    },
    pidOf: (pane: string): number => Number(tmux('list-panes', '-t', pane, '-F', '#{pane_pid}')),
    kill(pane: string): void {
      tell(['kill', '-KILL', String(hour.pidOf(pane))]);
    },

    /** Attaches a client; its screen records what reaches the terminal. */
    async attach(pane: string, term = 'xterm-256color'): Promise<Screen> {
      const screen = startScreen(`exec ${TMUX.join(' ')} attach -t ${pane}`, { ...env, TERM: term }, within);
      screens.push(screen);
      await until('a client', () => tmux('list-clients') !== '');
      return screen;
    },

    async steward(...args: string[]): Promise<string> {
      const [file = '', ...rest] = [...within, process.execPath, BIN, ...args];
      const child = spawn(file, rest, {
        cwd: home,
        env: definedOnly(env),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const code = await new Promise<number | null>((done) => child.on('close', done));
      expect(code, `steward ${args.join(' ')}: ${stderr}`).to.equal(0);
      return stdout;
    },
    async rows(): Promise<SessionRow[]> {
      return (JSON.parse(await hour.steward('sessions', '--json')) as SessionsReport).sessions;
    },
    /** The sessions as `steward sessions` orders them: status, and what each asks or does. */
    async list(): Promise<string[]> {
      return (await hour.rows()).map(({ status, waitingFor, activity }) => {
        const words = waitingFor ?? activity;
        // A limit ends at another time each day.
        return words === null ? status : `${status}: ${words.replace(/until .*/, 'until …')}`;
      });
    },
    /** Waits for the list, and notes how long it took. */
    async lists(step: string, ...expected: string[]): Promise<void> {
      const from = performance.now();
      let [last, readings]: [string[], number] = [[], 0];
      const isRight = async (): Promise<boolean> => {
        readings += 1;
        last = await hour.list();
        return JSON.stringify(last) === JSON.stringify(expected);
      };
      try {
        await until(`the list says ${expected.join(', ')}`, isRight, PATIENCE_MS);
      } catch {
        expect(last, step).to.deep.equal(expected);
      }
      steps.push({ step, ms: performance.now() - from, readings });
    },
    /** Jumps to a session, by its number or to the one that waits longest, and back next door. */
    async goes(pane: string, ...args: string[]): Promise<void> {
      await hour.steward('go', ...args);
      expect(tmux('list-clients', '-F', '#{client_session}').trim()).to.equal(pane);
      tmux('switch-client', '-t', NEXT_DOOR);
    },
    summary(): string {
      const [slowest] = [...steps].sort((a, b) => b.ms - a.ms);
      const atOnce = steps.filter(({ readings }) => readings === 1).length;
      const late = `${Math.ceil(slowest?.ms ?? 0)} ms (${slowest?.step}, ${slowest?.readings} readings)`;
      return `${steps.length} lists, ${atOnce} right when first read, each within ${late}`;
    },

    async close(): Promise<void> {
      tmux('kill-server');
      for (const screen of screens) await closeScreen(screen);
      model.close();
      own.remove();
    },
  };

  // The first session carries the variables of the server; the others don't.
  tell([...TMUX, 'new-session', '-d', '-s', 'first', 'cat'], tmuxEnv);
  for (const name of Object.keys(tmuxEnv)) tmux('set-environment', '-gu', name);
  hour.open(NEXT_DOOR, ['sh']);
  tmux('kill-session', '-t', 'first');
  return hour;
}
