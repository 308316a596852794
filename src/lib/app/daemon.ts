import { join } from 'node:path';

import { silenceCheck } from '../agents/watchdog';
import { configPaths } from '../config/files';
import { ensureUserArea } from '../config/user-area';
import type { DaemonParts, Service } from '../daemon/daemon';
import type { Topic } from '../daemon/changes';
import type { DaemonLog } from '../daemon/log';
import { captureJob, periodicJob, workJob, type DaemonJob } from '../daemon/jobs';
import type { Route } from '../daemon/route';
import { pageRoutes, senseRoutes, type PagesDeps } from '../daemon/routes';
import { senseModule, workModule, type DaemonStatus } from '../daemon/status';
import { webRoute } from '../daemon/web-route';
import { workRoutes } from '../daemon/work-routes';
import { StewardError, toStewardError } from '../errors';
import { readPlace } from '../platform/files/place';
import type { Inbox } from '../inbox/row';
import { cachedLoader } from '../platform/files/file-cache';
import { folderOf } from '../platform/files/spool';
import type { FocusWatch } from '../sense/focus-watch';
import { insightStore } from '../sense/insight-reads';
import { type LiveReads, liveReads } from '../sense/live';
import { whyOff } from '../sense/web';
import { namesFolder } from '../sessions/names';
import { liveSessions } from '../sessions/find';
import { spoolStatus } from '../sessions/spool';
import { reportSilence } from './agents';
import { drainWork } from './capture';
import { productRoot, installerDeps, type Context } from './context';
import { installedBuild } from '../daemon/client';
import { dayRoute } from './day';
import { hooksFinding } from '../assistant/registered';
import { sendReminders, type NotifyContext } from './notify';
import { openNotifyOfDaemon } from './notify-daemon';
import { inboxRoutes, openInboxFiles } from './inbox-acts';
import { reportRoute } from './report';
import { DAEMON_SCHEDULER } from './schedule';
import { hostsJob } from './elsewhere';
import { alertJob, liveJob } from './live-jobs';
import { openMachines } from './machines';
import { openFocusWatch, openSense, setClassification, storeFocus } from './sense';
import { openPrograms } from './programs';
import { sessionRoutes, turnSignsJob } from './session-routes';
import { openSessions, sessionReader } from './sessions';
import { syncJob } from './sync-job';
import { openMachinesFinding, otherMachines } from './sync-turns';
import { hourlyInsightJob, hourlySweepJob } from './tick';
import { usageJob, usageRoute } from './usage';
import { processHost } from '../platform/files/paths';
import { DEMO_VARIABLE } from '../platform/files/durable';
import { VERSION } from '../platform/version';
import { openWork, yourName } from './work';

export interface DaemonFlags {
  host?: string | undefined;
  port?: number | undefined;
  sweep?: boolean | undefined;
}

const REMINDERS_SEC = 15;
const SILENCE_CHECK_SEC = 5;

