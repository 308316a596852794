import { join } from 'node:path';

import type { Context } from '../app/context';
import { openHeldAnswer } from '../app/hold';
import { heldRequest } from '../assistant/held-request';
import { logHook } from '../assistant/hook-event';
import { HOOK_STDIN, HOOK_STDOUT_WAIT_MS, isWholeJson } from '../assistant/payload';
import { type StewardError, toStewardError } from '../errors';
import { readStdin } from '../platform/process/stdin';
import { writeOutNow } from '../platform/terminal/stdio';
import { CLAUDE_CODE } from '../sessions/session-key';

/** Runs the hook that holds an assistant's request while you are away. Prints nothing if it has no answer. */
export async function answerHook(context: Context, assistant: string | undefined): Promise<void> {
  const { area, clock } = context;
  let trouble: StewardError | undefined;
  try {
    const { bytes, end } = await readStdin(HOOK_STDIN, isWholeJson);
    const known = assistant === 'codex' ? assistant : CLAUDE_CODE;
    const request = end === 'large' ? undefined : heldRequest(bytes, known);
    const output = request && (await openHeldAnswer(context, request));
    if (output !== undefined) writeOutNow(output, HOOK_STDOUT_WAIT_MS);
  } catch (error) {
    trouble = toStewardError(error);
  }
  if (trouble === undefined) return;
  const line = { hook: 'answer', session: null, ok: false, ms: clock.monotonic(), error: trouble.kind };
  logHook({ clock, path: join(area.observability, 'hooks.jsonl') }, line);
}
