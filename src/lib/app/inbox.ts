import { waitingHooks } from '../assistant/registered';
import { askWaits, withAsks } from '../inbox/answer';
import { waitingAsks } from '../inbox/asks';
import { countOf, readMarks, snoozedOf, unmarked } from '../inbox/marks';
import { type Inbox, orderedRows } from '../inbox/row';
import {
  budgetWaits,
  deliveryWaits,
  elsewhereWaits,
  hooksWaits,
  hostedWaits,
  issueWaits,
  reviewWaits,
  sessionWaits,
} from '../inbox/waits';
import { undelivered } from '../notify/history';
import { exists } from '../platform/files/folder';
import { toIso } from '../platform/time/clock';
import { currentSessions } from '../sessions/state';
import { withTurnSigns } from '../sessions/turn-signs';
import { waitingWork } from '../work/waiting';
import { installerDeps, zonedNow, type Context } from './context';
import { openRunning, openSessions } from './sessions';
import { openWork } from './work';

/** Returns everything that waits for you, or only what you snoozed, or both, from stored state alone. */
export async function openInbox(
  context: Context,
  which: 'listed' | 'snoozed' | 'all' = 'listed',
): Promise<Inbox> {
  const { nowMs, zone: timezone } = await zonedNow(context);
  const deps = await openSessions(context);
  // Without a daemon, only the assistant's log says that you refused a request with Esc.
  const { sessions } = withTurnSigns(deps, () => openRunning(context, deps));
  const own = withAsks(sessionWaits(Object.values(sessions), nowMs), waitingAsks(context));
  const others = await openOtherWaits(context, new Map(own.map(({ id, name }) => [id, name])));
  const all = [...own, ...others.waits];
  const marks = readMarks(context.area.inbox);
  const snoozed = snoozedOf(all, marks, nowMs);
  const listed = which === 'snoozed' ? [] : unmarked(all, marks, nowMs);
  const rows = orderedRows(which === 'listed' ? listed : [...listed, ...snoozed], nowMs);
  return {
    rows,
    count: rows.length,
    snoozed: snoozed.length,
    timezone,
    asOf: { sessions: toIso(nowMs), ...others.asOf },
  };
}

/** Returns how many waits that aren't sessions are listed, since when, and until when that is valid. */
export async function openOtherCount(context: Context) {
  const { waits, dues } = await openOtherWaits(context, new Map());
  return countOf(waits, dues, readMarks(context.area.inbox), context.clock.now());
}

/**
 * Returns the waits that aren't sessions of this machine, the due times of the reminders, and when each source was
 * last read.
 */
async function openOtherWaits(context: Context, names: ReadonlyMap<string, string>) {
  const { area, clock } = context;
  const now = toIso(clock.now());
  const { user } = (await context.loadConfig()).config;
  const hasOthers = user.sync.folder !== undefined || user.sessions.hosts.length > 0;
  const elsewhere = hasOthers ? await (await import('./elsewhere')).openKnown(context) : undefined;
  const ofWork = waitingWork((await openWork(context)).deps);
  const failed = undelivered({ outbox: area.outbox, history: area.notifyLog });
  const asks = waitingAsks(context);
  const hasBudgets = user.usage.budgets.length > 0;
  const budgets = hasBudgets ? await (await import('./usage')).openBudgets(context) : undefined;
  const hosted = exists(area.managed)
    ? (await import('../agents/managed/waiting')).waitingHosted(area.managed)
    : [];
  const current = async () => currentSessions(await openSessions(context));
  const hooks = await waitingHooks(installerDeps(context), current);
  const waits = [
    ...issueWaits(ofWork.issues, clock.now()),
    ...reviewWaits(ofWork.reviews),
    ...elsewhereWaits(elsewhere?.rows ?? []),
    ...askWaits(asks, names),
    ...deliveryWaits(failed),
    ...budgetWaits(budgets?.crossed ?? []),
    ...hostedWaits(hosted),
    ...hooksWaits(hooks),
  ];
  return {
    waits,
    dues: [...ofWork.dues, ...asks.map(({ until }) => until)],
    asOf: {
      ...elsewhere?.asOf,
      ...ofWork.asOf,
      ...budgets?.asOf,
      notifications: now,
      hooks: now,
      'hosted sessions': now,
    },
  };
}
