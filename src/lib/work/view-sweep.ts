import { clean } from '../platform/terminal/terminal';
import { skippedWords } from './view-parts';
import { waitingText } from './capture/waiting';
import type { SweepResult } from './sweep/run';

/** `work sweep`: what was done, and the command that goes on where the limit was reached. */
export function sweepText(result: SweepResult, since: string, maxCreate: number): string {
  const waiting = result.waiting.map((one) => `${waitingText(one)}.`);
  if (result.skipped !== null) return [`Nothing was swept: ${result.skipped}.`, ...waiting].join('\n');
  if (result.errors.some(({ step }) => step === 'start')) return 'Nothing was swept.';
  const { created, updated, staleFlagged, duplicatesMerged, sessionsScanned, requests } = result;
  const facts = [
    `${created} ${result.dryRun ? 'to create' : 'created'}`,
    `${updated} updated`,
    `${staleFlagged} ${result.dryRun ? 'to flag' : 'flagged'} as stale`,
    duplicatesMerged === 1 ? '1 duplicate' : `${duplicatesMerged} duplicates`,
    sessionsScanned === 1 ? '1 session seen' : `${sessionsScanned} sessions seen`,
    ...(result.reminded === 0 ? [] : [`${result.reminded} reminded`]),
    ...(result.malformed === 0 ? [] : [skippedWords(result.malformed)]),
    requests === 1 ? '1 request' : `${requests} requests`,
  ];
  const more =
    result.left === 0
      ? []
      : [
          `${result.left} more wait; go on with: steward work sweep --since ${since} --max-create ${maxCreate}`,
        ];
  return [...result.titles.map((title) => `  ${clean(title)}`), facts.join(' · '), ...more, ...waiting].join(
    '\n',
  );
}
