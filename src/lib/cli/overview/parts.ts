import { join } from 'node:path';

import { installedEvents, shimDeps } from '../../assistant/install';
import { shimPath } from '../../assistant/shim';
import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { rosterFiles } from '../../agents/roster';
import { duration, type DaemonReport } from '../../daemon/view';
import type { Config } from '../../config/schema';
import { parseGoals } from '../../goals/record';
import { readText } from '../../platform/atomic-file';
import { exists, listFolder } from '../../platform/folder';
import { muteState } from '../../notify/mute';
import { JOBS } from '../../schedule/job';
import { senseHealth } from '../../sense/health';
import { status as senseStatus } from '../../sense/read';
import { waitingSessions, openSessions } from '../sessions-context';
import { runningSessions } from '../../sessions/live';
import { isLive } from '../../sessions/session';
import { workStatus, type WorkStatus } from '../../work/status';
import type { Context } from '../context';
import { DAEMON_SCHEDULER } from '../daemon-client';
import { openHooks } from '../hooks-context';
import type { JobsHere } from '../schedule-context';
import { openSense } from '../sense-context';
import { voiceOf } from '../speech-context';
import { openWork } from '../work-context';
import type { Part } from './part';

type Row = Omit<Part, 'id'>;

/** What the parts are told of, each by the function that its own command calls. */
export interface Sources {
  context: Context;
  /** The folder of steward's package.json. */
  root: string;
  config: Config;
  daemon: DaemonReport;
  scheduler: JobsHere | undefined;
  /** The local time of an ISO-8601 time. */
  localTime: (iso: string) => string;
}

export async function sensePart({ context, daemon, scheduler, localTime }: Sources): Promise<Row> {
  if (!exists(context.area.sense.config)) {
    return { state: 'off', summary: 'nothing is captured before it is set up', next: 'steward init' };
  }
  const { deps } = await openSense(context);
  const status = senseStatus(deps, daemon.running ? DAEMON_SCHEDULER : null);
  const { state, reason, fix } = senseHealth(status);
  const isScheduled =
    daemon.running || scheduler?.jobs.some(({ job, installed }) => job === 'sense' && installed) === true;
  const facts = [
    `${count(status.eventsToday, 'event')} today`,
    status.lastCaptureTs === null ? 'never captured' : `last capture ${localTime(status.lastCaptureTs)}`,
    ...(reason === undefined ? [] : [reason]),
  ];
  if (state === 'ok' && !isScheduled) {
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
    status.lastFetch === null ? 'never read' : `read ${localTime(status.lastFetch)}`,
  ];
  const trouble = workTrouble(status);
  if (trouble === undefined) return { state: 'ok', summary: facts.join(' · '), next: null };
  return { state: trouble.state, summary: [...facts, trouble.why].join(' · '), next: trouble.next };
}

function workTrouble({
  enabled,
  privacy,
  stale,
  staleReason,
}: WorkStatus): { state: Part['state']; why: string; next: string } | undefined {
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
  if (stale) return { state: 'needs-you', why: staleReason ?? 'out of date', next: 'steward work board' };
  return undefined;
}

export function notifyPart({ context, config }: Sources): Row {
  const { push, chat } = config.settings.notifications;
  const { muted, until } = muteState({ clock: context.clock, mute: context.area.mute });
  const { engines, hint } = voiceOf(context, config.user, () => undefined).status();
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
  if (muted && !isOff) return { state: 'off', summary, next: 'steward notify unmute' };
  return { state: 'ok', summary, next: null };
}

export function agentsPart({ context }: Sources): Row {
  const { agents, knowledge } = context.area;
  const named = rosterFiles(agents).length;
  const entries = KNOWLEDGE_TYPES.flatMap((type) =>
    listFolder(join(knowledge, type)).filter((name) => name.endsWith('.md')),
  );
  const facts = [
    `${count(named, 'named agent')}`,
    `${count(entries.length, 'entry', 'entries')} of knowledge`,
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
    goals.length === 0 ? 'no goals under a heading "Active Goals"' : count(goals.length, 'active goal');
  return {
    state: goals.length === 0 ? 'needs-you' : 'ok',
    summary: goals.length === 0 ? `${summary} in ${path}` : summary,
    next: null,
  };
}

export function daemonPart({ daemon, scheduler }: Sources): Row {
  if (!daemon.running) {
    const isInstalled = scheduler?.jobs.some(({ job, installed }) => job === 'daemon' && installed) === true;
    return isInstalled
      ? {
          state: 'needs-you',
          summary: 'installed, and does not run',
          next: 'steward daemon install --status',
        }
      : { state: 'off', summary: 'does not run', next: 'steward up' };
  }
  const { waiting, failed } = daemon.outbox;
  const facts = [
    daemon.url,
    `up ${duration(daemon.uptimeSec)}`,
    ...(waiting > 0 ? [`${waiting} to deliver`] : []),
    ...(failed > 0 ? [`${failed} not delivered`] : []),
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
  return failed > 0
    ? { state: 'needs-you', summary: facts.join(' · '), next: 'steward notify history' }
    : { state: 'ok', summary: facts.join(' · '), next: null };
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
  if (scheduler === undefined) {
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

function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}
