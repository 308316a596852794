import { emitKeypressEvents } from 'node:readline';

/** The name of a key, such as `return` or `escape`, or the character that the key types. */
type Key = string;

/**
 * Enters the alternate screen, hides the cursor and turns off line wrap, so that each line stays on one row.
 */
const OPEN = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const CLOSE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
/** Enter is `enter` on some terminals. */
const NAMES: Readonly<Record<string, Key>> = { enter: 'return' };
/** Start and end of a synchronized update (terminal mode 2026). */
const [BEGIN, END] = ['\u001b[?2026h', '\u001b[?2026l'];

/** Takes over the terminal on stdin and stdout. Ctrl-C is reported as the key `ctrl-c`. */
export function openScreen(on: { key: (key: Key) => void; resize: () => void }) {
  const { stdin, stdout } = process;
  let shown: readonly string[] = [];
  let waiting: readonly string[] | undefined;
  let isOpen = true;
  const pressed = (text: string | undefined, key: { name?: string; ctrl?: boolean }): void =>
    on.key(key.ctrl === true ? `ctrl-${key.name ?? ''}` : (NAMES[key.name ?? ''] ?? key.name ?? text ?? ''));
  const resized = (): void => {
    shown = [];
    stdout.write('\u001b[2J');
    on.resize();
  };
  const draw = (lines: readonly string[]): void => {
    if (!isOpen) return;
    if (stdout.writableNeedDrain) {
      if (waiting === undefined) stdout.once('drain', () => draw(waiting ?? []));
      waiting = lines;
      return;
    }
    waiting = undefined;
    const changed = Array.from({ length: Math.max(lines.length, shown.length) }, (_, row) =>
      // Clear the line before writing it. Clearing after a full line would erase the last character.
      lines[row] === shown[row] ? '' : `\u001b[${row + 1};1H\u001b[K${lines[row] ?? ''}`,
    ).join('');
    shown = lines;
    if (changed !== '') stdout.write(BEGIN + changed + END);
  };
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    stdin.off('keypress', pressed);
    stdout.off('resize', resized);
    for (const signal of SIGNALS) process.off(signal, ended);
    process.off('exit', close);
    stdin.setRawMode(false);
    stdin.pause();
    stdout.write(CLOSE);
  };
  const ended = (signal: NodeJS.Signals): void => {
    close();
    process.kill(process.pid, signal);
  };
  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on('keypress', pressed);
  stdout.on('resize', resized);
  for (const signal of SIGNALS) process.on(signal, ended);
  process.on('exit', close);
  stdout.write(OPEN);
  return { draw, close, size: () => ({ columns: stdout.columns, rows: stdout.rows }) };
}

const SIGNALS = ['SIGTERM', 'SIGHUP'] as const;
