import { join } from 'node:path';

import { listSystemFolder, userId } from '../platform/files/system-files';
import { inputTimeOf, leadersOf } from '../platform/process/pty';
import { socketIn, tmuxRows, type TerminalDeps } from './terminals';

/** Your last input at a terminal of this machine. Only its time and place are read, never what was typed. */
export interface TerminalInput {
  /** Time of the input. The system reports it in steps of 8 s, tmux to the second. */
  atMs: number;
  /** Device path of the terminal that you typed on; in tmux, the client's terminal. */
  tty: string;
  /** Device path of the terminal shown there: the active pane of a tmux client, or else `tty`. */
  pane: string;
  /** A process on `pane`. */
  pid: number;
}

/** Maximum number of tmux servers to search. */
const MAX_SERVERS = 8;

/** Returns your last input at a terminal, or undefined if no terminal of yours is open. Works only on Linux. */
export async function lastTerminalInput(deps: TerminalDeps): Promise<TerminalInput | undefined> {
  const { clients, panes } = await tmuxTerminals(deps);
  // Programs type into panes, so a pane counts only through the client that shows it.
  const typed = clients.filter(({ tty }) => !panes.has(tty)).map((client) => shownIn(client, clients));
  const inTmux = latest(typed);
  const others = new Map<string, number>();
  for (const tty of ownTerminals()) {
    const atMs = inputTimeOf(tty) ?? 0;
    const isTmux = panes.has(tty) || clients.some((client) => client.tty === tty);
    if (!isTmux && atMs > (inTmux?.atMs ?? 0)) others.set(tty, atMs);
  }
  if (others.size === 0) return inTmux;
  const opened = leadersOf(deps.env['HOME'], others).map(({ tty, pid }) => ({
    tty,
    pane: tty,
    pid,
    atMs: others.get(tty) ?? 0,
  }));
  return latest(opened) ?? inTmux;
}

function latest(inputs: readonly TerminalInput[]): TerminalInput | undefined {
  return inputs.reduce<TerminalInput | undefined>(
    (last, input) => (last === undefined || input.atMs > last.atMs ? input : last),
    undefined,
  );
}

/** Follows a tmux client in the pane of another one. */
function shownIn(client: TerminalInput, clients: readonly TerminalInput[]): TerminalInput {
  const inner = clients.find(({ tty }) => tty === client.pane && tty !== client.tty);
  return inner === undefined ? client : { ...client, pane: inner.pane, pid: inner.pid };
}

async function tmuxTerminals(
  deps: TerminalDeps,
): Promise<{ clients: TerminalInput[]; panes: ReadonlySet<string> }> {
  const clients: TerminalInput[] = [];
  const panes = new Set<string>();
  const format = '#{client_tty} #{pane_tty} #{pane_pid} #{client_activity}';
  const args = ['list-clients', '-F', format, ';', 'list-panes', '-a', '-F', '#{pane_tty}'];
  for (const socket of tmuxSockets(deps.env)) {
    for (const [tty = '', pane, pid, active] of await tmuxRows(deps, socket, args)) {
      if (pane === undefined) panes.add(tty);
      else if (tty.startsWith('/dev/'))
        clients.push({ tty, pane, pid: Number(pid), atMs: Number(active) * 1000 });
    }
  }
  return { clients, panes };
}

/** Returns the sockets of this user's tmux servers, the default one first. */
export function tmuxSockets(env: NodeJS.ProcessEnv): string[] {
  const folder = join(env['TMUX_TMPDIR'] ?? '/tmp', `tmux-${userId()}`);
  const names = listSystemFolder(folder).sort((a, b) => Number(b === 'default') - Number(a === 'default'));
  const own = socketIn(env['TMUX']);
  const sockets = names.map((name) => join(folder, name));
  return [...new Set(own === undefined ? sockets : [own, ...sockets])].slice(0, MAX_SERVERS);
}

function ownTerminals(): string[] {
  const pseudo = listSystemFolder('/dev/pts').filter((name) => /^\d+$/.test(name));
  const consoles = listSystemFolder('/dev').filter((name) => /^tty[1-9]\d?$/.test(name));
  return [...pseudo.map((name) => `/dev/pts/${name}`), ...consoles.map((name) => `/dev/${name}`)];
}
