import { StewardError } from '../errors';
import type { Accepted } from '../notify/accept';
import { newId } from '../notify/delivery';
import type { NotifyContext } from './notify';

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
 * changes nothing about that: it is accepted once, or the error says what is not known (notify/accept-once.ts).
 *
 * @param unansweredId the daemon was sent it under this id, and gave no answer
 */
export async function offer(notify: NotifyContext, body: object, unansweredId?: string): Promise<Offered> {
  if (unansweredId !== undefined)
    return offerUnanswered(notify, body, unansweredId, 'The daemon gave no answer.');
  const id = newId(notify.deps.clock);
  let posted: Accepted | undefined;
  try {
    posted = await notify.post({ ...body, id });
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'unavailable')) throw error;
    return offerUnanswered(notify, body, id, error.message);
  }
  if (posted !== undefined) return { accepted: posted, isOurs: false };
  const { acceptNotification } = await import('../notify/accept');
  try {
    return { accepted: await acceptNotification(notify.deps, body), isOurs: true };
  } catch (error) {
    // A full outbox is emptied by nobody else.
    if (error instanceof StewardError && error.kind === 'unavailable') notify.deliverLater();
    throw error;
  }
}

/** The same, and has it delivered by a process that nobody waits for where no daemon does. */
export async function sendNotification(notify: NotifyContext, body: object): Promise<Accepted> {
  const { accepted, isOurs } = await offer(notify, body);
  if (isOurs) notify.deliverLater();
  return accepted;
}

async function offerUnanswered(
  notify: NotifyContext,
  body: object,
  id: string,
  why: string,
): Promise<Offered> {
  const { acceptUnanswered } = await import('../notify/accept');
  const { accepted, by } = await acceptUnanswered(notify.deps, body, id);
  const note =
    by === 'daemon'
      ? `${why} It had accepted the message before.`
      : `${why} The message waits in the outbox and goes out once, as soon as the daemon goes on or has ended.`;
  return { accepted, isOurs: by === 'sender', note };
}
