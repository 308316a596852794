import { StewardError } from '../errors';
import { type OwnTerminal, holdsTerminal, variableOf } from '../platform/process/own-terminal';
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
import { orderOfSessions } from './view';

/** The session that was brought to the front, and its terminal. */
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

/** The running sessions with their names, in the same order as `steward sessions`. */
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
 * Returns the Nth session in `steward sessions`, the sessions that match the given text or, by default, the
 * one that has been waiting longest. Throws `not_found` if none matches.
 */
export function chosenSessions({ sessions, names }: Destinations, nowMs: number, wanted?: string): Session[] {
  if (wanted === undefined) {
    const since = (session: Session): number => Date.parse(session.waitingSince ?? session.updatedAt);
    const [first] = sessions
      .filter((session) => statusOf(session, nowMs) === 'waiting')
      .sort((a, b) => since(a) - since(b));
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

/** Returns the error to throw if several sessions match and there is no terminal to ask on. */
export function severalMatch(
  { sessions, names }: Destinations,
  found: readonly Session[],
  wanted: string,
): StewardError {
  return new StewardError('usage', `"${clean(wanted)}" matches ${found.length} sessions.`, {
    hint: listOf(found, sessions, names),
  });
}

/** Lists the `steward go` command for each session. */
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
 * Brings a session's tmux pane or kitty window to the front if the session is still running in the terminal
 * where it started. Otherwise, throws `unavailable` with the reason.
 */
export async function goToSession(deps: GoDeps, session: Session, name: string): Promise<Went> {
  const { slug } = session;
  const terminal = terminalOf(session, name, deps.machineId);
  const { tty } = terminal;
  const pane = await showInTmux(deps, terminal);
  if (pane !== undefined) return { slug, name, via: 'tmux', tty, target: pane };
  const window = await focusKitty(deps, terminal.pid, session.terminal?.kittySocket ?? undefined);
  if (window !== undefined) return { slug, name, via: 'kitty', tty, target: window };
  throw new StewardError('unavailable', `${name} runs on ${tty}, outside of tmux and kitty.`, {
    hint: 'Start sessions in tmux, or in kitty with "allow_remote_control socket-only" and "listen_on unix:@kitty" in kitty.conf.',
  });
}

function terminalOf({ machine, terminal }: Session, name: string, machineId: string): OwnTerminal {
  if (machine !== null && machine !== machineId) {
    throw new StewardError('unavailable', `${name} runs on another machine.`, {
      hint: 'Run "steward go" there.',
    });
  }
  const { tty, pid, started } = terminal ?? {};
  if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') {
    throw new StewardError('unavailable', `The terminal of ${name} is unknown.`, {
      hint: 'steward records terminals only on Linux, for sessions started outside of an editor.',
    });
  }
  if (holdsTerminal({ tty, pid, started })) return { tty, pid, started };
  throw new StewardError('unavailable', `${name} no longer runs on ${tty}.`, {
    hint: 'Run "steward sessions" to list the running sessions.',
  });
}

/**
 * Focuses the kitty window in which a process runs. Returns its id, or undefined if no window was focused.
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
  /** Time of the last activity, in seconds. */
  active: number;
}

/**
 * Shows the terminal's pane in the calling or most recently used tmux client, and focuses that client's kitty
 * window. Returns the pane, or undefined if no tmux server has this terminal.
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
    // In tmux, switch the client in which the command runs.
    const asks = own !== undefined && own === (socket ?? own) ? await ownClient(deps, socket) : undefined;
    const client = asks ?? (await bestClient(deps, socket, session));
    if (client === undefined) throw unattached(socket, session);
    await tmuxRows(deps, socket, ['switch-client', '-c', client.tty, '-t', pane]);
    if (asks === undefined) await focusKitty(deps, client.pid, variableOf(client.pid, 'KITTY_LISTEN_ON'));
    return pane;
  }
  return undefined;
}

/** Returns the tmux client that shows this process's pane. */
async function ownClient(deps: TerminalDeps, socket: Socket): Promise<Client | undefined> {
  const pane = deps.env['TMUX_PANE'] ?? '';
  if (!PANE.test(pane)) return undefined;
  const [row] = await tmuxRows(deps, socket, ['display-message', '-p', '-t', pane, '#{session_id}']);
  return (await clientsOf(deps, socket)).find(({ session }) => session === row?.[0]);
}

/** Returns a tmux client that already shows the session, or the most recently used client. */
async function bestClient(deps: TerminalDeps, socket: Socket, session: string): Promise<Client | undefined> {
  const clients = await clientsOf(deps, socket);
  return clients.find((client) => client.session === session) ?? clients[0];
}

/** Returns the tmux clients, most recently used first. */
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
  return new StewardError('unavailable', 'The session runs in tmux, but no terminal is attached to it.', {
    hint: `Attach to it (the pane is already selected): tmux${at} attach -t '${session}'`,
  });
}
