import { basename } from 'node:path';

import type { Config } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import { exists } from '../platform/files/folder';
import { gitFolderAt } from '../platform/files/git-folder';
import { gitIn } from '../platform/process/git';
import { FASTER, windowsCalls } from '../platform/process/windows';
import type { Run } from '../platform/process/process';
import { type FindProgram, forShell } from '../platform/process/spawn';
import { parseIso, type Clock } from '../platform/time/clock';
import { localTimes } from '../platform/time/day-words';
import { appMatcher } from './classify';
import { readClassifyRules } from './classify-file';
import { readFrontApp, type FrontAppSight } from './front-app';
import type { Desktop } from './front-app/adapter';
import { readOwnEmails } from './git/queries';
import { readIdle, type IdleSight } from './idle';
import { insightCommand } from './insight';
import { jumpText, recentJumps } from './state';
import { senseStore } from './store';

/** What the checks of sense are given. */
export interface SenseChecked {
  clock: Clock;
  area: UserArea;
  run: Run;
  find: FindProgram;
  desktop: Desktop;
  config: Pick<Config, 'sense'>;
  /** What captures by itself now. */
  capturedBy: () => Promise<string | undefined>;
  /** Is a content-type read scheduled? */
  isInsightScheduled: () => Promise<boolean>;
}

const GIT_MS = 10_000;
const ON = 'steward config set sense.enabled true';

export const SENSE_CHECKS: readonly Check<SenseChecked>[] = [
  {
    id: 'sense.front',
    title: 'the front application',
    needsConfig: true,
    run: where('appFocus', checkFront),
  },
  { id: 'sense.idle', title: 'idle time', needsConfig: true, run: where('appFocus', checkIdle) },
  { id: 'sense.git', title: 'git', needsConfig: true, run: where('git', checkGit) },
  {
    id: 'sense.repos',
    title: 'the repositories',
    needsConfig: true,
    limitMs: 60_000,
    run: where('git', checkRepos),
  },
  { id: 'sense.capture', title: 'captures', needsConfig: true, run: checkCapture },
  { id: 'sense.classify', title: 'the classification', needsConfig: false, run: checkClassify },
  {
    id: 'sense.insight',
    title: 'the assistant for the content-type read',
    needsConfig: true,
    run: checkInsight,
  },
];

/** The check where the source is on; elsewhere, what switched it off. */
function where(source: 'appFocus' | 'git', check: (at: SenseChecked) => Promise<Finding[]>) {
  return async (at: SenseChecked): Promise<Finding[]> => {
    const { enabled, sources } = at.config.sense;
    if (!enabled) return [off('sense.enabled is false', { mend: ON })];
    if (sources[source]) return check(at);
    const mend = `steward config set sense.sources.${source} true`;
    return [off(`sense.sources.${source} is false`, { mend })];
  };
}

/** A file that does not parse stops every capture and every view, as a configuration does. */
function checkClassify({ area }: Pick<SenseChecked, 'area'>): Promise<Finding[]> {
  return orFailure(
    async () => {
      const { length } = await readClassifyRules(area.sense.classify);
      return [ok(length === 0 ? 'the shipped rules' : `${length} of yours, then the shipped rules`)];
    },
    { kind: 'config' },
  );
}

async function checkFront({ desktop, area, clock, config }: SenseChecked): Promise<Finding[]> {
  const sight = await readFrontApp(desktop);
  const { sources, lastCaptureTs } = senseStore(area).readState().state;
  const memory = sources['appFocus']?.state;
  const hasSeen = lastCaptureTs !== null && (memory === 'ok' || memory === 'idle');
  const captured = hasSeen ? localTimes(clock)(lastCaptureTs) : undefined;
  const isHidden = sight.state === 'seen' && (await appMatcher(config.sense.exclude))(sight.app);
  const findings = [judgeFront(sight, { isHidden, captured })];
  if (desktop.platform === 'win32' && (await windowsCalls()) === undefined) {
    const hint = 'With the npm package koffi beside steward it takes a millisecond:';
    findings.push(off('each capture starts PowerShell twice, about a second each', { hint, mend: FASTER }));
  }
  return findings;
}

/** @param known `captured`: when the last capture did see, in words */
export function judgeFront(
  sight: FrontAppSight,
  { isHidden, captured }: { isHidden: boolean; captured: string | undefined },
): Finding {
  switch (sight.state) {
    case 'seen':
      return ok(`${isHidden ? 'seen, and excluded' : sight.app.app}, by ${sight.via}`);
    case 'none':
      return ok(`no window has the focus now, by ${sight.via}`);
    case 'unsupported':
      // A doctor that is called over ssh says nothing of the session that captures.
      if (captured !== undefined) return ok(`not seen from here; the capture of ${captured} saw`);
      return warning(sight.reason, {
        hint: 'Where it cannot be seen at all, switch the source off:',
        mend: 'steward config set sense.sources.appFocus false',
      });
    case 'error':
      return failed(sight.reason);
  }
}

async function checkIdle({ desktop }: SenseChecked): Promise<Finding[]> {
  const [idle, front] = await Promise.all([readIdle(desktop), readFrontApp(desktop)]);
  // Without an application in front there is no time that could be idle.
  const isBlind = 'unknown' in idle && front.state === 'unsupported';
  return [isBlind ? off('not asked: no application is seen here') : judgeIdle(idle)];
}

