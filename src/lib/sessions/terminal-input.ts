import { listSystemFolder } from '../platform/files/system-files';
import { foregroundOf, inputTimeOf, leadersOf } from '../platform/process/pty';
import { isInHerdr, paneOfHerdr } from './herdr';
import { tmuxSockets, tmuxTerminals, type TerminalDeps } from './terminals';

/** Your last input at a terminal of this machine. Only its time and place are read, never what was typed. */
export interface TerminalInput {
  /** Time of the input. The system reports it in steps of 8 s, tmux to the second. */
  atMs: number;
  /** Device path of the terminal that you typed on; in tmux, the client's terminal. */
  tty: string;
  /** Device path of the terminal shown there: the active pane of tmux or herdr, or else `tty`. */
  pane: string;
  /** A process on `pane`. */
  pid: number;
}

/** Returns your last input at a terminal, or undefined if no terminal of yours is open. Works only on Linux. */
export async function lastTerminalInput(deps: TerminalDeps): Promise<TerminalInput | undefined> {
  const servers = await Promise.all(tmuxSockets(deps.env).map((socket) => tmuxTerminals(deps, socket)));
  const panes = new Set(servers.flatMap((server) => server.panes));
  const clients = servers
    .flatMap((server) => server.clients)
    .map(({ tty, atMs, pane }): TerminalInput => ({ tty, atMs, pane: pane.tty, pid: pane.pid }));
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
  const opened = leadersOf(deps.env['HOME'], others)
    .filter(({ pid }) => !isInHerdr(pid))
    .map(({ tty, pid }) => ({ tty, pane: tty, pid, atMs: others.get(tty) ?? 0 }));
  const last = latest(opened) ?? inTmux;
  const shown = last === undefined ? undefined : foregroundOf(last.pid);
  const pane = shown?.program === 'herdr' ? await paneOfHerdr(deps, shown.pid) : undefined;
  return last === undefined || pane === undefined ? last : { ...last, pane: pane.tty, pid: pane.pid };
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

function ownTerminals(): string[] {
  const pseudo = listSystemFolder('/dev/pts').filter((name) => /^\d+$/.test(name));
  const consoles = listSystemFolder('/dev').filter((name) => /^tty[1-9]\d?$/.test(name));
  return [...pseudo.map((name) => `/dev/pts/${name}`), ...consoles.map((name) => `/dev/${name}`)];
}
