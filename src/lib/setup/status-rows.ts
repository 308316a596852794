import { join } from 'node:path';

import { KNOWLEDGE_TYPES } from '../agents/knowledge';
import { deadMessages } from '../agents/managed/sessions';
import { rosterFiles } from '../agents/roster';
import type { Context } from '../app/context';
import { hooksHealth } from '../app/hooks';
import { DAEMON_SCHEDULER, type JobsHere } from '../app/schedule';
import { openSense } from '../app/sense';
import { openSessions, waitingSessions } from '../app/sessions';
import { voiceOf } from '../app/speech';
import { openUsage } from '../app/usage';
import { openWork } from '../app/work';
import type { Config } from '../config/schema';
import { duration, type DaemonReport } from '../daemon/status';
import { parseGoals } from '../goals/record';
import { undeliveredCount } from '../notify/history';
import { deadFolder, foreignDeliveries, MAX_WAITING as MAX_DELIVERIES, outboxStatus } from '../notify/outbox';
import { muteState } from '../notify/routing';
import { readText } from '../platform/files/atomic-file';
import { exists, listFolder } from '../platform/files/folder';
import { deadReport, deadText } from '../platform/files/dead-letters';
import { processHost } from '../platform/files/paths';
import { plural } from '../platform/terminal/format';
import { JOBS, type JobId } from '../schedule/job';
import { status as senseStatus } from '../sense/read';
import { senseHealth } from '../sense/source';
import { isLive } from '../sessions/session';
import { foreignIntentions, spoolStatus } from '../sessions/spool';
import { MAX_WAITING as MAX_INTENTIONS } from '../sessions/intention';
import { runningSessions } from '../sessions/state';
import { waitingText } from '../work/capture/waiting';
import { isCredentialHereOnly } from '../work/host/token';
import { workStatus, type WorkStatus } from '../work/status';
import { malformedText } from '../work/view-results';

/**
 * - `off`: not set up or switched off
 * - `muted`: working, but silenced by the user
 * - `error`: the state is unknown
 */
export type PartState = 'ok' | 'muted' | 'off' | 'needs-you' | 'error';

export interface StatusRow {
  state: PartState;
  summary: string;
  /** The command to run next, or null. */
  next: string | null;
}

export interface Sources {
  context: Context;
  config: Config;
  daemon: DaemonReport;
  /**
   * The jobs in the scheduler; `unknown` if the query failed. Only the `jobs` row reports the failed query.
   */
  scheduler: JobsHere | 'unknown' | undefined;
  localTime: (iso: string) => string;
}

export const ROWS: Readonly<Record<string, (sources: Sources) => StatusRow | Promise<StatusRow>>> = {
  sense: senseRow,
  work: workRow,
  notify: notifyRow,
  queue: queueRow,
  agents: agentsRow,
  sessions: sessionsRow,
  usage: usageRow,
  goals: goalsRow,
  daemon: daemonRow,
  hooks: hooksRow,
  jobs: jobsRow,
};

type Facts = readonly (string | undefined)[];

function row(state: PartState, facts: string | Facts, next: string | null = null): StatusRow {
  const summary = [facts].flat().filter((fact) => fact !== undefined && fact !== '');
  return { state, summary: summary.join(' · '), next };
}

/** Returns whether a job is installed; undefined if the scheduler could not be queried. */
function isInstalled({ scheduler }: Sources, id: JobId): boolean | undefined {
  if (scheduler === 'unknown') return undefined;
  return scheduler?.jobs.some(({ job, installed }) => job === id && installed) === true;
}

async function senseRow(sources: Sources): Promise<StatusRow> {
  const { context, daemon, scheduler, localTime } = sources;
  if (!exists(context.area.sense.config)) return row('off', 'not set up', 'steward init');
  const { deps } = await openSense(context);
  const status = senseStatus(deps, daemon.running ? DAEMON_SCHEDULER : null);
  const { state, reason, fix = null } = senseHealth(status);
  const facts = [
    `${plural(status.eventsToday, 'event')} today`,
    status.lastCaptureTs === null ? 'no capture yet' : `last capture ${localTime(status.lastCaptureTs)}`,
    reason,
  ];
  if (state !== 'ok' || daemon.running || isInstalled(sources, 'sense') !== false)
    return row(state, facts, fix);
  const next = scheduler === undefined ? 'steward up' : JOBS.sense.command;
  return row('needs-you', [...facts, 'no automatic capture'], next);
}

