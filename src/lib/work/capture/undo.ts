import { toStewardError, type StewardError } from '../../errors';
import { keptIntentions, withdraw } from '../../sessions/spool';
import { type Intention } from '../../sessions/intention';
import { addComment } from '../actions';
import { cacheIssue, readCache } from '../cache';
import type { OpenRepo, WorkDeps } from '../deps';
import { lostIssue, readLedger, writeEntry } from '../ensure';
import { isGone } from '../host/failure';
import { identityKey, titleText, toIssue } from '../issue';
import { openForWriting, repoOf } from '../privacy';
import { capturedKeysPath, capturedPrompts, recordUndo } from './keys';

export type Undoable = ReturnType<typeof undoable>[number];

/** `withdrawn`: the capture was never sent. `closed`: the issue is now closed as not planned. */
export interface Undone extends Undoable {
  result: 'withdrawn' | 'closed' | 'was closed' | 'gone';
}

/**
 * Returns the captures from the last `prompts` prompts, newest first. `text` is null if it isn't stored on this machine,
 * `number` if no issue is known for the capture.
 */
export function undoable({ area, paths, workRepo }: WorkDeps, prompts: number) {
  const repo = repoOf(workRepo());
  const waiting = textsOf(keptIntentions(area.spool));
  const entries = readLedger(paths.ledger, repo);
  const { issues } = readCache(paths.cache, repo);
  return capturedPrompts(capturedKeysPath(area))
    .slice(0, prompts)
    .flatMap(({ at, keys }) =>
      keys.map((key) => {
        const number = entries.get(ledgerKey(key))?.number ?? null;
        const issue = issues.find((each) => each.number === number);
        const text = waiting.get(key) ?? (issue === undefined ? null : titleText(issue.title));
        return { key, at, text, number };
      }),
    );
}

/**
 * Undoes captures: withdraws pending captures, and closes the issues of sent captures. After a failure,
 * continues with the remaining captures and then throws the first error.
 */
export async function undo(deps: WorkDeps, captures: readonly Undoable[]): Promise<Undone[]> {
  const keys = new Set(captures.map(({ key }) => key));
  // Withdraw captures from the spool first, so that no delivery can create their issues in the meantime.
  const matches = ({ capture }: Intention): boolean => capture !== undefined && keys.has(capture.key);
  const texts = textsOf(await withdraw(deps, matches));
  const done: Undone[] = [];
  let trouble: StewardError | undefined;
  for (const capture of captures) {
    try {
      const text = capture.text ?? texts.get(capture.key) ?? null;
      done.push({ ...capture, text, ...(await undoOne(deps, capture)) });
      recordUndo(capturedKeysPath(deps.area), capture.key);
    } catch (error) {
      trouble ??= toStewardError(error);
    }
  }
  if (trouble !== undefined) throw trouble;
  return done;
}

function textsOf(intentions: readonly Intention[]): Map<string, string> {
  return new Map(
    intentions.flatMap(({ capture }) =>
      capture === undefined ? [] : [[capture.key, `${capture.kind}: ${capture.text}`] as const],
    ),
  );
}

async function undoOne(deps: WorkDeps, capture: Undoable): Promise<Pick<Undone, 'number' | 'result'>> {
  const key = ledgerKey(capture.key);
  const entry = readLedger(deps.paths.ledger, repoOf(deps.workRepo())).get(key);
  if (entry === undefined) return { number: capture.number, result: 'withdrawn' };
  const open = await openForWriting(deps);
  const number = entry.number ?? (await lostIssue(open, key, entry.at))?.number;
  if (number !== undefined) return { number, result: await close(open, number) };
  writeEntry(open, key, undefined);
  return { number: capture.number, result: 'withdrawn' };
}

const COMMENT = 'Undone with `steward work undo`: this issue was captured from a prompt and is not planned.';

async function close(open: OpenRepo, number: number): Promise<Undone['result']> {
  const { deps, host, repo } = open;
  try {
    const issue = await host.issue(repo, number);
    if (issue.state === 'closed') return 'was closed';
    await addComment(open, issue, COMMENT);
    const closed = await host.updateIssue(repo, number, { state: 'closed', stateReason: 'not_planned' });
    cacheIssue(deps, repo, toIssue(closed));
    return 'closed';
  } catch (error) {
    if (isGone(error)) return 'gone';
    throw error;
  }
}

function ledgerKey(key: string): string {
  return identityKey({ kind: 'id', value: key });
}
