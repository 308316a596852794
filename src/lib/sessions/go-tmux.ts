import { errnoCode, StewardError } from '../errors';
import { variableOf, type OwnTerminal } from '../platform/process/own-terminal';
import type { GoDeps } from './go-deps';
import { focusKitty } from './go-kitty';

const TIMEOUT_MS = 5000;

interface Pane {
  /** Of its server; undefined: the one that tmux finds by itself. */
  socket: string | undefined;
  pane: string;
  window: string;
  session: string;
}

interface Client {
  tty: string;
  pid: number;
  session: string;
  /** Seconds. */
  active: number;
}

/**
 * Shows the pane that has the terminal, in the client that asks or else in the one that was used last, and brings a
 * kitty window with that client to the front. Gives the pane; undefined: no server has this terminal.
 */
export async function showInTmux(deps: GoDeps, terminal: OwnTerminal): Promise<string | undefined> {
  const own = socketIn(deps.env['TMUX']);
  const theirs = socketIn(variableOf(terminal.pid, 'TMUX'));
  for (const socket of new Set([theirs, own, undefined])) {
    const found = await paneOf(deps, socket, terminal.tty);
    if (found === undefined) continue;
    await tmux(deps, socket, ['select-window', '-t', found.window]);
    await tmux(deps, socket, ['select-pane', '-t', found.pane]);
    // Within tmux the client that asks is the one that goes.
    const asks = own !== undefined && own === (socket ?? own) ? await ownClient(deps, socket) : undefined;
    const client = asks ?? (await bestClient(deps, socket, found.session));
    if (client === undefined) throw unattached(found);
    await tmux(deps, socket, ['switch-client', '-c', client.tty, '-t', found.pane]);
    if (asks === undefined) await focusKitty(deps, client.pid, variableOf(client.pid, 'KITTY_LISTEN_ON'));
    return found.pane;
  }
  return undefined;
}

/** `/tmp/tmux-1000/default,4242,0` */
function socketIn(variable: string | undefined): string | undefined {
  const path = variable?.replace(/,\d+,\d+$/, '');
  return path !== undefined && path.startsWith('/') ? path : undefined;
}

async function paneOf(deps: GoDeps, socket: string | undefined, tty: string): Promise<Pane | undefined> {
  const format = '#{pane_tty} #{pane_id} #{window_id} #{session_id}';
  const rows = await tmux(deps, socket, ['list-panes', '-a', '-F', format]);
  const row = rows?.map((line) => line.split(' ')).find(([own]) => own === tty);
  const [, pane = '', window = '', session = ''] = row ?? [];
  return /^%\d+$/.test(pane) ? { socket, pane, window, session } : undefined;
}

async function clientsOf(deps: GoDeps, socket: string | undefined): Promise<Client[]> {
  const format = '#{client_tty} #{client_pid} #{session_id} #{client_activity}';
  const rows = (await tmux(deps, socket, ['list-clients', '-F', format])) ?? [];
  return rows
    .map((line) => line.split(' '))
    .filter((parts) => parts.length === 4 && parts[0]?.startsWith('/') === true)
    .map(([tty = '', pid, session = '', active]) => ({
      tty,
      pid: Number(pid),
      session,
      active: Number(active),
    }));
}

/** The client in which the pane is that this process runs in. */
async function ownClient(deps: GoDeps, socket: string | undefined): Promise<Client | undefined> {
  const pane = deps.env['TMUX_PANE'] ?? '';
  if (!/^%\d+$/.test(pane)) return undefined;
  const [session] = (await tmux(deps, socket, ['display-message', '-p', '-t', pane, '#{session_id}'])) ?? [];
  const clients = await clientsOf(deps, socket);
  return latest(clients.filter((client) => client.session === session));
}

/** One that shows the session already, else the one that was used last. */
async function bestClient(
  deps: GoDeps,
  socket: string | undefined,
  session: string,
): Promise<Client | undefined> {
  const clients = await clientsOf(deps, socket);
  return latest(clients.filter((client) => client.session === session)) ?? latest(clients);
}

function latest(clients: readonly Client[]): Client | undefined {
  return [...clients].sort((a, b) => b.active - a.active)[0];
}

function unattached({ socket, session }: Pane): StewardError {
  const at = socket === undefined ? '' : ` -S '${socket}'`;
  return new StewardError('unavailable', 'It runs in tmux, and no terminal shows that tmux now.', {
    hint: `Attach to it; the pane is chosen already: tmux${at} attach -t '${session}'`,
  });
}

/** The lines that tmux answers; undefined where there is no tmux, no such server, or nothing of that name. */
async function tmux(
  { run, env }: GoDeps,
  socket: string | undefined,
  args: readonly string[],
): Promise<string[] | undefined> {
  const at = socket === undefined ? [] : ['-S', socket];
  try {
    const { code, stdout } = await run('tmux', [...at, ...args], { env, timeoutMs: TIMEOUT_MS });
    return code === 0 ? stdout.split('\n').filter((line) => line !== '') : undefined;
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'not_found' && errnoCode(error.cause) === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
