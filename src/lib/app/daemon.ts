import { dirname, join } from 'node:path';

import { silenceCheck } from '../agents/watchdog';
import { ensureUserArea } from '../config/user-area';
import type { DaemonParts } from '../daemon/daemon';
import { captureJob, periodicJob, sweepJob, workJob, type Job } from '../daemon/jobs';
import { pageRoutes, senseRoutes, workRoutes } from '../daemon/routes';
import { senseModule, workModule, type LiveSession } from '../daemon/status';
import { StewardError } from '../errors';
import { exists } from '../platform/files/folder';
import { cachedLoader } from '../platform/files/file-cache';
import { insightStore } from '../sense/insight-reads';
import { liveReads } from '../sense/read';
import { spoolStatus } from '../sessions/spool';
import { currentSessions } from '../sessions/state';
import { sessionsReport } from '../sessions/view';
import { openWatchdog } from './agents';
import { drainWork } from './capture';
import type { Context } from './context';
import { installedBuild } from './daemon-client';
import { DAEMON_SCHEDULER } from './schedule';
import { openNotifyOfDaemon } from './notify-daemon';
import { tellReminders } from './reminders';
import { openSense, type SenseContext } from './sense';
import { openSessions } from './sessions';
import { tellOfSilence } from './silence-notice';
import { VERSION } from './version';
import { openWork, type WorkContext } from './work';

export interface DaemonFlags {
  host?: string | undefined;
  port?: number | undefined;
  /** Also run the hourly sweep. */
  sweep?: boolean | undefined;
}

const REMINDERS_SEC = 15;
const SILENCE_CHECK_SEC = 5;

type Sense = () => SenseContext | Promise<SenseContext>;
type Work = () => WorkContext | Promise<WorkContext>;

/** Wires the daemon with the features: a new route, job or module is a row here. */
export async function openDaemon(
  context: Context,
  flags: DaemonFlags,
  say: (text: string) => void,
): Promise<{ parts: DaemonParts; warnings: readonly string[] }> {
  const overrides = { 'daemon.host': flags.host, 'daemon.port': flags.port };
  const { config, warnings } = await context.loadConfig(overrides);
  const { area, clock, machineId } = context;
  ensureUserArea(area);
  await mirrorVoice(context, say);
  const sense = rememberedSense(context);
  const work = rememberedWork(context);
  const notify = await openNotifyOfDaemon(context);
  const live = liveReads(DAEMON_SCHEDULER);
  const root = dirname(context.templates);
  const isSetUp = (): boolean => exists(area.sense.config);
  const parts: DaemonParts = {
    ...{ area, clock, machineId, version: VERSION, say },
    ...config.user.daemon,
    routes: [
      ...senseRoutes({
        sense: () => mapped(sense(), ({ deps }) => deps),
        live,
        insights: insightStore(area.sense.insights),
      }),
      ...workRoutes(() => mapped(work(), ({ deps }) => deps)),
      ...notify.routes,
      ...pageRoutes({
        clock,
        pages: join(context.templates, 'dashboard'),
        assets: join(root, 'dist/assets'),
      }),
    ],
    jobs: (log) => [
      captureJob({
        clock,
        isSetUp,
        sense,
        onProblem: (problem) => log.write('warn', 'capture', { problem }),
      }),
      workJob(work, (opened) => drainWork(context, opened)),
      periodicJob('reminders', 'work', REMINDERS_SEC, async () => tellReminders(await work(), notify.notify)),
      periodicJob('agents', 'notify', SILENCE_CHECK_SEC, silenceOf(context)),
      ...(flags.sweep === true ? [hourlySweep(context, work)] : []),
      notify.job,
    ],
    services: notify.services,
    modules: [
      senseModule(isSetUp, async () => live.status((await sense()).deps)),
      workModule(async () => (await work()).deps),
      notify.module,
    ],
    sessions: () => liveSessions(context),
    outbox: notify.outbox,
    spool: () => spoolStatus(area.spool),
    build: installedBuild(context) ?? VERSION,
    installedBuild: () => installedBuild(context),
  };
  return { parts, warnings };
}

/** Opened again when one of its configuration files changes. */
function rememberedSense(context: Context): Sense {
  const { area, clock } = context;
  const files = [area.config, area.settings, area.sense.config, area.sense.classify];
  return cachedLoader(clock, files, () => openSense(context));
}

/** The host is kept, too: it finds a new credential when the service rejects the old one. */
function rememberedWork(context: Context): Work {
  const { area, clock } = context;
  return cachedLoader(clock, [area.config, area.work.config, area.work.repo], () => openWork(context));
}

function hourlySweep(context: Context, work: Work): Job {
  return sweepJob({
    clock: context.clock,
    hasRepository: async () => (await work()).deps.workRepo().repo !== undefined,
    lastSweepMs: async () => (await import('../work/sweep')).lastSweepMs(context),
    sweep: async () => {
      const { runSweep } = await import('./sweep');
      const options = { sinceMs: 24 * 3_600_000, maxCreate: 50, dryRun: false };
      const { result, trouble } = await runSweep(context, options);
      if (trouble !== undefined) throw trouble;
      return result.skipped ?? undefined;
    },
  });
}

function silenceOf(context: Context): () => Promise<void> {
  let check: ReturnType<typeof silenceCheck> | undefined;
  return async () => {
    check ??= silenceCheck(await openWatchdog(context), {
      async alert(silence) {
        const problem = await tellOfSilence(context, silence, { notify: true });
        if (problem !== undefined) throw new StewardError('unavailable', problem);
      },
    });
    await check();
  };
}

/** A failure is reported, and the daemon starts anyway. */
async function mirrorVoice(context: Context, say: (text: string) => void): Promise<void> {
  const { mirrorVoice: mirror } = await import('../config/write');
  try {
    await mirror(context);
  } catch (error) {
    say(`Cannot write the voice to settings.json: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function liveSessions(context: Context): Promise<LiveSession[]> {
  const deps = await openSessions(context);
  const options = { nowMs: context.clock.now(), all: false };
  const { sessions } = sessionsReport(currentSessions(deps), spoolStatus(context.area.spool), options);
  return sessions.map(({ slug, task, repo, phase, status, startedAt, updatedAt }) => ({
    slug,
    task,
    repo,
    phase,
    status,
    startedAt,
    updatedAt,
    waiting: status === 'waiting',
  }));
}

/** Avoids a turn of the event loop if there is nothing to wait for. */
function mapped<A, B>(value: A | Promise<A>, apply: (value: A) => B): B | Promise<B> {
  return value instanceof Promise ? value.then(apply) : apply(value);
}
