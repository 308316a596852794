import { ASSISTANTS } from '../assistant';
import { findSessions, type FindQuery, type FoundSession } from '../assistant/find';
import { transcriptsSince } from '../assistant/transcripts';
import { orUndefined } from '../assistant/registered';
import { processHost } from '../platform/files/paths';
import { onInterrupt } from '../platform/process/own-process';
import { yielder } from '../platform/time/wait';
import { findLogs } from '../usage/find-logs';
import type { Context } from '../app/context';

const SLICE_MS = 50;

/** Searches the transcripts of all assistants until you press Ctrl-C or `isQuit` is true. Stores nothing. */
export async function findNow(
  { clock }: Pick<Context, 'clock'>,
  query: FindQuery,
  onFound: (found: FoundSession) => unknown,
  isQuit: () => boolean = () => false,
): ReturnType<typeof findSessions> {
  const host = processHost();
  const { changed } = findLogs(host, {}, query.startMs);
  const logs = ASSISTANTS.flatMap((assistant) => {
    const folders = orUndefined(() => assistant.transcripts?.(host)) ?? [];
    const own = changed.filter(
      ({ reader }) => reader.kind === 'database' && reader.assistant === assistant.id,
    );
    const databases = own.map(({ path }) => ({ path, mtimeMs: Infinity }));
    return [...databases, ...transcriptsSince(folders, query.startMs)].map((log) => ({ assistant, ...log }));
  });
  logs.sort((a, b) => b.mtimeMs - a.mtimeMs);
  let isStopped = false;
  const release = onInterrupt(() => (isStopped = true));
  const turn = yielder(clock, SLICE_MS);
  const pause = (): Promise<boolean> => turn().then(() => !isStopped && !isQuit());
  return findSessions(logs, query, { onFound, pause }).finally(release);
}
