import { writeToTerminal } from '../platform/own-terminal';
import { phase, tabTitle, type PhaseId } from '../sessions/phases';
import type { SessionTerminal } from '../sessions/work-events';

/**
 * Sets title and colour of the tab that a session runs in (service.md: Session phase): only strings of the phase
 * table, and only on a terminal that still is the one the session began on (decisions.md 9). False when it was
 * not written.
 */
export function setTab(terminal: SessionTerminal | null, id: PhaseId): boolean {
  const { tty, pid, started, program } = terminal ?? {};
  if (typeof tty !== 'string' || typeof pid !== 'number' || typeof started !== 'string') return false;
  return writeToTerminal({ tty, pid, started }, tabSequence(id, program ?? null));
}

/** OSC 0 is understood everywhere; the colour of a tab has a sequence where the terminal is known to take it. */
export function tabSequence(id: PhaseId, program: string | null): string {
  const title = `\u001b]0;${tabTitle(id)}\u0007`;
  return program === 'iTerm.app' ? title + iTermColor(phase(id).color) : title;
}

function iTermColor(color: string): string {
  return ['red', 'green', 'blue']
    .map((name, index) => [name, Number.parseInt(color.slice(1 + index * 2, 3 + index * 2), 16)] as const)
    .map(([name, value]) => `\u001b]6;1;bg;${name};brightness;${value}\u0007`)
    .join('');
}
