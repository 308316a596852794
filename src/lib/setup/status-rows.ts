import { join } from 'node:path';

import { KNOWLEDGE_TYPES } from '../agents/knowledge';
import { markdownFiles, rosterFiles } from '../agents/markdown-files';
import { deadMessages } from '../agents/managed/sessions';
import { installerDeps, type Context } from '../app/context';
import { hooksFinding } from '../assistant/registered';
import { DAEMON_SCHEDULER } from '../app/schedule';
import type { JobsHere } from './jobs';
import { openSense } from '../app/sense';
import { openInbox } from '../app/inbox';
import { openRunning, openSessions } from '../app/sessions';
import { voiceOf } from '../app/speech';
import { openUsage } from '../app/usage';
import { openWork } from '../app/work';
import type { Config } from '../config/schema';
import { duration, type DaemonReport } from '../daemon/status';
import { readGoals } from '../goals/record';
import { undelivered } from '../notify/history';
import { noDesktop } from '../notify/channels/desktop';
import { voiceFinding } from '../notify/checks';
import {
  deadFolder,
  delays,
  foreignDeliveries,
  MAX_WAITING as MAX_DELIVERIES,
  outboxStatus,
} from '../notify/outbox';
import { muteState } from '../notify/routing';
import { warning, withHint, type Finding, type State } from '../platform/check';
import { deadReport, deadText } from '../platform/files/dead-letters';
import { processHost } from '../platform/files/paths';
import { plural } from '../platform/terminal/format';
import { INSTALLERS, type JobId } from '../schedule/job';
import { status as senseStatus } from '../sense/read';
import { NOT_SET_UP, senseFinding } from '../sense/source';
import { isLive } from '../sessions/session';
import { foreignIntentions, spoolStatus } from '../sessions/spool';
import { MAX_WAITING as MAX_INTENTIONS } from '../sessions/intention';
import { waitingText } from '../work/capture/waiting';
import { isCredentialHereOnly } from '../work/host/token';
import { workFinding } from '../work/checks';
import { workStatus } from '../work/status';
import { malformedText } from '../work/view-results';

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

export const ROWS: Readonly<Record<string, (sources: Sources) => Finding | Promise<Finding>>> = {
  sense: senseRow,
  work: workRow,
  notify: notifyRow,
  queue: queueRow,
  agents: agentsRow,
  sessions: sessionsRow,
  inbox: inboxRow,
  usage: usageRow,
  goals: goalsRow,
  daemon: daemonRow,
  hooks: ({ context }) => hooksFinding(installerDeps(context)),
  jobs: jobsRow,
};

type Facts = readonly (string | undefined)[];

function row(state: State, facts: string | Facts, fix?: string): Finding {
  const found = [facts].flat().filter((fact) => fact !== undefined && fact !== '');
  return { state, found: found.join(' · '), ...(fix === undefined ? {} : { fix }) };
}

/** Returns the finding with facts before it; a finding that is fine adds nothing to the facts. */
function withFacts(facts: Facts, { state, found, fix }: Finding): Finding {
  return row(state, state === 'ok' || facts.includes(found) ? facts : [...facts, found], fix);
}

/** Returns whether a job is installed; undefined if the scheduler could not be queried. */
function isInstalled({ scheduler }: Sources, id: JobId): boolean | undefined {
  if (scheduler === 'unknown') return undefined;
  return scheduler?.jobs.some(({ job, installed }) => job === id && installed) === true;
}

async function senseRow(sources: Sources): Promise<Finding> {
  const { context, daemon, scheduler, localTime } = sources;
  if (!context.area.sense.isSetUp) return NOT_SET_UP;
  const { deps } = await openSense(context);
  const status = senseStatus(deps, daemon.running ? DAEMON_SCHEDULER : null);
  const finding = senseFinding(status);
  const facts = [
    `${plural(status.eventsToday, 'event')} today`,
    status.lastCaptureTs === null ? 'no capture yet' : `last capture ${localTime(status.lastCaptureTs)}`,
  ];
  if (finding.state !== 'ok' || daemon.running || isInstalled(sources, 'tick') !== false)
    return withFacts(facts, finding);
  const fix = scheduler === undefined ? 'steward up' : INSTALLERS.tick;
  return withFacts(facts, warning('no automatic capture', { fix }));
}

