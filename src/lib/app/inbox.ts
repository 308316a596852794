import { waitingHooks } from '../assistant/registered';
import { askWaits, withAsks } from '../inbox/answer';
import { waitingAsks } from '../inbox/asks';
import { readMarks, snoozedOf, unmarked } from '../inbox/marks';
import { type Inbox, orderedRows, type InboxWait } from '../inbox/row';
import {
  budgetWaits,
  deliveryWaits,
  elsewhereWaits,
  issueWaits,
  reviewWaits,
  sessionWaits,
  waitOf,
} from '../inbox/waits';
import { undelivered } from '../notify/history';
import { exists } from '../platform/files/folder';
import { parseIso, toIso } from '../platform/time/clock';
import { currentSessions } from '../sessions/state';
import { waitingWork } from '../work/waiting';
import { installerDeps, zonedNow, type Context } from './context';
import { openRunning, openSessions } from './sessions';
import { withTurnSigns } from '../sessions/turn-signs';
import { openWork } from './work';

interface Waits {
  waits: InboxWait[];
  /** When reminders are due. */
  dues: (string | null)[];
  asOf: Inbox['asOf'];
}

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

const COUNT_VALID_MS = 60_000;

/** Returns how many waits that aren't sessions are listed, since when, and until when that is valid if no file changes. */
export async function openOtherCount(context: Context) {
  const { area, clock } = context;
  const nowMs = clock.now();
  const marks = readMarks(area.inbox);
  const { waits, dues } = await openOtherWaits(context, new Map());
  const times = [...dues, ...Object.values(marks)].map((at) => parseIso(at ?? '') ?? 0);
  const untilMs = Math.min(nowMs + COUNT_VALID_MS, ...times.filter((ms) => ms > nowMs));
  const shown = unmarked(waits, marks, nowMs);
  const [othersSince = null] = shown.map(({ since }) => since).sort();
  return { others: shown.length, othersSince, untilMs };
}

/**
 * Returns the waits that aren't sessions of this machine, the due times of the reminders, and when each source was
 * last read.
 */
async function openOtherWaits(context: Context, names: ReadonlyMap<string, string>): Promise<Waits> {
  const { area, clock } = context;
  const now = toIso(clock.now());
  const { user } = (await context.loadConfig()).config;
  const hasOthers = user.sync.folder !== undefined || user.sessions.hosts.length > 0;
  const elsewhere = hasOthers ? await (await import('./elsewhere')).openKnown(context) : undefined;
  const ofWork = waitingWork((await openWork(context)).deps);
  const failed = undelivered({ outbox: area.outbox, history: area.notifyLog });
  const asks = waitingAsks(context);
  const usage = user.usage.budgets.length > 0 ? await import('./usage') : undefined;
  const budgets = await (await usage?.openUsage(context))?.budgets();
  const hosted = exists(area.managed)
    ? (await import('../agents/managed/waiting')).waitingHosted(area.managed)
    : [];
  const waits = [
    ...issueWaits(ofWork.issues, clock.now()),
    ...reviewWaits(ofWork.reviews),
    ...elsewhereWaits(elsewhere?.rows ?? []),
    ...askWaits(asks, names),
    ...deliveryWaits(failed),
    ...budgetWaits(budgets?.crossed ?? []),
    ...hosted.map((one) => waitOf({ ...one, name: one.id, kind: 'hosted', title: null, blocks: true })),
    ...(
      await waitingHooks(installerDeps(context), async () => currentSessions(await openSessions(context)))
    ).map((one) =>
      waitOf({ ...one, name: one.id, kind: 'hooks', why: 'hooks need you', canEnd: one.go === null }),
    ),
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
