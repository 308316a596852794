import { type HeldRequest, heldOutput } from '../assistant/held-request';
import { isBridged } from '../assistant/payload';
import { undefinedIf } from '../errors';
import { holdAsk } from '../inbox/hold';
import { processHost } from '../platform/files/paths';
import { isRestricted } from '../sessions/restricted';
import type { Session } from '../sessions/session';
import { isNameless } from '../sessions/slug';
import { runningSessions, storedSlug } from '../sessions/state';
import { readReviewer } from '../sessions/turn-log';
import type { Context } from './context';
import { openSessions } from './sessions';
import { presenceOf } from './surroundings';

const POLL_MS = 2_000;

/** Holds a request, and returns what the hook prints: the answer, if you are away, give one and may still give it. */
export async function openHeldAnswer(
  context: Context,
  request: HeldRequest,
  pollMs = POLL_MS,
): Promise<string | undefined> {
  // You may turn answers off, or restrict the folder, while the request is held.
  const settings = async () => {
    const { answers } = (await context.loadConfig()).config.settings.notifications;
    return answers.enabled && !isRestricted(request.cwd) ? answers : undefined;
  };
  const answers = await settings();
  // The vendor's own app shows the request, and its answer wins.
  if (answers === undefined || isBridged(processHost().env)) return undefined;
  // Codex may ask a reviewer of its own, and its hook runs before that is decided.
  const reviewer = request.assistant === 'codex' && request.log ? readReviewer(request.log) : undefined;
  if (reviewer !== undefined && reviewer !== 'user') return undefined;
  const sessions = await openSessions(context);
  const isAsking = ({ sessionIds }: Session): boolean => sessionIds.includes(request.session);
  // The index lacks a session that has just started.
  const slug =
    storedSlug(sessions, request.session) ??
    Object.values(runningSessions(sessions).sessions).find(isAsking)?.slug;
  if (slug === undefined || isNameless(slug)) return undefined;
  const { kind, session, tool, questions, suggestions } = request;
  const isListed = (tools: readonly string[]): boolean => kind === 'question' || tools.includes(tool);
  const canAllow = isListed(answers.tools);
  const canAllowSession = canAllow && kind === 'permission' && suggestions.length > 0;
  const input = JSON.stringify(request.input);
  const decision = await holdAsk(
    context,
    { kind, session, slug, tool, questions, input, canAllow, canAllowSession },
    {
      isAway: async () => (await presenceOf(context, undefined)) === 'away',
      async isOffered(given) {
        const now = await settings().catch(undefinedIf('config'));
        // You may always refuse; what you can allow must still be listed.
        return now !== undefined && (given?.behavior === 'deny' || !canAllow || isListed(now.tools));
      },
      holdMs: answers.holdMinutes * 60_000,
      pollMs,
    },
  );
  return decision && heldOutput(request, decision);
}
