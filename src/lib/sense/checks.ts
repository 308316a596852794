import { basename } from 'node:path';

import { forShell } from '../platform/process/shell-word';
import { StewardError } from '../errors';
import { parseIso } from '../platform/time/clock';
import { exists } from '../platform/files/folder';
import { gitFolderAt } from '../platform/files/git-folder';
import { gitIn } from '../platform/process/git-process';
import { FASTER } from '../platform/process/powershell';
import { windowsCalls } from '../platform/process/windows';
import { appMatcher } from './app-match';
import { jumpText, recentJumps } from './clock-jump';
import { readFrontApp, type FrontAppSight } from './front-app';
import type { Desktop } from './front-app/adapter';
import { readOwnEmails } from './git/queries';
import { readIdle, type IdleSight } from './idle';
import { insightCommand } from './insight-command';
import { senseStore } from './store';
import { localTimes } from '../platform/time/local-times';
import type { Config } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import type { FindProgram } from '../platform/process/program';
import type { Run } from '../platform/process/process';
import type { Clock } from '../platform/time/clock';

/** What the checks of sense are given. */
export interface SenseChecked {
  clock: Clock;
  area: UserArea;
  run: Run;
  find: FindProgram;
  desktop: Desktop;
  config: Pick<Config, 'sense'>;
  /** The person's rules of classification. */
  classifyRules: () => Promise<readonly unknown[]>;
  /** What captures by itself now. */
  capturedBy: () => Promise<string | undefined>;
  /** Is a content-type read scheduled? */
  isInsightScheduled: () => Promise<boolean>;
}

export const SENSE_CHECKS: readonly Check<SenseChecked>[] = [
  { id: 'sense.front', title: 'the front application', needsConfig: true, run: checkFront },
  { id: 'sense.idle', title: 'idle time', needsConfig: true, run: checkIdle },
  { id: 'sense.git', title: 'git', needsConfig: true, run: checkGit },
  {
    id: 'sense.repos',
    title: 'the repositories',
    needsConfig: true,
    limitMs: 60_000,
    run: checkRepos,
  },
  { id: 'sense.capture', title: 'captures', needsConfig: true, run: checkCapture },
  {
    id: 'sense.classify',
    title: 'the classification',
    needsConfig: false,
    run: checkClassify,
  },
  {
    id: 'sense.insight',
    title: 'the assistant for the content-type read',
    needsConfig: true,
    run: checkInsight,
  },
];

/** A file that does not parse stops every capture and every view, as a configuration does. */
function checkClassify({ classifyRules }: Pick<SenseChecked, 'classifyRules'>): Promise<Finding[]> {
  return orFailure(
    async () => {
      const rules = await classifyRules();
      return [
        ok(rules.length === 0 ? 'the shipped rules' : `${rules.length} of yours, then the shipped rules`),
      ];
    },
    { kind: 'config' },
  );
}

const ON = 'steward config set sense.enabled true';

/** Why sense looks at nothing of this kind, if so. */
function whyOff({ config }: SenseChecked, source: 'appFocus' | 'git'): Finding | undefined {
  if (!config.sense.enabled) return off('sense.enabled is false', { mend: ON });
  if (config.sense.sources[source]) return undefined;
  return off(`sense.sources.${source} is false`, { mend: `steward config set sense.sources.${source} true` });
}

async function checkFront(at: SenseChecked): Promise<Finding[]> {
  const none = whyOff(at, 'appFocus');
  if (none !== undefined) return [none];
  const sight = await readFrontApp(at.desktop);
  const { state } = senseStore(at.area).readState();
  const memory = state.sources.appFocus;
  const captured =
    memory?.state === 'ok' || memory?.state === 'idle' ? (state.lastCaptureTs ?? undefined) : undefined;
  const isHidden = sight.state === 'seen' && (await appMatcher(at.config.sense.exclude))(sight.app);
  return [
    judgeFront(sight, { isHidden, captured: captured && localTimes(at.clock)(captured) }),
    ...(await adviseOnWindows(at.desktop)),
  ];
}

/** Both the front application and idle time are asked in each capture. */
async function adviseOnWindows({ platform }: Desktop): Promise<Finding[]> {
  if (platform !== 'win32' || (await windowsCalls()) !== undefined) return [];
  const hint = 'With the npm package koffi beside steward it takes a millisecond:';
  return [off('each capture starts PowerShell twice, about a second each', { hint, mend: FASTER })];
}

/** @param known `captured`: when the last capture did see, in words */
export function judgeFront(
  sight: FrontAppSight,
  known: { isHidden: boolean; captured: string | undefined },
): Finding {
  switch (sight.state) {
    case 'seen':
      return ok(`${known.isHidden ? 'seen, and excluded' : sight.app.app}, by ${sight.via}`);
    case 'none':
      return ok(`no window has the focus now, by ${sight.via}`);
    case 'unsupported': {
      // A doctor that is called over ssh says nothing of the session that captures.
      if (known.captured !== undefined) return ok(`not seen from here; the capture of ${known.captured} saw`);
      return warning(sight.reason, {
        hint: 'Where it cannot be seen at all, switch the source off:',
        mend: 'steward config set sense.sources.appFocus false',
      });
    }
    case 'error':
      return failed(sight.reason);
  }
}

async function checkIdle(at: SenseChecked): Promise<Finding[]> {
  const none = whyOff(at, 'appFocus');
  if (none !== undefined) return [none];
  const [idle, front] = await Promise.all([readIdle(at.desktop), readFrontApp(at.desktop)]);
  // Without an application in front there is no time that could be idle.
  if ('unknown' in idle && front.state === 'unsupported')
    return [off('not asked: no application is seen here')];
  return [judgeIdle(idle)];
}

