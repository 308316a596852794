import { join } from 'node:path';

import { listFolder, lstatOf, removeFile } from '../../platform/folder';

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

/** Removes the logs of sessions that nothing was written to for some days. The service keeps its own. */
export function pruneSessions(folder: string, days: number, nowMs: number): void {
  const kept = new Set(
    localSessions(folder).filter((id) =>
      ENDINGS.some((ending) => nowMs - mtimeOf(folder, `${id}${ending}`) < days * 86_400_000),
    ),
  );
  for (const name of listFolder(folder)) {
    const ending = ENDINGS.find((end) => name.endsWith(end));
    if (ending === undefined || kept.has(name.slice(0, -ending.length))) continue;
    if (nowMs - mtimeOf(folder, name) >= days * 86_400_000) removeFile(join(folder, name));
  }
}

function mtimeOf(folder: string, name: string): number {
  return lstatOf(join(folder, name))?.mtimeMs ?? 0;
}
