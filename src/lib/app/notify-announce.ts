import { resolve } from 'node:path';

import type { Accepted } from '../notify/accept';
import { announce, workflowExists, type Announcement, type Handling } from '../notify/announce';
import type { NotifyContext } from './notify';
import { sendNotification } from './notify-offer';

/** What `notify announce --json` prints. */
export interface Announced extends Announcement {
  /** The notification, where the line was sent. */
  sent: Accepted | null;
}

/** The opening line of a request, and with `send` a notification that says it, with the DA's voice and a title. */
export async function announceRequest(
  notify: NotifyContext,
  flags: {
    request: string;
    kind: string;
    skill?: string | undefined;
    workflow?: string | undefined;
    skills?: string | undefined;
    send: boolean;
  },
): Promise<Announced> {
  const skills = flags.skills === undefined ? notify.skills : resolve(flags.skills);
  const announced = announce({
    request: flags.request,
    handling: flags.kind as Handling,
    ...(flags.skill === undefined ? {} : { skill: flags.skill }),
    ...(flags.workflow === undefined ? {} : { workflow: flags.workflow }),
    isWorkflow: (skill, workflow) => workflowExists(skills, skill, workflow),
  });
  if (announced.line === null || !flags.send) return { ...announced, sent: null };
  const body = {
    message: announced.line,
    title: announced.workflow === null ? 'Task started' : `${announced.workflow.name} workflow`,
    ...(notify.voiceId === undefined ? {} : { voice_id: notify.voiceId }),
  };
  return { ...announced, sent: await sendNotification(notify, body) };
}