async function workRow({ context, daemon, localTime }: Sources): Promise<StatusRow> {
  const status = workStatus((await openWork(context)).deps);
  if (status.setupRequired) return row('off', 'no repository', 'steward work setup OWNER/REPO');
  const facts = [
    status.repo ?? '',
    `${status.issues.open} open`,
    status.malformed === 0 ? undefined : malformedText(status.malformed),
    status.lastFetch === null ? 'not read yet' : `read ${localTime(status.lastFetch)}`,
    ...status.waiting.map(waitingText),
  ];
  if (daemon.running && isCredentialHereOnly(status.staleReason, processHost().env))
    return row(
      'needs-you',
      [...facts, "the daemon does not have this terminal's GitHub token"],
      'gh auth login',
    );
  const [state, reason, next] = workState(status);
  return row(state, [...facts, reason], next);
}

function workState({
  enabled,
  privacy,
  stale,
  staleReason,
  waiting,
}: WorkStatus): [state: PartState, reason?: string | undefined, next?: string] {
  if (!enabled) return ['off', 'switched off', 'steward config set WORK.enabled true'];
  if (privacy.state === 'public')
    return ['needs-you', 'the repository is public, so nothing is sent', 'steward work verify'];
  if (privacy.state === 'unverified' || privacy.state === 'expired')
    return ['needs-you', 'not verified as private', 'steward work verify'];
  const fix = waiting.map((queue) => queue.fix).find((command) => command !== null);
  if (fix !== undefined) return ['needs-you', undefined, fix];
  return stale ? ['needs-you', staleReason ?? 'stale', 'steward work board'] : ['ok'];
}

function notifyRow({ context, config }: Sources): StatusRow {
  const { push, chat, telegram } = config.settings.notifications;
  const { muted, until } = muteState({ clock: context.clock, mute: context.area.mute });
  const { engines, reason, hint } = voiceOf(context, { current: () => config }, () => undefined).status();
  const isOff = config.user.notify.voice.engine === 'none';
  const isMuted = muted && !isOff;
  const engine = isOff ? 'off' : (engines[0] ?? 'not installed');
  const undelivered = undeliveredCount({
    clock: context.clock,
    outbox: context.area.outbox,
    history: context.area.notifyLog,
  });
  const facts = [
    `voice ${engine}${isMuted ? `, muted${until === null ? '' : ' for now'}` : ''}`,
    `push ${push.topic.isSet && push.enabled ? 'on' : 'off'}`,
    `chat ${chat.webhook.isSet && chat.enabled ? 'on' : 'off'}`,
    ...(telegram.enabled && telegram.token.isSet && telegram.chatId.isSet ? ['Telegram on'] : []),
    ...(undelivered === 0 ? [] : [`${plural(undelivered, 'notification')} failed on every channel`]),
  ];
  if (!isOff && reason !== undefined) {
    return row('needs-you', `${facts.join(' · ')}. ${reason}. ${hint ?? ''}`, 'steward notify test');
  }
  if (undelivered > 0) return row('needs-you', facts, 'steward notify history');
  return isMuted ? row('muted', facts, 'steward notify unmute') : row('ok', facts);
}

/** Returns the row for pending and failed notifications, hook events and messages to hosted agents. */
function queueRow({ context }: Sources): StatusRow {
  const { area } = context;
  const outbox = outboxStatus(area);
  const spool = spoolStatus(area.spool);
  // Don't read the machine id while the queues are empty, because reading the id creates it.
  const foreign = {
    outbox: outbox.waiting > 0 ? foreignDeliveries({ outbox: area.outbox, machineId: context.machineId }) : 0,
    spool: spool.waiting > 0 ? foreignIntentions(area.spool, context.machineId) : 0,
  };
  const graves = [deadFolder(area), spool.deadFolder, deadMessages(area.managed)].map((folder) =>
    deadReport(folder),
  );
  const isBad = [
    outbox.waiting >= MAX_DELIVERIES || foreign.outbox > 0,
    spool.waiting >= MAX_INTENTIONS || spool.unreadable + foreign.spool > 0,
    false,
  ].map((bad, index) => bad || (graves[index]?.count ?? 0) > 0);
  const spoolFix = spool.unreadable > 0 ? 'steward doctor hooks' : 'steward work retry';
  const fixes = ['steward notify history', spoolFix, null];
  const [deadOutbox, deadSpool, deadSent] = graves.map(deadText);
  const facts = [
    waitingFact(outbox.waiting, 'notification', MAX_DELIVERIES),
    foreignFact(foreign.outbox),
    deadOutbox,
    waitingFact(spool.waiting, 'hook event', MAX_INTENTIONS),
    spool.unreadable === 0 ? undefined : `${spool.unreadable} unreadable`,
    foreignFact(foreign.spool),
    deadSpool,
    deadSent,
  ];
  const summary = facts.some(Boolean) ? facts : 'empty';
  return isBad.includes(true) ? row('needs-you', summary, fixes[isBad.indexOf(true)]) : row('ok', summary);
}

