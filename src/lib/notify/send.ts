import { StewardError } from '../errors';
import { parseDuration } from '../platform/time/day-words';
import type { AcceptDeps, Accepted } from './accept';
import { newId } from './outbox';

export interface SendFlags {
  title?: string | undefined;
  event: string;
  priority?: number | undefined;
  voice: boolean;
  'voice-id'?: string | undefined;
  source: string;
  phase?: string | undefined;
  slug?: string | undefined;
  duration?: string | undefined;
  dedupe?: string | undefined;
  url?: string | undefined;
  tag?: string[] | undefined;
  wait: boolean;
  strict: boolean;
  /** The id of an earlier request to which the daemon didn't respond. */
  unanswered?: string | undefined;
}

/** Builds the body of `POST /notify` from the command's flags. */
export function bodyOf(message: string, flags: SendFlags): Record<string, unknown> {
  const { title, event, priority, source, phase, slug, duration, dedupe, url } = flags;
  const body = {
    message,
    title,
    event,
    priority,
    voice_enabled: flags.voice,
    voice_id: flags['voice-id'],
    source,
    phase,
    slug,
    durationSec: duration === undefined ? undefined : parseDuration(duration) / 1000,
    dedupe,
    url,
    tags: flags.tag,
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

export interface Sender {
  deps: AcceptDeps;
  /** Posts a body to the daemon; returns undefined if the daemon isn't running. */
  post: (body: object) => Promise<Accepted | undefined>;
  /** Starts a detached process that delivers the outbox. */
  deliverLater: () => void;
}

interface Offered {
  accepted: Accepted;
  /** Whether the message was accepted by this process instead of the daemon. */
  isOurs: boolean;
  note?: string;
}

/**
 * Queues a notification exactly once, in the daemon or, if the daemon doesn't respond, in this process.
 * @param unansweredId The id of an earlier request to which the daemon didn't respond.
 */
export async function offer(sender: Sender, body: object, unansweredId?: string): Promise<Offered> {
  const id = unansweredId ?? newId(sender.deps.clock);
  let problem = 'The daemon did not respond.';
  if (unansweredId === undefined) {
    const posted = await sender.post({ ...body, id }).catch((error: unknown) => {
      if (error instanceof StewardError && error.kind === 'unavailable') return error;
      throw error;
    });
    if (posted === undefined) return acceptHere(sender, body);
    if (!(posted instanceof StewardError)) return { accepted: posted, isOurs: false };
    problem = posted.message;
  }
  const { acceptUnanswered } = await import('./accept');
  const { accepted, by } = await acceptUnanswered(sender.deps, body, id);
  const status =
    by === 'daemon'
      ? 'The daemon had already accepted the message.'
      : 'The message is in the outbox. It will be sent when the daemon responds or exits.';
  return { accepted, isOurs: by === 'sender', note: `${problem} ${status}` };
}

async function acceptHere({ deps, deliverLater }: Sender, body: object): Promise<Offered> {
  const { acceptNotification } = await import('./accept');
  try {
    return { accepted: await acceptNotification(deps, body), isOurs: true };
  } catch (error) {
    // A full outbox stays full until its deliveries are sent, so start delivering.
    if (error instanceof StewardError && error.kind === 'unavailable') deliverLater();
    throw error;
  }
}

/** Sends a notification. Starts a delivery process if no daemon is running. */
export async function sendNotification(sender: Sender, body: object): Promise<Accepted> {
  const { accepted, isOurs } = await offer(sender, body);
  if (isOurs) sender.deliverLater();
  return accepted;
}
