import type { Context } from '../app/context';
import { openInbox } from '../app/inbox';
import { openMark } from '../app/inbox-acts';
import { openJump, openSessions } from '../app/sessions';
import { inboxFiles } from '../daemon/inbox-files';
import { askOf, askText, giveAnswer, type GivenAnswer } from '../inbox/answer';
import type { InboxRow } from '../inbox/row';
import { inboxLines } from '../inbox/view';
import { openInBrowser } from '../platform/desktop/browser';
import { brokenAt } from '../platform/terminal/list';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { goNow } from '../sessions/go';
import { runList } from './live-list';

/** Runs `steward inbox` on a terminal until you quit. */
export async function watchInbox(context: Context, terminal: Terminal): Promise<void> {
  const { area, clock } = context;
  let inbox: readonly InboxRow[] = [];
  let snoozed = 0;
  let askedId: string | undefined;
  const rowOf = (wanted: string): InboxRow[] => inbox.filter(({ id }) => id === wanted);
  await runList({
    clock,
    terminal,
    files: [area.workEvents, area.sessionsState, ...inboxFiles(area)],
    async read() {
      ({ rows: inbox, snoozed } = await openInbox(context));
      return { rows: inbox.map(({ id, name, title, why }) => ({ id, text: [name, title, why].join('\n') })) };
    },
    view: ({ columns, ...size }) => ({
      head: `${inbox.length} waiting for you${snoozed > 0 ? `, ${snoozed} snoozed` : ''}`,
      keys: `Enter go${inbox.some(({ ask }) => ask) ? ' · a/d/1-9 answer' : ''} · s snooze · w why · q quit`,
      none: 'Nothing waits for you.',
      lines: (ids) => inboxLines(ids.flatMap(rowOf), { ...size, columns: columns - 2, nowMs: clock.now() }),
      details: (id) => rowOf(id).flatMap((row) => detailLines(row, columns)),
    }),
    async act(key, id, isWhole) {
      const [row] = rowOf(id);
      const given = KEYS[key] ?? (/^[1-9]$/.test(key) ? { answer: key } : undefined);
      if (row === undefined) return undefined;
      if (key === 'return') return { message: await goToRow(context, row) };
      if (key === 's') {
        await openMark(context, id, '1h');
        return { message: `Snoozed ${row.name} for an hour.` };
      }
      if (given === undefined) return undefined;
      const ask = askOf(row);
      // An answer is for what you have just seen, and not for what the session asks since.
      if (!isWhole || askedId !== ask.id) {
        askedId = ask.id;
        return { message: `Press ${key} again to answer what you see in full.`, isDetailed: true };
      }
      await giveAnswer(context, row, given, 'the terminal');
      return { message: `Answered ${row.name}.` };
    },
  });
}

const KEYS: Readonly<Record<string, GivenAnswer>> = { a: { behavior: 'allow' }, d: { behavior: 'deny' } };

async function goToRow(context: Context, { slug, url, go, name, elsewhere }: InboxRow): Promise<string> {
  if (slug !== undefined && elsewhere === undefined) {
    const { via, target } = await goNow(await openSessions(context), openJump(context), slug, (rows) =>
      Promise.resolve(rows.findIndex((row) => row.slug === slug)),
    );
    return `Brought ${name} to the front (${via} ${target}).`;
  }
  if (url !== null) return (await openInBrowser(url)) ?? `Opened ${url}`;
  return go === null ? `Nothing to open for ${name}.` : `Run: ${go}`;
}

/** Breaks lines without changing what you may allow. */
function detailLines(row: InboxRow, columns: number): string[] {
  const { name, title, why, rule, ask } = row;
  const asked = ask === undefined ? [] : askText(ask).split('\n');
  return [`${name} ${why}`, title ?? '', rule, ...asked].flatMap((line) => brokenAt(columns, clean(line)));
}
