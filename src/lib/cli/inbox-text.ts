import type { Context } from '../app/context';
import { openInbox } from '../app/inbox';
import { inboxText } from '../inbox/view';
import { toJson } from '../platform/terminal/error-report';
import type { Terminal } from '../platform/terminal/stdio';

export async function inboxJson(context: Context): Promise<string> {
  return toJson(await openInbox(context));
}

export async function inboxPlain(context: Context, terminal: Terminal): Promise<string> {
  return inboxText(await openInbox(context), { ...terminal, nowMs: context.clock.now() });
}