async function workRow({ context, daemon, localTime }: Sources): Promise<Finding> {
  const { deps } = await openWork(context);
  const status = workStatus(deps);
  const finding = workFinding(status, context.clock);
  if (status.setupRequired) return finding;
  const facts = [
    status.repo ?? '',
    `${status.issues.open} open`,
    status.malformed === 0 ? undefined : malformedText(status.malformed),
    status.lastFetch === null ? 'not read yet' : `read ${localTime(status.lastFetch)}`,
    ...status.waiting.map(waitingText),
  ];
  if (!daemon.running || !isCredentialHereOnly(status.staleReason, processHost().env))
    return withFacts(facts, finding);
  const found = "the daemon does not have this terminal's GitHub token";
  return withFacts(facts, warning(found, { fix: 'gh auth login' }));
}

function notifyRow({ context, config }: Sources): Finding {
  const { push, chat, telegram } = config.settings.notifications;
  const { muted, until } = muteState({ clock: context.clock, mute: context.area.mute });
  const voice = voiceOf(context, { current: () => config }, () => undefined);
  const finding = voiceFinding(voice, undefined);
  const isMuted = muted && !voice.isOff();
  const { outbox, notifyLog: history } = context.area;
  const failed = undelivered({ outbox, history }).length;
  const { platform, env } = processHost();
  const isSent = push.topic.isSet || chat.webhook.isSet || telegram.token.isSet;
  const isUnheard = !isSent && noDesktop(platform, env) !== undefined;
  const facts = [
    `${finding.state === 'ok' ? finding.found : 'voice not installed'}${isMuted ? `, muted${until === null ? '' : ' for now'}` : ''}`,
    `push ${push.topic.isSet && push.enabled ? 'on' : 'off'}`,
    `chat ${chat.webhook.isSet && chat.enabled ? 'on' : 'off'}`,
    telegram.token.isSet && telegram.chatId.isSet ? 'Telegram on' : undefined,
    isUnheard ? 'no desktop: messages below priority 4 are not shown (`steward init --push`)' : undefined,
    failed === 0 ? undefined : `${plural(failed, 'notification')} failed on every channel`,
  ];
  if (finding.state !== 'ok') return withFacts(facts, { ...finding, found: withHint(finding) });
  if (failed > 0) return row('warning', facts, 'steward notify history');
  return row('ok', facts, isMuted ? 'steward notify unmute' : undefined);
}

/** Returns the row for pending and failed notifications, hook events and messages to hosted agents. */
function queueRow({ context }: Sources): Finding {
  const { area } = context;
  const outbox = outboxStatus(area);
  const spool = spoolStatus(area.spool);
  // Don't read the machine id while the queues are empty, because reading the id creates it.
  const foreign = {
    outbox: outbox.waiting > 0 ? foreignDeliveries({ outbox: area.outbox, machineId: context.machineId }) : 0,
    spool: spool.waiting > 0 ? foreignIntentions(area.spool, context.machineId) : 0,
  };
  const causes = outbox.waiting > 0 ? delays(area) : [];
  const graves = [deadFolder(area), spool.deadFolder, deadMessages(area.managed)].map((folder) =>
    deadReport(folder),
  );
  const isBad = [
    outbox.waiting >= MAX_DELIVERIES || foreign.outbox > 0 || causes.length > 0,
    spool.waiting >= MAX_INTENTIONS || spool.unreadable + foreign.spool > 0,
    false,
  ].map((bad, index) => bad || (graves[index]?.count ?? 0) > 0);
  const spoolFix = spool.unreadable > 0 ? 'steward doctor hooks' : 'steward work retry';
  const fixes = [causes.length > 0 ? 'steward notify test' : 'steward notify history', spoolFix, undefined];
  const [deadOutbox, deadSpool, deadSent] = graves.map(deadText);
  const facts = [
    waitingFact(outbox.waiting, 'notification', MAX_DELIVERIES),
    ...causes,
    foreignFact(foreign.outbox),
    deadOutbox,
    waitingFact(spool.waiting, 'hook event', MAX_INTENTIONS),
    spool.unreadable === 0 ? undefined : `${spool.unreadable} unreadable`,
    foreignFact(foreign.spool),
    deadSpool,
    deadSent,
  ];
  const summary = facts.some(Boolean) ? facts : 'empty';
  return isBad.includes(true) ? row('warning', summary, fixes[isBad.indexOf(true)]) : row('ok', summary);
}

