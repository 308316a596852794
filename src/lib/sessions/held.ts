import { dirname, join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { exists, listFolder, lstatOf } from '../platform/files/folder';
import { rotatedName } from '../platform/files/journal';
import { namesFolder } from './names';

/** The commands that delete files: `sessions forget`, and `sense purge --all --records`. */
type Remover = 'forget' | 'purge';

interface HeldFile {
  /** The file or folder, as SECURITY.md names it. */
  name: string;
  by: readonly Remover[];
  /** Returns the paths of a log, or of a folder with all files in it. */
  at: (area: UserArea) => string;
}

const BOTH = ['forget', 'purge'] as const;

/**
 * Every file that holds a session's id, a path or a title, and that a command deletes as a whole. The records
 * and logs of sense, the token usage by day and the positions in `sense/state.json` are rewritten instead.
 */
export const HELD: readonly HeldFile[] = [
  { name: 'state/sessions.json', by: ['forget'], at: (area) => area.sessionsState },
  { name: 'state/sessions-live.json', by: ['forget'], at: (area) => area.sessionsLive },
  { name: 'state/sessions-archive/', by: ['forget'], at: ({ state }) => join(state, 'sessions-archive') },
  { name: 'state/work-events.jsonl', by: ['forget'], at: (area) => area.workEvents },
  { name: 'state/spool/', by: ['forget'], at: (area) => area.spool },
  { name: 'state/inbox.json', by: BOTH, at: (area) => area.inbox },
  { name: 'state/asks.json', by: BOTH, at: (area) => area.asks },
  { name: 'state/watchdog.json', by: ['forget'], at: ({ state }) => join(state, 'watchdog.json') },
  { name: 'state/outbox/', by: BOTH, at: (area) => area.outbox },
  {
    name: 'observability/hooks.jsonl',
    by: ['forget'],
    at: (area) => join(area.observability, 'hooks.jsonl'),
  },
  {
    name: 'observability/agents.jsonl',
    by: ['forget'],
    at: (area) => join(area.observability, 'agents.jsonl'),
  },
  { name: 'observability/notify.jsonl', by: BOTH, at: (area) => area.notifyLog },
  {
    name: 'observability/work-capture.jsonl',
    by: BOTH,
    at: (area) => join(area.observability, 'work-capture.jsonl'),
  },
  {
    name: 'observability/work-sweep.jsonl',
    by: BOTH,
    at: (area) => join(area.observability, 'work-sweep.jsonl'),
  },
  { name: 'work/ledger.json', by: BOTH, at: (area) => area.work.ledger },
  { name: 'daemon/daemon.log', by: BOTH, at: (area) => area.daemonLog },
  { name: 'sense/logs/', by: BOTH, at: (area) => area.sense.logs },
  { name: 'work/logs/', by: BOTH, at: (area) => join(area.work.root, 'logs') },
  { name: 'banners.json', by: BOTH, at: ({ machine }) => join(machine, 'banners.json') },
  { name: 'pushes.json', by: BOTH, at: ({ machine }) => join(machine, 'pushes.json') },
  { name: 'hosts/', by: BOTH, at: ({ machine }) => join(machine, 'hosts') },
  { name: 'session-names/', by: ['forget'], at: ({ machine }) => namesFolder(machine) },
  { name: 'usage/logs.json', by: BOTH, at: ({ machine }) => join(machine, 'usage', 'logs.json') },
];

/** Returns the files that a command deletes, with rotated logs, damaged copies and temp files. */
export function heldFiles(area: UserArea, by: Remover): string[] {
  const found = HELD.filter((held) => held.by.includes(by)).flatMap(({ at }) => filesAt(at(area)));
  return [...new Set(found)];
}

/** Returns the files at a path: all in a folder, or the file itself with its copies. */
export function filesAt(path: string): string[] {
  if (lstatOf(path)?.isFolder === true) return listFolder(path).flatMap((name) => filesAt(join(path, name)));
  const rotated = rotatedName(path);
  const copies = listFolder(dirname(path))
    .map((name) => join(dirname(path), name))
    .filter((other) => isCopy(other, path));
  return [path, rotated, ...copies].filter((file) => exists(file));
}

/** Returns whether a file is a temp file or a damaged copy of `path`. */
function isCopy(file: string, path: string): boolean {
  const hidden = join(dirname(path), `.${path.slice(dirname(path).length + 1)}.`);
  return file.startsWith(`${path}.`) || (file.startsWith(hidden) && file.endsWith('.tmp'));
}
