import { join } from 'node:path';

import { listSystemFolder, isOwn, readSystemText } from '../../platform/files/system-files';
import { factsOf, parentsOf } from '../../platform/process/own-terminal';
import { programOf } from '../../platform/process/pty';
import { aborted } from '../../platform/time/wait';
import type { TerminalInput } from '../../sessions/terminal-input';
import { TERMINALS } from '../pane/focused-pane';
import { envOf, type Desktop, type FrontAppAdapter } from './adapter';

/** Programs that let people in from elsewhere, by the beginning of their names. */
const SERVERS = { sshd: 'ssh', dropbear: 'ssh', 'mosh-server': 'mosh', login: 'console' };

/**
 * Reports the terminal with your last input as the frontmost application, where there is no desktop: on a server,
 * in a container, over ssh.
 */
export const terminal: FrontAppAdapter = {
  id: 'terminal',
  detect: (desktop) => desktop.terminals !== undefined && !hasDesktop(desktop),
  async read(desktop) {
    const input = await desktop.terminals?.();
    return input === undefined ? null : { app: nameOf(input), pid: input.pid, tty: input.pane };
  },
  /** Terminals report no changes, so the watcher's poll finds them. */
  watch(_desktop, onChange, signal) {
    onChange();
    return aborted(signal);
  },
};

/** Returns whether this user has a graphical session, even if this process can't reach it. */
function hasDesktop(desktop: Desktop): boolean {
  if (desktop.platform !== 'linux') return true;
  const runtime = envOf(desktop, 'XDG_RUNTIME_DIR');
  if ([envOf(desktop, 'DISPLAY'), envOf(desktop, 'WAYLAND_DISPLAY')].some(Boolean)) return true;
  const ownIn = (folder: string, prefix: string): string[] =>
    listSystemFolder(folder).filter((name) => name.startsWith(prefix) && isOwn(join(folder, name)));
  const isWayland = runtime !== undefined && ownIn(runtime, 'wayland-').length > 0;
  return isWayland || ownIn('/tmp/.X11-unix', 'X').some(isVisible);
}

/** Returns whether a display, such as `X0`, has a server that shows it to somebody. */
function isVisible(display: string): boolean {
  const pid = Number(readSystemText(`/tmp/.${display}-lock`, 64));
  return factsOf(pid)?.isDead === false && programOf(pid) !== 'Xvfb';
}

function nameOf({ pid, tty, pane }: TerminalInput): string {
  if (pane !== tty) return 'tmux';
  const programs = parentsOf(pid).map((parent) => programOf(parent) ?? '');
  const server = Object.entries(SERVERS).find(([name]) =>
    programs.some((program) => program.startsWith(name)),
  );
  return server?.[1] ?? programs.find((program) => TERMINALS.has(program.toLowerCase())) ?? 'terminal';
}
