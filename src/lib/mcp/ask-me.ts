import type { Context } from '../app/context';
import { openNotify } from '../app/notify';
import { presenceOf } from '../app/surroundings';
import { askMe, type AskMe, type AskMeWait } from '../inbox/ask-me';
import type { Ask } from '../inbox/asks';
import { acceptRequest } from '../notify/accept';

/** Asks you, and notifies you of a new question where you are. */
export function askMeNow(context: Context, asked: AskMe, wait: AskMeWait) {
  const tell = async ({ id }: Ask, message: string): Promise<void> => {
    const [notify, presence] = [await openNotify(context), await presenceOf(context, undefined)];
    await acceptRequest(notify.deps, {
      event: 'attention',
      source: 'da',
      voiceEnabled: true,
      tags: [],
      dedupe: `ask:${id}`,
      thread: id,
      message,
      ...(asked.urgent === true ? { priority: 5 } : {}),
      ...(presence === 'away' || presence === 'desk' ? { reach: presence } : {}),
    });
    notify.deliverLater();
  };
  return askMe(context, asked, tell, wait);
}
