import { createContext, type Context } from '../app/context';
import { takeNotice } from '../platform/files/area-owner';
import { foldFor } from '../platform/terminal/fold';
import { exitAtOnce, terminalOf, writeErr, writeOut, type Terminal } from '../platform/terminal/stdio';

/** Prints a text and returns 0. Returns undefined if the full command must run, because of an error or no text. */
export async function printHot(
  root: string,
  textOf: (context: Context, terminal: Terminal) => Promise<string | undefined>,
): Promise<number | undefined> {
  let isWritten: boolean;
  try {
    const context = createContext(root);
    const text = await textOf(context, terminalOf());
    if (text === undefined) return undefined;
    const notice = takeNotice(context.area.root, context.area.host);
    isWritten = writeOut(text) && notice === '';
    if (notice !== '') writeErr(`${foldFor('stderr', notice)}\n`);
  } catch {
    return undefined;
  }
  // Looking for pending output would create Node's streams.
  if (isWritten) process.exit();
  await exitAtOnce();
  return 0;
}
