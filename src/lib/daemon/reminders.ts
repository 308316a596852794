import { acceptRequest, wasAccepted, type AcceptDeps } from '../notify/accept';
import type { WorkDeps } from '../work/deps';
import { notifyDue, type OtherMachines } from '../work/reminders';
import { periodicJob, type DaemonJob } from './jobs';

const REMINDERS_SEC = 15;

export function reminderJob(
  work: () => Promise<WorkDeps>,
  notify: AcceptDeps,
  others: () => Promise<OtherMachines | undefined>,
): DaemonJob {
  return periodicJob('reminders', 'work', REMINDERS_SEC, async () =>
    sendReminders(await work(), notify, await others()),
  );
}

/** Sends a notification for each due reminder, without voice. Returns how many reminders were due. */
export function sendReminders(work: WorkDeps, notify: AcceptDeps, others?: OtherMachines): Promise<number> {
  return notifyDue({
    ...(others === undefined ? {} : { others }),
    work,
    wasSent: (key) => wasAccepted(notify, key),
    send: ({ title, message, url, key }) =>
      acceptRequest(notify, {
        event: 'reminder',
        title,
        message,
        ...(url === undefined || !/^https?:/.test(url) ? {} : { url }),
        dedupe: key,
        voiceEnabled: false,
        source: 'job',
        tags: [],
      }),
  });
}
