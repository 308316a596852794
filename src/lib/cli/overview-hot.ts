import { createContext, type Context } from '../app/context';
import { userArea } from '../config/user-area';
import { orElse } from '../errors';
import { takeNotice } from '../platform/files/area-owner';
import { foldFor } from '../platform/terminal/fold';
import { exitAtOnce, terminalOf, writeErr, writeOut, type Terminal } from '../platform/terminal/stdio';

type TextOf = (context: Context, terminal: Terminal) => Promise<string | undefined>;

/**
 * Runs `steward status`, `steward inbox` without keys and, on a terminal and once set up, a bare `steward` as
 * `steward home`. The full command reports errors.
 */
export async function runHot(
  rest: readonly string[],
  [word]: readonly string[],
  root: string,
): Promise<number | undefined | readonly string[]> {
  const textOf = textOfCall([word ?? '', ...rest].join(' '), terminalOf().isTTY);
  if (textOf === undefined) return undefined;
  return (await print(root, textOf)) ?? (word === undefined ? ['home'] : undefined);
}

/**
 * Returns what prints a command line; undefined if only the full command can. Each loads its modules itself, because
 * those of all take twice as long.
 */
function textOfCall(call: string, isTTY: boolean): TextOf | undefined {
  if (call === 'inbox --json') return async (context) => (await import('./inbox-text')).inboxJson(context);
  if (call === 'inbox --plain' || (call === 'inbox' && !isTTY))
    return folded(async (...given) => (await import('./inbox-text')).inboxPlain(...given));
  if (call === 'status') return folded(async (...given) => (await import('./status-text')).status(...given));
  const isHome = call === 'home' || (call === '' && isTTY && orElse(false, () => userArea().sense.isSetUp));
  return isHome ? folded(async (...given) => (await import('./status-text')).homeText(...given)) : undefined;
}

function folded(textOf: TextOf): TextOf {
  return async (context, terminal) => {
    const text = await textOf(context, terminal);
    return text && `${foldFor('stdout', text)}\n`;
  };
}

/** Prints a text and returns 0. Returns undefined if the full command must run, because of an error or no text. */
async function print(root: string, textOf: TextOf): Promise<number | undefined> {
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
  else await exitAtOnce();
  return 0;
}
