import { StewardError } from '../errors';
import { type OwnTerminal, holdsTerminal, variableOf } from '../platform/process/own-terminal';
import { isCodexDaemon } from '../platform/process/programs';
import { clean } from '../platform/terminal/terminal';
import { namesOf } from './describe';
import { firstOf, matchingSessions, nthSession } from './find';
import { isLive, type Session, type SessionsState, statusOf } from './session';
import {
  answerOf,
  kittyWindows,
  type Socket,
  socketIn,
  type TerminalDeps,
  tmuxRows,
  windowOf,
} from './terminals';
import { orderOfSessions } from './rows';

export interface Went {
  slug: string;
  name: string;
  via: 'tmux' | 'kitty';
  tty: string;
  /** Id of the tmux pane or kitty window, such as `%3` or `7`. */
  target: string;
}

export interface GoDeps extends TerminalDeps {
  machineId: string;
}

export interface Destinations {
  sessions: readonly Session[];
  names: ReadonlyMap<string, string>;
}

export function destinationsOf(state: SessionsState, nowMs: number): Destinations {
  const sessions = Object.values(state.sessions).filter((session) => isLive(session, nowMs));
  if (sessions.length > 0)
    return { sessions: sessions.sort(orderOfSessions(nowMs)), names: namesOf(sessions) };
  throw new StewardError('not_found', 'No sessions are running.', {
    hint: 'If sessions are missing, run "steward hooks install".',
  });
}

/**
 * Returns the sessions that `wanted` selects by number or text. Without `wanted`, returns the first one
 * that waits for you. Throws `not_found` if there is none.
 */
export function chosenSessions({ sessions, names }: Destinations, nowMs: number, wanted?: string): Session[] {
  if (wanted === undefined) {
    const first = sessions.find((session) => statusOf(session, nowMs) === 'waiting');
    if (first !== undefined) return [first];
    throw new StewardError('not_found', 'No session is waiting for you.', {
      hint: listOf(sessions, sessions, names),
    });
  }
  const nth = nthSession(sessions, wanted);
  const found = nth === undefined ? matchingSessions(sessions, wanted) : [nth];
  if (found.length > 0) return found;
  throw new StewardError('not_found', `No running session matches "${clean(wanted)}".`, {
    hint: listOf(sessions, sessions, names),
  });
}

/** Returns an error with the list of sessions that match the text. */
export function severalMatch(
  { sessions, names }: Destinations,
  found: readonly Session[],
  wanted: string,
): StewardError {
  return new StewardError('usage', `"${clean(wanted)}" matches ${found.length} sessions.`, {
    hint: listOf(found, sessions, names),
  });
}

function listOf(
  found: readonly Session[],
  all: readonly Session[],
  names: ReadonlyMap<string, string>,
): string {
  const lines = found.map(
    (session) => `steward go ${all.indexOf(session) + 1}    ${names.get(session.slug) ?? session.slug}`,
  );
  return firstOf(lines, 'steward sessions');
}

/**
 * Brings a session's tmux pane or kitty window to the front. Throws `unavailable`, with the reason, if the
 * session is no longer running in the terminal where it started.
 */
export async function goToSession(deps: GoDeps, session: Session, name: string): Promise<Went> {
  const { slug } = session;
  const terminal = terminalOf(session, name, deps.machineId);
  const { tty } = terminal;
  const pane = await showInTmux(deps, terminal);
  if (pane !== undefined) return { slug, name, via: 'tmux', tty, target: pane };
  const window = await focusKitty(deps, terminal.pid, session.terminal?.kittySocket ?? undefined);
  if (window !== undefined) return { slug, name, via: 'kitty', tty, target: window };
  throw new StewardError('unavailable', `${name} is running on ${tty}, outside of tmux and kitty.`, {
    hint: 'Start sessions in tmux, or in kitty with "allow_remote_control socket-only" and "listen_on unix:@kitty" in kitty.conf.',
  });
}

function terminalOf(session: Session, name: string, machineId: string): OwnTerminal {
  const { machine, terminal } = session;
  if (machine !== null && machine !== machineId) {
    throw new StewardError('unavailable', `${name} is running on another machine.`, {
      hint: 'Run "steward go" there.',
    });
  }
  const { tty, pid, started } = terminal ?? {};
  if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') {
    throw new StewardError('unavailable', `The terminal for ${name} is unknown.`, {
      hint: whyUnknown(session),
    });
  }
  if (holdsTerminal({ tty, pid, started })) return { tty, pid, started };
  throw new StewardError('unavailable', `${name} is no longer running on ${tty}.`, {
    hint: 'Run "steward sessions" to list the running sessions.',
  });
}

