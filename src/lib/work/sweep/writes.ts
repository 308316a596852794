import { toStewardError } from '../../errors';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { isObject, parseObject } from '../../platform/files/json-object';
import { rememberAll } from '../cache';
import { writeBack } from '../capture/deliver';
import { ensureIssues, type Wanted } from '../ensure';
import type { Host } from '../host';
import { labelNames, onlyExisting } from '../labels';
import type { duplicates, Flagged, Missed, stalePlan } from './plan';
import type { Run, SweepResult } from './run';

/** Notes what was created, or in a dry run would be. */
export function count(result: SweepResult, made: readonly Wanted[]): void {
  result.created += made.length;
  result.projectChecks += made.filter(({ kind }) => kind === 'project-check').length;
  result.goals += made.filter(({ kind }) => kind === 'goal').length;
}

/** Makes the issues that are missing, each once, and writes the number of a session's into its artifact. */
export async function createAll(
  run: Run,
  host: Host,
  repo: string,
  wanted: readonly (Wanted & Partial<Missed>)[],
): Promise<void> {
  const { deps, result, options } = run;
  let index = 0;
  await ensureIssues(deps, host, repo, wanted, ({ action, issue, missingLabels }) => {
    const one = wanted[index++];
    options.onStep?.(`${index} of ${wanted.length}: ${issue.title}`);
    if (one?.folder !== undefined) {
      // The next sweep writes back what could not be written now: the issue is found by its identity.
      try {
        writeBack(deps, one.folder, issue);
      } catch (error) {
        result.errors.push({ step: 'write-back', message: toStewardError(error).message });
      }
    }
    if (missingLabels.length > 0)
      deps.report('labels-missing', { issue: issue.number, labels: missingLabels });
    if (action === 'found') result.updated += 1;
    else if (one !== undefined) {
      count(result, [one]);
      result.titles.push(issue.title);
    }
  });
}

/** Closes duplicates as not planned, each with a pointer to the one that stays. */
export async function mergeAll(
  { deps, result }: Run,
  host: Host,
  repo: string,
  groups: ReturnType<typeof duplicates>,
): Promise<void> {
  await rememberAll(deps, repo, async (remember) => {
    for (const { keep, close } of groups) {
      for (const { number } of close) {
        await host.comment(repo, number, `This is the same as #${keep.number}; it goes on there.`);
        remember(await host.updateIssue(repo, number, { state: 'closed', stateReason: 'not_planned' }));
        result.duplicatesMerged += 1;
      }
    }
  });
}

/** Flags what stands still, and takes the flag from what was touched; noted one by one, so a kill repeats one at most. */
export async function flagAll(
  { deps, result }: Run,
  host: Host,
  repo: string,
  { flag, unflag }: ReturnType<typeof stalePlan>,
): Promise<void> {
  if (flag.length + unflag.length === 0) return;
  const flags = { ...readFlags(deps.flags) };
  const { labels } = onlyExisting(['stale'], await labelNames(deps, host, repo), repo);
  await rememberAll(deps, repo, async (remember) => {
    for (const { number } of labels.length === 0 ? [] : flag) {
      await host.addLabels(repo, number, labels);
      const after = await host.issue(repo, number);
      flags[String(number)] = after.updatedAt;
      writeFlags(deps.flags, flags);
      remember(after);
      result.staleFlagged += 1;
    }
    for (const { number } of unflag) {
      await host.removeLabel(repo, number, 'stale');
      delete flags[String(number)];
      writeFlags(deps.flags, flags);
      remember(await host.issue(repo, number));
      result.updated += 1;
    }
  });
}

/** Which issues were flagged as stale, and when. */
export function readFlags(path: string): Flagged {
  const stored = parseObject(readText(path, { maxBytes: 1024 * 1024 }) ?? '')?.['flagged'];
  return isObject(stored) ? (stored as Flagged) : {};
}

function writeFlags(path: string, flagged: Flagged): void {
  replaceFile(path, `${JSON.stringify({ version: 1, flagged })}\n`);
}
