import { EXIT_CODES } from '../../errors';
import { exitOnAnyInterrupt, terminalOf } from './stdio';
import { fold } from './fold';
import { fit } from './text-width';

/** Width of the icon that Listr puts before a line. */
const ICON_COLUMNS = 4;

/** Runs a long operation, and shows the current step if stderr is a terminal. */
export async function withSteps<T>(title: string, work: (onStep: (text: string) => void) => Promise<T>) {
  // Listr wraps at the width that the terminal reports, and some terminals report 0.
  if (!terminalOf(process.stderr).isTTY || process.stderr.columns === 0) return work(() => undefined);
  const { Listr, ListrLogger, ProcessOutput } = await import('listr2');
  const { columns } = terminalOf(process.stderr);
  let value: { of: T } | undefined;
  const tasks = new Listr(
    [
      {
        title: fold(title, columns - ICON_COLUMNS),
        task: async (_context: unknown, task: { output: string }): Promise<void> => {
          value = { of: await work((text) => (task.output = fit(text, columns - 2 * ICON_COLUMNS))) };
        },
      },
    ],
    {
      rendererOptions: {
        showErrorMessage: false,
        logger: new ListrLogger({ processOutput: new ProcessOutput(process.stderr, process.stderr) }),
      },
      // steward handles Ctrl-C itself, because Listr would stop drawing but not exit.
      registerSignalListeners: false,
    },
  );
  const release = exitOnAnyInterrupt(EXIT_CODES.canceled);
  try {
    await tasks.run();
  } finally {
    release();
  }
  return (value as { of: T }).of;
}
