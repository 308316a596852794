import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { StewardError } from '../../src/lib/errors';
import type { Run, RunResult } from '../../src/lib/platform/process/process';
import type { Random } from './random';

export const SIMULATED = ['tmux', 'herdr', 'kitty', 'wezterm', 'iterm2', 'terminal', 'ghostty'] as const;
type Simulated = (typeof SIMULATED)[number];

/** The name of each program's process, and of the application that AppleScript asks. */
const PROCESSES: Readonly<Record<Simulated, string>> = {
  tmux: 'tmux',
  herdr: 'herdr',
  kitty: 'kitty',
  wezterm: 'wezterm-gui',
  iterm2: 'iTerm2',
  terminal: 'Terminal',
  ghostty: 'ghostty',
};
const APPS: Readonly<Record<string, Simulated>> = {
  iTerm2: 'iterm2',
  Terminal: 'terminal',
  Ghostty: 'ghostty',
};

export interface SimulatedTab {
  program: Simulated;
  id: number;
  /** The device in it; `claims` is what the program says of it. */
  tty: string;
  claims: string;
  /** The process that the program names, and started there. */
  pid: number;
}

/** What `run` gives for a program that does not answer in time. */
export const silent = (): Promise<RunResult> =>
  Promise.resolve({
    code: null,
    signal: 'SIGKILL',
    stdout: '',
    stderr: '',
    truncated: false,
    timedOut: true,
  });

/** macOS with terminals, whose programs answer in the format of the real ones. */
export class TabWorld {
  tabs: SimulatedTab[] = [];
  processes = new Map<number, { tty: string; started: string; program: string }>();
  /** What a program does instead of an answer. */
  faults = new Map<Simulated, 'missing' | 'fails' | 'garbage' | 'denied' | 'silent'>();
  /** The tabs that were shown, in order. */
  shown: SimulatedTab[] = [];
  /** Called once, before the first command that lists or shows tabs. */
  before: Partial<Record<'list' | 'focus', () => void>> = {};
  /** The terminal in which tmux's only client runs. */
  tmuxClient: string | undefined;
  readonly env: NodeJS.ProcessEnv;

  constructor(
    folder: string,
    private readonly random: Random,
  ) {
    this.env = { TMUX_TMPDIR: folder };
    const sockets = join(folder, `tmux-${process.getuid?.() ?? 0}`);
    mkdirSync(sockets, { recursive: true });
    writeFileSync(join(sockets, 'default'), '');
  }

  start(program: string, tty: string): number {
    const pid = 1000 + this.processes.size;
    this.processes.set(pid, {
      tty,
      started: `Tue Nov 24 10:00:${String(pid % 60).padStart(2, '0')} 2026`,
      program,
    });
    return pid;
  }

  open(program: Simulated, tty: string): SimulatedTab {
    const pid = this.start('/bin/zsh', tty);
    const tab = { program, id: this.tabs.length + 1, tty, claims: tty, pid };
    this.tabs.push(tab);
    return tab;
  }

  close(tab: SimulatedTab): void {
    this.tabs = this.tabs.filter((other) => other !== tab);
    this.processes.delete(tab.pid);
  }

  readonly run: Run = (file, args) => {
    const words = [...args];
    if (file === 'ps') return this.answer(this.ps());
    this.happen('list');
    if (file === 'open') return this.answer('');
    const app = /tell application "(\w+)"/.exec(words[1] ?? '')?.[1];
    const program = file === 'osascript' ? APPS[app ?? ''] : SIMULATED.find((id) => id === file);
    if (program === undefined) throw new Error(`not simulated: ${file} ${words.join(' ')}`);
    const fault = this.faults.get(program);
    if (fault === 'missing') {
      const cause = Object.assign(new Error('spawn'), { code: 'ENOENT' });
      return Promise.reject(new StewardError('not_found', `${file} is not installed.`, { cause }));
    }
    if (fault === 'garbage')
      return this.answer(this.random.pick(['{"x":', '[1,null]', '\t\n', '%9 \u001b]0;x']));
    if (fault === 'silent') return silent();
    if (fault === 'fails') return this.refuse('error: (-2753)');
    if (fault === 'denied') return this.refuse('Not authorized to send Apple events. (-1743)');
    if (file === 'tmux') return this.tmux(words.slice(2));
    if (file === 'herdr') return this.herdr(words);
    if (file === 'kitty') return this.kitty(words);
    if (file === 'wezterm') return this.wezterm(words);
    return this.script(program, words[2]);
  };

