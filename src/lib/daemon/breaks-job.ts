import { breakBetween, type Break, type Seen } from '../notify/break';
import { supersede } from '../notify/history';
import type { Delivery } from '../notify/outbox';
import type { Session } from '../sessions/session';
import { runningSessions } from '../sessions/state';
import { periodicJob } from './jobs';
import type { Surroundings } from './surroundings';

const EVERY_SEC = 5;

/** Notices breaks in your work while deliveries wait for one. `look` returns what you do now. */
export function watchBreaks(
  { machine, openSessions, presence }: Surroundings,
  waiting: () => readonly Delivery[],
  look: () => Promise<Seen>,
) {
  const { area, clock, machineId } = machine;
  const outbox = { clock, machineId, outbox: area.outbox, history: area.notifyLog };
  let seen: Seen = {};
  let last: Break | undefined;
  const note = (atMs: number, why: string): void => {
    if (atMs > (last?.atMs ?? 0)) last = { atMs, why };
  };
  const job = periodicJob('breaks', 'notify', EVERY_SEC, async () => {
    const held = waiting();
    const before = seen;
    seen = {};
    if (held.length === 0) return;
    const { sessions } = runningSessions(await openSessions());
    // Your next prompt shows that you have seen the end of the turn before.
    for (const delivery of held)
      if (promptMs(sessions[delivery.thread ?? '']) > Date.parse(delivery.at))
        supersede(outbox, delivery, 'you continued the session');
    const now = await look();
    seen = { ...before, ...now };
    const why = breakBetween(before, now);
    if (why !== undefined) note(clock.now(), why);
    const oldestMs = Math.min(...held.map(({ at }) => Date.parse(at)));
    for (const session of Object.values(sessions)) {
      note(promptMs(session), 'your turn ended');
      const endedMs = session.requests.length === 0 ? Date.parse(session.waitingSince ?? '') : NaN;
      if (endedMs >= oldestMs && (await presence(session)) === 'front')
        note(endedMs, 'the turn that you watched ended');
    }
  });
  return { job, last: () => last };
}

/** Returns the time of the session's last prompt; NaN if there is none. */
function promptMs(session: Session | undefined): number {
  return Date.parse(session?.turnAt ?? '');
}
