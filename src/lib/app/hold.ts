import { join } from 'node:path';

import { type HeldRequest, heldOutput, heldRequest } from '../assistant/held-request';
import { logHook } from '../assistant/hook-event';
import { HOOK_STDIN, HOOK_STDOUT_WAIT_MS, isBridged, isWholeJson } from '../assistant/payload';
import { type StewardError, toStewardError } from '../errors';
import { holdAsk } from '../inbox/hold';
import { processHost } from '../platform/files/paths';
import { readStdin } from '../platform/process/stdin';
import { writeOutNow } from '../platform/terminal/stdio';
import { isRestricted } from '../sessions/restricted';
import { CLAUDE_CODE } from '../sessions/session-key';
import { isNameless } from '../sessions/slug';
import { readReviewer } from '../sessions/turn-log';
import { storedSlug } from '../sessions/state';
import type { Context } from './context';
import { openSessions } from './sessions';
import { presenceOf } from './triggers';

const POLL_MS = 2_000;

/** Runs the hook that holds an assistant's request while you are away. Prints nothing if it has no answer. */
export async function openHold(context: Context, assistant: string | undefined): Promise<void> {
  const { area, clock } = context;
  let trouble: StewardError | undefined;
  try {
    const { bytes, end } = await readStdin(HOOK_STDIN, isWholeJson);
    const known = assistant === 'codex' ? assistant : CLAUDE_CODE;
    const request = end === 'large' ? undefined : heldRequest(bytes, known);
    const output = request && (await outputFor(context, request));
    if (output !== undefined) writeOutNow(output, HOOK_STDOUT_WAIT_MS);
  } catch (error) {
    trouble = toStewardError(error);
  }
  if (trouble === undefined) return;
  const line = { hook: 'answer', session: null, ok: false, ms: clock.monotonic(), error: trouble.kind };
  logHook({ clock, path: join(area.observability, 'hooks.jsonl') }, line);
}

async function outputFor(context: Context, request: HeldRequest): Promise<string | undefined> {
  const { answers } = (await context.loadConfig()).config.settings.notifications;
  // The vendor's own app shows the request, and its answer wins.
  if (!answers.enabled || isBridged(processHost().env) || isRestricted(request.cwd)) return undefined;
  // Codex may ask a reviewer of its own, and its hook runs before that is decided.
  const reviewer = request.assistant === 'codex' && request.log ? readReviewer(request.log) : undefined;
  if (reviewer !== undefined && reviewer !== 'user') return undefined;
  const slug = storedSlug(await openSessions(context), request.session);
  if (slug === undefined || isNameless(slug)) return undefined;
  const { kind, session, tool, questions, suggestions } = request;
  const canAllow = kind === 'question' || answers.tools.includes(tool);
  const decision = await holdAsk(
    context,
    {
      kind,
      session,
      slug,
      tool,
      questions,
      input: JSON.stringify(request.input),
      canAllow,
      canAllowSession: canAllow && kind === 'permission' && suggestions.length > 0,
    },
    {
      isAway: async () => (await presenceOf(context, undefined)) === 'away',
      holdMs: answers.holdMinutes * 60_000,
      pollMs: POLL_MS,
    },
  );
  return decision && heldOutput(request, decision);
}
