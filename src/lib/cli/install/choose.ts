import type { Questions } from '../../platform/ask';
import { JOB_IDS } from '../../schedule/job';
import { chosenNames } from '../init/choice';
import { usualJobs } from '../init/step-machine';
import { unknownName } from '../init/step-sense';
import { ownShell } from '../completion/install';
import { SHELLS, type Shell } from '../completion';
import type { Context } from '../context';
import type { InstallChoice } from './install';

/** The flags of `steward install`. */
export interface InstallFlags {
  yes: boolean;
  hooks?: boolean | undefined;
  jobs?: string | undefined;
  completion?: string | undefined;
}

/** What the flags choose; with `--yes` the usual of what they do not name. Wrong names are `usage`. */
export async function choiceOf(context: Context, flags: InstallFlags): Promise<InstallChoice> {
  const loaded = await context.loadConfig();
  const usual = usualJobs({ config: () => loaded.config });
  const jobs = flags.jobs === undefined ? (flags.yes ? usual : []) : named(flags.jobs);
  return {
    hooks: flags.hooks ?? flags.yes,
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
  say(
    "Jobs for the scheduler: sense (capture), daemon (pages and notifications), work (a sweep every hour), insight (an outline of your day goes to your assistant's model every hour).",
  );
  const text = await questions.line(`Schedule which: all, none, or some of these [${usual}]: `);
  const jobs = named(text === '' ? usual : text);
  const shell: Shell | undefined = ownShell();
  const wanted = shell !== undefined && (await questions.yes(`Complete commands in ${shell}?`, 'yes'));
  return { hooks, jobs, completion: wanted ? shell : undefined };
}

function named(text: string): InstallChoice['jobs'] {
  const answer = chosenNames(text, JOB_IDS);
  if ('unknown' in answer) throw unknownName('A job', answer.unknown, JOB_IDS);
  return answer.chosen;
}
