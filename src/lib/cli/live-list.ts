import { EXIT_CODES, throwIfBug, toStewardError } from '../errors';
import { marksOf } from '../platform/files/stat';
import { toAscii } from '../platform/terminal/fold';
import { bodyRows, EMPTY_LIST, listFrame, pressKey, withRows } from '../platform/terminal/list';
import type { KeyedList, ListedRow, ListView } from '../platform/terminal/list';
import { openScreen } from '../platform/terminal/screen';
import type { Terminal } from '../platform/terminal/stdio';
import type { Clock } from '../platform/time/clock';

const CHECK_MS = 250;
/** How often to refresh even without file changes, in ms, because ages and process states change over time. */
const REFRESH_MS = 2_000;

export interface LiveList {
  clock: Clock;
  terminal: Terminal;
  /** The files whose change refreshes the rows. */
  files: readonly string[];
  /** What else refreshes the rows when it changes. */
  version?: () => string;
  read: () => Promise<{ rows: readonly ListedRow[]; problem?: string | undefined }>;
  view: (terminal: Terminal) => ListView;
  /** Does what a key does with a row, and returns what changes, or `quit`. `isWhole` is whether all of its details are shown. */
  act: (key: string, id: string, isWhole: boolean) => Promise<Partial<KeyedList> | 'quit' | undefined>;
}

/** Shows a list on the terminal until you quit. */
export async function runList(spec: LiveList): Promise<void> {
  const { clock, terminal } = spec;
  const seen = { marks: '', atMs: -Infinity, isReading: false, problem: '' };
  let list = EMPTY_LIST;
  let isWhole = false;
  await new Promise<void>((resolve, reject) => {
    const guarded = (step: () => unknown): void =>
      void Promise.resolve()
        .then(step)
        .catch((error: unknown) => end(() => reject(toStewardError(error))));
    const screen = openScreen({ key: (key) => guarded(() => press(key)), resize: () => guarded(draw) });
    const timer = setInterval(() => guarded(check), CHECK_MS);
    const end = (settle: () => void): void => {
      clearInterval(timer);
      screen.close();
      settle();
    };
    const draw = (): void => {
      const size = { ...terminal, ...screen.size() };
      const view = spec.view(size);
      const lines = listFrame(list, view, size);
      isWhole = list.isDetailed && view.details(list.selected ?? '').length <= bodyRows(size.rows);
      screen.draw(terminal.unicode ? lines : lines.map(toAscii));
    };
    const check = async (): Promise<void> => {
      const marks = `${marksOf(spec.files).text} ${spec.version?.() ?? ''}`;
      const isOld = marks !== seen.marks || clock.monotonic() - seen.atMs >= REFRESH_MS;
      if (seen.isReading || !isOld) return;
      Object.assign(seen, { marks, atMs: clock.monotonic(), isReading: true });
      const { rows, problem } = await spec.read().catch((error: unknown) => {
        if (list === EMPTY_LIST) throw error;
        return { rows: list.rows, problem: throwIfBug(error).message };
      });
      seen.isReading = false;
      const message = problem ?? (list.message === seen.problem ? null : list.message);
      list = { ...withRows(list, rows), message };
      seen.problem = problem ?? '';
      draw();
    };
    const press = async (key: string): Promise<void> => {
      const [next, action] = pressKey(list, key);
      list = next;
      if (key === 'ctrl-c') process.exitCode = EXIT_CODES.canceled;
      if (action === 'quit') return end(resolve);
      draw();
      if (action === undefined || list.selected === null) return;
      const acted = await spec
        .act(key, list.selected, isWhole)
        .catch((error: unknown) => ({ message: toStewardError(error).message }));
      if (acted === undefined) return;
      if (acted === 'quit') return end(resolve);
      list = { ...list, isDetailed: false, ...acted };
      seen.marks = '';
      draw();
    };
    guarded(check);
  });
}
