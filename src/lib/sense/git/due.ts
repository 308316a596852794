import { isAbsolute, sep } from 'node:path';

import { toStewardError } from '../../errors';
import type { Clock } from '../../platform/time/clock';
import { gitFolderAt, type GitFolder } from '../../platform/files/git-folder';
import type { CollectInput } from '../source';
import { newMemory, type Memories, type RepositoryMemory } from './cursor';
import { faultOf, type Fault } from './fault';
import { fingerprintOf, isUnchanged, type Fingerprint } from './fingerprint';

/** After a time-out a repository is left alone: 2 minutes, then twice as long each time, an hour at most. */
const FIRST_REST_MS = 120_000;
const MAX_REST_MS = 3_600_000;

interface Due {
  path: string;
  folder: GitFolder;
  print: Fingerprint;
  memory: RepositoryMemory;
}

/** Which repositories have to be scanned; no process. Longest unscanned first, so that all get their turn. */
export function look(
  repos: readonly string[],
  input: CollectInput,
  clock: Clock,
  memories: Memories,
  faults: Fault[],
): { due: Due[]; watched: number } {
  const due: Due[] = [];
  const ids = new Set<string>();
  let doubles = 0;
  const paths = new Set(repos);
  const usual = usualFolders(memories);
  for (const path of paths) {
    try {
      const known = usual.get(path);
      if (known !== undefined && !ids.has(known.memory.id) && isUnchanged(known.commonDir, known.memory)) {
        ids.add(known.memory.id);
        continue;
      }
      const folder = isAbsolute(path) ? gitFolderAt(path) : undefined;
      if (folder === undefined) {
        faults.push({ path, text: 'no git repository is there (moved away?)' });
        continue;
      }
      // Worktrees, links and double entries of a repository are that one repository.
      if (ids.has(folder.id)) {
        doubles += 1;
        continue;
      }
      ids.add(folder.id);
      const memory = recall(memories, folder, path, input);
      memories.set(folder.commonDir, memory);
      if (isResting(memory, input.nowMs)) {
        faults.push({ path, text: 'git took too long there; it is tried again within the hour' });
        continue;
      }
      const print = fingerprintOf(folder, clock.now());
      if (print.print !== '' && print.print === memory.print) {
        memories.set(folder.commonDir, { ...memory, watch: print.watch });
        continue;
      }
      due.push({ path, folder, print, memory });
    } catch (error) {
      faults.push(faultOf(path, toStewardError(error)));
    }
  }
  due.sort((a, b) => a.memory.scannedMs - b.memory.scannedMs);
  return { due, watched: paths.size - doubles };
}

/** The repositories that are the `.git` folder of the path under which they were found. */
function usualFolders(memories: Memories): Map<string, { commonDir: string; memory: RepositoryMemory }> {
  const usual = new Map<string, { commonDir: string; memory: RepositoryMemory }>();
  for (const [commonDir, memory] of memories) {
    if (memory.timeouts === 0 && commonDir === `${memory.path}${sep}.git`)
      usual.set(memory.path, { commonDir, memory });
  }
  return usual;
}

/** What is remembered of a repository, also under the path that it had before it was renamed. */
function recall(memories: Memories, folder: GitFolder, path: string, input: CollectInput): RepositoryMemory {
  const known = memories.get(folder.commonDir);
  if (known !== undefined) return { ...known, path };
  for (const [before, memory] of memories) {
    if (memory.id !== folder.id) continue;
    memories.delete(before);
    return { ...memory, path, print: '' };
  }
  return newMemory(input.dayStartMs, folder.id, path);
}

function isResting(memory: RepositoryMemory, nowMs: number): boolean {
  if (memory.timeouts === 0) return false;
  const rest = Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** Math.min(memory.timeouts - 1, 10));
  const since = nowMs - memory.scannedMs;
  // A time in the future is a clock that was set back: the rest is over.
  return since >= 0 && since < rest;
}
