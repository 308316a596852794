import type { Context } from '../app/context';
import { openJump } from '../app/sessions';
import type { FindQuery, FoundSession } from '../assistant/find';
import { marked } from '../assistant/find-words';
import { toStewardError, type StewardError } from '../errors';
import { palette, plural } from '../platform/terminal/format';
import { brokenAt } from '../platform/terminal/list';
import type { Terminal } from '../platform/terminal/stdio';
import { fit } from '../platform/terminal/text-width';
import { openWindow } from '../sessions/terminals';
import { findNow } from './find-sessions';
import { runList } from './live-list';

/**
 * Shows the sessions in a list while they are found, until you quit. Resumes the one that you choose in a new tmux
 * window. Outside of tmux, returns its command.
 */
export async function watchFind(
  context: Context,
  terminal: Terminal,
  { localTime, ...query }: FindQuery & { localTime: (iso: string) => string },
): Promise<string | undefined> {
  const { attention, strong } = palette(terminal);
  const found = new Map<string, FoundSession>();
  let state: readonly string[] = ['searching'];
  let isQuit = false;
  let failure: StewardError | undefined;
  let command: string | undefined;
  const search = findNow(
    context,
    query,
    (one) => found.set(`${one.assistant} ${one.session}`, one),
    () => isQuit,
  ).then(
    (notes) => (state = notes),
    (error: unknown) => (failure = toStewardError(error)),
  );
  const headOf = ({ at, repo, assistant }: FoundSession): string =>
    `${localTime(at)} · ${repo ?? 'no repository'} · ${assistant}`;
  await runList({
    clock: context.clock,
    terminal,
    files: [],
    version: () => `${found.size} ${state.join(' ')}`,
    read: () => {
      if (failure !== undefined) throw failure;
      const rows = [...found].map(([id, session]) => ({ id, text: `${headOf(session)} ${session.line}` }));
      return Promise.resolve({ rows });
    },
    view: ({ columns }) => ({
      head: [`${plural(found.size, 'session')} found`, ...state].join(' · '),
      keys: 'Enter resume · w whole line · / filter · q quit',
      none: state[0] === 'searching' ? 'Searching the transcripts…' : 'No session found.',
      lines: (ids) =>
        ids.flatMap((id) => {
          const session = found.get(id);
          if (session === undefined) return [];
          const line = fit(`  ${session.by}: ${session.line}`, columns - 2);
          return [strong(headOf(session)), marked(query.terms, line, attention)];
        }),
      details: (id) => brokenAt(columns, found.get(id)?.line ?? ''),
    }),
    async act(key, id) {
      const { resume = null, assistant = '' } = found.get(id) ?? {};
      if (key !== 'return') return undefined;
      if (resume === null) return { message: `No command resumes this session of ${assistant}.` };
      if (await openWindow(openJump(context), resume)) return { message: 'Resumed in a new tmux window.' };
      command = resume;
      return 'quit';
    },
  });
  isQuit = true;
  await search;
  return command;
}