export function judgeIdle(sight: IdleSight): Finding {
  if ('unknown' in sight) {
    return warning(`not known, so all time with an application in front counts: ${sight.unknown}`);
  }
  const { idleMs, locked, via } = sight;
  const idle =
    idleMs === undefined ? 'time without input not told' : `${Math.floor(idleMs / 1000)} s without input`;
  const lock = locked === undefined ? 'lock not told' : locked ? 'locked' : 'not locked';
  return ok(`${idle}, ${lock}, by ${via}`);
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
    const said = stdout.trim().split('\n')[0] ?? '';
    if (code === 0 && said.startsWith('git version ')) return [ok(`${said}, ${path}`)];
    return [failed(`${path} does not run as git`, { hint: 'Install git again.' })];
  });
}

/** Asks git in each repository, as a capture does: nothing of the repository is executed. */
async function checkRepos(at: SenseChecked): Promise<Finding[]> {
  const { repos, git } = at.config.sense;
  if (repos.length === 0)
    return [off('no repository is watched', { mend: 'steward config add sense.repos PATH' })];
  const findings: Finding[] = [];
  for (const root of repos) findings.push(await checkRepo(at, root, git.authors === 'mine'));
  const good = findings.filter(({ state }) => state === 'ok');
  const rest = findings.filter(({ state }) => state !== 'ok');
  if (good.length === 0) return rest;
  const which = good.length === 1 ? good[0]?.found : `${good.length} repositories`;
  return [ok(`git answers in ${which}`), ...rest];
}

async function checkRepo({ run }: SenseChecked, root: string, onlyMine: boolean): Promise<Finding> {
  const correct = 'Correct sense.repos (`steward config show` has the list), or bring it back.';
  if (!exists(root)) return failed(`${root} is not there`, { hint: correct });
  if (gitFolderAt(root) === undefined) return failed(`${root} is no git repository`, { hint: correct });
  const git = gitIn({ run, timeoutMs: () => GIT_MS }, root);
  try {
    await git(['for-each-ref', '--count=1', 'refs/heads']);
    if (!onlyMine || (await readOwnEmails(git)).length > 0) return ok(basename(root));
    return warning(`${root} has no user.email, so the commits of everybody count`, {
      hint: 'Set yours with `git config user.email YOU@EXAMPLE.ORG` there.',
    });
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    const { message, hint } = error;
    const trust = {
      mend: `git config --global --add safe.directory ${forShell(root)}`,
      hint: 'If you trust it:',
    };
    if (hint === undefined) return failed(`${root}: ${message}`);
    return failed(`${root}: ${message}`, /safe\.directory/.test(hint) ? trust : { hint });
  }
}

async function checkCapture({ area, clock, config, capturedBy }: SenseChecked): Promise<Finding[]> {
  const { enabled, pollIntervalSec, sources } = config.sense;
  if (!enabled) return [off('sense.enabled is false: nothing is captured', { mend: ON })];
  if (!exists(area.sense.config))
    return [off('sense is not set up, and nothing is captured', { mend: 'steward up' })];
  const { state } = senseStore(area).readState();
  const seen = state.lastCaptureTs ?? '';
  const shownAt = localTimes(clock);
  const capture = judgeCapture({
    nowMs: clock.now(),
    lastMs: parseIso(seen),
    shown: seen === '' ? '' : shownAt(seen),
    by: await capturedBy(),
    everySec: pollIntervalSec,
  });
  const jumps = recentJumps(state.jumps, clock.now()).map((jump) =>
    warning(`the clock was set ${jumpText(jump)}, noticed at ${shownAt(jump.at)}`, {
      hint: 'If the time is right now, nothing is to do: what a wrong clock dated stays under its date.',
    }),
  );
  const broken = Object.entries(state.sources).filter(
    ([source, memory]) => memory.state === 'error' && sources[source as 'git'],
  );
  const troubles = broken.map(([source, { reason = 'no reason was given' }]) =>
    warning(`the source ${source} failed in that capture: ${reason}`),
  );
  return [capture, ...jumps, ...troubles];
}

/** @param input `by`: what captures by itself; undefined: nothing does */
export function judgeCapture(input: {
  nowMs: number;
  lastMs: number | undefined;
  shown: string;
  by: string | undefined;
  everySec: number;
}): Finding {
  const { nowMs, lastMs, shown, by, everySec } = input;
  const last = lastMs === undefined ? 'nothing was captured yet' : `the last capture was at ${shown}`;
  if (by === undefined) {
    return warning(`${last}, and nothing captures by itself`, {
      mend: 'steward sense install',
      hint: 'Run `steward up`, or have the system do it:',
    });
  }
  if (lastMs === undefined)
    return warning(`${last}, though ${by} is to do it`, { mend: 'steward sense capture' });
  const missed = Math.floor((nowMs - lastMs) / 1000 / everySec);
  if (missed < 3) return ok(`${last}, by ${by}`);
  return warning(`${last}; ${missed} are missing since, or the machine slept`, {
    hint: 'A capture by hand says what stands in the way:',
    mend: 'steward sense capture',
  });
}

function checkInsight(at: SenseChecked): Promise<Finding[]> {
  return orFailure(async () => {
    const [program] = insightCommand(at.config.sense.insight.command);
    const path = at.find(program);
    const isHourly = await at.isInsightScheduled();
    const when = isHourly ? 'asked each hour' : 'asked when you run `steward sense insight build`';
    if (path !== undefined) return [ok(`${path}; ${when}`)];
    const words = `${program} is not installed, or not on the PATH`;
    const hint = 'Install it, or name another program with `steward config set sense.insight.command`.';
    return [isHourly ? failed(words, { hint }) : off(words, { hint })];
  });
}
