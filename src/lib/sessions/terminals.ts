import { StewardError, errnoCode } from '../errors';
import { isObject, parseObject } from '../platform/files/json-object';
import { holdsTerminal, parentsOf, variableOf } from '../platform/process/own-terminal';
import type { Run } from '../platform/process/process';
import { clean } from '../platform/terminal/terminal';
import { isLive, type Session } from './session';

export interface TerminalDeps {
  run: Run;
  env: NodeJS.ProcessEnv;
}

/** The socket of a tmux server; undefined for the default server. */
export type Socket = string | undefined;

const TIMEOUT_MS = 5000;

/** Returns a program's output, or undefined if the program is missing or fails. */
export async function answerOf(
  { run, env }: TerminalDeps,
  file: string,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    const { code, stdout } = await run(file, args, { env, timeoutMs: TIMEOUT_MS });
    return code === 0 ? stdout : undefined;
  } catch (error) {
    const isMissing = error instanceof StewardError && error.kind === 'not_found';
    if (isMissing && errnoCode(error.cause) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Splits each line of tmux's output into words. Returns an empty list if tmux, the server or the target is
 * missing.
 */
export async function tmuxRows(
  deps: TerminalDeps,
  socket: Socket,
  args: readonly string[],
): Promise<string[][]> {
  const at = socket === undefined ? [] : ['-S', socket];
  const text = (await answerOf(deps, 'tmux', [...at, ...args])) ?? '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
}

/** Extracts the socket from a `TMUX` value, such as `/tmp/tmux-1000/default,4242,0`. */
export function socketIn(variable: string | undefined): Socket {
  const path = variable?.replace(/,\d+,\d+$/, '');
  return path?.startsWith('/') === true ? path : undefined;
}

export interface KittyWindow {
  id: number;
  pid: number;
  tab: string;
}

/** Lists the windows of the kitty instance at a local socket; empty if kitty doesn't respond. */
export async function kittyWindows(deps: TerminalDeps, socket: string | null): Promise<KittyWindow[]> {
  // A kitty instance on a network socket may run on another machine.
  if (socket?.startsWith('unix:') !== true) return [];
  const text = await answerOf(deps, 'kitty', ['@', '--to', socket, 'ls']);
  const objects = (value: unknown): Record<string, unknown>[] =>
    Array.isArray(value) ? value.filter(isObject) : [];
  return objects(parseObject(`{"systems":${text ?? '[]'}}`)?.['systems'])
    .flatMap((system) => objects(system['tabs']))
    .flatMap(({ title, windows }) =>
      objects(windows).map(({ id, pid }) => ({ id: Number(id), pid: Number(pid), tab: String(title) })),
    );
}

export function windowOf(windows: readonly KittyWindow[], pid: number): KittyWindow | undefined {
  const own = new Set([pid, ...parentsOf(pid)]);
  return windows.find((window) => own.has(window.pid));
}

/**
 * Maps each session's slug to its terminal's place: `work:2` in tmux, or the tab's title in kitty. Omits
 * sessions whose terminal is closed or belongs to neither program.
 */
export async function placesOf(
  deps: TerminalDeps,
  sessions: readonly Session[],
): Promise<Map<string, string>> {
  const panes = new Map<Socket, Promise<string[][]>>();
  const windows = new Map<string, Promise<KittyWindow[]>>();
  const places = new Map<string, string>();
  for (const { slug, terminal } of sessions) {
    const { tty, pid, started, kittySocket } = terminal ?? {};
    if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') continue;
    if (!holdsTerminal({ tty, pid, started })) continue;
    const socket = socketIn(variableOf(pid, 'TMUX'));
    if (socket !== undefined) {
      const format = '#{pane_tty} #{session_name}:#{window_index}';
      const listed = panes.get(socket) ?? tmuxRows(deps, socket, ['list-panes', '-a', '-F', format]);
      panes.set(socket, listed);
      const [, ...words] = (await listed).find(([pane]) => pane === tty) ?? [];
      if (words.length > 0) places.set(slug, clean(words.join(' ')));
    } else if (typeof kittySocket === 'string') {
      const listed = windows.get(kittySocket) ?? kittyWindows(deps, kittySocket);
      windows.set(kittySocket, listed);
      const tab = windowOf(await listed, pid)?.tab;
      if (tab !== undefined) places.set(slug, clean(tab));
    }
  }
  return places;
}

/**
 * Returns the sessions that are running on a terminal. Only sessions of assistants other than Claude Code
 * include the assistant's name.
 */
export function sessionsOnTerminal(
  sessions: readonly Session[],
  tty: string,
  nowMs: number,
): (string | { id: string; assistant: string })[] {
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
