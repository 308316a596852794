import { isAbsolute, join, posix } from 'node:path';

import { listSystemFolder, readSystemText } from '../../platform/files/system-files';
import type { Desktop, FrontApp } from './adapter';

/** What a window system says of a window. */
export interface WindowFacts {
  /** Its names, most telling first: app_id or desktop file, else class, then instance. */
  ids: readonly (string | undefined)[];
  pid?: number | undefined;
}

interface Entry {
  id: string;
  name: string;
  windowClass: string | undefined;
  program: string | undefined;
}

const MAX_ENTRY_BYTES = 64 * 1024;
const MAX_ENTRIES = 4000;
/** These start other programs: as the program of an entry they say nothing about the window. */
const LAUNCHERS = /^(?:env|sh|bash|flatpak|snap|python3?|wine|java|perl)$/;

/**
 * The application of a window: its unlocalised `Name=` and desktop id, found by desktop id, StartupWMClass, the id's last
 * segment, or the program that Exec starts. Else it is called by its own class, or by its program's name.
 */
export function nameWindow(desktop: Pick<Desktop, 'env'>, window: WindowFacts): FrontApp {
  const ids = window.ids.filter((id): id is string => id !== undefined && id.trim() !== '');
  const pid = window.pid !== undefined && window.pid > 0 ? { pid: window.pid } : {};
  const entry = ids.length === 0 ? undefined : findEntry(readAll(applicationFolders(desktop.env)), ids);
  if (entry !== undefined) return { app: entry.name, bundleId: entry.id, ...pid };
  const [own] = ids;
  if (own !== undefined) return { app: own, bundleId: own, ...pid };
  const program = pid.pid === undefined ? '' : readSystemText(`/proc/${pid.pid}/comm`, 64)?.trim();
  return { app: program || 'unknown', ...pid };
}

/** The same from values of an answer; null when they name no window. */
export function nameAny(
  desktop: Pick<Desktop, 'env'>,
  names: readonly unknown[],
  pid: unknown,
): FrontApp | null {
  const ids = names.filter((name) => typeof name === 'string' && name !== '') as string[];
  if (ids.length === 0 && typeof pid !== 'number') return null;
  return nameWindow(desktop, { ids, pid: typeof pid === 'number' ? pid : undefined });
}

/** Where entries lie; a scheduler's environment may lack the XDG variables, so the usual places are always asked. */
export function applicationFolders(env: NodeJS.ProcessEnv): string[] {
  const { HOME = '', XDG_DATA_HOME = '', XDG_DATA_DIRS = '' } = env;
  const own = isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : join(HOME, '.local', 'share');
  const data = [
    own,
    ...XDG_DATA_DIRS.split(':'),
    '/usr/local/share',
    '/usr/share',
    join(own, 'flatpak', 'exports', 'share'),
    '/var/lib/flatpak/exports/share',
    '/var/lib/snapd/desktop',
  ];
  return [...new Set(data.filter((folder) => isAbsolute(folder)))].map((folder) =>
    join(folder, 'applications'),
  );
}

const RULES: readonly ((entry: Entry, id: string) => boolean)[] = [
  ({ id: own, windowClass }, id) => same(own, id) && (windowClass === undefined || same(windowClass, id)),
  ({ windowClass }, id) => windowClass !== undefined && same(windowClass, id),
  ({ id: own }, id) => same(own, id),
  ({ id: own }, id) => same(own.split('.').at(-1) ?? '', id),
  ({ program }, id) => program !== undefined && same(program, id),
];

function findEntry(entries: readonly Entry[], ids: readonly string[]): Entry | undefined {
  for (const matches of RULES) {
    for (const id of ids) {
      // Several entries may start one program (an office suite): the shortest id is the program's own.
      const found = entries.filter((entry) => matches(entry, id));
      found.sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1));
      if (found[0] !== undefined) return found[0];
    }
  }
  return undefined;
}

/** All entries; of one file name that of the first folder counts. */
function readAll(folders: readonly string[]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const folder of folders) {
    for (const file of listSystemFolder(folder)) {
      if (entries.size >= MAX_ENTRIES) return [...entries.values()];
      if (!file.endsWith('.desktop') || entries.has(file)) continue;
      const text = readSystemText(join(folder, file), MAX_ENTRY_BYTES) ?? '';
      const entry = parseEntry(file.slice(0, -'.desktop'.length), text);
      if (entry !== undefined) entries.set(file, entry);
    }
  }
  return [...entries.values()];
}

/** The `[Desktop Entry]` group of an entry file; undefined unless it is of an application. */
export function parseEntry(id: string, text: string): Entry | undefined {
  const values = new Map<string, string>();
  let isInGroup = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('[')) {
      if (isInGroup) break;
      isInGroup = line.trim() === '[Desktop Entry]';
    } else if (isInGroup && line.indexOf('=') > 0) {
      const at = line.indexOf('=');
      values.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
    }
  }
  const name = values.get('Name') ?? '';
  if (name === '' || (values.get('Type') ?? 'Application') !== 'Application') return undefined;
  const windowClass = values.get('StartupWMClass') || undefined;
  return { id, name, windowClass, program: execProgram(values.get('Exec') ?? '') };
}

function execProgram(exec: string): string | undefined {
  const words = exec.match(/"[^"]*"|\S+/g)?.map((word) => word.replace(/^"|"$/g, '')) ?? [];
  const isEnv = (word: string, at: number): boolean => at === 0 && posix.basename(word) === 'env';
  const program = words.find((word, at) => !word.includes('=') && !isEnv(word, at));
  const name = program === undefined ? undefined : posix.basename(program);
  return name === undefined || LAUNCHERS.test(name) ? undefined : name;
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
