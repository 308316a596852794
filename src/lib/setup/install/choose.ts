import { claudeCodeSettings } from '../../assistant/claude-code-settings';
import { hasSkill } from '../../assistant/skill';
import { StewardError } from '../../errors';
import type { Questions } from '../../platform/terminal/ask';
import { processHost } from '../../platform/files/paths';
import { JOB_IDS } from '../../schedule/job';
import { chosenNames } from '../init/choice';
import { usualJobs } from '../init/step-machine';
import { unknownName } from '../init/step-sense';
import { ownShell } from '../../shell/completion/install';
import { SHELLS, type Shell } from '../../shell/completion';
import type { Context } from '../../app/context';
import type { InstallChoice } from './install';

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