/** Assembles the daemon's routes, jobs and modules. */
export async function openDaemon(
  context: Context,
  { host, port, sweep }: DaemonFlags,
  say: (text: string) => void,
): Promise<{ parts: DaemonParts; warnings: readonly string[] }> {
  const { config, warnings } = await context.loadConfig({ 'daemon.host': host, 'daemon.port': port });
  const { area, clock, machineId } = context;
  ensureUserArea(area);
  await updateFiles(context, say);
  const { sense, senseDeps, isSetUp, captures, startWatch, routesOfSense } = senseService(context);
  const work = () => openWork(context);
  const workDeps = async () => (await work()).deps;
  const notify = await openNotifyOfDaemon(context);
  const programs = openPrograms(context, notify.notify);
  const [live, sessions] = [liveReads(DAEMON_SCHEDULER), sessionReader(context)];
  const parts: DaemonParts = {
    area,
    clock,
    machineId,
    version: VERSION,
    say,
    ...config.user.daemon,
    routes: [
      ...routesOfSense(live),
      ...workRoutes({ work: workDeps, you: async () => yourName(await work()) }),
      ...sessionRoutes(context, { sessions, sense: senseDeps }),
      ...[usageRoute(context), reportRoute(context), ...inboxRoutes(context)],
      dayRoute(context, { sense: async () => sense(), day: live.day, sessions }),
      ...notify.routes,
      ...pageRoutes({ clock, ...pageFolders(context) }),
    ],
    topics: topicsOf(context),
    jobs: (log) => [
      captures(log),
      workJob(work, (opened) => drainWork(context, opened)),
      reminderJob(context, notify.notify),
      periodicJob('agents', 'notify', SILENCE_CHECK_SEC, silenceOf(context)),
      ...(sweep === true ? [hourlySweepJob(context)] : []),
      usageJob(context, notify.notify),
      ...[syncJob(context, senseDeps), liveJob(context), hostsJob(context), turnSignsJob(context)],
      ...[alertJob(context, notify.notify), ...notify.jobs],
      ...[hourlyInsightJob(context), programs.job(log)],
    ],
    services: (log) => [startWatch(log), ...notify.services(log)],
    modules: [
      senseModule(isSetUp, async () => live.status(await senseDeps())),
      workModule(workDeps),
      ...[notify.module, programs.module],
      { id: 'machines', label: 'Other machines', health: () => openMachinesFinding(context) },
      { id: 'hooks', label: 'Assistant hooks', health: () => hooksFinding(installerDeps(context)) },
    ],
    sessions: async () => liveSessions(await sessions(), clock.now()).length,
    outbox: notify.outbox,
    spool: () => spoolStatus(area.spool),
    build: installedBuild(context) ?? VERSION,
    installedBuild: () => movedPlace(context) ?? installedBuild(context),
  };
  return { parts: isDemo() ? atRest(parts) : parts, warnings };
}

function isDemo(): boolean {
  return processHost().env[DEMO_VARIABLE] !== undefined;
}

/**
 * Returns the parts of a daemon that only shows what is stored: it captures, sends and delivers nothing. Its pages are
 * signed in from the start, because invented data needs no protection.
 */
function atRest(parts: DaemonParts): DaemonParts {
  return {
    ...parts,
    pageSecret: 'demo',
    jobs: () => [],
    services: () => [],
    installedBuild: () => undefined,
  };
}

function pageFolders(context: Context): Omit<PagesDeps, 'clock'> {
  const [pages, assets] = [join(context.templates, 'dashboard'), join(productRoot(context), 'dist/pages')];
  return { pages, assets, isDemo: isDemo() };
}

function topicsOf(context: Context): Topic[] {
  const { area } = context;
  const sense = [...configPaths(area), area.sense.state, area.sense.daily, area.sense.classify];
  const sessions = [area.sessionsState, area.workEvents, namesFolder(area.machine)];
  const work = [...configPaths(area), area.work.cache];
  const queues = [area.outbox, area.spool].flatMap((path) => [path, folderOf({ path }, 'dead')]);
  const notify = [...configPaths(area), area.outbox, area.notifyLog, area.mute];
  return [
    { name: 'sessions', path: '/api/sessions', files: () => sessions, everySec: 5 },
    {
      name: 'inbox',
      path: '/api/inbox',
      files: () => [...sessions, ...openInboxFiles(context)],
      everySec: 5,
      shown: ({ rows }: Inbox) => rows,
    },
    { name: 'day', path: '/api/day', files: () => [...sense, area.work.cache], everySec: 60 },
    { name: 'sense', path: '/api/sense/status', files: () => sense, everySec: 60 },
    { name: 'work', path: '/api/work', files: () => [...work, area.work.poll], everySec: 60 },
    {
      name: 'status',
      path: '/api/status',
      files: () => queues,
      everySec: 10,
      shown: ({ modules, outbox, spool, jobs }: DaemonStatus) => ({
        modules,
        outbox,
        spool,
        jobs: jobs.map(({ id, lastOk, reason }) => ({ id, lastOk, reason })),
      }),
    },
    { name: 'notify', path: '/api/notify', files: () => notify, everySec: 30 },
  ];
}

