import { join } from 'node:path';

import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { deadMessages } from '../../agents/managed/sessions';
import { rosterFiles } from '../../agents/roster';
import type { Context } from '../../app/context';
import { DAEMON_SCHEDULER } from '../../app/schedule';
import { openHooks } from '../../app/hooks';
import type { JobsHere } from '../../app/schedule';
import { openSense } from '../../app/sense';
import { openSessions, waitingSessions } from '../../app/sessions';
import { voiceOf } from '../../app/speech';
import { openWork } from '../../app/work';
import { installedEvents, shimDeps } from '../../assistant/install';
import { shimPath } from '../../assistant/shim';
import type { Config } from '../../config/schema';
import { type DaemonReport, duration } from '../../daemon/status';
import { parseGoals } from '../../goals/record';
import { muteState } from '../../notify/routing';
import { MAX_WAITING as MOST_DELIVERIES, dead, foreignDeliveries, outboxStatus } from '../../notify/outbox';
import { readText } from '../../platform/files/atomic-file';
import { exists, listFolder } from '../../platform/files/folder';
import { type DeadReport, deadReport, deadText } from '../../platform/files/graveyard';
import { plural } from '../../platform/terminal/plural';
import { JOBS, type JobId } from '../../schedule/job';
import { senseHealth } from '../../sense/source';
import { status as senseStatus } from '../../sense/read';
import { runningSessions } from '../../sessions/state';
import { isLive } from '../../sessions/session';
import { MAX_WAITING as MOST_INTENTIONS, foreignIntentions, spoolStatus } from '../../sessions/spool';
import { waitingText } from '../../work/capture/waiting';
import { type WorkStatus, workStatus } from '../../work/status';
import { skippedWords } from '../../work/view-results';

export async function sensePart({ context, daemon, scheduler, localTime }: Sources): Promise<Row> {
  if (!exists(context.area.sense.config)) {
    return { state: 'off', summary: 'nothing is captured before it is set up', next: 'steward init' };
  }
  const { deps } = await openSense(context);
  const status = senseStatus(deps, daemon.running ? DAEMON_SCHEDULER : null);
  const { state, reason, fix } = senseHealth(status);
  const facts = [
    `${plural(status.eventsToday, 'event')} today`,
    status.lastCaptureTs === null ? 'never captured' : `last capture ${localTime(status.lastCaptureTs)}`,
    ...(reason === undefined ? [] : [reason]),
  ];
  if (state === 'ok' && !daemon.running && isInstalled({ scheduler }, 'sense') === false) {
    return {
      state: 'needs-you',
      summary: [...facts, 'nothing captures by itself'].join(' · '),
      next: scheduler === undefined ? 'steward up' : JOBS.sense.command,
    };
  }
  return { state, summary: facts.join(' · '), next: fix ?? null };
}

export async function workPart({ context, localTime }: Sources): Promise<Row> {
  const status = workStatus((await openWork(context)).deps);
  if (status.setupRequired)
    return { state: 'off', summary: 'no repository is set up', next: 'steward work setup OWNER/REPO' };
  const facts = [
    status.repo ?? '',
    `${status.issues.open} open`,
    ...(status.malformed === 0 ? [] : [skippedWords(status.malformed)]),
    status.lastFetch === null ? 'never read' : `read ${localTime(status.lastFetch)}`,
    ...status.waiting.map(waitingText),
  ];
  const trouble = workTrouble(status);
  if (trouble === undefined) return { state: 'ok', summary: facts.join(' · '), next: null };
  return {
    state: trouble.state,
    summary: [...facts, trouble.why ?? []].flat().join(' · '),
    next: trouble.next,
  };
}

function workTrouble({
  enabled,
  privacy,
  stale,
  staleReason,
  waiting,
}: WorkStatus): { state: Part['state']; why?: string; next: string } | undefined {
  if (!enabled) return { state: 'off', why: 'switched off', next: 'steward config set WORK.enabled true' };
  if (privacy.state === 'public')
    return {
      state: 'needs-you',
      why: 'the repository is public, so nothing is sent',
      next: 'steward work verify',
    };
  if (privacy.state === 'unverified' || privacy.state === 'expired') {
    return { state: 'needs-you', why: 'not verified to be private', next: 'steward work verify' };
  }
  const fix = waiting.find((one) => one.fix !== null)?.fix;
  if (fix !== undefined && fix !== null) return { state: 'needs-you', next: fix };
  if (stale) return { state: 'needs-you', why: staleReason ?? 'out of date', next: 'steward work board' };
  return undefined;
}

