import { StewardError } from '../../errors';
import { canAsk, confirm } from '../../platform/terminal/ask';
import { exists } from '../../platform/files/folder';
import { wait } from '../../platform/time/wait';
import type { Running } from '../../schedule/running';
import type { Context } from '../../app/context';
import { waitForRuns } from '../../app/scheduled-run';
import { purge, type PurgePlan } from './purge';
import type { Uninstalled } from './uninstall';
import { purgeText } from './view';

type Say = (text: string) => void;

/** Shows what goes for good, and asks; a no is `canceled`, and no terminal to ask on without `--yes` is `usage`. */
export async function consentToPurge(
  plan: PurgePlan,
  { yes, dryRun, json }: { yes: boolean; dryRun: boolean; json: boolean },
  say: Say,
): Promise<void> {
  if (!json) say(purgeText(plan));
  if (dryRun || yes) return;
  if (json || !canAsk()) {
    throw new StewardError('usage', 'There is no terminal to ask on.', {
      hint: 'Say yes with: steward uninstall --purge --yes',
    });
  }
  if (await confirm('Uninstall, and remove all of this?', 'no')) return;
  throw new StewardError('canceled', 'Nothing was removed.', { hint: 'Run it again when you want to.' });
}

/** Longer than a hook goes on after its last look for the shim, also on a machine that is busy. */
const HOOK_MS = 1000;

/**
 * Removes the data, once nothing writes into them any more. Hooks that had begun before theirs were taken out leave no
 * note, which would cost each of them: they get time to end. A run that goes on for too long is `locked`; the data stay
 * where it had begun before they went.
 */
export async function purgeData(
  context: Context,
  { hooks }: Pick<Uninstalled, 'hooks'>,
  say: Say,
): Promise<void> {
  if (hooks.shim.removed) await wait(HOOK_MS);
  await endRuns(context, say, 'The data were not removed.');
  purge(context.area);
  // What a hook had started to deliver notes itself and looks for the area then: it may have seen it a moment ago.
  await endRuns(context, say, 'The data were removed, and it may write some of them again.');
  if (exists(context.area.root)) purge(context.area);
}

/** Waits for runs that had begun before: they would write into what is being removed. */
async function endRuns(context: Context, say: Say, soFar: string): Promise<void> {
  const named = (runs: readonly Running[]): string =>
    runs.map(({ job, pid }) => `${job} (process ${pid})`).join(', ');
  const running = await waitForRuns(context, (runs) => say(`Waiting for ${named(runs)} to end.`));
  if (running.length === 0) return;
  throw new StewardError('locked', `Still running: ${named(running)}. ${soFar}`, {
    hint: 'Jobs and hooks are gone, so nothing starts anew: run it again when that has ended, or end that process.',
  });
}