export function judgeIdle(sight: IdleSight): Finding {
  if ('unknown' in sight) {
    return warning(`not known, so all time with an application in front counts: ${sight.unknown}`);
  }
  const idle =
    sight.idleMs === undefined
      ? 'time without input not told'
      : `${Math.floor(sight.idleMs / 1000)} s without input`;
  const lock = sight.locked === undefined ? 'lock not told' : sight.locked ? 'locked' : 'not locked';
  return ok(`${idle}, ${lock}, by ${sight.via}`);
}

const GIT_MS = 10_000;

async function checkGit(at: SenseChecked): Promise<Finding[]> {
  const none = whyOff(at, 'git');
  if (none !== undefined) return [none];
  const path = at.find('git');
  if (path === undefined) {
    const install = { hint: 'Install git, or add its folder to PATH.' };
    const words = 'git is not installed, or not on the PATH';
    return [at.config.sense.repos.length > 0 ? failed(words, install) : warning(words, install)];
  }
  return orFailure(async () => {
    const { code, stdout } = await at.run(path, ['--version'], { timeoutMs: GIT_MS });
    const said = stdout.trim().split('\n')[0] ?? '';
    if (code === 0 && said.startsWith('git version ')) return [ok(`${said}, ${path}`)];
    return [failed(`${path} does not run as git`, { hint: 'Install git again.' })];
  });
}

/** Asks git in each repository, as a capture does: nothing of the repository is executed. */
async function checkRepos(at: SenseChecked): Promise<Finding[]> {
  const none = whyOff(at, 'git');
  if (none !== undefined) return [none];
  const { repos, git: settings } = at.config.sense;
  if (repos.length === 0) {
    return [off('no repository is watched', { mend: 'steward config add sense.repos PATH' })];
  }
  const findings: Finding[] = [];
  for (const root of repos) findings.push(...(await checkRepo(at, root, settings.authors === 'mine')));
  const good = findings.filter(({ state }) => state === 'ok');
  const rest = findings.filter(({ state }) => state !== 'ok');
  if (good.length === 0) return rest;
  return [
    ok(`git answers in ${good.length === 1 ? good[0]?.found : `${good.length} repositories`}`),
    ...rest,
  ];
}

async function checkRepo(at: SenseChecked, root: string, onlyMine: boolean): Promise<Finding[]> {
  const correct = 'Correct sense.repos (`steward config show` has the list), or bring it back.';
  if (!exists(root)) return [failed(`${root} is not there`, { hint: correct })];
  if (gitFolderAt(root) === undefined) return [failed(`${root} is no git repository`, { hint: correct })];
  const git = gitIn({ run: at.run, timeoutMs: () => GIT_MS }, root);
  try {
    await git(['for-each-ref', '--count=1', 'refs/heads']);
    const emails = onlyMine ? await readOwnEmails(git) : ['all'];
    if (emails.length > 0) return [ok(basename(root))];
    return [
      warning(`${root} has no user.email, so the commits of everybody count`, {
        hint: 'Set yours with `git config user.email YOU@EXAMPLE.ORG` there.',
      }),
    ];
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind === 'internal') throw error;
    const command = /safe\.directory/.test(error.hint ?? '')
      ? { mend: `git config --global --add safe.directory ${forShell(root)}`, hint: 'If you trust it:' }
      : error.hint === undefined
        ? {}
        : { hint: error.hint };
    return [failed(`${root}: ${error.message}`, command)];
  }
}

async function checkCapture(at: SenseChecked): Promise<Finding[]> {
  const { area, clock, config } = at;
  if (!config.sense.enabled) return [off('sense.enabled is false: nothing is captured', { mend: ON })];
  if (!exists(area.sense.config)) {
    return [off('sense is not set up, and nothing is captured', { mend: 'steward up' })];
  }
  const { state } = senseStore(area).readState();
  const by = await at.capturedBy();
  const seen = state.lastCaptureTs ?? undefined;
  const findings = [
    judgeCapture({
      nowMs: clock.now(),
      lastMs: parseIso(seen ?? ''),
      shown: seen === undefined ? '' : localTimes(clock)(seen),
      by,
      everySec: config.sense.pollIntervalSec,
    }),
  ];
  for (const jump of recentJumps(state.jumps, clock.now())) {
    findings.push(
      warning(`the clock was set ${jumpText(jump)}, noticed at ${localTimes(clock)(jump.at)}`, {
        hint: 'If the time is right now, nothing is to do: what a wrong clock dated stays under its date.',
      }),
    );
  }
  for (const [source, memory] of Object.entries(state.sources)) {
    if (memory?.state === 'error' && config.sense.sources[source as 'git']) {
      findings.push(
        warning(`the source ${source} failed in that capture: ${memory.reason ?? 'no reason was given'}`),
      );
    }
  }
  return findings;
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

async function checkInsight(at: SenseChecked): Promise<Finding[]> {
  return orFailure(async () => {
    const [program] = insightCommand(at.config.sense.insight.command);
    const path = at.find(program);
    const isHourly = await at.isInsightScheduled();
    if (path !== undefined)
      return [
        ok(`${path}; ${isHourly ? 'asked each hour' : 'asked when you run `steward sense insight build`'}`),
      ];
    const words = `${program} is not installed, or not on the PATH`;
    const hint = 'Install it, or name another program with `steward config set sense.insight.command`.';
    return [isHourly ? failed(words, { hint }) : off(words, { hint })];
  });
}
