import { toStewardError, type StewardError } from '../../errors';
import { keptIntentions, withdraw, type Intention } from '../../sessions/spool';
import { addComment } from '../actions';
import { readCache, remember } from '../cache';
import type { Open, WorkDeps } from '../deps';
import { lostIssue, readLedger, writeEntry } from '../ensure';
import { isGone } from '../host/failure';
import { identityKey, parseTitle } from '../issue';
import { openForWriting, repoOf } from '../privacy';
import { spoolOf } from './deliver';
import { lastSeen, noteUndone, promptsSeen } from './seen';

/** One capture that can be taken back. */
export interface Undoable {
  key: string;
  /** When its prompt was said, ISO-8601 UTC. */
  at: string;
  /** What was kept; null where only the repository knows. */
  text: string | null;
  /** Its issue; null while it waits to be sent, or where nobody knows yet whether it was. */
  number: number | null;
}

/** What became of it. `withdrawn`: it never left; `closed`: its issue is closed as not planned. */
export interface Undone extends Undoable {
  result: 'withdrawn' | 'closed' | 'was closed' | 'gone';
}

/** What `work undo` would take back: what the last prompts asked to be kept, the newest first. */
export function undoable({ area, paths, workRepo }: WorkDeps, prompts: number): Undoable[] {
  const repo = repoOf(workRepo());
  const waiting = textsOf(keptIntentions(area.spool));
  const entries = readLedger(paths.ledger, repo);
  const { issues } = readCache(paths.cache, repo);
  return lastSeen(promptsSeen(area))
    .slice(0, prompts)
    .flatMap(({ at, keys }) =>
      keys.map((key) => {
        const number = entries.get(idOf(key))?.number ?? null;
        const issue = issues.find((one) => one.number === number);
        const text = waiting.get(key) ?? (issue === undefined ? null : parseTitle(issue.title).text);
        return { key, at, text, number };
      }),
    );
}

/**
 * Takes captures back: one that still waits is withdrawn and never leaves; one that was made is closed as not planned,
 * with a word of why. A creation whose answer was lost is looked for first. What could not be taken back is thrown,
 * after the others, and stays as it was.
 */
export async function undo(deps: WorkDeps, captures: readonly Undoable[]): Promise<Undone[]> {
  const keys = new Set(captures.map(({ key }) => key));
  // First out of the spool: after that nobody creates it any more.
  const isMeant = ({ capture }: Intention): boolean => capture !== undefined && keys.has(capture.key);
  const texts = textsOf(await withdraw(spoolOf(deps), isMeant));
  const done: Undone[] = [];
  let trouble: StewardError | undefined;
  for (const capture of captures) {
    try {
      done.push(await undoOne(deps, { ...capture, text: capture.text ?? texts.get(capture.key) ?? null }));
      noteUndone(promptsSeen(deps.area), capture.key);
    } catch (error) {
      trouble ??= toStewardError(error);
    }
  }
  if (trouble !== undefined) throw trouble;
  return done;
}

/** What was kept, by its key. */
function textsOf(intentions: readonly Intention[]): Map<string, string> {
  return new Map(
    intentions.flatMap(({ capture }) =>
      capture === undefined ? [] : [[capture.key, `${capture.kind}: ${capture.text}`] as const],
    ),
  );
}

async function undoOne(deps: WorkDeps, capture: Undoable): Promise<Undone> {
  const key = idOf(capture.key);
  const entry = readLedger(deps.paths.ledger, repoOf(deps.workRepo())).get(key);
  if (entry === undefined) return { ...capture, result: 'withdrawn' };
  const open = await openForWriting(deps);
  const number = entry.number ?? (await lostIssue(open, key, entry.at))?.number;
  if (number !== undefined) return { ...capture, number, result: await close(open, number) };
  writeEntry(open, key, undefined);
  return { ...capture, result: 'withdrawn' };
}

const WHY = 'Taken back by `steward work undo`: it was captured from a prompt, and is not to be done.';

async function close(open: Open, number: number): Promise<Undone['result']> {
  const { deps, host, repo } = open;
  try {
    const issue = await host.issue(repo, number);
    if (issue.state === 'closed') return 'was closed';
    await addComment(open, issue, WHY);
    const closed = await host.updateIssue(repo, number, { state: 'closed', stateReason: 'not_planned' });
    remember(deps, repo, closed);
    return 'closed';
  } catch (error) {
    if (isGone(error)) return 'gone';
    throw error;
  }
}

function idOf(key: string): string {
  return identityKey({ kind: 'id', value: key });
}
