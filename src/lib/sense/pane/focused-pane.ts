import { foregroundOf, inputTimeOf, programOf, ptysBelow, type Pty } from '../../platform/process/pty';
import { paneOfHerdr } from '../../sessions/herdr';
import type { Desktop, FrontApp } from '../front-app/adapter';
import { focusedInKitty, focusedInWezTerm, paneOfTmux } from './listings';

/**
 * Process names of terminals, truncated to 15 characters as in /proc. Excludes editors with integrated
 * terminals.
 */
export const TERMINALS: ReadonlySet<string> = new Set(
  `alacritty blackbox contour cool-retro-term cosmic-term deepin-terminal foot footclient ghostty gnome-terminal-
  guake io.elementary.t kgx kitty konsole lxterminal mate-terminal mlterm ptyxis qterminal rio roxterm rxvt sakura st
  stterm tabby terminator terminology termite tilda tilix urxvt urxvtd uxterm warp wezterm-gui xfce4-terminal xterm
  x-terminal-emul yakuake zutty`.split(/\s+/),
);

/**
 * Maximum difference between input times that count as equal. Terminals record input times in steps of 8 s.
 */
const FITS_WITHIN_MS = 16_000;
const MAX_DEPTH = 3;

export interface PaneDeps {
  desktop: Desktop;
  /** Time of the desktop's last input, if known. */
  inputMs: number | undefined;
}

/**
 * Programs that show a remote or nested session, whose folder can't be determined from the program's own
 * folder.
 */
const RELAYS = new Set(['ssh', 'mosh-client', 'screen', 'zellij', 'dtach', 'abduco']);

/**
 * Returns the focused pane of a terminal, or undefined if the application isn't a terminal or the pane can't be
 * determined.
 */
export async function focusedPane(deps: PaneDeps, { pid, tty }: FrontApp) {
  if (pid === undefined) return undefined;
  let pty = tty === undefined ? await focusedPty(deps, pid) : { tty, pid };
  for (let depth = 0; pty !== undefined && depth <= MAX_DEPTH; depth += 1) {
    const shown = foregroundOf(pty.pid);
    if (shown === undefined) return undefined;
    if (shown.program === 'herdr') pty = await paneOfHerdr(deps.desktop, shown.pid);
    else if (shown.program === 'tmux: client')
      pty = await paneOfTmux(deps.desktop, { tty: pty.tty, pid: shown.pid });
    else return { tty: pty.tty, folder: RELAYS.has(shown.program) ? undefined : shown.folder };
  }
  return undefined;
}

/**
 * Returns the focused tab as reported by the terminal or, if it can't report one, the only tab whose last
 * input time matches the desktop's.
 */
async function focusedPty({ desktop, inputMs }: PaneDeps, windowPid: number): Promise<Pty | undefined> {
  const terminal = programOf(windowPid)?.toLowerCase() ?? '';
  if (!TERMINALS.has(terminal)) return undefined;
  const ptys = ptysBelow(windowPid);
  const [first] = ptys;
  if (first === undefined || ptys.length === 1) return first;
  const listed =
    terminal === 'kitty'
      ? await focusedInKitty(first.pid)
      : terminal === 'wezterm-gui'
        ? await focusedInWezTerm(desktop, windowPid, first.pid)
        : undefined;
  const found = ptys.find(({ tty, pid }) => tty === listed || pid === listed);
  if (found !== undefined || inputMs === undefined) return found;
  return onlyMatch(ptys, (pty) => Math.abs((inputTimeOf(pty.tty) ?? 0) - inputMs) <= FITS_WITHIN_MS);
}

function onlyMatch<T>(items: readonly T[], fits: (item: T) => boolean): T | undefined {
  const found = items.filter(fits);
  return found.length === 1 ? found[0] : undefined;
}
