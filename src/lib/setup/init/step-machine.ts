import { dirname } from 'node:path';

import { installHooks, installedEvents } from '../../assistant/install';
import { uninstallHooks } from '../../assistant/uninstall';
import { kindOf } from '../../platform/files/stat';
import { JOBS, JOB_IDS, jobOf, type JobId } from '../../schedule/job';
import type { Scheduler } from '../../schedule';
import { openHooks } from '../../app/hooks';
import { jobsHere, schedulerOf } from '../../app/schedule';
import { chosenNames, type Setup, type Step } from './step';
import { unknownName } from './step-sense';

const ASSISTANT = 'claude-code';

/** Hooks of the assistant. */
export const hooksStep: Step = {
  id: 'hooks',
  shown: (setup) => (hasHooks(setup) ? 'registered with Claude Code' : 'not registered'),
  given: (setup, flags) =>
    flags.hooks === undefined ? undefined : () => setHooks(setup, flags.hooks === true),
  async ask(setup, questions) {
    const { deps, assistant } = openHooks(setup.context, setup.root, ASSISTANT);
    const settings = assistant.path(deps.host);
    setup.say(
      `Hooks let steward see when a session of Claude Code works or waits. They are added to ${settings}; everything else in it stays.`,
    );
    const usesIt = kindOf(dirname(settings)) === 'folder';
    const wanted = await questions.yes(
      'Register hooks with Claude Code?',
      usesIt || hasHooks(setup) ? 'yes' : 'no',
    );
    return wanted === hasHooks(setup) ? undefined : () => setHooks(setup, wanted);
  },
};

function hasHooks(setup: Setup): boolean {
  const { deps, assistant } = openHooks(setup.context, setup.root, ASSISTANT);
  return installedEvents(deps, assistant).length === assistant.hooks.length;
}

async function setHooks(setup: Setup, on: boolean): Promise<void> {
  const { deps, assistant } = openHooks(setup.context, setup.root, ASSISTANT);
  if (!on) {
    await uninstallHooks(deps, { assistant, dryRun: false });
    return;
  }
  const { warnings } = await installHooks(deps, { assistant, dryRun: false });
  for (const warning of warnings) setup.say(warning);
}

/** What runs by itself from now on. */
export const jobsStep: Step = {
  id: 'jobs',
  async shown(setup) {
    const scheduler = await schedulerHere(setup);
    if (scheduler === undefined) return 'none; "steward up" runs them while it runs';
    const { installed, kind } = scheduler;
    return installed.length === 0 ? `none in ${kind}` : `${installed.join(', ')} in ${kind}`;
  },
  given(setup, flags) {
    if (flags.jobs === undefined) return undefined;
    const answer = chosenNames(flags.jobs, JOB_IDS);
    if ('unknown' in answer) throw unknownName('--jobs', answer.unknown, JOB_IDS);
    return () => setJobs(setup, answer.chosen);
  },
  async ask(setup, questions) {
    const here = await schedulerHere(setup);
    if (here === undefined) {
      setup.say(
        'This machine has no scheduler that steward knows: "steward up" runs its jobs while it runs.',
      );
      return undefined;
    }
    const { pollIntervalSec } = setup.config().sense;
    setup.say(
      `Jobs that ${here.kind} can run: sense (a capture every ${pollIntervalSec} s), daemon (pages and notifications, from login on), work (a sweep every hour), insight (every hour an outline of your day goes to your assistant's model).`,
    );
    const preset = here.installed.length > 0 ? here.installed : usualJobs(setup);
    const text = await questions.line(`Schedule which: all, none, or some of these [${preset.join(' ')}]: `);
    const answer = chosenNames(text === '' ? preset.join(' ') : text, JOB_IDS);
    if ('unknown' in answer) throw unknownName('A job', answer.unknown, JOB_IDS);
    return () => setJobs(setup, answer.chosen);
  },
};

/** What is usually wanted: never the one that asks a model. */
export function usualJobs(setup: Pick<Setup, 'config'>): JobId[] {
  const hasWork = setup.config().workRepo.repo !== undefined;
  return JOB_IDS.filter((id) => id !== 'insight' && (id !== 'work' || hasWork));
}

async function setJobs(setup: Setup, wanted: readonly JobId[]): Promise<void> {
  const scheduler = await schedulerOf(setup.context);
  for (const id of JOB_IDS) {
    const job = jobOf(id, setup.config().sense);
    if (!wanted.includes(id)) {
      const { removedFrom } = await scheduler.uninstall(job);
      if (removedFrom.length > 0) setup.say(`Took ${id} out of ${removedFrom.join(', ')}.`);
      continue;
    }
    const { changed, warnings } = await scheduler.install(job);
    if (changed) setup.say(`${JOBS[id].label} is in ${scheduler.kind} now.`);
    for (const warning of warnings) setup.say(warning);
  }
}

async function schedulerHere(
  setup: Setup,
): Promise<{ kind: Scheduler['kind']; installed: JobId[] } | undefined> {
  const here = await jobsHere(setup.context, setup.config().sense);
  if (here === undefined) return undefined;
  return { kind: here.kind, installed: here.jobs.filter(({ installed }) => installed).map(({ job }) => job) };
}
