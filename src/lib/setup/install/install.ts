import { installHooks, type InstallResult as HooksInstalled } from '../../assistant/install';
import { toStewardError } from '../../errors';
import { processHost } from '../../platform/files/paths';
import { noScheduler, type InstallResult as JobInstalled, type Scheduler } from '../../schedule';
import { JOBS, jobOf, type Job, type JobId } from '../../schedule/job';
import { installCompletion, type CompletionInstall } from '../../shell/completion/install';
import { COMPLETION_SCRIPTS, type Shell } from '../../shell/completion';
import type { Place } from '../../shell/completion/tree';
import type { Context } from '../../app/context';
import { openHooks } from '../../app/hooks';
import { schedulerOf } from '../../app/schedule';
import { setUpSense } from '../../app/sense';

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
    if (!isHere) throw noScheduler(processHost());
    const said = [`${job.id}:`, warning, hint].filter((part) => part !== undefined).join(' ');
    return { job: job.id, scheduler: scheduler.kind, changed: false, warnings: [said] };
  }
  return { job: job.id, scheduler: scheduler.kind, changed: !(isHere && loaded) };
}
