import { basename } from 'node:path';

import type { Config } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import type { CheckedHost } from '../platform/check';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import { exists } from '../platform/files/folder';
import { gitFolderAt } from '../platform/files/git-folder';
import { gitIn } from '../platform/process/git';
import { forShell } from '../platform/process/spawn';
import { FASTER, windowsCalls } from '../platform/process/windows';
import { plural } from '../platform/terminal/format';
import { parseIso } from '../platform/time/clock';
import { localTimes } from '../platform/time/day-words';
import { isRestricted } from '../sessions/restricted';
import { appMatcher } from '../time/classify';
import { readClassifyRules } from './classify-file';
import { readFrontApp } from './front-app';
import type { Desktop } from './front-app/adapter';
import { emailsOf } from './git/queries';
import { readIdle } from './idle';
import { insightCommand } from './insight';
import { NOT_SET_UP } from './source';
import { jumpText, recentJumps } from './state';
import { senseStore } from './store';

export interface SenseChecked extends Pick<CheckedHost, 'clock' | 'run' | 'find'> {
  area: UserArea;
  desktop: Desktop;
  config: Pick<Config, 'sense' | 'user'>;
  /** Returns the name of the scheduler that runs the captures, if any. */
  capturedBy: () => Promise<string | undefined>;
}

const GIT_MS = 10_000;
const ENABLE = 'steward config set sense.enabled true';

export const SENSE_CHECKS: readonly Check<SenseChecked>[] = [
  {
    id: 'sense.front',
    title: 'the frontmost application',
    needsConfig: true,
    run: ifEnabled('appFocus', checkFront),
  },
  { id: 'sense.idle', title: 'idle time', needsConfig: true, run: ifEnabled('appFocus', checkIdle) },
  { id: 'sense.git', title: 'git', notInDemo: true, needsConfig: true, run: ifEnabled('git', checkGit) },
  {
    id: 'sense.repos',
    title: 'the repositories',
    notInDemo: true,
    needsConfig: true,
    run: ifEnabled('git', checkRepos),
  },
  { id: 'sense.capture', title: 'captures', needsConfig: true, run: checkCapture },
  { id: 'sense.classify', title: 'the classification', needsConfig: false, run: checkClassify },
  { id: 'sense.insight', title: 'assistant for insights', needsConfig: true, run: checkInsight },
];

/** Wraps a check so that it runs only if `sense` and the source are enabled. */
function ifEnabled(source: 'appFocus' | 'git', check: (at: SenseChecked) => Promise<Finding[]>) {
  return async (at: SenseChecked): Promise<Finding[]> => {
    const { enabled, sources } = at.config.sense;
    if (!enabled) return [off('sense.enabled is false', { fix: ENABLE })];
    if (sources[source]) return check(at);
    const fix = `steward config set sense.sources.${source} true`;
    return [off(`sense.sources.${source} is false`, { fix })];
  };
}

function checkClassify({ area }: Pick<SenseChecked, 'area'>): Promise<Finding[]> {
  return orFailure(
    async () => {
      const { length } = await readClassifyRules(area.sense.classify);
      return [
        ok(length === 0 ? 'the built-in rules' : `${plural(length, 'custom rule')}, then the built-in rules`),
      ];
    },
    { kind: 'config' },
  );
}

async function checkFront(at: SenseChecked): Promise<Finding[]> {
  const finding = await frontFinding(at);
  if (at.desktop.platform !== 'win32' || (await windowsCalls()) !== undefined) return [finding];
  const hint = 'To avoid this, install the npm package koffi alongside steward:';
  return [
    finding,
    off('each capture takes about two seconds, because it starts PowerShell twice', { hint, fix: FASTER }),
  ];
}

async function frontFinding({ desktop, area, clock, config }: SenseChecked): Promise<Finding> {
  const front = await readFrontApp(desktop);
  if (front.state === 'none') return ok(`no window or terminal has the focus (${front.via})`);
  if (front.state === 'error') return failed(front.reason);
  if (front.state === 'seen') {
    const isExcluded = (await appMatcher(config.sense.exclude))(front.app);
    return ok(`${isExcluded ? 'an excluded application' : front.app.app}, via ${front.via}`);
  }
  // Fall back to the last capture's result, because doctor can't access the desktop session over SSH.
  const { sources, lastCaptureTs } = senseStore(area).readState().state;
  const last = sources['appFocus']?.state;
  if (lastCaptureTs !== null && (last === 'ok' || last === 'idle'))
    return ok(
      `not visible from this session, but the capture at ${localTimes(clock)(lastCaptureTs)} succeeded`,
    );
  return warning(front.reason, {
    hint: 'If this machine cannot report the frontmost application, turn the source off:',
    fix: 'steward config set sense.sources.appFocus false',
  });
}

async function checkIdle({ desktop }: SenseChecked): Promise<Finding[]> {
  const [idle, front] = await Promise.all([readIdle(desktop), readFrontApp(desktop)]);
  if ('unknown' in idle) {
    if (front.state === 'unsupported')
      return [off('not checked: the frontmost application is not visible from this session')];
    return [warning(`unknown, so idle time counts as active: ${idle.unknown}`)];
  }
  const { idleMs, locked, via } = idle;
  const input = idleMs === undefined ? 'idle time unknown' : `${Math.floor(idleMs / 1000)} s without input`;
  const lock = locked === undefined ? 'lock state unknown' : locked ? 'locked' : 'not locked';
  return [ok(`${input}, ${lock}, via ${via}`)];
}