export function notifyPart({ context, config }: Sources): Row {
  const { push, chat } = config.settings.notifications;
  const { muted, until } = muteState({ clock: context.clock, mute: context.area.mute });
  const { engines, hint } = voiceOf(context, { current: () => config }, () => undefined).status();
  const isOff = config.user.notify.voice.engine === 'none';
  const voice = isOff ? 'off' : (engines[0] ?? 'nothing here can speak');
  const facts = [
    `voice ${voice}${muted && !isOff ? `, muted${until === null ? '' : ' for now'}` : ''}`,
    `push ${push.topic.isSet && push.enabled ? 'on' : 'off'}`,
    `chat ${chat.webhook.isSet && chat.enabled ? 'on' : 'off'}`,
  ];
  const summary = facts.join(' · ');
  if (!isOff && engines.length === 0)
    return { state: 'needs-you', summary: `${summary}. ${hint ?? ''}`, next: 'steward notify test' };
  if (muted && !isOff) return { state: 'muted', summary, next: 'steward notify unmute' };
  return { state: 'ok', summary, next: null };
}

export function agentsPart({ context }: Sources): Row {
  const { agents, knowledge } = context.area;
  const named = rosterFiles(agents).length;
  const entries = KNOWLEDGE_TYPES.flatMap((type) =>
    listFolder(join(knowledge, type)).filter((name) => name.endsWith('.md')),
  );
  const facts = [
    `${plural(named, 'named agent')}`,
    `${plural(entries.length, 'entry', 'entries')} of knowledge`,
  ];
  // Routing works without any of them: one that has none lacks nothing.
  return {
    state: 'ok',
    summary: facts.join(' · '),
    next: named === 0 ? 'steward agents roster new NAME' : null,
  };
}

export async function sessionsPart({ context }: Sources): Promise<Row> {
  const nowMs = context.clock.now();
  const running = Object.values(runningSessions(await openSessions(context)).sessions).filter((one) =>
    isLive(one, nowMs),
  );
  const waiting = await waitingSessions(context);
  return {
    state: waiting > 0 ? 'needs-you' : 'ok',
    summary: `${running.length} at work or waiting${waiting > 0 ? ` · ${waiting} waiting for you` : ''}`,
    next: waiting > 0 ? 'steward sessions' : null,
  };
}

export function goalsPart({ config }: Sources): Row {
  const path = config.user.paths.goals;
  const text = readText(path, { followLink: true });
  if (text === undefined) return { state: 'off', summary: `no goals are written in ${path}`, next: null };
  const goals = parseGoals(text);
  const summary =
    goals.length === 0 ? 'no goals under a heading "Active Goals"' : plural(goals.length, 'active goal');
  return {
    state: goals.length === 0 ? 'needs-you' : 'ok',
    summary: goals.length === 0 ? `${summary} in ${path}` : summary,
    next: null,
  };
}

/**
 * - ok: it does what it is there for
 * - muted: works, and the person wants it to be silent
 * - off: not set up, or switched off; that may be meant
 * - needs-you: it wants something of the person
 * - error: it cannot be told
 */
export type PartState = 'ok' | 'muted' | 'off' | 'needs-you' | 'error';

/** A row of `steward status`. */
export interface Part {
  id: string;
  state: PartState;
  /** What it is like now, a few short facts. */
  summary: string;
  /** The command that comes next; null where all is well. */
  next: string | null;
}

export interface Overview {
  userArea: string;
  version: string;
  /** False: nothing of steward is on this machine yet. */
  setUp: boolean;
  parts: Part[];
}

/** What a part says of itself; its id is given to it. */
export type Row = Omit<Part, 'id'>;

/** What the parts are told of, each by the function that its own command calls. */
export interface Sources {
  context: Context;
  /** The folder of steward's package.json. */
  root: string;
  config: Config;
  daemon: DaemonReport;
  /** `unknown`: it could not be asked, which the row `jobs` says. */
  scheduler: JobsHere | 'unknown' | undefined;
  /** The local time of an ISO-8601 time. */
  localTime: (iso: string) => string;
}

/** Is the job registered? Undefined where the scheduler could not be asked. */
export function isInstalled({ scheduler }: Pick<Sources, 'scheduler'>, id: JobId): boolean | undefined {
  if (scheduler === 'unknown') return undefined;
  return scheduler?.jobs.some(({ job, installed }) => job === id && installed) === true;
}

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
