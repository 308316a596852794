import { acceptRequest } from '../notify/accept';
import { readHistory } from '../notify/history';
import { tellDue, type ReminderDeps } from '../work/reminders';
import type { Context } from './context';
import type { NotifyContext } from './notify';
import type { WorkContext } from './work';

/** Joins the reminders with the notifications: what is due becomes one of the event `reminder`, without a voice. */
export function tellReminders(
  context: Context,
  work: Pick<WorkContext, 'deps'>,
  notify: Pick<NotifyContext, 'deps'>,
): Promise<number> {
  const more: Pick<ReminderDeps, 'reminders' | 'wasTold' | 'tell'> = {
    reminders: context.area.work.reminders,
    wasTold: (key) =>
      readHistory(notify.deps.history).some((line) => line.kind === 'accepted' && line.dedupe === key),
    tell: ({ title, message, url, key }) =>
      acceptRequest(notify.deps, {
        event: 'reminder',
        title,
        message,
        ...(url === undefined || !/^https?:/.test(url) ? {} : { url }),
        dedupe: key,
        // What runs by itself never speaks (service.md: Events, rule 8).
        voiceEnabled: false,
        source: 'job',
        tags: [],
      }),
  };
  return tellDue(
    Object.defineProperties({} as ReminderDeps, {
      ...Object.getOwnPropertyDescriptors(work.deps),
      ...Object.getOwnPropertyDescriptors(more),
    }),
  );
}
