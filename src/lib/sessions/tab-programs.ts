import { StewardError } from '../errors';
import { runHere } from '../platform/process/own-process';
import { askHerdr, herdrClient, herdrPanes } from './herdr';
import { macPrograms } from './mac-tabs';
import type { HeldTerminal, Tab, TabDeps, TabProgram } from './tab';
import {
  answerOf,
  kittyWindows,
  socketIn,
  type TmuxClient,
  tmuxRows,
  tmuxSockets,
  tmuxTerminals,
  weztermList,
} from './terminals';

const tmux: TabProgram = {
  id: 'tmux',
  async list(deps, { pid }) {
    const theirs = socketIn(deps.processes.variable(pid, 'TMUX'));
    const sockets = theirs === undefined ? tmuxSockets(deps.env) : [theirs];
    const listed = await Promise.all(sockets.map((socket) => panesOf(deps, socket)));
    return listed.flat();
  },
};

const PANE = /^%\d+$/;

async function panesOf(deps: TabDeps, socket: string): Promise<Tab[]> {
  const format = '#{pane_tty} #{pane_pid} #{pane_id} #{session_id} #{session_name}:#{window_index}';
  const rows = await tmuxRows(deps, socket, ['list-panes', '-a', '-F', format]);
  const tabs = new Map<string, Tab>();
  for (const [listed, pid, pane = '', session = '', ...label] of rows) {
    // tmux lists a window once for each session that shares it.
    if (!PANE.test(pane) || tabs.has(pane)) continue;
    // A server in a container lists devices of its own by the same names.
    const tty = deps.processes.of(Number(pid))?.tty === listed ? listed : undefined;
    const focus = (): Promise<HeldTerminal | boolean> => showPane(deps, socket, pane, session);
    tabs.set(pane, { target: pane, tty, label: label.join(' '), focus });
  }
  return [...tabs.values()];
}

/** Shows a pane in the calling tmux client or, outside of tmux, in the most suitable client. */
async function showPane(
  deps: TabDeps,
  socket: string,
  pane: string,
  session: string,
): Promise<HeldTerminal | boolean> {
  const select = ['-S', socket, 'select-window', '-t', pane, ';', 'select-pane', '-t', pane];
  if ((await answerOf(deps, 'tmux', select)) === undefined) return false;
  // Over ssh, the other clients are on terminals that you don't see.
  if (deps.env['SSH_TTY'] !== undefined && deps.env['TMUX'] === undefined && process.stdin.isTTY)
    return (await runHere('tmux', ['-S', socket, 'attach', '-t', session])) === 0;
  const { clients } = await tmuxTerminals(deps, socket);
  const asks = socketIn(deps.env['TMUX']) === socket ? await ownClient(deps, socket, clients) : undefined;
  const client = asks ?? clients.find((one) => one.session === session) ?? clients[0];
  if (client === undefined) {
    throw new StewardError(
      'unavailable',
      'The session is running in tmux, but no terminal is attached to it.',
      { hint: `Attach to it (the pane is already selected): tmux -S '${socket}' attach -t '${session}'` },
    );
  }
  await tmuxRows(deps, socket, ['switch-client', '-c', client.tty, '-t', pane]);
  return asks === undefined ? client : true;
}

async function ownClient(deps: TabDeps, socket: string, clients: readonly TmuxClient[]) {
  const pane = deps.env['TMUX_PANE'] ?? '';
  if (!PANE.test(pane)) return undefined;
  const [row] = await tmuxRows(deps, socket, ['display-message', '-p', '-t', pane, '#{session_id}']);
  return clients.find(({ session }) => session === row?.[0]);
}

const herdr: TabProgram = {
  id: 'herdr',
  async list(deps, { pid }) {
    const socket = deps.processes.variable(pid, 'HERDR_SOCKET_PATH');
    const own = deps.processes.variable(pid, 'HERDR_PANE_ID');
    if (own === undefined && !deps.processes.runs('herdr')) return [];
    const panes = await herdrPanes(deps, socket, own);
    return panes.map(({ id, shell }) => ({
      target: id,
      tty: deps.processes.of(shell)?.tty,
      label: id,
      focus: async () => {
        if ((await askHerdr(deps, socket, ['agent', 'focus', id])) === undefined) return false;
        return deps.env['HERDR_PANE_ID'] === undefined ? (herdrClient(deps.env) ?? true) : true;
      },
    }));
  },
};

const kitty: TabProgram = {
  id: 'kitty',
  async list(deps, { pid, kittySocket }) {
    const socket = kittySocket ?? deps.processes.variable(pid, 'KITTY_LISTEN_ON') ?? '';
    const windows = await kittyWindows(deps, socket);
    return windows.map(({ id, pid: shell, tab }) => ({
      target: String(id),
      tty: deps.processes.of(shell)?.tty,
      label: tab,
      focus: async () => {
        const args = ['@', '--to', socket, 'focus-window', '--match', `id:${id} and pid:${shell}`];
        return (await answerOf(deps, 'kitty', args)) !== undefined;
      },
    }));
  },
};

const wezterm: TabProgram = {
  id: 'wezterm',
  async list(deps, { pid }) {
    const socket = deps.processes.variable(pid, 'WEZTERM_UNIX_SOCKET');
    if (socket === undefined && !deps.processes.runs('wezterm-gui')) return [];
    const panes = await weztermList(deps, socket, 'list');
    return panes.map(({ id, tty }) => ({
      target: String(id),
      tty,
      focus: async () => {
        const args = ['cli', '--no-auto-start', 'activate-pane', '--pane-id', String(id)];
        const env = { ...deps.env, WEZTERM_UNIX_SOCKET: socket };
        if ((await answerOf({ ...deps, env }, 'wezterm', args)) === undefined) return false;
        if (deps.processes.runs('wezterm-gui')) await answerOf(deps, 'open', ['-a', 'WezTerm']);
        return true;
      },
    }));
  },
};

/** The programs that show where a session is without asking you for a permission. */
export const LABELED: readonly TabProgram[] = [tmux, herdr, kitty];

export const TAB_PROGRAMS: readonly TabProgram[] = [...LABELED, wezterm, ...macPrograms];
