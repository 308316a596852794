import { createContext, type Context } from '../app/context';
import { openInbox } from '../app/inbox';
import { userArea } from '../config/user-area';
import { inboxText } from '../inbox/view';
import { takeNotice } from '../platform/files/area-owner';
import { toJson } from '../platform/terminal/error-report';
import { foldFor } from '../platform/terminal/fold';
import { exitAtOnce, terminalOf, writeErr, writeOut, type Terminal } from '../platform/terminal/stdio';
import { homeText } from '../setup/home';
import { overview, overviewText } from '../setup/status';
import { offerSync } from '../setup/sync/places';

/**
 * Runs `steward status`, `steward inbox` without keys and, on a terminal and once set up, a bare `steward` as
 * `steward home`. The full command reports errors.
 */
export async function runHot(
  rest: readonly string[],
  [word]: readonly string[],
  root: string,
): Promise<number | undefined | readonly string[]> {
  const terminal = terminalOf();
  const full = word === undefined ? ['home'] : undefined;
  const isJson = word === 'inbox' && rest.join(' ') === '--json';
  const isPlain = word === 'inbox' && rest.join(' ') === '--plain';
  if (rest.length > 0 && !isJson && !isPlain) return undefined;
  if (word === 'inbox' && rest.length === 0 && terminal.isTTY) return undefined;
  try {
    if (word === undefined && !(terminal.isTTY && userArea().sense.isSetUp)) return undefined;
    const context = createContext(root);
    const text = isJson
      ? toJson(await openInbox(context))
      : await (TEXTS[word ?? 'home'] ?? homeText)(context, terminal);
    if (text === undefined) return full;
    const notice = takeNotice(context.area.root, context.area.host);
    writeOut(isJson ? text : `${foldFor('stdout', text)}\n`);
    if (notice !== '') writeErr(`${foldFor('stderr', notice)}\n`);
  } catch {
    return full;
  }
  await exitAtOnce();
  return 0;
}

/** What each word prints; undefined if the full command has to. */
const TEXTS: Readonly<Record<string, (context: Context, terminal: Terminal) => Promise<string | undefined>>> =
  {
    async status(context, terminal) {
      const result = await overview(context);
      const isDamaged = result.parts.some(({ id }) => id === 'configuration');
      return isDamaged ? undefined : overviewText(result, terminal, await offerSync(context));
    },
    async inbox(context, terminal) {
      return inboxText(await openInbox(context), { ...terminal, nowMs: context.clock.now() });
    },
  };
