import { StewardError } from '../errors';
import { toIso } from '../platform/time/clock';
import type { ActionDeps } from './actions';
import { toItem, type Item } from './board';
import { keptIssue, remember } from './cache';
import { dueWords, readWhen } from './due';
import { MAX_BODY, withDue } from './issue';
import { typeOf } from './label';
import { openForWriting } from './privacy';

/** What `work snooze` gives: the reminder, and when it is due now. */
export interface Snoozed extends Item {
  /** ISO-8601 UTC. */
  due: string;
}

/**
 * `work snooze`: gives a reminder another time, in the hidden marker of its body; what else stands there stays. It is
 * told of again then. An issue that is no reminder, or is closed, is `conflict`.
 *
 * @param input.when `2h`, `tomorrow 9am`
 */
export async function snooze(deps: ActionDeps, input: { number: number; when: string }): Promise<Snoozed> {
  const { timezone, clock } = deps;
  // To the second: a time of its own, so that it is told of even where it comes round to the same minute.
  const dueMs =
    Math.floor((await readWhen(input.when, { nowMs: clock.now(), zone: timezone })) / 1000) * 1000;
  const repo = await openForWriting(deps);
  const host = await deps.host();
  const issue = await host.issue(repo, input.number);
  const kept = keptIssue(issue);
  if (issue.state === 'closed') {
    throw new StewardError('conflict', `#${input.number} is closed.`, {
      hint: 'Open it again first, or make a new one: `steward work remind TEXT`.',
    });
  }
  if (kept.due === null && typeOf(issue.labels) !== 'reminder') {
    throw new StewardError('conflict', `#${input.number} is no reminder.`, {
      hint: '`steward work list --type reminder` shows those there are.',
    });
  }
  const due = toIso(dueMs);
  const body = withDue(issue.body, due, dueWords(dueMs, timezone));
  if (body.length > MAX_BODY) {
    throw new StewardError('conflict', `The text of #${input.number} has no room for a time.`, {
      hint: 'Shorten it by hand.',
    });
  }
  const changed = await host.updateIssue(repo, input.number, { body });
  remember(deps, repo, changed);
  return { ...toItem(keptIssue(changed), deps.config.KANBAN_COLUMNS), due };
}
