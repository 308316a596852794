import { managedClient } from '../../src/lib/agents/managed/client';
import type { SendDeps } from '../../src/lib/agents/managed/outbox';
import type { Timing } from '../../src/lib/agents/managed/failure';
import { systemClock } from '../../src/lib/platform/time/clock';
import { openOrigin } from '../../src/lib/platform/net/origin-client';

/** Pauses of milliseconds where the product has seconds. */
export const QUICK: Timing = {
  firstPauseMs: 4,
  longestPauseMs: 30,
  tries: 60,
  patienceMs: 60_000,
  silenceMs: 150,
  lookMs: 100,
  lagMs: 3000,
  paceMs: [1, 10],
};

/** What the library is called with, against a server on this machine. */
export async function sendDeps(
  url: string,
  folder: string,
  apiKey = 'k',
): Promise<SendDeps & { close: () => Promise<void> }> {
  const http = await openOrigin(url, { hint: 'Look at the test.' });
  const clock = systemClock();
  const client = managedClient({ http, clock, credential: { apiKey }, credentialFrom: 'the test' });
  return { client, clock, timing: QUICK, folder, alone: (_, work) => work(), close: () => client.close() };
}
