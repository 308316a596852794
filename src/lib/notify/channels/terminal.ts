import { ok, off, type Check } from '../../platform/check';
import { shortHash } from '../../platform/files/short-hash';
import { factsOf, variableOf, writeToTerminal } from '../../platform/process/own-terminal';
import { inputTimeOf, leadersOf } from '../../platform/process/pty';
import { cleanLine } from '../../platform/terminal/terminal';
import {
  answerOf,
  socketIn,
  tmuxSockets,
  tmuxTerminals,
  type TerminalDeps,
  type TmuxClient,
} from '../../sessions/terminals';
import { EVENTS } from '../events';
import type { Channel, ChannelDeps, NotifyChecked, Parcel, Trouble } from './channel';

/** A terminal that somebody looks at: outside of tmux, or attached to it. */
interface Attached {
  tty: string;
  pid: number;
  /** What the terminal emulator calls itself, in lower case. */
  emulator: string;
  /** Set for a terminal that is attached to tmux. */
  tmux?: TmuxClient;
}

type Deps = Pick<ChannelDeps, 'platform' | 'env' | 'run'>;

const NONE = {
  reason: 'no terminal here that could show it',
  hint: 'steward writes to the terminals of your ssh logins and tmux clients.',
} as const;

/**
 * Shows messages on your terminals, once per emulator or ssh connection: as a banner of the emulator if it shows
 * banners, else in tmux's status line, and with a bell.
 */
export function terminalChannel({ platform, env, run }: Deps): Channel {
  return {
    id: 'terminal',
    keepMs: 15 * 60_000,
    joinsFrom: 4,
    off: () => offFor(platform),
    absent: async () => ((await attachedTerminals({ run, env })).length === 0 ? NONE : undefined),
    async send(parcel) {
      const deps = { run, env };
      const terminals = oneEach(await attachedTerminals(deps)).filter(
        ({ emulator, tmux }) => !parcel.silent || tmux !== undefined || bannerFormat(emulator) !== undefined,
      );
      if (terminals.length === 0) return { outcome: 'skipped', ...NONE };
      const shown = await Promise.all(terminals.map((terminal) => show(deps, terminal, parcel)));
      if (shown.includes(true)) return { outcome: 'delivered' };
      return { outcome: 'again', reason: 'No terminal took the message.', hint: 'Press a key in it.' };
    },
  };
}

function offFor(platform: NodeJS.Platform): Trouble | undefined {
  if (platform === 'linux') return undefined;
  return { reason: 'only available on Linux', hint: 'Use the desktop channel.' };
}

async function attachedTerminals(deps: TerminalDeps): Promise<Attached[]> {
  const leaders = leadersOf(deps.env['HOME']);
  const sockets = new Set(tmuxSockets(deps.env));
  for (const { pid } of leaders) {
    const socket = socketIn(variableOf(pid, 'TMUX'));
    if (socket !== undefined) sockets.add(socket);
  }
  const servers = await Promise.all([...sockets].map((socket) => tmuxTerminals(deps, socket)));
  const panes = new Set(servers.flatMap((server) => server.panes));
  const clients: Attached[] = servers.flatMap((server) => server.clients.map((tmux) => ({ ...tmux, tmux })));
  const others = leaders
    .filter(({ tty }) => !clients.some((client) => client.tty === tty))
    .map((leader) => ({ ...leader, emulator: emulatorOf(leader.pid) }));
  return [...clients, ...others].filter(({ tty }) => !panes.has(tty));
}

/** Programs that draw terminals themselves pass on the variables of the emulator that they run in. */
function emulatorOf(pid: number): string {
  if (['HERDR_PANE_ID', 'STY'].some((name) => variableOf(pid, name) !== undefined)) return '';
  const names = ['TERM_PROGRAM', 'LC_TERMINAL', 'TERM'].map((name) => variableOf(pid, name) ?? '');
  return names.join(' ').toLowerCase();
}

