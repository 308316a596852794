import type { StewardError } from '../../errors';
import { toStewardError } from '../../errors';
import { keptIntentions, withdraw, type Intention, type SpoolDeps } from '../../sessions/spool';
import { readCache, remember } from '../cache';
import { lostIssue, type EnsureDeps } from '../ensure';
import type { Host } from '../host';
import { failureOf } from '../host/failure';
import { identityKey, parseTitle } from '../issue';
import { readLedger, writeEntry } from '../ledger';
import { openForWriting, repoOf } from '../privacy';
import { lastSeen, noteUndone } from './seen';

export interface UndoDeps extends EnsureDeps {
  spool: SpoolDeps;
  /** state/prompts-seen.json */
  seen: string;
}

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
export function undoable(deps: UndoDeps, prompts: number): Undoable[] {
  const repo = repoOf(deps.workRepo());
  const waiting = textsOf(keptIntentions(deps.spool.path));
  const { entries } = readLedger(deps.ledger, repo);
  const { issues } = readCache(deps.paths.cache, repo);
  return lastSeen(deps.seen)
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
export async function undo(deps: UndoDeps, captures: readonly Undoable[]): Promise<Undone[]> {
  const repo = repoOf(deps.workRepo());
  const keys = new Set(captures.map(({ key }) => key));
  // First out of the spool: after that nobody creates it any more.
  const texts = textsOf(
    await withdraw(deps.spool, ({ capture }) => capture !== undefined && keys.has(capture.key)),
  );
  const done: Undone[] = [];
  let trouble: StewardError | undefined;
  for (const capture of captures) {
    try {
      done.push(
        await undoOne(deps, repo, { ...capture, text: capture.text ?? texts.get(capture.key) ?? null }),
      );
      noteUndone(deps.seen, capture.key);
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

async function undoOne(deps: UndoDeps, repo: string, capture: Undoable): Promise<Undone> {
  const entry = readLedger(deps.ledger, repo).entries.get(idOf(capture.key));
  if (entry === undefined) return { ...capture, result: 'withdrawn' };
  await openForWriting(deps);
  const host = await deps.host();
  const number =
    entry.number ?? (await lostIssue(deps, host, repo, { key: idOf(capture.key), at: entry.at }))?.number;
  if (number === undefined) {
    writeEntry(deps.ledger, repo, idOf(capture.key), undefined);
    return { ...capture, result: 'withdrawn' };
  }
  return { ...capture, number, result: await close(deps, host, repo, number) };
}

const WHY = 'Taken back by `steward work undo`: it was captured from a prompt, and is not to be done.';

async function close(deps: UndoDeps, host: Host, repo: string, number: number): Promise<Undone['result']> {
  try {
    if ((await host.issue(repo, number)).state === 'closed') return 'was closed';
    // Killed before it was closed, the same command run again does not say it twice.
    const said = (await host.comments(repo, number)).at(-1);
    if (said?.body !== WHY) await host.comment(repo, number, WHY);
    remember(
      deps,
      repo,
      await host.updateIssue(repo, number, { state: 'closed', stateReason: 'not_planned' }),
    );
    return 'closed';
  } catch (error) {
    const reason = failureOf(error)?.reason;
    if (reason === 'missing' || reason === 'gone') return 'gone';
    throw error;
  }
}

function idOf(key: string): string {
  return identityKey({ kind: 'id', value: key });
}