  private ps(): string {
    const running = Object.entries(PROCESSES).map(
      ([, name], index) => `${index + 10} ?? Tue Nov 24 09:00:00 2026 /Applications/An App/${name}`,
    );
    const own = [...this.processes].map(
      ([pid, { tty, started, program }]) => ` ${pid} ${tty.replace('/dev/', '')}  ${started} ${program}`,
    );
    return [...running, ...own, ''].join('\n');
  }

  private tmux(words: string[]): Promise<RunResult> {
    const [command, flag, target] = words;
    const panes = this.of('tmux');
    if (command === 'list-panes')
      return this.answer(
        panes.map((tab) => `${tab.claims} ${tab.pid} %${tab.id} $1 work:${tab.id}\n`).join(''),
      );
    if (command === 'list-clients')
      return this.answer(this.tmuxClient === undefined ? '' : `1 ${this.tmuxClient} 9 $1 1 /dev/x\n`);
    if (command === 'switch-client') return this.answer('');
    if (command === 'select-window' && flag === '-t')
      return this.show('tmux', (tab) => `%${tab.id}` === target);
    throw new Error(`not simulated: tmux ${words.join(' ')}`);
  }

  private herdr([group, command, first, id]: string[]): Promise<RunResult> {
    const result = (value: object): string => JSON.stringify({ id: 'cli', result: value });
    const panes = this.of('herdr');
    const nameOf = (tab: SimulatedTab): string => `w1:p${tab.id}`;
    if (group === 'agent' && command === 'focus')
      return this.show('herdr', (tab) => nameOf(tab) === first, result({}));
    if (command === 'list') {
      const listed = panes.map((tab) => ({
        pane_id: nameOf(tab),
        terminal_title: 'a secret',
        focused: false,
      }));
      return this.answer(result({ type: 'pane_list', panes: listed }));
    }
    const tab = panes.find((pane) => nameOf(pane) === id);
    if (tab === undefined) return this.refuse('{"error":{"code":"pane_not_found"}}');
    return this.answer(result({ process_info: { pane_id: id, shell_pid: tab.pid } }));
  }

  private kitty(words: string[]): Promise<RunResult> {
    if (words[3] === 'ls') {
      const tabs = this.of('kitty').map((tab) => ({
        title: 'a tab',
        windows: [{ id: tab.id, pid: tab.pid }],
      }));
      return this.answer(JSON.stringify([{ id: 1, tabs }]));
    }
    return this.show('kitty', (tab) => words[5] === `id:${tab.id} and pid:${tab.pid}`);
  }

  private wezterm(words: string[]): Promise<RunResult> {
    if (words[2] === 'activate-pane') return this.show('wezterm', (tab) => words[4] === String(tab.id));
    const panes = this.of('wezterm').map((tab) => ({
      pane_id: tab.id,
      tty_name: tab.claims,
      title: 'a secret',
    }));
    return this.answer(JSON.stringify(panes));
  }

  /** An application that AppleScript asks: Terminal knows its tabs only by their window, so ids repeat. */
  private script(program: Simulated, wanted: string | undefined): Promise<RunResult> {
    const lineOf = (tab: SimulatedTab): string =>
      `${program === 'terminal' ? 1 + (tab.id % 2) : `A-${tab.id}`}\t${tab.claims}`;
    if (wanted === undefined)
      return this.answer(
        this.of(program)
          .map((tab) => `${lineOf(tab)}\n`)
          .join(''),
      );
    this.happen('focus');
    const tab = this.of(program).find((other) => lineOf(other) === wanted);
    if (tab !== undefined) this.shown.push(tab);
    return this.answer(tab === undefined ? this.of(program).map(lineOf).join('\n') : 'shown\n');
  }

  private show(program: Simulated, fits: (tab: SimulatedTab) => boolean, stdout = ''): Promise<RunResult> {
    this.happen('focus');
    const tab = this.of(program).find(fits);
    if (tab === undefined) return this.refuse('no such pane');
    this.shown.push(tab);
    return this.answer(stdout);
  }

  private happen(when: 'list' | 'focus'): void {
    const change = this.before[when];
    delete this.before[when];
    change?.();
  }

  private of(program: Simulated): SimulatedTab[] {
    return this.tabs.filter((tab) => tab.program === program);
  }

  private answer(stdout: string, code = 0, stderr = ''): Promise<RunResult> {
    return Promise.resolve({ code, signal: null, stdout, stderr, truncated: false, timedOut: false });
  }

  private refuse(stderr: string): Promise<RunResult> {
    return this.answer('', 1, stderr);
  }
}
