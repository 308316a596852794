import { writeToTerminal } from '../platform/process/own-terminal';
import { phase, tabTitle, type PhaseId } from '../sessions/phases';
import type { SessionTerminal } from '../sessions/work-events';

/**
 * Sets title and colour of the tab that a session runs in (service.md: Session phase): only strings of the phase
 * table, and only on a terminal that still is the one the session began on (decisions.md 9). False when it was
 * not written.
 */
export function setTab(terminal: SessionTerminal | null, id: PhaseId): boolean {
  const { tty, pid, started } = terminal ?? {};
  if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') return false;
  return writeToTerminal({ tty, pid, started }, tabSequence(id, terminal));
}

/** OSC 0 is understood everywhere; the colour of a tab has a sequence where the terminal is known to take it. */
export function tabSequence(
  id: PhaseId,
  terminal: Pick<SessionTerminal, 'program' | 'kittySocket'> | null,
): string {
  const title = `\u001b]0;${tabTitle(id)}\u0007`;
  const { program, kittySocket } = terminal ?? { program: null, kittySocket: null };
  if (program === 'iTerm.app') return title + iTermColor(phase(id).color);
  // kitty gives itself no name; within another terminal of those its socket is inherited, and the tab is not its own.
  const isKitty = program === null && kittySocket !== null;
  return isKitty ? title + kittyColor(phase(id).color) : title;
}

/**
 * A command of kitty's remote control, said on the terminal itself: so it is that window's tab, and no other. A kitty
 * that takes no commands there passes it over without a word.
 */
function kittyColor(color: string): string {
  const background = Number.parseInt(color.slice(1), 16);
  const command = {
    cmd: 'set-tab-color',
    version: [0, 20, 0],
    no_response: true,
    payload: { self: true, colors: { active_bg: background, inactive_bg: background } },
  };
  return `\u001bP@kitty-cmd${JSON.stringify(command)}\u001b\\`;
}

function iTermColor(color: string): string {
  return ['red', 'green', 'blue']
    .map((name, index) => [name, Number.parseInt(color.slice(1 + index * 2, 3 + index * 2), 16)] as const)
    .map(([name, value]) => `\u001b]6;1;bg;${name};brightness;${value}\u0007`)
    .join('');
}
