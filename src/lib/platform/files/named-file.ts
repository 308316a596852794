import { StewardError } from '../../errors';
import { readText } from './atomic-file';
import { clean } from '../terminal/terminal';

/**
 * The text of a file that a person named on the command line: none is `not_found`; a folder, a pipe, or one of more
 * than `maxBytes` is `usage`. `instead` says what else may be given.
 */
export function namedFile(
  path: string,
  { maxBytes, instead }: { maxBytes: number; instead: string },
): string {
  let text: string | undefined;
  try {
    text = readText(path, { followLink: true, maxBytes });
  } catch (error) {
    // Said of the state's own files, this is a mistake in them; here it is one of what was typed.
    if (!(error instanceof StewardError) || error.kind !== 'config') throw error;
    throw new StewardError('usage', clean(error.message), {
      hint: `Name a file of text of up to ${sizeOf(maxBytes)}; ${instead}.`,
      cause: error,
    });
  }
  if (text !== undefined) return text;
  throw new StewardError('not_found', `There is no file ${clean(path)}.`, {
    hint: `Check the path; ${instead}.`,
  });
}

function sizeOf(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.floor(bytes / 2 ** 10)} KiB` : `${Math.floor(bytes / 2 ** 20)} MiB`;
}
