import { join } from 'node:path';

import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { deadMessages } from '../../agents/managed/sessions';
import { rosterFiles } from '../../agents/roster';
import type { Context } from '../../app/context';
import { DAEMON_SCHEDULER, type JobsHere } from '../../app/schedule';
import { openSense } from '../../app/sense';
import { openSessions, waitingSessions } from '../../app/sessions';
import { voiceOf } from '../../app/speech';
import { openWork } from '../../app/work';
import { installedEvents, shimDeps } from '../../assistant/install';
import { shimPath } from '../../assistant/shim';
import type { Config } from '../../config/schema';
import { duration, type DaemonReport } from '../../daemon/status';
import { parseGoals } from '../../goals/record';
import { dead, foreignDeliveries, MAX_WAITING as MOST_DELIVERIES, outboxStatus } from '../../notify/outbox';
import { muteState } from '../../notify/routing';
import { readText } from '../../platform/files/atomic-file';
import { exists, listFolder } from '../../platform/files/folder';
import { deadReport, deadText, type DeadReport } from '../../platform/files/dead-letters';
import { plural } from '../../platform/terminal/format';
import { JOBS, type JobId } from '../../schedule/job';
import { senseHealth } from '../../sense/source';
import { status as senseStatus } from '../../sense/read';
import { runningSessions } from '../../sessions/state';
import { isLive } from '../../sessions/session';
import { foreignIntentions, MAX_WAITING as MOST_INTENTIONS, spoolStatus } from '../../sessions/spool';
import { waitingText } from '../../work/capture/waiting';
import { workStatus, type WorkStatus } from '../../work/status';
import { skippedWords } from '../../work/view-results';
import { claudeHooks } from '../init/step';

/**
 * - ok: it works
 * - muted: it works, and is silent on purpose
 * - off: not set up, or switched off; that may be meant
 * - needs-you: it wants something of the person
 * - error: its state is unknown
 */
export type PartState = 'ok' | 'muted' | 'off' | 'needs-you' | 'error';

/** A row of `steward status`. */
export interface Part {
  id: string;
  state: PartState;
  /** A few short facts. */
  summary: string;
  /** The next command; null if all is well. */
  next: string | null;
}

export type Row = Omit<Part, 'id'>;

/** What the parts are made from, each by the function that its own command calls. */
export interface Sources {
  context: Context;
  config: Config;
  daemon: DaemonReport;
  /** `unknown`: it could not be asked, which the row `jobs` says. */
  scheduler: JobsHere | 'unknown' | undefined;
  localTime: (iso: string) => string;
}

function row(
  state: PartState,
  facts: string | readonly (string | undefined)[],
  next: string | null = null,
): Row {
  const words =
    typeof facts === 'string' ? [facts] : facts.filter((fact) => fact !== undefined && fact !== '');
  return { state, summary: words.join(' · '), next };
}

/** Undefined if the scheduler could not be asked. */
function isInstalled({ scheduler }: Sources, id: JobId): boolean | undefined {
  if (scheduler === 'unknown') return undefined;
  return scheduler?.jobs.some(({ job, installed }) => job === id && installed) === true;
}

async function sensePart(sources: Sources): Promise<Row> {
  const { context, daemon, scheduler, localTime } = sources;
  if (!exists(context.area.sense.config))
    return row('off', 'nothing is captured before it is set up', 'steward init');
  const { deps } = await openSense(context);
  const status = senseStatus(deps, daemon.running ? DAEMON_SCHEDULER : null);
  const { state, reason, fix } = senseHealth(status);
  const facts = [
    `${plural(status.eventsToday, 'event')} today`,
    status.lastCaptureTs === null ? 'never captured' : `last capture ${localTime(status.lastCaptureTs)}`,
    reason,
  ];
  if (state !== 'ok' || daemon.running || isInstalled(sources, 'sense') !== false)
    return row(state, facts, fix);
  const next = scheduler === undefined ? 'steward up' : JOBS.sense.command;
  return row('needs-you', [...facts, 'nothing captures by itself'], next);
}

