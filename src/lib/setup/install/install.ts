import type { Context } from '../../app/context';
import { openHooks } from '../../app/hooks';
import { schedulerOf } from '../../app/schedule';
import { setUpSense } from '../../app/sense';
import { claudeCodeSettings } from '../../assistant/claude-code-settings';
import { type InstallResult as HooksInstalled, installHooks } from '../../assistant/install';
import { hasSkill } from '../../assistant/skill';
import { StewardError, toStewardError } from '../../errors';
import { processHost } from '../../platform/files/paths';
import type { Questions } from '../../platform/terminal/ask';
import { type InstallResult as JobInstalled, type Scheduler, noScheduler } from '../../schedule';
import { JOBS, JOB_IDS, type Job, type JobId, jobOf } from '../../schedule/job';
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from '../../shell/completion';
import { type CompletionInstall, installCompletion, ownShell } from '../../shell/completion-install';
import type { Place } from '../../shell/completion';
import { chosenNames } from '../init/step';
import { usualJobs } from '../init/step-machine';
import { unknownName } from '../init/step-sense';

/** What is to be installed; what is left out stays as it is. */
export interface InstallChoice {
  hooks: boolean;
  /** The work skill of the assistant; it comes with the hooks. */
  skill: boolean;
  jobs: readonly JobId[];
  completion: Shell | undefined;
}

export interface Installed {
  dryRun: boolean;
  hooks: HooksInstalled | null;
  /** Of a dry run the first three fields: `changed` says whether it would be written. */
  jobs: (Pick<JobInstalled, 'job' | 'scheduler' | 'changed'> & Partial<JobInstalled>)[];
  completion: CompletionInstall | null;
  warnings: string[];
  /** What could not be installed, and why; the rest was. */
  failed: { what: string; why: string; kind: string }[];
}

/**
 * Installs what was chosen, all of it recorded in the manifest; what is there already stays as it is. One part that
 * cannot be installed is told, and stops no other. A dry run looks at the same things and writes nothing.
 */
export async function installAll(
  context: Context,
  input: { root: string; choice: InstallChoice; places: readonly Place[]; dryRun: boolean },
): Promise<Installed> {
  const { choice, root, dryRun } = input;
  const result: Installed = { dryRun, hooks: null, jobs: [], completion: null, warnings: [], failed: [] };
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const { kind, message, hint } = toStewardError(error);
      if (kind === 'internal') throw error;
      result.failed.push({ what, kind, why: [message, ...(hint === undefined ? [] : [hint])].join(' ') });
    }
  };
  if (!dryRun) await setUpSense(context);
  if (choice.hooks) {
    await attempt('hooks', async () => {
      const { deps, assistant } = openHooks(context, root, 'claude-code');
      result.hooks = await installHooks(deps, { assistant, dryRun, skill: choice.skill });
      result.warnings.push(...result.hooks.warnings);
    });
  }
  for (const id of choice.jobs) {
    await attempt(JOBS[id].command.replace(/^steward /, ''), async () => {
      const { config } = await context.loadConfig();
      const scheduler = await schedulerOf(context);
      const job = jobOf(id, config.sense);
      const installed = dryRun ? await planJob(scheduler, job) : await scheduler.install(job);
      result.jobs.push(installed);
      result.warnings.push(...(installed.warnings ?? []));
    });
  }
  const { completion: shell } = choice;
  if (shell !== undefined) {
    await attempt(`completion of ${shell}`, async () => {
      const script = COMPLETION_SCRIPTS[shell](input.places);
      result.completion = await installCompletion(context, shell, script, { dryRun });
    });
  }
  return { ...result, warnings: [...new Set(result.warnings)] };
}

async function planJob(scheduler: Scheduler, job: Job): Promise<Installed['jobs'][number]> {
  const { installed, loaded, scheduler: there, warning, hint } = await scheduler.status(job);
  const isHere = installed && there === scheduler.kind;
  if (!scheduler.available) {
    if (!isHere) throw noScheduler(processHost(), job);
    const said = [`${job.id}:`, warning, hint].filter((part) => part !== undefined).join(' ');
    return { job: job.id, scheduler: scheduler.kind, changed: false, warnings: [said] };
  }
  return { job: job.id, scheduler: scheduler.kind, changed: !(isHere && loaded) };
}

/** The flags of `steward install`. */
export interface InstallFlags {
  yes: boolean;
  hooks?: boolean | undefined;
  skill?: boolean | undefined;
  jobs?: string | undefined;
  completion?: string | undefined;
}

/** What the flags choose; with `--yes` the usual of what they do not name. Wrong names are `usage`. */
export async function choiceOf(context: Context, flags: InstallFlags): Promise<InstallChoice> {
  const loaded = await context.loadConfig();
  const usual = usualJobs({ config: () => loaded.config });
  const jobs = flags.jobs === undefined ? (flags.yes ? usual : []) : jobsNamed(flags.jobs);
  const hooks = flags.hooks ?? (flags.yes || flags.skill === true);
  if (!hooks && flags.skill === true) {
    throw new StewardError('usage', 'The work skill comes with the hooks.', {
      hint: 'Leave --no-hooks out, or --skill.',
    });
  }
  return {
    hooks,
    skill: flags.skill === true,
    jobs,
    completion: SHELLS.find((shell) => shell === flags.completion),
  };
}

/** Asks for each part; the usual one is the preset. */
export async function askChoice(
  context: Context,
  questions: Questions,
  say: (text: string) => void,
): Promise<InstallChoice> {
  const loaded = await context.loadConfig();
  const usual = usualJobs({ config: () => loaded.config }).join(' ');
  say('Hooks let steward see when a session of Claude Code works or waits.');
  const hooks = await questions.yes('Register hooks with Claude Code?', 'yes');
  const skill =
    hooks &&
    !hasSkill({ host: processHost() }, claudeCodeSettings) &&
    (await questions.yes(
      'Give Claude Code the work skill, too (it checks tasks, and adds issues and reminders)?',
      'no',
    ));
  say(
    "Jobs for the scheduler: sense (capture), daemon (pages and notifications), work (a sweep every hour), insight (an outline of your day goes to your assistant's model every hour).",
  );
  const text = await questions.line(`Schedule which: all, none, or some of these [${usual}]: `);
  const jobs = jobsNamed(text === '' ? usual : text);
  const shell: Shell | undefined = ownShell();
  const wanted = shell !== undefined && (await questions.yes(`Complete commands in ${shell}?`, 'yes'));
  return { hooks, skill, jobs, completion: wanted ? shell : undefined };
}

/** `sense,work`, `all` or `none`; anything else is `usage`. */
export function jobsNamed(text: string): InstallChoice['jobs'] {
  const answer = chosenNames(text, JOB_IDS);
  if ('unknown' in answer) throw unknownName('A job', answer.unknown, JOB_IDS);
  return answer.chosen;
}
