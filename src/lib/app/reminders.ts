import { acceptRequest } from '../notify/accept';
import { readHistory } from '../notify/history';
import { tellDue } from '../work/reminders';
import type { NotifyContext } from './notify';
import type { WorkContext } from './work';

/** Joins the reminders with the notifications: what is due becomes one of the event `reminder`, without a voice. */
export function tellReminders(
  work: Pick<WorkContext, 'deps'>,
  notify: Pick<NotifyContext, 'deps'>,
): Promise<number> {
  return tellDue({
    work: work.deps,
    wasTold: (key) =>
      readHistory(notify.deps.history).some((line) => line.kind === 'accepted' && line.dedupe === key),
    tell: ({ title, message, url, key }) =>
      acceptRequest(notify.deps, {
        event: 'reminder',
        title,
        message,
        ...(url === undefined || !/^https?:/.test(url) ? {} : { url }),
        dedupe: key,
        // What runs by itself never speaks.
        voiceEnabled: false,
        source: 'job',
        tags: [],
      }),
  });
}
