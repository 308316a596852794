import { join } from 'node:path';

import { sessionLogPath } from '../agents/managed/session-log';
import { localSessions } from '../agents/managed/sessions';
import { configPaths } from '../config/files';
import { askOf, decisionFor, type GivenAnswer } from '../inbox/answer';
import { answerAsk } from '../inbox/asks';
import { checkEnd, findRow } from '../inbox/find';
import { checkSnooze, mark } from '../inbox/marks';
import type { InboxRow } from '../inbox/row';
import { deadFolder } from '../notify/outbox';
import { readInstallManifest } from '../platform/files/install-manifest';
import { toIso } from '../platform/time/clock';
import { readWhen } from '../work/due';
import { zonedNow, type Context } from './context';
import { openInbox } from './inbox';

/** Returns the files on which the waits depend. */
export function openInboxFiles({ area }: Context): string[] {
  const { work, managed, installManifest } = area;
  return [
    ...configPaths(area),
    ...[work.cache, work.reviews, area.inbox, area.asks, area.spool, deadFolder(area), area.notifyLog],
    ...[join(area.machine, 'usage'), join(area.machine, 'hosts')],
    ...[managed, ...localSessions(managed).map((id) => sessionLogPath(managed, id))],
    ...[installManifest, ...readInstallManifest(installManifest).map(({ path }) => path)],
  ];
}

/**
 * Marks the row with these words as snoozed until a time given in words, or as done; `now` lists it again. Returns
 * the row and the time. Without a time, throws `conflict` if the row ends only when what it waits for happens.
 */
export async function openMark(context: Context, words: string, when?: string) {
  const { area, clock, machineId } = context;
  const isBack = when?.trim() === 'now';
  const row = findRow((await openInbox(context, isBack ? 'snoozed' : 'all')).rows, words, isBack);
  if (when === undefined) checkEnd(row);
  const zoned = await zonedNow(context);
  const untilMs = when === undefined ? null : isBack ? zoned.nowMs : await readWhen(when, zoned);
  if (untilMs !== null) checkSnooze(untilMs, zoned.nowMs);
  await mark({ area, clock, machineId }, [row], untilMs);
  return { row, until: untilMs === null ? null : toIso(untilMs) };
}

/** Answers what a row asks. Throws `conflict` if it has been answered, or can't be answered from elsewhere. */
export async function openAnswer(context: Context, row: InboxRow, given: GivenAnswer, from: string) {
  await answerAsk(context, askOf(row).id, (ask) => decisionFor(ask, given), from);
}
