import { join } from 'node:path';

import { StewardError, errnoCode } from '../errors';
import { parseObject, textOf, objectsIn } from '../platform/files/json-object';
import { listSystemFolder, userId } from '../platform/files/system-files';
import { holdsTerminal } from '../platform/process/own-terminal';
import type { Run } from '../platform/process/process';
import type { Pty } from '../platform/process/pty';
import { isLive, type Session } from './session';

export interface TerminalDeps {
  run: Run;
  env: NodeJS.ProcessEnv;
}

const TIMEOUT_MS = 5000;

/**
 * Returns a program's output, or undefined if the program is missing or fails. Throws `unavailable` if it doesn't
 * answer: its terminals are then unknown.
 */
export async function answerOf({ run, env }: TerminalDeps, file: string, args: readonly string[]) {
  try {
    const { code, stdout, timedOut } = await run(file, args, { env, timeoutMs: TIMEOUT_MS });
    if (!timedOut) return code === 0 ? stdout : undefined;
  } catch (error) {
    const isMissing = error instanceof StewardError && error.kind === 'not_found';
    if (isMissing && errnoCode(error.cause) === 'ENOENT') return undefined;
    throw error;
  }
  const hint = 'Try again when the system is less busy.';
  throw new StewardError('unavailable', `${file} did not answer within ${TIMEOUT_MS / 1000} s.`, { hint });
}

/**
 * Splits each line of tmux's output into words. Returns an empty list if tmux, the server or the target is
 * missing.
 */
export async function tmuxRows(deps: TerminalDeps, socket: string, args: readonly string[]) {
  const text = (await answerOf(deps, 'tmux', ['-S', socket, ...args])) ?? '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
}

/** Extracts the socket from a `TMUX` value, such as `/tmp/tmux-1000/default,4242,0`. */
export function socketIn(variable: string | undefined): string | undefined {
  const path = variable?.replace(/,\d+,\d+$/, '');
  return path?.startsWith('/') === true ? path : undefined;
}

/** Runs a shell's command in a new window of the tmux in which this process runs. Returns false if it can't. */
export async function openWindow(deps: TerminalDeps, command: string): Promise<boolean> {
  const { TMUX, PATH = '' } = deps.env;
  const socket = socketIn(TMUX);
  if (socket === undefined) return false;
  // The window stays open, so that an error can be read.
  const shell = ['/bin/sh', '-c', `${command}; exec "\${SHELL:-/bin/sh}"`];
  const args = ['-S', socket, 'new-window', '-a', '-e', `PATH=${PATH}`, ...shell];
  return (await answerOf(deps, 'tmux', args)) !== undefined;
}

/** Maximum number of tmux servers to search. */
const MAX_SERVERS = 8;

/** Returns the sockets of this user's tmux servers, the caller's own first, then the default one. */
export function tmuxSockets(env: NodeJS.ProcessEnv): string[] {
  const folder = join(env['TMUX_TMPDIR'] ?? '/tmp', `tmux-${userId()}`);
  const names = listSystemFolder(folder).sort((a, b) => Number(b === 'default') - Number(a === 'default'));
  const own = socketIn(env['TMUX']);
  const sockets = names.map((name) => join(folder, name));
  return [...new Set(own === undefined ? sockets : [own, ...sockets])].slice(0, MAX_SERVERS);
}

export interface TmuxClient extends Pty {
  socket: string;
  /** Time of the last input. */
  atMs: number;
  /** Id of the session that it shows, such as `$1`, and the pane that is active there. */
  session: string;
  pane: Pty;
  /** What the terminal emulator calls itself, in lower case; empty if unknown. */
  emulator: string;
}

/** A client in control mode expects tmux's protocol on its terminal, so its emulator stays unknown. */
const CLIENT =
  '#{client_activity} #{client_tty} #{client_pid} #{session_id} #{pane_pid} #{pane_tty} #{?client_control_mode,,#{client_termname} #{client_termtype}}';

/** Returns the clients of a tmux server, the one with the latest input first, and the terminals of its panes. */
export async function tmuxTerminals(deps: TerminalDeps, socket: string) {
  const args = ['list-clients', '-F', CLIENT, ';', 'list-panes', '-a', '-F', '#{pane_tty}'];
  const rows = await tmuxRows(deps, socket, args);
  const clients = rows
    .filter(([, tty]) => tty?.startsWith('/') === true)
    .map(([at, tty = '', pid, session = '', panePid, paneTty = '', ...emulator]): TmuxClient => {
      const [atMs, pane] = [Number(at) * 1000, { tty: paneTty, pid: Number(panePid) }];
      return {
        socket,
        atMs,
        tty,
        pid: Number(pid),
        session,
        pane,
        emulator: emulator.join(' ').toLowerCase(),
      };
    })
    .sort((a, b) => b.atMs - a.atMs);
  return { clients, panes: rows.flatMap(([tty = '', ...more]) => (more.length === 0 ? tty : [])) };
}

/** Lists the windows of the kitty instance at a local socket; empty if kitty doesn't respond. */
export async function kittyWindows(deps: TerminalDeps, socket: string) {
  // A kitty instance on a network socket may run on another machine.
  if (!socket.startsWith('unix:')) return [];
  const systems = listIn(await answerOf(deps, 'kitty', ['@', '--to', socket, 'ls']));
  return systems
    .flatMap(({ tabs }) => objectsIn(tabs))
    .flatMap(({ title, windows }) =>
      objectsIn(windows).map(({ id, pid }) => ({ id: Number(id), pid: Number(pid), tab: String(title) })),
    );
}

/** Returns a number or text of each object that a command of `wezterm cli` lists. Drops the titles. */
export async function weztermList(
  { run, env }: TerminalDeps,
  socket: string | undefined,
  command: 'list' | 'list-clients',
): Promise<{ pid: unknown; focused: unknown; id: number; tty: string | undefined }[]> {
  const deps = { run, env: { ...env, WEZTERM_UNIX_SOCKET: socket } };
  const text = await answerOf(deps, 'wezterm', ['cli', '--no-auto-start', command, '--format', 'json']);
  return listIn(text).map(({ pid, focused_pane_id: focused, pane_id: id, tty_name: tty }) => ({
    pid,
    focused,
    id: Number(id),
    tty: textOf(tty),
  }));
}

function listIn(text: string | undefined): Record<string, unknown>[] {
  return objectsIn(parseObject(`{"list":${text ?? '[]'}}`)?.['list']);
}

/**
 * Returns the sessions that are running on a terminal. Only sessions of assistants other than Claude Code
 * include the assistant's name.
 */
export function sessionsOnTerminal(sessions: readonly Session[], tty: string, nowMs: number) {
  return sessions.flatMap((session) => {
    const { terminal, assistant, sessionIds } = session;
    const { pid, started } = terminal ?? {};
    const id = sessionIds.at(-1);
    if (id === undefined || terminal?.tty !== tty || typeof pid !== 'number' || typeof started !== 'string')
      return [];
    if (!isLive(session, nowMs) || !holdsTerminal({ tty, pid, started })) return [];
    return [assistant === undefined ? id : { id, assistant }];
  });
}