function waitingFact(count: number, noun: string, max: number): string | undefined {
  return count === 0
    ? undefined
    : `${plural(count, noun)} waiting${count >= max ? '; the queue is full, and new ones are refused' : ''}`;
}

function foreignFact(count: number): string | undefined {
  return count === 0 ? undefined : `${count} from another machine`;
}

function agentsRow({ context }: Sources): Finding {
  const { agents, knowledge } = context.area;
  const named = rosterFiles(agents).length;
  const entries = KNOWLEDGE_TYPES.flatMap((type) => markdownFiles(join(knowledge, type)));
  const facts = [
    plural(named, 'named agent'),
    plural(entries.length, 'knowledge entry', 'knowledge entries'),
  ];
  // Routing works without named agents, so the state is `ok` even if there are none.
  return row('ok', facts, named === 0 ? 'steward agents roster add NAME' : undefined);
}

async function sessionsRow({ context }: Sources): Promise<Finding> {
  const nowMs = context.clock.now();
  const { sessions } = openRunning(context, await openSessions(context));
  return row('ok', `${Object.values(sessions).filter((session) => isLive(session, nowMs)).length} active`);
}

async function inboxRow({ context }: Sources): Promise<Finding> {
  const { count } = await openInbox(context);
  return count === 0 ? row('ok', 'empty') : row('warning', `${count} waiting for you`, 'steward inbox');
}

async function usageRow({ context, config }: Sources): Promise<Finding> {
  if (!config.user.usage.enabled) return row('off', 'switched off');
  const { limits, problems } = await (await openUsage(context)).limits();
  const known = limits.length === 0 ? ['no usage limits reported'] : limits;
  return problems.length === 0 ? row('ok', known) : row('warning', [...problems, ...known], 'steward usage');
}

function goalsRow({ context }: Sources): Finding {
  const { length } = readGoals(context.area.goals);
  if (length > 0) return row('ok', plural(length, 'active goal'), 'steward goals');
  return row('off', 'no active goals', 'steward goals add TEXT');
}

function daemonRow(sources: Sources): Finding {
  const { daemon } = sources;
  if (!daemon.running) {
    return isInstalled(sources, 'daemon') === true
      ? row('warning', 'installed, but not running', 'steward doctor jobs')
      : row('off', 'not running', 'steward up');
  }
  const { url, uptimeSec, version, cliVersion, jobs, modules } = daemon;
  const facts = [
    url,
    `up ${duration(uptimeSec)}`,
    version === cliVersion ? undefined : `version ${version} (this command is version ${cliVersion})`,
  ];
  const failed = jobs.find(({ lastOk }) => lastOk === false);
  if (failed !== undefined)
    return row('warning', [...facts, `job ${failed.id} failed`], 'steward daemon status');
  const programs = modules.find(({ id, state }) => id === 'programs' && state === 'warning');
  return programs === undefined ? row('ok', facts) : row('warning', [...facts, programs.found], programs.fix);
}

function jobsRow({ scheduler }: Sources): Finding {
  if (scheduler === undefined || scheduler === 'unknown')
    return row('off', 'no scheduler on this machine; "steward up" runs the jobs');
  const { jobs, kind } = scheduler;
  const installed = jobs.filter((job) => job.installed);
  if (installed.length === 0) return row('off', `none in ${kind}`, 'steward install');
  const summary = `${installed.map(({ job }) => job).join(', ')} in ${kind}`;
  const bad = installed.find(({ warning }) => warning !== undefined);
  if (bad === undefined) return row('ok', summary);
  return row('warning', [summary, `${bad.job}: ${bad.warning ?? ''}`], `${INSTALLERS[bad.job]} --status`);
}
