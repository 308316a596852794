import { StewardError, errnoCode } from '../errors';
import { isObject, parseObject } from '../platform/files/json-object';
import { type OwnTerminal, holdsTerminal, parentsOf, variableOf } from '../platform/process/own-terminal';
import type { Run } from '../platform/process/process';
import { clean } from '../platform/terminal/terminal';
import { type Session, type SessionsState, statusOf } from './session';
import { orderOfSessions } from './view';

/** Where a person was brought. */
export interface Went {
  slug: string;
  via: 'tmux' | 'kitty';
  tty: string;
  /** The pane or the window in the words of its program: `%3`, `7`. */
  target: string;
}

/**
 * Brings the tmux pane or the kitty window of a session to the front: of the N-th of `steward sessions` or of a slug,
 * else of the session that waits longest. The terminal is the one that the session began on, and is looked at again
 * before anything is done. Where it cannot be done, `unavailable` says why.
 */
export async function goToSession(deps: GoDeps, state: SessionsState, wanted?: string): Promise<Went> {
  const sessions = liveInOrder(state, deps.nowMs);
  const session = wanted === undefined ? longestWaiting(sessions, deps.nowMs) : chosen(sessions, wanted);
  const terminal = terminalOf(session, deps.machineId);
  const pane = await showInTmux(deps, terminal);
  if (pane !== undefined) return { slug: session.slug, via: 'tmux', tty: terminal.tty, target: pane };
  const socket = session.terminal?.kittySocket ?? undefined;
  const window = await focusKitty(deps, terminal.pid, socket);
  if (window !== undefined) return { slug: session.slug, via: 'kitty', tty: terminal.tty, target: window };
  throw new StewardError(
    'unavailable',
    `${session.slug} runs on ${terminal.tty}, which is no pane of tmux and no window of a kitty that can be asked.`,
    {
      hint: 'tmux needs no setting. kitty needs allow_remote_control socket-only and listen_on unix:@kitty in kitty.conf, before the session begins.',
    },
  );
}

/** What `steward sessions` shows, in its order. */
function liveInOrder(state: SessionsState, nowMs: number): Session[] {
  const live = Object.values(state.sessions).filter((session) =>
    ['waiting', 'working'].includes(statusOf(session, nowMs)),
  );
  if (live.length > 0) return live.sort(orderOfSessions(nowMs));
  throw new StewardError('not_found', 'No session runs now.', {
    hint: 'Sessions are reported by the hooks of your assistant: steward hooks install',
  });
}

function longestWaiting(sessions: readonly Session[], nowMs: number): Session {
  const since = (session: Session): string => session.waitingSince ?? session.updatedAt;
  const [first] = sessions
    .filter((session) => statusOf(session, nowMs) === 'waiting')
    .sort((a, b) => Date.parse(since(a)) - Date.parse(since(b)));
  if (first !== undefined) return first;
  throw new StewardError('not_found', 'No session waits for you.', { hint: listOf(sessions) });
}

function chosen(sessions: readonly Session[], wanted: string): Session {
  const found = /^\d+$/.test(wanted)
    ? sessions.slice(Number(wanted) - 1, Number(wanted)).slice(0, Number(wanted) > 0 ? 1 : 0)
    : sessions.filter(({ slug }) => slug === wanted || slug.startsWith(wanted));
  const only = found.find(({ slug }) => slug === wanted) ?? found[0];
  if (only !== undefined && (found.length === 1 || only.slug === wanted)) return only;
  const said = found.length === 0 ? 'No session that runs is' : `${found.length} sessions begin with`;
  throw new StewardError(found.length === 0 ? 'not_found' : 'usage', `${said} ${clean(wanted)}.`, {
    hint: listOf(sessions),
  });
}

const MAX_LISTED = 10;

/** The sessions as one would name them next. */
function listOf(sessions: readonly Session[]): string {
  const lines = sessions.slice(0, MAX_LISTED).map(({ slug }, index) => `steward go ${index + 1}    ${slug}`);
  const rest = sessions.length - MAX_LISTED;
  return [...lines, ...(rest > 0 ? [`${rest} more: steward sessions`] : [])].join('\n');
}

function terminalOf(session: Session, machineId: string): OwnTerminal {
  const { slug, machine, terminal } = session;
  if (machine !== null && machine !== machineId) {
    throw new StewardError('unavailable', `${slug} runs on another machine.`, {
      hint: 'Run "steward go" there.',
    });
  }
  const { tty, pid, started } = terminal ?? {};
  if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') {
    throw new StewardError('unavailable', `In which terminal ${slug} runs is not known.`, {
      hint: 'Linux tells it when a session begins; other systems do not, and editors have none.',
    });
  }
  if (holdsTerminal({ tty, pid, started })) return { tty, pid, started };
  throw new StewardError('unavailable', `${slug} has left ${tty}: what ran there has ended.`, {
    hint: 'A session that was closed without a word is shown for 12 hours; "steward sessions" lists them.',
  });
}

/** What bringing a terminal to the front needs of the machine. */
export interface GoDeps {
  run: Run;
  env: NodeJS.ProcessEnv;
  machineId: string;
  nowMs: number;
}

const TIMEOUT_MS = 5000;

