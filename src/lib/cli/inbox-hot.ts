import { openInbox } from '../app/inbox';
import { inboxText } from '../inbox/view';
import { toJson } from '../platform/terminal/error-report';
import { foldFor } from '../platform/terminal/fold';
import { terminalOf } from '../platform/terminal/stdio';
import { printHot } from './print-hot';

/** Runs `steward inbox` without keys. The full command reports errors. */
export async function runHot(rest: readonly string[], _words: readonly string[], root: string) {
  const flag = rest.join(' ');
  const isPrinted = flag === '--json' || flag === '--plain' || (flag === '' && !terminalOf().isTTY);
  if (!isPrinted) return undefined;
  return printHot(root, async (context, terminal) => {
    const inbox = await openInbox(context);
    if (flag === '--json') return toJson(inbox);
    return `${foldFor('stdout', inboxText(inbox, { ...terminal, nowMs: context.clock.now() }))}\n`;
  });
}
