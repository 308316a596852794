import { StewardError } from '../errors';
import { parseDuration } from '../platform/time/day-words';
import type { AcceptDeps, Accepted } from './accept';
import { newId } from './outbox';

/** The flags of `notify send`. */
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
  /** The id under which the daemon was sent it and gave no answer. */
  unanswered?: string | undefined;
}

/** The body of `POST /notify` that the flags stand for. */
export function bodyOf(message: string, flags: SendFlags): Record<string, unknown> {
  const { title, event, priority, source, phase, slug, duration, dedupe, url } = flags;
  const body = {
    ...{ message, title, event, priority },
    voice_enabled: flags.voice,
    voice_id: flags['voice-id'],
    ...{ source, phase, slug },
    durationSec: duration === undefined ? undefined : parseDuration(duration) / 1000,
    ...{ dedupe, url },
    tags: flags.tag,
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
}

/** What sends a notification: the daemon where one runs, else this process. */
export interface Sender {
  deps: AcceptDeps;
  /** Posts a body to the daemon; undefined: none runs. */
  post: (body: object) => Promise<Accepted | undefined>;
  /** Has what waits delivered by a process of its own, which nobody waits for. */
  deliverLater: () => void;
}

/** A notification that was accepted, and by whom. */
export interface Offered {
  accepted: Accepted;
  /** This process has put it into the outbox: no daemon has it in memory. */
  isOurs: boolean;
  /** What a person should know: the daemon does not answer. */
  note?: string;
}

/**
 * Has a notification accepted: by the daemon where one runs, else by this process. A daemon that does not answer
 * changes nothing about that: it is accepted once, or the error says what is not known.
 *
 * @param unansweredId the daemon was sent it under this id, and gave no answer
 */
export async function offer(sender: Sender, body: object, unansweredId?: string): Promise<Offered> {
  const id = unansweredId ?? newId(sender.deps.clock);
  let why = 'The daemon gave no answer.';
  if (unansweredId === undefined) {
    let posted: Accepted | undefined;
    try {
      posted = await sender.post({ ...body, id });
      why = '';
    } catch (error) {
      if (!(error instanceof StewardError && error.kind === 'unavailable')) throw error;
      why = error.message;
    }
    if (posted !== undefined) return { accepted: posted, isOurs: false };
    if (why === '') return acceptHere(sender, body);
  }
  const { acceptUnanswered } = await import('./accept');
  const { accepted, by } = await acceptUnanswered(sender.deps, body, id);
  const end =
    by === 'daemon'
      ? 'It had accepted the message before.'
      : 'The message waits in the outbox and goes out once, as soon as the daemon goes on or has ended.';
  return { accepted, isOurs: by === 'sender', note: `${why} ${end}` };
}

async function acceptHere({ deps, deliverLater }: Sender, body: object): Promise<Offered> {
  const { acceptNotification } = await import('./accept');
  try {
    return { accepted: await acceptNotification(deps, body), isOurs: true };
  } catch (error) {
    // A full outbox is emptied by nobody else.
    if (error instanceof StewardError && error.kind === 'unavailable') deliverLater();
    throw error;
  }
}

/** The same, and has it delivered by a process that nobody waits for where no daemon does. */
export async function sendNotification(sender: Sender, body: object): Promise<Accepted> {
  const { accepted, isOurs } = await offer(sender, body);
  if (isOurs) sender.deliverLater();
  return accepted;
}