async function checkGit({ find, run, config }: SenseChecked): Promise<Finding[]> {
  const path = find('git');
  if (path === undefined) {
    const judge = config.sense.repos.length > 0 ? failed : warning;
    const hint = 'Install git, or add its folder to PATH.';
    return [judge('git is not installed, or not on the PATH', { hint })];
  }
  return orFailure(async () => {
    const { code, stdout } = await run(path, ['--version'], { timeoutMs: GIT_MS });
    const version = stdout.trim().split('\n')[0] ?? '';
    if (code === 0 && version.startsWith('git version ')) return [ok(`${version}, ${path}`)];
    return [failed(`${path} is not a working git executable`, { hint: 'Reinstall git.' })];
  });
}

async function checkRepos(at: SenseChecked): Promise<Finding[]> {
  const { repos } = at.config.sense;
  if (repos.length === 0)
    return [off('no repositories are watched', { fix: 'steward config add sense.repos PATH' })];
  const findings: Finding[] = [];
  for (const root of repos) findings.push(await checkRepo(at, root));
  const good = findings.filter(({ state }) => state === 'ok');
  const rest = findings.filter(({ state }) => state !== 'ok');
  if (good.length === 0) return rest;
  const names = good.length === 1 ? good[0]?.found : `${good.length} repositories`;
  return [ok(`git works in ${names}`), ...rest];
}

async function checkRepo({ run, config: { sense, user } }: SenseChecked, root: string): Promise<Finding> {
  const hint = 'Restore the repository, or correct sense.repos (see `steward config show`).';
  if (!exists(root)) return failed(`${root} does not exist`, { hint });
  if (gitFolderAt(root) === undefined) return failed(`${root} is not a git repository`, { hint });
  if (isRestricted(root)) return off(`${root} is restricted, so it is not watched`);
  const git = gitIn({ run, timeoutMs: () => GIT_MS }, root);
  try {
    await git(['for-each-ref', '--count=1', 'refs/heads']);
    const { authors } = sense.git;
    const emails = await emailsOf(git, { authors, yours: user.user.emails });
    if (authors !== 'mine' || emails !== undefined) return ok(basename(root));
    return warning(`${root} has no user.email, so everyone's commits count`, {
      hint: 'Set it in this repository: git config user.email YOU@EXAMPLE.ORG',
    });
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    const { hint: gitHint } = error;
    const message = error.message.replace(/\.$/, '');
    const fix = `git config --global --add safe.directory ${forShell(root)}`;
    if (gitHint === undefined) return failed(`${root}: ${message}`);
    const isUntrusted = gitHint.includes('safe.directory');
    return failed(
      `${root}: ${message}`,
      isUntrusted ? { fix, hint: 'If you trust this repository:' } : { hint: gitHint },
    );
  }
}

async function checkCapture(at: SenseChecked): Promise<Finding[]> {
  const { enabled, sources } = at.config.sense;
  if (!enabled) return [off('sense.enabled is false: nothing is captured', { fix: ENABLE })];
  if (!at.area.sense.isSetUp) return [NOT_SET_UP];
  const { state } = senseStore(at.area).readState();
  const jumps = recentJumps(state.jumps, at.clock.now()).map((jump) =>
    warning(`the clock was set ${jumpText(jump)} (noticed at ${localTimes(at.clock)(jump.at)})`, {
      hint: 'If the clock is correct now, no action is needed: stored events keep their dates.',
    }),
  );
  const failures = Object.entries(state.sources).filter(
    ([source, { state: last }]) => last === 'error' && sources[source as 'git'],
  );
  const warnings = failures.map(([source, { reason = 'no reason given' }]) =>
    warning(`the ${source} source failed in the last capture: ${reason}`),
  );
  return [lastCaptureFinding(at, state.lastCaptureTs, await at.capturedBy()), ...jumps, ...warnings];
}

function lastCaptureFinding({ clock, config }: SenseChecked, lastTs: string | null, by: string | undefined) {
  const last = lastTs === null ? 'no capture yet' : `last capture at ${localTimes(clock)(lastTs)}`;
  if (by === undefined) {
    return warning(`${last}, and no captures are scheduled`, {
      fix: 'steward install jobs',
      hint: 'Run `steward up`, or schedule captures:',
    });
  }
  const fix = 'steward sense capture';
  const lastMs = parseIso(lastTs ?? '');
  if (lastMs === undefined) return warning(`${last}, although ${by} is set to run captures`, { fix });
  const missed = Math.floor((clock.now() - lastMs) / 1000 / config.sense.pollIntervalSec);
  if (missed < 3) return ok(`${last}, by ${by}`);
  return warning(`${last}; ${missed} captures missed since then, unless the machine was asleep`, {
    hint: 'Run a capture to see what fails:',
    fix,
  });
}

function checkInsight(at: SenseChecked): Promise<Finding[]> {
  return orFailure(async () => {
    const [program] = insightCommand(at.config.sense.insight.command);
    const path = at.find(program);
    const isHourly = at.config.sense.insight.hourly;
    const when = isHourly ? 'runs hourly' : 'runs only with `steward sense insight build`';
    if (path !== undefined) return [ok(`${path}; ${when}`)];
    const problem = `${program} is not installed, or not on the PATH`;
    const hint = 'Install the program, or choose another with `steward config set sense.insight.command`.';
    return [isHourly ? failed(problem, { hint }) : off(problem, { hint })];
  });
}
