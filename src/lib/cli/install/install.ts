import { installHooks, type InstallResult as HooksInstalled } from '../../assistant/install';
import { toStewardError } from '../../errors';
import { JOBS, jobOf, type JobId } from '../../schedule/job';
import type { InstallResult as JobInstalled } from '../../schedule';
import { installCompletion, type CompletionInstall } from '../completion/install';
import { COMPLETION_SCRIPTS, type Shell } from '../completion';
import type { Place } from '../completion/tree';
import type { Context } from '../context';
import { openHooks } from '../hooks-context';
import { schedulerOf } from '../schedule-context';
import { setUpSense } from '../sense-context';

/** What is to be installed; what is left out stays as it is. */
export interface InstallChoice {
  hooks: boolean;
  jobs: readonly JobId[];
  completion: Shell | undefined;
}

export interface Installed {
  hooks: HooksInstalled | null;
  jobs: JobInstalled[];
  completion: CompletionInstall | null;
  warnings: string[];
  /** What could not be installed, and why; the rest was. */
  failed: { what: string; why: string; kind: string }[];
}

/**
 * Installs what was chosen, all of it recorded in the manifest; what is there already stays as it is. One part that
 * cannot be installed is told, and stops no other.
 */
export async function installAll(
  context: Context,
  input: { root: string; choice: InstallChoice; places: readonly Place[] },
): Promise<Installed> {
  const { choice, root } = input;
  const result: Installed = { hooks: null, jobs: [], completion: null, warnings: [], failed: [] };
  const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      const { kind, message, hint } = toStewardError(error);
      if (kind === 'internal') throw error;
      result.failed.push({ what, kind, why: [message, ...(hint === undefined ? [] : [hint])].join(' ') });
    }
  };
  await setUpSense(context);
  if (choice.hooks) {
    await attempt('hooks', async () => {
      const { deps, assistant } = openHooks(context, root, 'claude-code');
      result.hooks = await installHooks(deps, { assistant, dryRun: false });
      result.warnings.push(...result.hooks.warnings);
    });
  }
  for (const id of choice.jobs) {
    await attempt(JOBS[id].command.replace(/^steward /, ''), async () => {
      const { config } = await context.loadConfig();
      const installed = await (await schedulerOf(context)).install(jobOf(id, config.sense));
      result.jobs.push(installed);
      result.warnings.push(...installed.warnings);
    });
  }
  const { completion: shell } = choice;
  if (shell !== undefined) {
    await attempt(`completion of ${shell}`, async () => {
      const script = COMPLETION_SCRIPTS[shell](input.places);
      result.completion = await installCompletion(context, shell, script);
    });
  }
  return { ...result, warnings: [...new Set(result.warnings)] };
}
