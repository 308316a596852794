import { utimesSync } from 'node:fs';
import { basename, join } from 'node:path';

import { unless } from '../../errors';
import { renameOver, replaceFile } from './atomic-file';
import { ensureFolder, listFolder, lstatOf, removeFile } from './folder';
import { objectIn } from './object-file';

// A queue's `dead` folder has one file per failed entry. The file's modification time is the time of the
// failure, and its `deadReason` or `reason` field is the cause.
const KEEP_MS = 30 * 86_400_000;
const MAX_KEPT = 1000;
/** File that stores the number of pruned entries. */
const PRUNED = 'pruned.json';

export interface Burial {
  atMs: number;
  /** Why the entry failed. Omit this if the entry already has a `reason`. */
  reason?: string;
}

/** Moves a file into the dead folder; returns false if another process moved it first. */
export function bury(folder: string, from: string, { atMs, reason }: Burial): boolean {
  if (!moveInto(folder, from)) return false;
  const to = join(folder, basename(from));
  if (reason !== undefined) {
    const value = objectIn(to);
    if (value !== undefined) {
      replaceFile(to, `${JSON.stringify({ ...value, deadReason: reason })}\n`, { sync: 'content' });
    }
  }
  utimesSync(to, atMs / 1000, atMs / 1000);
  return true;
}

/** Moves a file into a folder, creating the folder if needed; returns false if the file doesn't exist. */
export function moveInto(folder: string, from: string): boolean {
  ensureFolder(folder);
  const moved = unless(['ENOENT'], () => {
    renameOver(from, join(folder, basename(from)));
    return true;
  });
  return moved ?? false;
}

/** Returns the names of the entries, oldest first. */
export function deadNames(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.') && name !== PRUNED)
    .sort();
}

type DeadReport = ReturnType<typeof deadReport>;

export function deadReport(folder: string) {
  const names = deadNames(folder);
  const counts = new Map<string, number>();
  for (const name of names) {
    const reason = reasonOf(join(folder, name));
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const reasons = [...counts].map(([reason, count]) => ({ reason, count }));
  return {
    count: names.length,
    pruned: prunedIn(folder),
    reasons: reasons.sort((a, b) => b.count - a.count),
  };
}

const MOST_REASONS = 3;

/**
 * Formats a report such as `3 failed permanently: the request was rejected (2), timeout (1)`; returns
 * undefined if there is nothing to report.
 */
export function deadText({ count, pruned, reasons }: DeadReport): string | undefined {
  const shown = reasons
    .slice(0, MOST_REASONS)
    .map(({ reason, count }) => `${reason.replace(/\.$/, '')} (${count})`);
  const more = reasons.length > MOST_REASONS ? [`and ${reasons.length - MOST_REASONS} more`] : [];
  const facts = [
    ...(count === 0 ? [] : [`${count} failed permanently: ${[...shown, ...more].join(', ')}`]),
    ...(pruned === 0 ? [] : [`${pruned} older ${pruned === 1 ? 'failure' : 'failures'} already deleted`]),
  ];
  return facts.length === 0 ? undefined : facts.join(' · ');
}

function reasonOf(path: string): string {
  const value = objectIn(path);
  if (value === undefined) return 'the file cannot be read';
  const { deadReason, reason } = value;
  return [deadReason, reason].find((text) => typeof text === 'string') ?? 'not recorded';
}

/**
 * Removes entries older than 30 days, and keeps at most 1,000 of the others (the newest). Must not run
 * concurrently.
 */
export function pruneDead(folder: string, nowMs: number): void {
  const names = deadNames(folder);
  const over = names.filter((name, index) => {
    const facts = lstatOf(join(folder, name));
    if (facts?.isFolder === true) return false;
    return index < names.length - MAX_KEPT || nowMs - (facts?.mtimeMs ?? nowMs) > KEEP_MS;
  });
  if (over.length === 0) return;
  // Update the count before removing files, so that a crash can't leave the count too low.
  replaceFile(join(folder, PRUNED), `${JSON.stringify({ count: prunedIn(folder) + over.length })}\n`);
  for (const name of over) removeFile(join(folder, name));
}

function prunedIn(folder: string): number {
  const count = objectIn(join(folder, PRUNED))?.['count'];
  return typeof count === 'number' ? count : 0;
}
