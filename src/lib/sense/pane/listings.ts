import { basename } from 'node:path';

import { undefinedIf } from '../../errors';
import { parseObject, textOf, objectsIn } from '../../platform/files/json-object';
import { converse, type Dialogue } from '../../platform/net/local-socket';
import { variableOf } from '../../platform/process/own-terminal';
import { argumentsOf, type Pty } from '../../platform/process/pty';
import { tmuxSockets, tmuxTerminals, weztermList } from '../../sessions/terminals';
import { parseAnswer, type Desktop } from '../front-app/adapter';

/** Returns the terminal and process of the active pane in a tmux client. */
export async function paneOfTmux(desktop: Desktop, client: Pty): Promise<Pty | undefined> {
  for (const socket of socketsOf(client.pid)) {
    const { clients } = await tmuxTerminals(desktop, socket);
    const shown = clients.find(({ tty }) => tty === client.tty);
    if (shown !== undefined) return shown.pane;
  }
  return undefined;
}

/** Returns the socket in a tmux client's arguments or, without one, those in tmux's folder. */
function socketsOf(pid: number): string[] {
  const words = argumentsOf(pid);
  const valueOf = (flag: string): string | undefined => {
    const at = words.findIndex((word) => word.startsWith(flag));
    return textOf(words[at]?.slice(2)) ?? textOf(at === -1 ? undefined : words[at + 1]);
  };
  const path = valueOf('-S');
  if (path?.startsWith('/') === true) return [path];
  const sockets = tmuxSockets({ TMUX_TMPDIR: variableOf(pid, 'TMUX_TMPDIR') });
  const name = valueOf('-L') ?? 'default';
  return sockets.sort((a, b) => Number(basename(b) === name) - Number(basename(a) === name));
}

const INDEX = /^\d*$/;
const ANSWER_MS = 2000;
const MAX_BYTES = 4 * 1024 * 1024;
/** The kitty command that lists windows. `version` is the kitty version that introduced the command. */
const ASK_KITTY = '\x1bP@kitty-cmd{"cmd":"ls","version":[0,14,2]}\x1b\\';
const KITTY_KEYS = ['tabs', 'windows', 'is_focused', 'pid'];

/**
 * Asks kitty for the process in the focused window. Returns undefined if kitty isn't listening on a socket.
 */
export async function focusedInKitty(shell: number): Promise<number | undefined> {
  const address = variableOf(shell, 'KITTY_LISTEN_ON');
  // Ignore network sockets, because they may belong to another machine.
  if (address?.startsWith('unix:') !== true) return undefined;
  const path = address.slice('unix:'.length).replace(/^@/, '\0');
  const options = { path, what: 'kitty', timeoutMs: ANSWER_MS, maxBytes: MAX_BYTES };
  return converse(options, kittyDialogue).then(focusedOf).catch(undefinedIf('unavailable'));
}

const kittyDialogue: Dialogue<string> = (send) => {
  send(Buffer.from(ASK_KITTY, 'latin1'));
  let text = '';
  return (chunk) => {
    text += chunk.toString('latin1');
    return text.endsWith('\x1b\\') ? text : undefined;
  };
};

/** Returns the process in the focused window, from kitty's response. Drops window titles during parsing. */
export function focusedOf(answer: string): number | undefined {
  const body = answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1);
  const data = textOf(parseObject(body)?.['data']) ?? '[]';
  const isAllowed = (key: string): boolean => INDEX.test(key) || KITTY_KEYS.includes(key);
  let level: unknown = parseAnswer(data, isAllowed, { from: 'kitty', hint: '' });
  for (const key of ['tabs', 'windows', 'pid'])
    level = objectsIn(level).find((item) => item['is_focused'] === true)?.[key];
  return typeof level === 'number' ? level : undefined;
}

/** Returns the focused pane's terminal, or undefined if WezTerm doesn't report it. */
export async function focusedInWezTerm(desktop: Desktop, windowPid: number, shell: number) {
  const socket = variableOf(shell, 'WEZTERM_UNIX_SOCKET');
  if (socket === undefined) return undefined;
  const clients = await weztermList(desktop, socket, 'list-clients');
  const focused = clients.find(({ pid }) => pid === windowPid)?.focused;
  if (typeof focused !== 'number') return undefined;
  return (await weztermList(desktop, socket, 'list')).find(({ id }) => id === focused)?.tty;
}
