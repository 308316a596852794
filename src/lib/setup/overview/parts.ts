import { join } from 'node:path';

import { KNOWLEDGE_TYPES } from '../../agents/knowledge';
import { rosterFiles } from '../../agents/roster';
import { parseGoals } from '../../goals/record';
import { readText } from '../../platform/files/atomic-file';
import { exists, listFolder } from '../../platform/files/folder';
import { muteState } from '../../notify/routing';
import { plural } from '../../platform/terminal/plural';
import { JOBS } from '../../schedule/job';
import { senseHealth } from '../../sense/health';
import { status as senseStatus } from '../../sense/read';
import { waitingSessions, openSessions } from '../../app/sessions';
import { runningSessions } from '../../sessions/live';
import { isLive } from '../../sessions/session';
import { waitingText } from '../../work/capture/waiting';
import { workStatus, type WorkStatus } from '../../work/status';
import { skippedWords } from '../../work/view-results';
import { DAEMON_SCHEDULER } from '../../app/current-scheduler';
import { openSense } from '../../app/sense';
import { voiceOf } from '../../app/speech';
import { openWork } from '../../app/work';
import type { Part } from './part';
import { isInstalled, type Row, type Sources } from './sources';

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
