import { join } from 'node:path';

import { configPaths } from '../config/files';
import { ensureUserArea } from '../config/user-area';
import { atRest, type DaemonParts, type Service } from '../daemon/daemon';
import { dayRoute } from '../daemon/day-route';
import { installedBuild, movedPlace } from '../daemon/client';
import type { DaemonLog } from '../daemon/log';
import { alertJob, liveJob } from '../daemon/live-jobs';
import { captureJob, workJob, type DaemonJob } from '../daemon/jobs';
import type { Route } from '../daemon/route';
import { pageRoutes, senseRoutes, type PagesDeps } from '../daemon/routes';
import { silenceJob, turnSignsJob } from '../daemon/session-jobs';
import { sessionRoutes, type SessionRoutesDeps } from '../daemon/session-routes';
import { senseModule, workModule, type Module } from '../daemon/status';
import { topicsOf } from '../daemon/topics';
import { updateFiles } from '../daemon/updates';
import { usageJob } from '../daemon/usage-job';
import { usageRoute } from '../daemon/usage-route';
import { webRoute } from '../daemon/web-route';
import { workRoutes } from '../daemon/work-routes';
import { toStewardError } from '../errors';
import { cachedLoader } from '../platform/files/file-cache';
import { captureFocus } from '../sense/capture';
import type { FocusWatch } from '../sense/focus-watch';
import type { ReadDeps } from '../sense/read';
import { insightStore } from '../sense/insight-reads';
import { type LiveReads, liveReads } from '../sense/live';
import { whyOff } from '../sense/web';
import { liveSessions } from '../sessions/find';
import { spoolStatus } from '../sessions/spool';
import { openSilence } from './agents';
import { drainWork } from './capture';
import { productRoot, installerDeps, zonedNow, type Context } from './context';
import { hooksFinding } from '../assistant/registered';
import { reminderJob } from '../daemon/reminders';
import type { NotifyContext } from './notify';
import { openNotifyOfDaemon } from './notify-daemon';
import { openInbox } from './inbox';
import { openMark } from './inbox-acts';
import { inboxRoutes } from '../daemon/inbox-routes';
import { reportRoute } from '../daemon/report-route';
import { openReport } from './report';
import { DAEMON_SCHEDULER } from './schedule';
import { hostsJob, openElsewhere, openKnown, openOwnRows } from './elsewhere';
import { openMachines } from './machines';
import { openFocusWatch, openSense, setClassification } from './sense';
import { openPrograms } from './programs';
import { openJump, openSessions, sessionReader } from './sessions';
import { syncJob } from './sync-job';
import { machinesFinding, turnsOf } from '../sync/turn';
import { openTurns } from './sync-turns';
import { hourlyInsightJob, hourlySweepJob } from './tick';
import { openUsage } from './usage';
import { processHost } from '../platform/files/paths';
import { DEMO_VARIABLE } from '../platform/files/durable';
import { openSurroundings } from './surroundings';
import { VERSION } from '../platform/version';
import { openWork, yourName } from './work';

export interface DaemonFlags {
  host?: string | undefined;
  port?: number | undefined;
  sweep?: boolean | undefined;
}