async function workPart({ context, localTime }: Sources): Promise<Row> {
  const status = workStatus((await openWork(context)).deps);
  if (status.setupRequired) return row('off', 'no repository is set up', 'steward work setup OWNER/REPO');
  const facts = [
    status.repo ?? '',
    `${status.issues.open} open`,
    status.malformed === 0 ? undefined : skippedWords(status.malformed),
    status.lastFetch === null ? 'never read' : `read ${localTime(status.lastFetch)}`,
    ...status.waiting.map(waitingText),
  ];
  const [state, why, next] = workState(status);
  return row(state, [...facts, why], next);
}

function workState(status: WorkStatus): [state: PartState, why?: string | undefined, next?: string] {
  const { enabled, privacy, stale, staleReason, waiting } = status;
  if (!enabled) return ['off', 'switched off', 'steward config set WORK.enabled true'];
  if (privacy.state === 'public')
    return ['needs-you', 'the repository is public, so nothing is sent', 'steward work verify'];
  if (privacy.state === 'unverified' || privacy.state === 'expired')
    return ['needs-you', 'not verified to be private', 'steward work verify'];
  const fix = waiting.map((one) => one.fix).find((command) => command !== null);
  if (fix !== undefined) return ['needs-you', undefined, fix];
  return stale ? ['needs-you', staleReason ?? 'out of date', 'steward work board'] : ['ok'];
}

function notifyPart({ context, config }: Sources): Row {
  const { push, chat, telegram } = config.settings.notifications;
  const { muted, until } = muteState({ clock: context.clock, mute: context.area.mute });
  const { engines, hint } = voiceOf(context, { current: () => config }, () => undefined).status();
  const isOff = config.user.notify.voice.engine === 'none';
  const isMuted = muted && !isOff;
  const voice = isOff ? 'off' : (engines[0] ?? 'nothing here can speak');
  const facts = [
    `voice ${voice}${isMuted ? `, muted${until === null ? '' : ' for now'}` : ''}`,
    `push ${push.topic.isSet && push.enabled ? 'on' : 'off'}`,
    `chat ${chat.webhook.isSet && chat.enabled ? 'on' : 'off'}`,
    ...(telegram.enabled && telegram.token.isSet && telegram.chatId.isSet ? ['Telegram on'] : []),
  ];
  if (!isOff && engines.length === 0)
    return row('needs-you', `${facts.join(' · ')}. ${hint ?? ''}`, 'steward notify test');
  return isMuted ? row('muted', facts, 'steward notify unmute') : row('ok', facts);
}

interface Queue {
  what: string;
  waiting: number;
  unreadable: number;
  foreign: number;
  /** A queue of this length takes no more. */
  most: number;
  dead: DeadReport;
  next: string | null;
}

/** What waits to be sent, and what was given up: notifications, captures, messages to hosted agents. */
function queuePart({ context }: Sources): Row {
  const { area } = context;
  const outbox = outboxStatus(area);
  const spool = spoolStatus(area.spool);
  // An empty queue does not ask for the id of this machine, which would be written.
  const foreign = {
    outbox: outbox.waiting > 0 ? foreignDeliveries({ outbox: area.outbox, machineId: context.machineId }) : 0,
    spool: spool.waiting > 0 ? foreignIntentions(area.spool, context.machineId) : 0,
  };
  const queues: Queue[] = [
    {
      what: plural(outbox.waiting, 'notification'),
      waiting: outbox.waiting,
      unreadable: 0,
      foreign: foreign.outbox,
      most: MOST_DELIVERIES,
      dead: deadReport(dead(area)),
      next: 'steward notify history',
    },
    {
      what: `${spool.waiting} left by hooks`,
      waiting: spool.waiting,
      unreadable: spool.unreadable,
      foreign: foreign.spool,
      most: MOST_INTENTIONS,
      dead: deadReport(spool.deadFolder),
      // A retry cannot help what is unreadable; doctor says where it is.
      next: spool.unreadable > 0 ? 'steward doctor hooks' : 'steward work retry',
    },
    {
      what: '',
      waiting: 0,
      unreadable: 0,
      foreign: 0,
      most: 1,
      dead: deadReport(deadMessages(area.managed)),
      next: null,
    },
  ];
  const bad = queues.filter(
    (queue) => queue.waiting >= queue.most || queue.unreadable + queue.foreign + queue.dead.count > 0,
  );
  const facts = queues.flatMap(queueFacts);
  return row(
    bad.length > 0 ? 'needs-you' : 'ok',
    facts.length === 0 ? 'nothing waits' : facts,
    bad[0]?.next ?? null,
  );
}

