import { StewardError } from '../../errors';
import type { Clock } from '../../platform/time/clock';
import type { ManagedClient } from './client';
import { hasId, type ManagedEvent } from './event';
import { openHistory, type Keyed } from './history';
import type { Timing } from './retry';
import type { SessionLog } from './session-log';
import type { Frame, FrameReader } from './stream';
import type { Turn } from './turn';

export interface ReaderDeps {
  client: ManagedClient;
  clock: Clock;
  timing: Timing;
  log: SessionLog;
  turn: Turn;
}

/** Brings what happens in a session into its local log, on the screen and into its turn. */
export interface Reader {
  /** Reads the history to its end. */
  catchUp: () => Promise<void>;
  /** Something is missing: the next `drain` looks at the history soon. False: the service has none. */
  missing: () => boolean;
  /** Reads the stream for a while; false at its end. A stream that is silent for too long is `unavailable`. */
  drain: (frames: FrameReader) => Promise<boolean>;
}

/** So many events may be announced by the stream before the history is looked at, whatever its pace. */
const MOST_ANNOUNCED = 5000;
/** So many of them are kept whole, for a history that does not show them. */
const MOST_WHOLE = 500;
const QUIET_MS = 2000;

/**
 * The stream announces, the history tells: only its order is that of the log. What the stream announced and the history
 * does not show within `lagMs` is taken as the stream had it. A service without a history is read from
 * the stream alone.
 */
export function openReader(deps: ReaderDeps, session: string): Reader {
  const { client, clock, timing, log, turn } = deps;
  const history = openHistory(client, session);
  const announced = new Map<string, { event: ManagedEvent | undefined; since: number }>();
  let served = true;
  let lookedAt = 0;
  let heardAt = clock.monotonic();
  let pace = 0;
  /** A frame could not be read, or the connection is new: something may be missing. */
  let suspect = false;

  const accept = async (events: readonly Keyed[]): Promise<void> => {
    for (const event of log.append(events)) turn.add(event);
    for (const { key } of events) announced.delete(key);
    await log.show();
  };

  const look = async (): Promise<void> => {
    suspect = false;
    served = await history.read(accept);
    const now = clock.monotonic();
    // Events that come one after the other are looked for together: the service counts requests.
    const [shortest, longest] = timing.paceMs;
    pace = now - lookedAt > QUIET_MS ? shortest : Math.min(longest, Math.max(shortest, pace * 1.5));
    lookedAt = now;
    const late = [...announced].filter(([, { since }]) => now - since > timing.lagMs);
    for (const [key] of late) announced.delete(key);
    await accept(
      late.flatMap(([key, { event }]) => (event === undefined || log.has(key) ? [] : [{ key, event }])),
    );
  };

  const note = async (frames: readonly Frame[]): Promise<void> => {
    const now = clock.monotonic();
    for (const frame of frames) {
      if (frame.kind === 'broken' || (served && !hasId(frame.event))) {
        suspect = true;
        continue;
      }
      const { event } = frame;
      // Without ids and without a history, what says the same is the same.
      const key = hasId(event) ? event.id : JSON.stringify(event);
      if (served) {
        if (!log.has(key) && !announced.has(key)) {
          announced.set(key, { event: announced.size < MOST_WHOLE ? event : undefined, since: now });
        }
      } else if (!log.has(key)) {
        await accept([{ key, event }]);
      } else if (event.type.startsWith('session.status_')) {
        // Seen before, and shown: but where the session stands is what it says now.
        turn.add(event);
      }
    }
  };

  return {
    catchUp: async () => {
      heardAt = clock.monotonic();
      await look();
    },
    missing: () => {
      suspect = true;
      return served;
    },
    drain: async (frames) => {
      const now = clock.monotonic();
      const wanted = served && (suspect || announced.size > 0);
      const dueIn = wanted
        ? Math.max(0, lookedAt + pace - now)
        : Math.max(1, Math.min(lookedAt + timing.lookMs, heardAt + timing.silenceMs) - now + 1);
      const got = await frames.next(dueIn);
      if (got === undefined) return false;
      if (got.alive) heardAt = clock.monotonic();
      await note(got.frames);
      const later = clock.monotonic();
      if (later - heardAt > timing.silenceMs) {
        heardAt = later;
        throw silent(client.host);
      }
      const isDue = served && (suspect || announced.size > 0) && later - lookedAt >= pace;
      if (isDue || announced.size > MOST_ANNOUNCED || later - lookedAt >= timing.lookMs) await look();
      return true;
    },
  };
}

function silent(host: string): StewardError {
  return new StewardError('unavailable', `The stream of ${host} has been silent for too long.`, {
    hint: 'It is opened again.',
    cause: { code: 'SILENT', sent: true },
  });
}
