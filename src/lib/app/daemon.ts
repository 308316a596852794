import { join } from 'node:path';

import { hooksFinding } from '../assistant/registered';
import { configPaths } from '../config/files';
import { ensureUserArea } from '../config/user-area';
import { installedBuild, movedPlace } from '../daemon/client';
import { atRest, type DaemonParts, type Service } from '../daemon/daemon';
import { dayRoute } from '../daemon/day-route';
import { inboxRoutes } from '../daemon/inbox-routes';
import { captureJob, workJob, type DaemonJob } from '../daemon/jobs';
import { alertJob, liveJob } from '../daemon/live-jobs';
import type { DaemonLog } from '../daemon/log';
import { reminderJob } from '../daemon/reminders';
import { reportRoute } from '../daemon/report-route';
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
import type { AcceptDeps } from '../notify/accept';
import { DEMO_VARIABLE } from '../platform/files/durable';
import { cachedLoader } from '../platform/files/file-cache';
import { processHost } from '../platform/files/paths';
import { VERSION } from '../platform/version';
import { captureFocus } from '../sense/capture';
import type { FocusWatch } from '../sense/focus-watch';
import { insightStore } from '../sense/insight-reads';
import { type LiveReads, liveReads } from '../sense/live';
import type { ReadDeps } from '../sense/read';
import { whyOff } from '../sense/web';
import { liveSessions } from '../sessions/find';
import { spoolStatus } from '../sessions/spool';
import { machinesFinding, turnsOf } from '../sync/turn';
import { openSilence } from './agents';
import { drainWork } from './capture';
import { productRoot, installerDeps, zonedNow, type Context } from './context';
import { hostsJob, openElsewhere, openKnown, openOwnRows } from './elsewhere';
import { openInbox } from './inbox';
import { openMark } from './inbox-acts';
import { openMachines } from './machines';
import { openNotifyOfDaemon } from './notify-daemon';
import { openPrograms } from './programs';
import { openReport } from './report';
import { DAEMON_SCHEDULER } from './schedule';
import { openFocusWatch, openSense, setClassification } from './sense';
import { openJump, openSessions, sessionReader } from './sessions';
import { openSurroundings } from './surroundings';
import { syncJob } from './sync-job';
import { openTurns } from './sync-turns';
import { hourlyInsightJob, hourlySweepJob } from './tick';
import { openUsage } from './usage';
import { openWork, yourName } from './work';

export interface DaemonFlags {
  host?: string | undefined;
  port?: number | undefined;
  sweep?: boolean | undefined;
}

/** Assembles the daemon's routes, jobs and modules. */
export async function openDaemon(context: Context, flags: DaemonFlags, say: (text: string) => void) {
  const { host, port, sweep } = flags;
  const { config, warnings } = await context.loadConfig({ 'daemon.host': host, 'daemon.port': port });
  const { area, clock, machineId } = context;
  ensureUserArea(area);
  await updateFiles(context, installerDeps(context), say);
  const { sense, senseDeps, daysOfMachine, captures, startWatch, routesOfSense } = senseService(context);
  const work = () => openWork(context);
  const workDeps = async () => (await work()).deps;
  const notify = await openNotifyOfDaemon(context);
  const programs = openPrograms(context, notify.notify);
  const live = liveReads(DAEMON_SCHEDULER);
  const sessions = sessionReader(context);
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
      ...viewRoutes(context),
      dayRoute({ sense: async () => sense(), daysOfMachine, day: live.day, sessions, work: workDeps }),
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
      usageJob(() => openUsage(context), notify.notify.deps),
      ...machineJobs(context, notify.notify.deps, senseDeps),
      ...notify.jobs,
      hourlyInsightJob(context),
      programs.job(log),
    ],
    services: (log) => [startWatch(log), ...notify.services(log)],
    modules: [
      senseModule(area, async () => live.status(await senseDeps())),
      workModule(workDeps),
      notify.module,
      programs.module,
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
    usageRoute(() => openUsage(context)),
    reportRoute({
      now: () => zonedNow(context),
      openReport: (period, options) => openReport(context, period, options),
    }),
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
  let log: DaemonLog | undefined;
  const isSetUp = (): boolean => area.sense.isSetUp;
  const files = [...configPaths(area), area.sense.classify, area.goals];
  const sense = cachedLoader(clock, files, async () => {
    const opened = await openSense(context, () => watch);
    return { ...opened, deps: await openMachines(context, opened.deps, undefined, undefined, true) };
  });
  const onProblem = (problem: string): void => log?.write('warn', 'sense', { problem });
  const lastFocus = () => sense().then(({ deps, locked }) => captureFocus(deps, locked));
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
  const daysOfMachine = (deps: ReadDeps, machine: string) => openMachines(context, deps, machine);
  const routesOfSense = (live: LiveReads): Route[] => [
    ...senseRoutes({
      sense: senseDeps,
      live,
      insights: insightStore(area.sense.insights),
      classify: ({ app, kind, since }) => setClassification(context, app, kind, since),
      daysOfMachine,
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
  return { sense, senseDeps, daysOfMachine, captures, startWatch, routesOfSense };
}

/** The jobs that exchange data with other machines, and notify you of what goes on there. */
function machineJobs(context: Context, notify: AcceptDeps, sense: () => Promise<ReadDeps>): DaemonJob[] {
  const surroundings = openSurroundings(context);
  const settings = async () => (await context.loadConfig()).config.user.sync;
  return [
    syncJob(context, sense),
    hostsJob(context),
    liveJob(surroundings, settings, (details) => openOwnRows(context, details)),
    alertJob(surroundings, notify, async () => (await openKnown(context)).rows),
  ];
}
