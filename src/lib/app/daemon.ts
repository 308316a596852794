import { dirname, join } from 'node:path';

import { silenceCheck, type SilenceAlert } from '../agents/watchdog';
import type { Config } from '../config/schema';
import { ensureUserArea } from '../config/user-area';
import type { DaemonParts } from '../daemon/daemon';
import type { Job } from '../daemon/jobs';
import { pageRoutes, senseRoutes, workRoutes } from '../daemon/routes';
import { workHealth, type LiveSession, type ModuleHealth } from '../daemon/status';
import { StewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { exists } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { remembered } from '../platform/files/remembered';
import { senseHealth } from '../sense/source';
import { insightStore } from '../sense/insight-reads';
import { liveReads } from '../sense/read';
import { spoolStatus } from '../sessions/spool';
import { currentSessions } from '../sessions/state';
import { sessionsReport } from '../sessions/view';
import { refresh } from '../work/poll';
import { workStatus } from '../work/status';
import { openWatchdog } from './agents';
import { drainWork } from './capture';
import type { Context } from './context';
import { DAEMON_SCHEDULER } from './schedule';
import type { NotifyContext } from './notify';
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
  /** Run the hourly sweep, too. */
  sweep?: boolean | undefined;
}

type Sense = () => SenseContext | Promise<SenseContext>;
type Work = () => WorkContext | Promise<WorkContext>;

/** Joins the daemon with the features: a new route, job or module is a row here. */
export async function openDaemon(
  context: Context,
  flags: DaemonFlags,
  say: (text: string) => void,
): Promise<{ parts: DaemonParts; warnings: readonly string[] }> {
  const { config, warnings } = await context.loadConfig({
    'daemon.host': flags.host,
    'daemon.port': flags.port,
  });
  const { area, clock, machineId } = context;
  ensureUserArea(area);
  await mirrorVoice(context, say);
  const sense = rememberedSense(context);
  const work = rememberedWork(context);
  const notify = await openNotifyOfDaemon(context);
  const live = liveReads(DAEMON_SCHEDULER);
  const senseDeps = async (): Promise<SenseContext['deps']> => (await sense()).deps;
  const root = dirname(context.templates);
  const parts: DaemonParts = {
    area,
    clock,
    machineId,
    version: VERSION,
    ...listenOn(config),
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
        assets: join(root, 'dist', 'assets'),
      }),
    ],
    jobs: (log) => [
      captureJob(context, sense, (problem) => log.write('warn', 'capture', { problem })),
      workJob(context, work),
      remindersJob(work, notify.notify),
      silenceJob(context),
      ...(flags.sweep === true ? [sweepJob(context, work)] : []),
      notify.job,
    ],
    services: notify.services,
    modules: [
      {
        id: 'sense',
        label: 'Sense',
        health: async () => healthOfSense(context, live.status(await senseDeps())),
      },
      { id: 'work', label: 'Work', health: async () => workHealth(workStatus((await work()).deps)) },
      notify.module,
    ],
    sessions: () => liveSessions(context),
    outbox: notify.outbox,
    spool: () => spoolStatus(area.spool),
    installedVersion: () => versionIn(root),
    say,
  };
  return { parts, warnings };
}

function listenOn({ user }: Config): Pick<DaemonParts, 'host' | 'port' | 'requireToken' | 'otherUsers'> {
  const { host, port, requireToken, otherUsers } = user.daemon;
  return { host, port, requireToken, otherUsers };
}

/** What of the configuration the requests depend on, read again when one of its files changes. */
function rememberedSense(context: Context): Sense {
  const { area, clock } = context;
  const files = [area.config, area.settings, area.sense.config, area.sense.classify];
  return remembered(clock, files, () => openSense(context));
}

/** The same of work. The host is kept with it: a new credential is found when the service refuses the old one. */
function rememberedWork(context: Context): Work {
  const { area, clock } = context;
  return remembered(clock, [area.config, area.work.config, area.work.repo], () => openWork(context));
}

/**
 * Asks for what has changed, one request that is answered 304 as a rule, and sends what the hooks have captured and
 * could not be sent at once (service.md: Work (daemon module); it mutates nothing but by those captures).
 */
function workJob(context: Context, work: Work): Job {
  return {
    id: 'work',
    everySec: async () => (await work()).deps.config.POLL_INTERVAL_SECONDS,
    async run() {
      const opened = await work();
      if (opened.deps.workRepo().repo === undefined) return 'no work repository is set up';
      const { ok, reason } = await refresh(opened.deps);
      const { failed, dead } = await drainWork(context, opened);
      if (failed + dead > 0) return `${failed} captures failed, ${dead} were given up`;
      return ok ? undefined : reason;
    },
  };
}

