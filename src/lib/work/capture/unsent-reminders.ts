import { parseIso } from '../../platform/time/clock';
import type { Intention } from '../../sessions/intention';
import { keptIntentions } from '../../sessions/spool';
import type { WorkDeps } from '../deps';
import type { Wanted } from '../ensure';
import { identityKey } from '../issue';
import { promptWanted } from './deliver';
import { queuedIssue } from './queued';

/** A reminder whose issue has not been created yet. */
interface UnsentReminder {
  identity: string;
  text: string;
  /** ISO 8601 in UTC. */
  due: string;
}

/** Returns this machine's queued reminders that have a due time. */
export async function unsentReminders(work: WorkDeps): Promise<UnsentReminder[]> {
  const found: UnsentReminder[] = [];
  for (const intention of keptIntentions(work.area.spool)) {
    if (intention.machine !== work.machineId) continue;
    const wanted = await reminderOf(work, intention);
    if (wanted?.due === undefined) continue;
    found.push({ identity: identityKey(wanted.identity), text: wanted.text, due: wanted.due });
  }
  return found;
}

async function reminderOf(
  { clock, timezone }: WorkDeps,
  { capture, wanted, at }: Intention,
): Promise<Wanted | undefined> {
  if (wanted !== undefined) return queuedIssue({ wanted });
  if (capture?.kind !== 'reminder') return undefined;
  const { text, key } = capture;
  return promptWanted({ kind: 'reminder', text, key }, { atMs: parseIso(at) ?? clock.now(), zone: timezone });
}
