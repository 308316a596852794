import { deadMessages } from '../../agents/managed/sessions';
import { installedEvents } from '../../assistant/install';
import { shimDeps } from '../../assistant/install-entry';
import { shimPath } from '../../assistant/shim';
import { duration } from '../../daemon/view';
import { dead, foreignDeliveries, MAX_WAITING as MOST_DELIVERIES, outboxStatus } from '../../notify/outbox';
import { exists } from '../../platform/files/folder';
import { deadReport, deadText, type DeadReport } from '../../platform/files/graveyard';
import { plural } from '../../platform/terminal/plural';
import { JOBS } from '../../schedule/job';
import { foreignIntentions, MAX_WAITING as MOST_INTENTIONS, spoolStatus } from '../../sessions/spool';
import { openHooks } from '../../app/hooks';
import { isInstalled, type Row, type Sources } from './sources';

export function daemonPart({ daemon, scheduler }: Sources): Row {
  if (!daemon.running) {
    return isInstalled({ scheduler }, 'daemon') === true
      ? {
          state: 'needs-you',
          summary: 'installed, and does not run',
          next: 'steward daemon install --status',
        }
      : { state: 'off', summary: 'does not run', next: 'steward up' };
  }
  const facts = [
    daemon.url,
    `up ${duration(daemon.uptimeSec)}`,
    ...(daemon.version === daemon.cliVersion
      ? []
      : [`version ${daemon.version}, this is ${daemon.cliVersion}`]),
  ];
  const trouble = daemon.jobs.find(({ lastOk }) => lastOk === false);
  if (trouble !== undefined) {
    return {
      state: 'needs-you',
      summary: [...facts, `its job ${trouble.id} failed`].join(' · '),
      next: 'steward daemon status',
    };
  }
  return { state: 'ok', summary: facts.join(' · '), next: null };
}

/** What waits to be sent, and what was given up: captures, notifications, messages to hosted agents. */
export function queuePart({ context }: Sources): Row {
  const { area } = context;
  const outbox = outboxStatus(area);
  const spool = spoolStatus(area.spool);
  const rows: QueueRow[] = [
    {
      what: plural(outbox.waiting, 'notification'),
      waiting: outbox.waiting,
      unreadable: 0,
      most: MOST_DELIVERIES,
      // Without anything that waits, nobody asks for the id of this machine, which would be written.
      foreign:
        outbox.waiting === 0 ? 0 : foreignDeliveries({ outbox: area.outbox, machineId: context.machineId }),
      dead: deadReport(dead(area)),
      next: 'steward notify history',
    },
    {
      what: `${spool.waiting} left by hooks`,
      waiting: spool.waiting,
      unreadable: spool.unreadable,
      most: MOST_INTENTIONS,
      foreign: spool.waiting === 0 ? 0 : foreignIntentions(area.spool, context.machineId),
      dead: deadReport(spool.deadFolder),
      // A retry does nothing for what cannot be read; doctor says where it is.
      next: spool.unreadable > 0 ? 'steward doctor hooks' : 'steward work retry',
    },
    {
      what: '',
      waiting: 0,
      unreadable: 0,
      most: 1,
      foreign: 0,
      dead: deadReport(deadMessages(area.managed)),
      next: null,
    },
  ];
  const isBad = ({ waiting, unreadable, most, foreign, dead: { count } }: QueueRow): boolean =>
    waiting >= most || unreadable + foreign + count > 0;
  const facts = rows.flatMap(queueFacts);
  return {
    state: rows.some(isBad) ? 'needs-you' : 'ok',
    summary: facts.length === 0 ? 'nothing waits' : facts.join(' · '),
    next: rows.find(isBad)?.next ?? null,
  };
}

interface QueueRow {
  what: string;
  waiting: number;
  unreadable: number;
  /** A queue of so many takes no more. */
  most: number;
  foreign: number;
  dead: DeadReport;
  next: string | null;
}

function queueFacts({ what, waiting, unreadable, most, foreign, dead: graves }: QueueRow): string[] {
  return [
    ...(waiting === 0 ? [] : [`${what} waiting${waiting >= most ? ', which is full' : ''}`]),
    ...(unreadable === 0 ? [] : [`${unreadable} cannot be read`]),
    ...(foreign === 0 ? [] : [`${foreign} from another machine`]),
    ...[deadText(graves) ?? []].flat(),
  ];
}

export function hooksPart({ context, root }: Sources): Row {
  const { deps, assistant } = openHooks(context, root, 'claude-code');
  const registered = installedEvents(deps, assistant).length;
  const hasShim = exists(shimPath(shimDeps(deps)));
  if (registered === 0)
    return { state: 'off', summary: 'not registered with Claude Code', next: 'steward hooks install' };
  if (registered === assistant.hooks.length && hasShim)
    return { state: 'ok', summary: 'registered with Claude Code', next: null };
  const why = hasShim ? `${registered} of ${assistant.hooks.length} registered` : 'what they run is missing';
  return { state: 'needs-you', summary: why, next: 'steward hooks install' };
}

export function jobsPart({ scheduler }: Sources): Row {
  if (scheduler === undefined || scheduler === 'unknown') {
    return {
      state: 'off',
      summary: 'no scheduler here; "steward up" runs the jobs while it runs',
      next: null,
    };
  }
  const { jobs, kind } = scheduler;
  const installed = jobs.filter((job) => job.installed);
  const bad = installed.find(({ warning }) => warning !== undefined);
  if (installed.length === 0) return { state: 'off', summary: `none in ${kind}`, next: 'steward install' };
  const summary = `${installed.map(({ job }) => job).join(', ')} in ${kind}`;
  if (bad === undefined) return { state: 'ok', summary, next: null };
  const next = `${JOBS[bad.job].command} --status`;
  return { state: 'needs-you', summary: `${summary} · ${bad.job}: ${bad.warning ?? ''}`, next };
}