/** Returns the terminal of each emulator and ssh connection that was used last. */
function oneEach(terminals: readonly Attached[]): Attached[] {
  const byInput = [...terminals].sort((a, b) => (inputTimeOf(a.tty) ?? 0) - (inputTimeOf(b.tty) ?? 0));
  return [...new Map(byInput.map((terminal) => [viewerOf(terminal), terminal])).values()];
}

function viewerOf({ pid }: Attached): string {
  const address = variableOf(pid, 'SSH_CONNECTION')?.split(' ')[0];
  if (address !== undefined) return address;
  const leader = factsOf(pid)?.leader ?? pid;
  return String(factsOf(leader)?.parent);
}

async function show(deps: TerminalDeps, { tty, pid, emulator, tmux }: Attached, parcel: Parcel) {
  const format = bannerFormat(emulator);
  const banner = format === undefined ? undefined : bannerSequence(parcel, format);
  const bell = parcel.silent ? '' : '\u0007';
  // Not through tmux: it drops what a pane passes on while it redraws, shows a message or asks for a command.
  if (banner !== undefined || tmux === undefined) return writeTo(tty, pid, banner ?? bell);
  const { socket, pane } = tmux;
  const [title, text] = textsOf(parcel);
  // tmux expands # to the output of a command, and % to the time.
  const literal = `${title}: ${text}`.replace(/[#%]/g, '$&$&');
  const args = ['-S', socket, 'display-message', '-c', tty, '-d', '5000', '--', literal];
  const isShown = (await answerOf(deps, 'tmux', args)) !== undefined;
  return writeTo(pane.tty, pane.pid, bell) || isShown;
}

function writeTo(tty: string, pid: number, text: string): boolean {
  const started = factsOf(pid)?.started;
  return started !== undefined && text !== '' && writeToTerminal({ tty, pid, started }, text);
}

/** Returns the title and text, each as one line without control characters and without the separator `;`. */
function textsOf({ title, message, event }: Parcel): [string, string] {
  const plain = (text: string, max: number): string =>
    cleanLine(text, max)
      .replace(/\p{Cc}/gu, '')
      .replaceAll(';', ',');
  return [plain(title ?? EVENTS[event].title, 120), plain(message, 400)];
}

type BannerFormat = 'osc9' | 'osc99' | 'osc777';

const FORMATS: Readonly<Record<string, BannerFormat>> = {
  kitty: 'osc99',
  ghostty: 'osc777',
  wezterm: 'osc777',
  foot: 'osc777',
  warp: 'osc777',
  iterm: 'osc9',
};

/** Returns the sequence with which a terminal emulator shows a banner; undefined if it may show none. */
function bannerFormat(emulator: string): BannerFormat | undefined {
  return Object.entries(FORMATS).find(([name]) => emulator.includes(name))?.[1];
}

function bannerSequence(parcel: Parcel, format: BannerFormat): string {
  const [title, text] = textsOf(parcel);
  if (format === 'osc777') return osc(`777;notify;${title};${text}`);
  // The text begins with a letter, because a number would select another function of OSC 9.
  if (format === 'osc9') return osc(`9;steward: ${title}: ${text}`);
  const base64 = (part: string): string => Buffer.from(part, 'utf8').toString('base64');
  const about = `i=steward-${shortHash(parcel.dedupe ?? parcel.id)}:e=1`;
  return osc(`99;${about}:d=0;${base64(title)}`) + osc(`99;${about}:p=body;${base64(text)}`);
}

function osc(text: string): string {
  return `\u001b]${text}\u001b\\`;
}

export const terminalCheck: Check<NotifyChecked> = {
  id: 'notify.terminal',
  title: 'terminals',
  needsConfig: true,
  async run({ host, run }) {
    const notOn = offFor(host.platform);
    if (notOn !== undefined) return [off(notOn.reason, { hint: notOn.hint })];
    const terminals = oneEach(await attachedTerminals({ run, env: host.env }));
    if (terminals.length === 0) return [off(NONE.reason, { hint: NONE.hint })];
    return [ok(`reaches ${terminals.map(({ tty }) => tty).join(', ')}`)];
  },
};