function queueFacts({ what, waiting, unreadable, foreign, most, dead: graves }: Queue): string[] {
  return [
    waiting === 0 ? [] : `${what} waiting${waiting >= most ? ', which is full' : ''}`,
    unreadable === 0 ? [] : `${unreadable} cannot be read`,
    foreign === 0 ? [] : `${foreign} from another machine`,
    deadText(graves) ?? [],
  ].flat();
}

function agentsPart({ context }: Sources): Row {
  const { agents, knowledge } = context.area;
  const named = rosterFiles(agents).length;
  const entries = KNOWLEDGE_TYPES.flatMap((type) =>
    listFolder(join(knowledge, type)).filter((name) => name.endsWith('.md')),
  );
  const facts = [plural(named, 'named agent'), `${plural(entries.length, 'entry', 'entries')} of knowledge`];
  // Routing works without any of them.
  return row('ok', facts, named === 0 ? 'steward agents roster new NAME' : null);
}

async function sessionsPart({ context }: Sources): Promise<Row> {
  const nowMs = context.clock.now();
  const { sessions } = runningSessions(await openSessions(context));
  const running = Object.values(sessions).filter((session) => isLive(session, nowMs));
  const fact = `${running.length} at work or waiting`;
  const waiting = await waitingSessions(context);
  return waiting > 0
    ? row('needs-you', [fact, `${waiting} waiting for you`], 'steward sessions')
    : row('ok', fact);
}

function goalsPart({ config }: Sources): Row {
  const path = config.user.paths.goals;
  const text = readText(path, { followLink: true });
  if (text === undefined) return row('off', `no goals are written in ${path}`);
  const goals = parseGoals(text);
  return goals.length === 0
    ? row('needs-you', `no goals under a heading "Active Goals" in ${path}`)
    : row('ok', plural(goals.length, 'active goal'));
}

function daemonPart(sources: Sources): Row {
  const { daemon } = sources;
  if (!daemon.running) {
    return isInstalled(sources, 'daemon') === true
      ? row('needs-you', 'installed, and does not run', 'steward daemon install --status')
      : row('off', 'does not run', 'steward up');
  }
  const { url, uptimeSec, version, cliVersion, jobs } = daemon;
  const facts = [
    url,
    `up ${duration(uptimeSec)}`,
    version === cliVersion ? undefined : `version ${version}, this is ${cliVersion}`,
  ];
  const failed = jobs.find(({ lastOk }) => lastOk === false);
  if (failed === undefined) return row('ok', facts);
  return row('needs-you', [...facts, `its job ${failed.id} failed`], 'steward daemon status');
}

function hooksPart({ context }: Sources): Row {
  const { deps, assistant } = claudeHooks(context);
  const registered = installedEvents(deps, assistant).length;
  const count = assistant.hooks.length;
  const next = 'steward hooks install';
  if (registered === 0) return row('off', 'not registered with Claude Code', next);
  if (!exists(shimPath(shimDeps(deps)))) return row('needs-you', 'what they run is missing', next);
  return registered === count
    ? row('ok', 'registered with Claude Code')
    : row('needs-you', `${registered} of ${count} registered`, next);
}

function jobsPart({ scheduler }: Sources): Row {
  if (scheduler === undefined || scheduler === 'unknown')
    return row('off', 'no scheduler here; "steward up" runs the jobs while it runs');
  const { jobs, kind } = scheduler;
  const installed = jobs.filter((job) => job.installed);
  if (installed.length === 0) return row('off', `none in ${kind}`, 'steward install');
  const summary = `${installed.map(({ job }) => job).join(', ')} in ${kind}`;
  const bad = installed.find(({ warning }) => warning !== undefined);
  if (bad === undefined) return row('ok', summary);
  return row('needs-you', [summary, `${bad.job}: ${bad.warning ?? ''}`], `${JOBS[bad.job].command} --status`);
}

/** The rows in their order. */
export const PARTS: Readonly<Record<string, (sources: Sources) => Row | Promise<Row>>> = {
  sense: sensePart,
  work: workPart,
  notify: notifyPart,
  queue: queuePart,
  agents: agentsPart,
  sessions: sessionsPart,
  goals: goalsPart,
  daemon: daemonPart,
  hooks: hooksPart,
  jobs: jobsPart,
};