const SWEEP_SEC = 3600;

/** The sweep of the system's scheduler, for machines without one; beside one it finds that another has just run. */
function sweepJob(context: Context, work: Work): Job {
  return {
    id: 'sweep',
    module: 'work',
    everySec: () => SWEEP_SEC,
    async run() {
      const [{ runSweep }, { lastSweepMs }] = await Promise.all([import('./sweep'), import('../work/sweep')]);
      if ((await work()).deps.workRepo().repo === undefined) return 'no work repository is set up';
      const age = context.clock.now() - lastSweepMs(context);
      if (age >= 0 && age < (SWEEP_SEC / 2) * 1000) return 'another sweep ran just before';
      const { result, trouble } = await runSweep(context, {
        sinceMs: 24 * 3_600_000,
        maxCreate: 50,
        dryRun: false,
      });
      if (trouble !== undefined) throw trouble;
      return result.skipped ?? undefined;
    },
  };
}

/** How soon a reminder is told of after its time, seconds. */
const REMINDERS_SEC = 15;
const SILENCE_LOOK_SEC = 5;

/** Alerts of agents that made no tool call for 90 seconds. */
function silenceJob(context: Context): Job {
  let check: ReturnType<typeof silenceCheck> | undefined;
  const alert = async (told: SilenceAlert): Promise<void> => {
    const unsent = await tellOfSilence(context, told, { notify: true });
    if (unsent !== undefined) throw new StewardError('unavailable', unsent);
  };
  return {
    id: 'agents',
    module: 'notify',
    everySec: () => SILENCE_LOOK_SEC,
    async run() {
      check ??= silenceCheck(await openWatchdog(context), { alert });
      await check();
      return undefined;
    },
  };
}

/** Tells of the reminders whose time has come; after a night's sleep of those of the night. */
function remindersJob(work: Work, notify: NotifyContext): Job {
  return {
    id: 'reminders',
    module: 'work',
    everySec: () => REMINDERS_SEC,
    async run() {
      await tellReminders(await work(), notify);
      return undefined;
    },
  };
}

/** What the daemon does at its start may fail, and says so; the daemon serves all the same. */
async function mirrorVoice(context: Context, say: (text: string) => void): Promise<void> {
  const { mirrorVoice: mirror } = await import('../config/write');
  try {
    await mirror(context);
  } catch (error) {
    say(
      `The voice could not be mirrored into settings.json: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/**
 * The capture of the system's scheduler, for machines without one. It runs under the same lock, and leaves the
 * interval to whoever captured last: beside a scheduler it finds nothing to do.
 */
function captureJob(context: Context, sense: Sense, tell: (problem: string) => void): Job {
  return {
    id: 'capture',
    module: 'sense',
    everySec: async () => (await sense()).deps.config.pollIntervalSec,
    async run() {
      // Nothing runs by itself before a person has set it up, nor after the user area was removed (decisions.md 3).
      if (!exists(context.area.sense.config)) return 'sense is not set up; run "steward up"';
      const { deps, locked, captureHere } = await sense();
      if (!deps.config.enabled) return 'sense.enabled is false';
      return locked(async () => {
        const { lastCaptureTs } = deps.store.readState().state;
        const ageSec =
          lastCaptureTs === null ? Infinity : (context.clock.now() - Date.parse(lastCaptureTs)) / 1000;
        if (ageSec >= 0 && ageSec < deps.config.pollIntervalSec / 2) return 'another capture ran just before';
        const { problems } = await captureHere();
        problems.forEach(tell);
        return undefined;
      });
    },
  };
}

function healthOfSense(context: Context, status: Parameters<typeof senseHealth>[0]): ModuleHealth {
  if (exists(context.area.sense.config)) return senseHealth(status);
  return { state: 'needs-you', reason: 'Nothing is captured before it is set up.', fix: 'steward up' };
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

function versionIn(root: string): string | undefined {
  const version = parseObject(readText(join(root, 'package.json'), { followLink: true }) ?? '')?.['version'];
  return typeof version === 'string' ? version : undefined;
}

/** Applies it at once where there is nothing to wait for: a request then costs no turn of the loop. */
function mapped<A, B>(value: A | Promise<A>, apply: (value: A) => B): B | Promise<B> {
  return value instanceof Promise ? value.then(apply) : apply(value);
}