/** Returns why the terminal of a session is unknown, and what to do. */
function whyUnknown({ terminal, process: mark }: Session): string {
  if (process.platform !== 'linux') return 'steward records terminals only on Linux.';
  if (terminal === null)
    return 'steward was not told when the session started. The next session will have one.';
  if (isCodexDaemon(mark?.pid)) {
    return 'Codex runs the session in the background, and steward cannot tell which of its windows shows it. Open it with "codex resume" and its id.';
  }
  return 'The session was started outside of a terminal, for example by an editor.';
}

/**
 * Focuses the kitty window in which a process is running. Returns the window's id, or undefined if no window
 * was focused.
 */
async function focusKitty(
  deps: TerminalDeps,
  pid: number,
  socket: string | undefined,
): Promise<string | undefined> {
  const id = windowOf(await kittyWindows(deps, socket ?? null), pid)?.id;
  if (id === undefined || socket === undefined) return undefined;
  const args = ['@', '--to', socket, 'focus-window', '--match', `id:${id}`];
  return (await answerOf(deps, 'kitty', args)) === undefined ? undefined : String(id);
}

const PANE = /^%\d+$/;

interface Client {
  tty: string;
  pid: number;
  session: string;
  /** Time of the tmux client's last activity, in epoch seconds. */
  active: number;
}

/**
 * Shows the terminal's pane in the calling tmux client or, outside tmux, in the most suitable client. Returns
 * the pane, or undefined if no tmux server has this terminal.
 */
async function showInTmux(deps: TerminalDeps, terminal: OwnTerminal): Promise<string | undefined> {
  const own = socketIn(deps.env['TMUX']);
  const theirs = socketIn(variableOf(terminal.pid, 'TMUX'));
  for (const socket of new Set<Socket>([theirs, own, undefined])) {
    const format = '#{pane_tty} #{pane_id} #{window_id} #{session_id}';
    const panes = await tmuxRows(deps, socket, ['list-panes', '-a', '-F', format]);
    const [, pane = '', window = '', session = ''] = panes.find(([tty]) => tty === terminal.tty) ?? [];
    if (!PANE.test(pane)) continue;
    await tmuxRows(deps, socket, ['select-window', '-t', window]);
    await tmuxRows(deps, socket, ['select-pane', '-t', pane]);
    const asks = own !== undefined && own === (socket ?? own) ? await ownClient(deps, socket) : undefined;
    const client = asks ?? (await bestClient(deps, socket, session));
    if (client === undefined) throw unattached(socket, session);
    await tmuxRows(deps, socket, ['switch-client', '-c', client.tty, '-t', pane]);
    if (asks === undefined) await focusKitty(deps, client.pid, variableOf(client.pid, 'KITTY_LISTEN_ON'));
    return pane;
  }
  return undefined;
}

async function ownClient(deps: TerminalDeps, socket: Socket): Promise<Client | undefined> {
  const pane = deps.env['TMUX_PANE'] ?? '';
  if (!PANE.test(pane)) return undefined;
  const [row] = await tmuxRows(deps, socket, ['display-message', '-p', '-t', pane, '#{session_id}']);
  return (await clientsOf(deps, socket)).find(({ session }) => session === row?.[0]);
}

async function bestClient(deps: TerminalDeps, socket: Socket, session: string): Promise<Client | undefined> {
  const clients = await clientsOf(deps, socket);
  return clients.find((client) => client.session === session) ?? clients[0];
}

async function clientsOf(deps: TerminalDeps, socket: Socket): Promise<Client[]> {
  const format = '#{client_tty} #{client_pid} #{session_id} #{client_activity}';
  const rows = await tmuxRows(deps, socket, ['list-clients', '-F', format]);
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
  return new StewardError(
    'unavailable',
    'The session is running in tmux, but no terminal is attached to it.',
    {
      hint: `Attach to it (the pane is already selected): tmux${at} attach -t '${session}'`,
    },
  );
}
