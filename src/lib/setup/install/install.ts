import type { Context } from '../../app/context';
import { schedulerOf } from '../../app/schedule';
import { setUpSense } from '../../app/sense';
import { claudeCodeSettings } from '../../assistant/claude-code-settings';
import { installHooks, type InstallResult as HooksInstalled } from '../../assistant/install';
import { hasSkill } from '../../assistant/skill';
import { StewardError, toStewardError } from '../../errors';
import { processHost } from '../../platform/files/paths';
import type { Prompt } from '../../platform/terminal/ask';
import { noScheduler, type InstallResult as JobInstalled, type Scheduler } from '../../schedule';
import { JOBS, JOB_IDS, jobOf, type Job, type JobId } from '../../schedule/job';
import { COMPLETION_SCRIPTS, SHELLS, type Place, type Shell } from '../../shell/completion';
import { installCompletion, ownShell, type CompletionInstall } from '../../shell/completion-install';
import { openHooks } from '../../app/hooks';
import { chosenNames } from '../init/step';
import { usualJobs } from '../init/step-services';

/** What is to be installed; the rest stays as it is. */
export interface InstallChoice {
  hooks: boolean;
  /** The work skill of the assistant; it comes with the hooks. */
  skill: boolean;
  jobs: readonly JobId[];
  completion: Shell | undefined;
}

export interface InstallFlags {
  yes: boolean;
  hooks?: boolean | undefined;
  skill?: boolean | undefined;
  jobs?: string | undefined;
  completion?: string | undefined;
}

/** What the flags choose; `--yes` takes the usual for what they do not name. Undefined: they choose nothing. */
export async function choiceOf(context: Context, flags: InstallFlags): Promise<InstallChoice | undefined> {
  const { yes, hooks: isHooks, skill: isSkill, jobs, completion } = flags;
  if (!yes && [isHooks, isSkill, jobs, completion].every((flag) => flag === undefined)) return undefined;
  const skill = isSkill === true;
  const hooks = isHooks ?? (yes || skill);
  if (!hooks && skill) {
    throw new StewardError('usage', 'The work skill comes with the hooks.', {
      hint: 'Leave --no-hooks out, or --skill.',
    });
  }
  const usual = usualJobs((await context.loadConfig()).config);
  const chosen = jobs === undefined ? (yes ? usual : []) : chosenNames('A job', jobs, JOB_IDS);
  return { hooks, skill, jobs: chosen, completion: SHELLS.find((shell) => shell === completion) };
}

/** Asks for each part; the usual one is the preset. */
export async function askChoice(
  context: Context,
  questions: Prompt,
  say: (text: string) => void,
): Promise<InstallChoice> {
  const usual = usualJobs((await context.loadConfig()).config).join(' ');
  say('Hooks let steward see when a session of Claude Code works or waits.');
  const hooks = await questions.yes('Register hooks with Claude Code?', 'yes');
  const about = 'Give Claude Code the work skill, too (it checks tasks, and adds issues and reminders)?';
  const mayAsk = hooks && !hasSkill({ host: processHost() }, claudeCodeSettings);
  const skill = mayAsk && (await questions.yes(about, 'no'));
  say(
    "Jobs for the scheduler: sense (capture), daemon (pages and notifications), work (a sweep every hour), insight (an outline of your day goes to your assistant's model every hour).",
  );
  const text = await questions.line(`Schedule which: all, none, or some of these [${usual}]: `);
  const jobs = chosenNames('A job', text === '' ? usual : text, JOB_IDS);
  const shell = ownShell();
  const wanted = shell !== undefined && (await questions.yes(`Complete commands in ${shell}?`, 'yes'));
  return { hooks, skill, jobs, completion: wanted ? shell : undefined };
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
 * Installs what was chosen, recorded in the manifest. A part that fails is reported and stops no other. A dry run looks
 * at the same things and writes nothing.
 */
export async function installAll(
  context: Context,
  input: { choice: InstallChoice; places: readonly Place[]; dryRun: boolean },
): Promise<Installed> {
  const { choice, dryRun } = input;
  const result: Installed = { dryRun, hooks: null, jobs: [], completion: null, warnings: [], failed: [] };
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const { kind, why } = reasonOf(error);
      result.failed.push({ what, kind, why });
    }
  };
  if (!dryRun) await setUpSense(context);
  if (choice.hooks) {
    await attempt('hooks', async () => {
      const { deps, assistant } = openHooks(context);
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

/** Why a part failed, in words; a fault of steward's own is thrown on. */
export function reasonOf(error: unknown): { kind: string; why: string } {
  const { kind, message, hint } = toStewardError(error);
  if (kind === 'internal') throw error;
  return { kind, why: hint === undefined ? message : `${message} ${hint}` };
}

async function planJob(scheduler: Scheduler, job: Job): Promise<Installed['jobs'][number]> {
  const { installed, loaded, scheduler: there, warning, hint } = await scheduler.status(job);
  const isHere = installed && there === scheduler.kind;
  if (scheduler.available) return { job: job.id, scheduler: scheduler.kind, changed: !(isHere && loaded) };
  if (!isHere) throw noScheduler(processHost(), job);
  const said = [`${job.id}:`, warning, hint].filter((part) => part !== undefined).join(' ');
  return { job: job.id, scheduler: scheduler.kind, changed: false, warnings: [said] };
}