/** Assembles the daemon's routes, jobs and modules. */
export async function openDaemon(
  context: Context,
  { host, port, sweep }: DaemonFlags,
  say: (text: string) => void,
): Promise<{ parts: DaemonParts; warnings: readonly string[] }> {
  const { config, warnings } = await context.loadConfig({ 'daemon.host': host, 'daemon.port': port });
  const { area, clock, machineId } = context;
  ensureUserArea(area);
  await updateFiles(context, installerDeps(context), say);
  const { sense, senseDeps, of, isSetUp, captures, startWatch, routesOfSense } = senseService(context);
  const work = () => openWork(context);
  const usage = () => openUsage(context);
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
      ...sessionRoutes(context, sessionRoutesDeps(context, { sessions, sense: senseDeps })),
      ...[usageRoute(usage), ...viewRoutes(context)],
      dayRoute({ sense: async () => sense(), of, day: live.day, sessions, work: workDeps }),
      ...notify.routes,
      ...pageRoutes({ clock, ...pageFolders(context) }),
    ],
    topics: topicsOf(area),
    jobs: (log) => [
      captures(log),
      workJob(work, (opened) => drainWork(context, opened)),
      reminderJob(workDeps, notify.notify.deps, async () => turnsOf(await openTurns(context))),
      turnSignsJob(context, () => openSessions(context)),
      silenceJob(() => openSessions(context), openSilence(context, true)),
      ...(sweep === true ? [hourlySweepJob(context)] : []),
      usageJob(usage, notify.notify.deps),
      ...[syncJob(context, senseDeps), hostsJob(context), ...newsJobs(context, notify.notify)],
      ...notify.jobs,
      ...[hourlyInsightJob(context), programs.job(log)],
    ],
    services: (log) => [startWatch(log), ...notify.services(log)],
    modules: [
      senseModule(isSetUp, async () => live.status(await senseDeps())),
      workModule(workDeps),
      ...[notify.module, programs.module],
      ...modulesWithoutJobs(context),
    ],
    sessions: async () => liveSessions(await sessions(), clock.now()).length,
    outbox: notify.outbox,
    spool: () => spoolStatus(area.spool),
    build: installedBuild(context) ?? VERSION,
    installedBuild: () => movedPlace(area) ?? installedBuild(context),
  };
  return { parts: isDemo() ? atRest(parts) : parts, warnings };
}

function sessionRoutesDeps(context: Context, reads: Pick<SessionRoutesDeps, 'sessions' | 'sense'>) {
  return {
    ...reads,
    jump: () => openJump(context),
    openSessions: () => openSessions(context),
    elsewhere: async () => (await openElsewhere(context)).rows,
    usage: async (days: number) => (await openUsage(context)).bySession(days),
  };
}

function viewRoutes(context: Context): Route[] {
  const read = () => openElsewhere(context).then(() => openInbox(context));
  const mark = (id: string, when?: string) => openMark(context, id, when);
  return [
    reportRoute(
      () => zonedNow(context),
      (period, options) => openReport(context, period, options),
    ),
    ...inboxRoutes({ machine: context, read, mark }),
  ];
}

function modulesWithoutJobs(context: Context): Module[] {
  const machines = async () => machinesFinding(await openTurns(context));
  return [
    { id: 'machines', label: 'Other machines', health: machines },
    { id: 'hooks', label: 'Assistant hooks', health: () => hooksFinding(installerDeps(context)) },
  ];
}

function isDemo(): boolean {
  return processHost().env[DEMO_VARIABLE] !== undefined;
}

function pageFolders(context: Context): Omit<PagesDeps, 'clock'> {
  const [pages, assets] = [join(context.templates, 'dashboard'), join(productRoot(context), 'dist/pages')];
  return { pages, assets, isDemo: isDemo() };
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
  const lastFocus = async () => {
    const { deps, locked } = await sense();
    await captureFocus(deps, locked);
  };
  const startWatch = (own: DaemonLog): Service => {
    log = own;
    const opened = openFocusWatch(context, sense, { isSetUp, onProblem });
    watch = opened;
    return {
      async close() {
        if (isSetUp() && opened.hasSeen())
          await lastFocus().catch((error) => onProblem(toStewardError(error).message));
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
  const of = (deps: ReadDeps, machine: string) => openMachines(context, deps, machine);
  const routesOfSense = (live: LiveReads): Route[] => [
    ...senseRoutes({
      sense: senseDeps,
      live,
      insights: insightStore(area.sense.insights),
      classify: ({ app, kind, since }) => setClassification(context, app, kind, since),
      of,
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
  return { sense, senseDeps, of, isSetUp, captures, startWatch, routesOfSense };
}

/** The jobs that tell other machines what is going on here, and notify you of what goes on there. */
function newsJobs(context: Context, { deps: notify }: Pick<NotifyContext, 'deps'>): DaemonJob[] {
  const surroundings = openSurroundings(context);
  const settings = async () => (await context.loadConfig()).config.user.sync;
  return [
    liveJob(surroundings, settings, (details) => openOwnRows(context, details)),
    alertJob(surroundings, notify, async () => (await openKnown(context)).rows),
  ];
}