/** What a program prints; undefined where there is no such program, or it refuses. */
async function answerOf(
  { run, env }: GoDeps,
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
 * Focuses the kitty window in which a process runs, through the socket of its kitty. Returns the window's id;
 * undefined: there is no socket of this machine, no kitty answers there, or none of its windows has the process.
 */
async function focusKitty(
  deps: GoDeps,
  pid: number,
  socket: string | undefined,
): Promise<string | undefined> {
  // A kitty that listens on the network may be another machine's.
  if (socket?.startsWith('unix:') !== true) return undefined;
  const listed = await answerOf(deps, 'kitty', ['@', '--to', socket, 'ls']);
  const own = new Set<unknown>([pid, ...parentsOf(pid)]);
  const id = windowsIn(listed).find((window) => own.has(window['pid']))?.['id'];
  if (!Number.isSafeInteger(id)) return undefined;
  const focused = await answerOf(deps, 'kitty', [
    ...['@', '--to', socket],
    ...['focus-window', '--match', `id:${String(id)}`],
  ]);
  return focused === undefined ? undefined : String(id);
}

/** What `kitty @ ls` prints: system windows with tabs with windows. */
function windowsIn(text: string | undefined): Record<string, unknown>[] {
  const objects = (value: unknown): Record<string, unknown>[] =>
    Array.isArray(value) ? value.filter(isObject) : [];
  // A list, which only stands in an object as a value.
  return objects(parseObject(`{"systems":${text ?? '[]'}}`)?.['systems'])
    .flatMap((system) => objects(system['tabs']))
    .flatMap((tab) => objects(tab['windows']));
}

/** A tmux server's socket; undefined: the one that tmux finds by itself. */
type Socket = string | undefined;

interface Client {
  tty: string;
  pid: number;
  session: string;
  /** Seconds. */
  active: number;
}

/**
 * Shows the pane that has the terminal, in the client that asks or else in the one that was used last, and brings a
 * kitty window with that client to the front. Returns the pane; undefined: no server has this terminal.
 */
async function showInTmux(deps: GoDeps, terminal: OwnTerminal): Promise<string | undefined> {
  const own = socketIn(deps.env['TMUX']);
  const theirs = socketIn(variableOf(terminal.pid, 'TMUX'));
  for (const socket of new Set<Socket>([theirs, own, undefined])) {
    const format = '#{pane_tty} #{pane_id} #{window_id} #{session_id}';
    const panes = await rowsOf(deps, socket, ['list-panes', '-a', '-F', format]);
    const [, pane = '', window = '', session = ''] = panes.find(([tty]) => tty === terminal.tty) ?? [];
    if (!PANE.test(pane)) continue;
    await rowsOf(deps, socket, ['select-window', '-t', window]);
    await rowsOf(deps, socket, ['select-pane', '-t', pane]);
    // Within tmux the client that asks is the one that goes.
    const asks = own !== undefined && own === (socket ?? own) ? await ownClient(deps, socket) : undefined;
    const client = asks ?? (await bestClient(deps, socket, session));
    if (client === undefined) throw unattached(socket, session);
    await rowsOf(deps, socket, ['switch-client', '-c', client.tty, '-t', pane]);
    if (asks === undefined) await focusKitty(deps, client.pid, variableOf(client.pid, 'KITTY_LISTEN_ON'));
    return pane;
  }
  return undefined;
}

const PANE = /^%\d+$/;

/** `/tmp/tmux-1000/default,4242,0` */
function socketIn(variable: string | undefined): Socket {
  const path = variable?.replace(/,\d+,\d+$/, '');
  return path?.startsWith('/') === true ? path : undefined;
}

/** The client in which the pane is that this process runs in. */
async function ownClient(deps: GoDeps, socket: Socket): Promise<Client | undefined> {
  const pane = deps.env['TMUX_PANE'] ?? '';
  if (!PANE.test(pane)) return undefined;
  const [row] = await rowsOf(deps, socket, ['display-message', '-p', '-t', pane, '#{session_id}']);
  return (await clientsOf(deps, socket)).find(({ session }) => session === row?.[0]);
}

/** One that shows the session already, else the one that was used last. */
async function bestClient(deps: GoDeps, socket: Socket, session: string): Promise<Client | undefined> {
  const clients = await clientsOf(deps, socket);
  return clients.find((client) => client.session === session) ?? clients[0];
}

/** The one that was used last first. */
async function clientsOf(deps: GoDeps, socket: Socket): Promise<Client[]> {
  const format = '#{client_tty} #{client_pid} #{session_id} #{client_activity}';
  const rows = await rowsOf(deps, socket, ['list-clients', '-F', format]);
  return rows
    .filter((parts) => parts.length === 4 && parts[0]?.startsWith('/') === true)
    .map(([tty = '', pid, session = '', active]) => ({
      tty,
      pid: Number(pid),
      session,
      active: Number(active),
    }))
    .sort((a, b) => b.active - a.active);
}

function unattached(socket: Socket, session: string): StewardError {
  const at = socket === undefined ? '' : ` -S '${socket}'`;
  return new StewardError('unavailable', 'It runs in tmux, and no terminal shows that tmux now.', {
    hint: `Attach to it; the pane is chosen already: tmux${at} attach -t '${session}'`,
  });
}

/** The words of each line that tmux answers; none where there is no tmux, no such server, or nothing of that name. */
async function rowsOf(deps: GoDeps, socket: Socket, args: readonly string[]): Promise<string[][]> {
  const at = socket === undefined ? [] : ['-S', socket];
  const text = (await answerOf(deps, 'tmux', [...at, ...args])) ?? '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
}
