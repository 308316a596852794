import { StewardError, errnoCode } from '../errors';
import { isObject, parseObject } from '../platform/files/json-object';
import { holdsTerminal, parentsOf, variableOf } from '../platform/process/own-terminal';
import type { Run } from '../platform/process/process';
import { clean } from '../platform/terminal/terminal';
import type { Session } from './session';

/** What asking tmux and kitty needs of the machine. */
export interface TerminalDeps {
  run: Run;
  env: NodeJS.ProcessEnv;
}

/** A tmux server's socket; undefined: the one that tmux finds by itself. */
export type Socket = string | undefined;

const TIMEOUT_MS = 5000;

/** Returns what a program prints; undefined where it is not installed or refuses. */
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

/** Returns the words of each line that tmux prints; none without tmux, such a server, or anything of that name. */
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

/** The socket in a value of `TMUX`: `/tmp/tmux-1000/default,4242,0`. */
export function socketIn(variable: string | undefined): Socket {
  const path = variable?.replace(/,\d+,\d+$/, '');
  return path?.startsWith('/') === true ? path : undefined;
}

/** A window of kitty with the title of its tab. */
export interface KittyWindow {
  id: number;
  pid: number;
  tab: string;
}

/** Lists the windows of a kitty that listens on a socket of this machine; none where it does not answer. */
export async function kittyWindows(deps: TerminalDeps, socket: string | null): Promise<KittyWindow[]> {
  // A kitty that listens on the network may be another machine's.
  if (socket?.startsWith('unix:') !== true) return [];
  const text = await answerOf(deps, 'kitty', ['@', '--to', socket, 'ls']);
  const objects = (value: unknown): Record<string, unknown>[] =>
    Array.isArray(value) ? value.filter(isObject) : [];
  // `ls` prints a list, and parseObject takes objects only.
  return objects(parseObject(`{"systems":${text ?? '[]'}}`)?.['systems'])
    .flatMap((system) => objects(system['tabs']))
    .flatMap(({ title, windows }) =>
      objects(windows).map(({ id, pid }) => ({ id: Number(id), pid: Number(pid), tab: String(title) })),
    );
}

/** Returns the window in which a process runs. */
export function windowOf(windows: readonly KittyWindow[], pid: number): KittyWindow | undefined {
  const own = new Set([pid, ...parentsOf(pid)]);
  return windows.find((window) => own.has(window.pid));
}

/**
 * Where each session's terminal is, by slug, as tmux and kitty name it now: `work:2`, a tab's title. A session whose
 * terminal was closed, or that neither of them knows, is left out.
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
