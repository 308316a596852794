import * as v from 'valibot';

import type { Machine } from '../config/user-area';
import { decisionFor } from '../inbox/answer';
import { answerAsk } from '../inbox/asks';
import type { Inbox, InboxRow } from '../inbox/row';
import type { Route } from './route';
import { writeRoute } from './write-route';

const ANSWER = {
  id: v.pipe(v.string(), v.maxLength(40)),
  answer: v.optional(v.pipe(v.string(), v.maxLength(4000))),
  behavior: v.optional(v.picklist(['allow', 'deny'])),
  forSession: v.optional(v.boolean()),
};

const MARK = {
  id: v.pipe(v.string(), v.maxLength(300)),
  when: v.optional(v.pipe(v.string(), v.maxLength(200))),
};

interface InboxRoutesDeps {
  machine: Machine;
  /** Asks other machines, and returns the inbox. */
  read: () => Promise<Inbox>;
  mark: (id: string, when?: string) => Promise<{ row: InboxRow; until: string | null }>;
}

export function inboxRoutes({ machine, read, mark }: InboxRoutesDeps): Route[] {
  return [
    { method: 'GET', path: '/api/inbox', isLive: true, run: read },
    writeRoute('/api/inbox/answer', ANSWER, async ({ id, ...given }) => {
      await answerAsk(machine, id, (ask) => decisionFor(ask, given), 'the page');
      return { id };
    }),
    writeRoute('/api/inbox/mark', MARK, async ({ id, when }) => {
      const { row, until } = await mark(id, when);
      return { id: row.id, until };
    }),
  ];
}
