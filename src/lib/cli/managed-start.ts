import type { Policy } from '../agents/managed/send';
import { pruneSessions, startSession, type StartInput } from '../agents/managed/sessions';
import { tellOfPrices } from './managed-flags';
import { followHere, type FollowHost } from './managed-follow';

/** Starts a session with its message, says which it is, and follows it to the end of the turn. */
export async function runHere(host: FollowHost, input: StartInput, policy: Policy): Promise<void> {
  const { budget } = input;
  const limit = budget === undefined ? {} : { maxCost: budget };
  await followHere(host, { until: 'turn', policy, ...limit }, async (managed) => {
    tellOfPrices(host, managed, budget);
    pruneSessions(managed.folder, managed.retentionDays, host.context.clock.now());
    const session = await startSession(managed.deps, input);
    host.say(`Session ${session}`);
    return { session };
  });
}
