import type { Context } from '../../app/context';
import { statusOfJob } from '../jobs';
import { claudeCode } from '../../assistant/claude-code';
import { foundAssistants, isClaudeInstalled, listOf, titlesOf } from '../../assistant/registered';
import { hasSkill } from '../../assistant/skill';
import { StewardError, throwIfBug } from '../../errors';
import { processHost } from '../../platform/files/paths';
import type { Prompt } from '../../platform/terminal/ask';
import { localTimes } from '../../platform/time/day-words';
import { jobText, type Scheduled } from '../../schedule/installer';
import type { Completions } from '../../shell/completion';
import { ownShell } from '../../shell/completion-install';
import { REMOVE_FROM_BROWSER } from '../../sense/view-web';
import { chosenJobs } from '../init/step';
import { DEFAULT_JOB } from '../init/step-services';
import { removeExtension } from '../web';
import {
  PARTS,
  PART_IDS,
  type Installed,
  type InstallOptions,
  type PartId,
  type Uninstalled,
  type Uninstalling,
} from './parts';

interface Choice {
  parts: readonly PartId[];
  options: InstallOptions;
}

/** Returns the parts that `--yes` installs. */
export function defaultParts(): PartId[] {
  return isClaudeInstalled() ? ['hooks', DEFAULT_JOB] : [DEFAULT_JOB];
}

/** Throws `usage` for a flag that concerns only parts that were not chosen. */
export function refuseOtherFlags(parts: readonly PartId[], options: InstallOptions): void {
  const allowed = new Set(parts.flatMap((id) => PARTS[id].flags));
  for (const id of PART_IDS) {
    const flag = PARTS[id].flags.find((name) => options[name] !== undefined && !allowed.has(name));
    if (flag !== undefined)
      throw new StewardError('usage', `--${flag} belongs to "steward install ${id}".`, {
        hint: 'Install one part at a time, or omit the flag.',
      });
  }
}

export async function askChoice(
  questions: Prompt,
  options: InstallOptions,
  say: (text: string) => void,
): Promise<Choice> {
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
  const [job] = chosenJobs('job', text === '' ? DEFAULT_JOB : text);
  const shell = ownShell();
  const wanted = shell !== undefined && (await questions.yes(`Install completion for ${shell}?`, 'yes'));
  const parts: PartId[] = [
    ...(hooks ? (['hooks'] as const) : []),
    ...(job === undefined ? [] : [job === 'tick' ? ('jobs' as const) : job]),
    ...(wanted ? (['completion'] as const) : []),
  ];
  return { parts, options: { ...options, mayAsk: false, assistant: listOf(assistants), skill } };
}

/** Returns the status of the tick or the daemon, and its text. */
export async function jobState(context: Context, what: Scheduled) {
  const { job, status } = await statusOfJob(context, what);
  return { status, text: jobText(status, job, localTimes(context.clock)) };
}

/** Installs the chosen parts. Continues after a failure, unless only one part was chosen. */
export async function installAll(
  context: Context,
  { parts, options }: Choice,
  { places, print }: { places: readonly Completions[]; print: (text: string) => void },
): Promise<Installed> {
  const { dryRun } = options;
  const result: Installed = { dryRun, hooks: [], jobs: [], completion: null, warnings: [], failed: [] };
  await eachPart(
    parts,
    (id) => PARTS[id].install({ context, options, places, result, print }),
    (what, error) => result.failed.push({ what, ...reasonOf(error) }),
  );
  return { ...result, warnings: [...new Set(result.warnings)] };
}

/** Removes what was installed on this machine, except the user area. Continues after a failure as an install does. */
export async function uninstallAll(
  context: Context,
  parts: readonly PartId[],
  options: Pick<Uninstalling, 'dryRun' | 'assistant' | 'print'>,
): Promise<Uninstalled> {
  const { dryRun, print } = options;
  const result: Uninstalled = { dryRun, jobs: [], daemonStopped: false, hooks: null, files: [], left: [] };
  const isWhole = parts.length === PART_IDS.length;
  await eachPart(
    parts,
    (id) => PARTS[id].uninstall({ context, ...options, isWhole, result }),
    (what, error) => result.left.push({ what, why: reasonOf(error).why }),
  );
  const { removed } = isWhole ? removeExtension(context, dryRun) : { removed: [] };
  result.files.push(...removed);
  for (const path of removed) print(`${dryRun ? 'Would remove' : 'Removed'} ${path}`);
  if (removed.length > 0) print(REMOVE_FROM_BROWSER);
  return result;
}

async function eachPart(
  parts: readonly PartId[],
  work: (id: PartId) => Promise<void>,
  onFailure: (id: PartId, error: unknown) => void,
): Promise<void> {
  for (const id of parts) {
    try {
      await work(id);
    } catch (error) {
      if (parts.length === 1) throw error;
      onFailure(id, error);
    }
  }
}

/** Returns why a part failed. Rethrows internal errors. */
function reasonOf(error: unknown): { kind: string; why: string } {
  const { kind, message, hint } = throwIfBug(error);
  return { kind, why: hint === undefined ? message : `${message} ${hint}` };
}