/** Opens the sense module and a focus watcher. Captures store the intervals that the watcher records. */
function senseService(context: Context) {
  const { area, clock } = context;
  let watch: FocusWatch | undefined;
  const watchOf = (): FocusWatch | undefined => watch;
  let log: DaemonLog | undefined;
  const isSetUp = (): boolean => area.sense.isSetUp;
  const files = [...configPaths(area), area.sense.classify, area.goals];
  const sense = cachedLoader(clock, files, async () => {
    const opened = await openSense(context, watchOf);
    return { ...opened, deps: await openMachines(context, opened.deps, undefined, undefined, true) };
  });
  const onProblem = (problem: string): void => log?.write('warn', 'sense', { problem });
  const startWatch = (own: DaemonLog): Service => {
    log = own;
    const opened = openFocusWatch(context, sense, { isSetUp, onProblem });
    watch = opened;
    return {
      async close() {
        if (isSetUp() && opened.hasSeen())
          await storeFocus(sense).catch((error) => onProblem(toStewardError(error).message));
        await opened.close();
      },
    };
  };
  const captures = (own: DaemonLog): DaemonJob =>
    captureJob({
      clock,
      isSetUp,
      sense,
      isWatching: () => watch?.isLive() === true,
      onProblem: (problem) => own.write('warn', 'capture', { problem }),
    });
  const senseDeps = async () => (await sense()).deps;
  const routesOfSense = (live: LiveReads): Route[] => [
    ...senseRoutes({
      sense: senseDeps,
      live,
      insights: insightStore(area.sense.insights),
      classify: ({ app, kind, since }) => setClassification(context, app, kind, since),
      of: (deps, machine) => openMachines(context, deps, machine),
    }),
    webRoute({
      area,
      clock,
      whyOff: async () => whyOff(isSetUp(), (await senseDeps()).config),
      async store(visit) {
        const { locked, storeVisit } = await sense();
        (await locked(() => storeVisit(visit))).forEach(onProblem);
      },
    }),
  ];
  return { sense, senseDeps, isSetUp, captures, startWatch, routesOfSense };
}

function reminderJob(context: Context, notify: Pick<NotifyContext, 'deps'>): DaemonJob {
  return periodicJob('reminders', 'work', REMINDERS_SEC, async () =>
    sendReminders(await openWork(context), notify, await otherMachines(context)),
  );
}

function silenceOf(context: Context): () => Promise<void> {
  let check: ReturnType<typeof silenceCheck> | undefined;
  return async () => {
    check ??= silenceCheck(await openSessions(context), {
      async alert(silence) {
        const problem = await reportSilence(context, silence, { notify: true });
        if (problem !== undefined)
          throw new StewardError('unavailable', problem, { hint: 'See `steward daemon logs`.' });
      },
    });
    await check();
  };
}

/** Returns a new build id if this machine now writes to a different folder, so that the daemon restarts. */
function movedPlace({ area }: Context): string | undefined {
  const stored = readPlace(area.root, area.host);
  if (stored === undefined || stored.place === area.place) return undefined;
  return `for ${join(area.root, stored.place)}`;
}

/** Updates files from earlier versions. Prints errors instead of stopping the daemon. */
async function updateFiles(context: Context, say: (text: string) => void): Promise<void> {
  const updates: Record<string, () => Promise<unknown>> = {
    'update the configuration': async () => (await import('../config/write')).updateConfig(context),
    'update the hook script': async () =>
      (await import('../assistant/registered')).refreshHooks(installerDeps(context)),
  };
  for (const [what, update] of Object.entries(updates)) {
    try {
      await update();
    } catch (error) {
      say(`Cannot ${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
