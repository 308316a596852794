import { join } from 'node:path';

import { listFolder, lstatOf, removeFile } from '../../platform/files/folder';
import { bury, pruneDead } from '../../platform/files/graveyard';
import { hasPending } from './outbox';

const ENDINGS = ['.jsonl', '.shown', '.send.json', '.start.json'];

/** Ids of the sessions that have a log here, the one that was written to last first. */
export function localSessions(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.send.json') || name.endsWith('.jsonl'))
    .map((name) => ({ id: name.replace(/\.(?:send\.json|jsonl)$/, ''), at: mtimeOf(folder, name) }))
    .sort((a, b) => b.at - a.at)
    .map(({ id }) => id)
    .filter((id, index, all) => all.indexOf(id) === index);
}

/** The folder of messages that were never sent. */
export function deadMessages(folder: string): string {
  return join(folder, 'dead');
}

/**
 * Removes the logs of sessions that nothing was written to for some days; the service keeps its own. A message that was
 * never sent is nowhere else, and is buried.
 */
export function pruneSessions(folder: string, days: number, nowMs: number): void {
  const kept = new Set(
    localSessions(folder).filter((id) =>
      ENDINGS.some((ending) => nowMs - mtimeOf(folder, `${id}${ending}`) < days * 86_400_000),
    ),
  );
  for (const name of listFolder(folder)) {
    const ending = ENDINGS.find((end) => name.endsWith(end));
    if (ending === undefined || kept.has(name.slice(0, -ending.length))) continue;
    if (nowMs - mtimeOf(folder, name) < days * 86_400_000) continue;
    const path = join(folder, name);
    if (isUnsent(folder, name)) {
      bury(deadMessages(folder), path, { atMs: nowMs, reason: `not sent within ${days} days` });
    } else removeFile(path);
  }
  pruneDead(deadMessages(folder), nowMs);
}

function isUnsent(folder: string, name: string): boolean {
  if (name.endsWith('.start.json')) return true;
  return name.endsWith('.send.json') && hasPending(folder, name.slice(0, -'.send.json'.length));
}

function mtimeOf(folder: string, name: string): number {
  return lstatOf(join(folder, name))?.mtimeMs ?? 0;
}
