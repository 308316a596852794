import { toStewardError } from '../../errors';
import type { Channel, Outcome } from './channel';

/** Makes a channel ready; where that fails, the outcome of what was to go out through it. */
export async function prepared(channel: Channel): Promise<Outcome | undefined> {
  try {
    await channel.prepare();
    return undefined;
  } catch (error) {
    return fault(error);
  }
}

/** A channel never throws; should one, its fault is its own and stops no other. */
export async function attempt(
  channel: Channel,
  parcel: Parameters<Channel['send']>[0],
  onPart: (sent: number) => void,
): Promise<Outcome> {
  try {
    return await channel.send(parcel, onPart);
  } catch (error) {
    return fault(error);
  }
}

function fault(error: unknown): Outcome {
  const { message, hint = 'Try again.' } = toStewardError(error);
  return { outcome: 'again', reason: message, hint };
}