function waitingFact(count: number, noun: string, max: number): string | undefined {
  return count === 0
    ? undefined
    : `${plural(count, noun)} waiting${count >= max ? '; the queue is full, and new ones are refused' : ''}`;
}

function foreignFact(count: number): string | undefined {
  return count === 0 ? undefined : `${count} from another machine`;
}

function agentsRow({ context }: Sources): StatusRow {
  const { agents, knowledge } = context.area;
  const named = rosterFiles(agents).length;
  const entries = KNOWLEDGE_TYPES.flatMap((type) =>
    listFolder(join(knowledge, type)).filter((name) => name.endsWith('.md')),
  );
  const facts = [
    plural(named, 'named agent'),
    plural(entries.length, 'knowledge entry', 'knowledge entries'),
  ];
  // Routing works without named agents, so the state is `ok` even if there are none.
  return row('ok', facts, named === 0 ? 'steward agents roster new NAME' : null);
}

async function sessionsRow({ context }: Sources): Promise<StatusRow> {
  const nowMs = context.clock.now();
  const { sessions } = runningSessions(await openSessions(context));
  const active = `${Object.values(sessions).filter((session) => isLive(session, nowMs)).length} active`;
  const waiting = await waitingSessions(context);
  return waiting > 0
    ? row('needs-you', [active, `${waiting} waiting for you`], 'steward sessions')
    : row('ok', active);
}

async function usageRow({ context, config }: Sources): Promise<StatusRow> {
  if (!config.user.usage.enabled) return row('off', 'switched off');
  const { limits, problems } = (await openUsage(context)).limits();
  const known = limits.length === 0 ? ['no usage limits reported'] : limits;
  return problems.length === 0
    ? row('ok', known)
    : row('needs-you', [...problems, ...known], 'steward usage');
}

function goalsRow({ config }: Sources): StatusRow {
  const path = config.user.paths.goals;
  const text = readText(path, { followLink: true });
  if (text === undefined) return row('off', `${path} not found`);
  const goals = parseGoals(text);
  return goals.length === 0
    ? row('needs-you', `no goals under the heading "Active Goals" in ${path}`)
    : row('ok', plural(goals.length, 'active goal'));
}

function daemonRow(sources: Sources): StatusRow {
  const { daemon } = sources;
  if (!daemon.running) {
    return isInstalled(sources, 'daemon') === true
      ? row('needs-you', 'installed, but not running', 'steward daemon install --status')
      : row('off', 'not running', 'steward up');
  }
  const { url, uptimeSec, version, cliVersion, jobs } = daemon;
  const facts = [
    url,
    `up ${duration(uptimeSec)}`,
    version === cliVersion ? undefined : `version ${version} (this command is version ${cliVersion})`,
  ];
  const failed = jobs.find(({ lastOk }) => lastOk === false);
  if (failed === undefined) return row('ok', facts);
  return row('needs-you', [...facts, `job ${failed.id} failed`], 'steward daemon status');
}

function hooksRow({ context }: Sources): StatusRow {
  const { state, reason = '', fix } = hooksHealth(context);
  return row(state, reason, fix);
}

function jobsRow({ scheduler }: Sources): StatusRow {
  if (scheduler === undefined || scheduler === 'unknown')
    return row('off', 'no scheduler on this machine; "steward up" runs the jobs');
  const { jobs, kind } = scheduler;
  const installed = jobs.filter((job) => job.installed);
  if (installed.length === 0) return row('off', `none in ${kind}`, 'steward install');
  const summary = `${installed.map(({ job }) => job).join(', ')} in ${kind}`;
  const bad = installed.find(({ warning }) => warning !== undefined);
  if (bad === undefined) return row('ok', summary);
  return row('needs-you', [summary, `${bad.job}: ${bad.warning ?? ''}`], `${JOBS[bad.job].command} --status`);
}
