import type { Context } from '../../app/context';
import { schedulerOf } from '../../app/schedule';
import { setUpSense } from '../../app/sense';
import { claudeCode } from '../../assistant/claude-code';
import { installEach, type HooksInstalled } from '../../assistant/install';
import { hasSkill } from '../../assistant/skill';
import { StewardError, toStewardError, throwIfBug } from '../../errors';
import { processHost } from '../../platform/files/paths';
import type { Prompt } from '../../platform/terminal/ask';
import { noScheduler, type JobInstalled, type Scheduler } from '../../schedule';
import { DAEMON_JOB, INSTALLERS, tickJob, type Job, type JobId } from '../../schedule/job';
import { COMPLETION_SCRIPTS, SHELLS, type Completions, type Shell } from '../../shell/completion';
import { installCompletion, ownShell, type CompletionInstall } from '../../shell/completion-install';
import { openHooks } from '../../app/hooks';
import { foundAssistants, isClaudeInstalled, listOf, titlesOf } from '../../assistant/registered';
import { chosenJobs } from '../init/step';
import { DEFAULT_JOB } from '../init/step-services';

interface InstallChoice {
  hooks: boolean;
  /** The assistants whose hooks to install, such as `codex,qwen`. */
  assistants?: string;
  /** Whether to install the assistant's work skill with the hooks. */
  skill: boolean;
  jobs: readonly JobId[];
  completion: Shell | undefined;
}

interface InstallFlags {
  yes: boolean;
  hooks?: boolean | undefined;
  skill?: boolean | undefined;
  jobs?: string | undefined;
  completion?: string | undefined;
}

/**
 * Returns the parts that the flags select, or undefined if no flag selects a part. `--yes` adds the default
 * parts.
 */
export function choiceOf(flags: InstallFlags): InstallChoice | undefined {
  const { yes, hooks: isHooks, skill: isSkill, jobs, completion } = flags;
  if (!yes && [isHooks, isSkill, jobs, completion].every((flag) => flag === undefined)) return undefined;
  const skill = isSkill === true;
  const hooks = isHooks ?? ((yes && isClaudeInstalled()) || skill);
  if (!hooks && skill) {
    throw new StewardError('usage', 'The work skill needs the hooks.', {
      hint: 'Omit --no-hooks or --skill.',
    });
  }
  const chosen = jobs === undefined ? (yes ? [DEFAULT_JOB] : []) : chosenJobs('job', jobs);
  return { hooks, skill, jobs: chosen, completion: SHELLS.find((shell) => shell === completion) };
}

export async function askChoice(questions: Prompt, say: (text: string) => void): Promise<InstallChoice> {
  say('Hooks report when an assistant session is working or waiting for you.');
  const assistants = foundAssistants();
  const hooks = await questions.yes(`Register hooks with ${titlesOf(assistants)}?`, 'yes');
  const about = 'Also install the work skill for Claude Code (checks tasks, adds issues and reminders)?';
  const mayAsk = hooks && assistants.includes(claudeCode) && !hasSkill({ host: processHost() }, claudeCode);
  const skill = mayAsk && (await questions.yes(about, 'no'));
  say(
    'Jobs:\n  daemon: captures, delivers and sweeps, and serves the dashboard\n  tick: the same every two minutes, without the dashboard',
  );
  const text = await questions.line(`Job to schedule: daemon, tick or none [${DEFAULT_JOB}]: `);
  const jobs = chosenJobs('job', text === '' ? DEFAULT_JOB : text);
  const shell = ownShell();
  const wanted = shell !== undefined && (await questions.yes(`Install completion for ${shell}?`, 'yes'));
  return { hooks, assistants: listOf(assistants), skill, jobs, completion: wanted ? shell : undefined };
}

export interface Installed {
  dryRun: boolean;
  hooks: (HooksInstalled & { more: HooksInstalled[] }) | null;
  /** In a dry run, only `job`, `scheduler` and `changed` are set. `changed` then means a planned change. */
  jobs: (Pick<JobInstalled, 'job' | 'scheduler' | 'changed'> & Partial<JobInstalled>)[];
  completion: CompletionInstall | null;
  warnings: string[];
  /** The parts that could not be installed. */
  failed: { what: string; why: string; kind: string }[];
}

/** Installs the chosen parts. If a part fails, continues with the others. A dry run writes nothing. */
export async function installAll(
  context: Context,
  input: { choice: InstallChoice; places: readonly Completions[]; dryRun: boolean },
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
      const { deps, assistants } = openHooks(context, choice.assistants);
      const { results, failures } = await installEach(deps, assistants, { dryRun, skill: choice.skill });
      const [first, ...more] = results;
      if (first !== undefined) result.hooks = { ...first, more };
      result.warnings.push(...results.flatMap(({ warnings }) => warnings));
      for (const failure of failures) await attempt('hooks', () => Promise.reject(toStewardError(failure)));
    });
  }
  for (const id of choice.jobs) {
    await attempt(INSTALLERS[id].replace(/^steward /, ''), async () => {
      const { config } = await context.loadConfig();
      const scheduler = await schedulerOf(context);
      const job = id === 'daemon' ? DAEMON_JOB : tickJob(config.sense);
      const installed = dryRun ? await planJob(scheduler, job) : await scheduler.install(job);
      result.jobs.push(installed);
      result.warnings.push(...(installed.warnings ?? []));
    });
  }
  const { completion: shell } = choice;
  if (shell !== undefined) {
    await attempt(`completion for ${shell}`, async () => {
      const script = COMPLETION_SCRIPTS[shell](input.places);
      result.completion = await installCompletion(context, shell, script, { dryRun });
    });
  }
  return { ...result, warnings: [...new Set(result.warnings)] };
}

/** Returns why a part failed. Rethrows internal errors. */
export function reasonOf(error: unknown): { kind: string; why: string } {
  const { kind, message, hint } = throwIfBug(error);
  return { kind, why: hint === undefined ? message : `${message} ${hint}` };
}

async function planJob(scheduler: Scheduler, job: Job): Promise<Installed['jobs'][number]> {
  const { installed, loaded, scheduler: holder, warning, hint } = await scheduler.status(job);
  const isHere = installed && holder === scheduler.kind;
  if (scheduler.available) return { job: job.id, scheduler: scheduler.kind, changed: !(isHere && loaded) };
  if (!isHere) throw noScheduler(processHost(), job);
  const text = [`${job.id}:`, warning, hint].filter((part) => part !== undefined).join(' ');
  return { job: job.id, scheduler: scheduler.kind, changed: false, warnings: [text] };
}
