import { isAbsolute, join, posix } from 'node:path';

import { refreshCached } from '../../platform/files/file-cache';
import { listSystemFolder, readSystemText } from '../../platform/files/system-files';
import { systemClock } from '../../platform/time/clock';
import type { Desktop, DesktopEntry as Entry, FrontApp } from './adapter';

const MAX_ENTRY_BYTES = 64 * 1024;
const MAX_ENTRIES = 4000;
/** Programs that run other programs, so their names don't identify the application. */
const LAUNCHERS = /^(?:env|sh|bash|flatpak|snap|python3?|wine|java|perl)$/;

/**
 * Returns a window's application, named by its desktop entry, or else by its window class or process.
 * @param names the window's app id or desktop file, class, and instance, most specific first
 */
export function nameWindow(
  { env, kept = {} }: Pick<Desktop, 'env' | 'kept'>,
  names: readonly unknown[],
  pidValue: unknown,
): FrontApp | null {
  const ids = names.filter((name): name is string => typeof name === 'string' && name.trim() !== '');
  const pid: { pid?: number } = typeof pidValue === 'number' && pidValue > 0 ? { pid: pidValue } : {};
  const [own] = ids;
  if (own === undefined) {
    if (typeof pidValue !== 'number') return null;
    const program = pid.pid === undefined ? '' : readSystemText(`/proc/${pid.pid}/comm`, 64)?.trim();
    return { app: program || 'unknown', ...pid };
  }
  const folders = applicationFolders(env);
  // A change inside a file is noticed when a file is added or removed, or with the next watch.
  kept.entries = refreshCached(systemClock(), kept.entries, folders, () => readEntries(folders));
  const entry = findEntry(kept.entries.value, ids);
  return { app: entry?.name ?? own, bundleId: entry?.id ?? own, ...pid };
}

/** Returns the names of the installed applications. */
export function installedApps({ platform, env }: Pick<Desktop, 'platform' | 'env'>): string[] {
  if (platform === 'darwin' || platform === 'win32') {
    const menu = join(env['ProgramData'] ?? '', 'Microsoft', 'Windows', 'Start Menu', 'Programs');
    const files = listSystemFolder(platform === 'darwin' ? '/Applications' : menu);
    return files.map((file) => file.replace(/\.(?:app|lnk)$/, ''));
  }
  return readEntries(applicationFolders(env)).map(({ name }) => name);
}

function applicationFolders(env: NodeJS.ProcessEnv): string[] {
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
  (entry, id) => isSame(entry.id, id) && (entry.windowClass === undefined || isSame(entry.windowClass, id)),
  ({ windowClass }, id) => isSame(windowClass, id),
  (entry, id) => isSame(entry.id, id),
  (entry, id) => isSame(entry.id.split('.').at(-1), id),
  ({ program }, id) => isSame(program, id),
];

function findEntry(entries: readonly Entry[], ids: readonly string[]): Entry | undefined {
  for (const matches of RULES) {
    for (const id of ids) {
      // Several desktop entries can start the same program. The entry with the shortest id is the most
      // general one.
      const candidates = entries.filter((entry) => matches(entry, id));
      candidates.sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1));
      if (candidates[0] !== undefined) return candidates[0];
    }
  }
  return undefined;
}

function readEntries(folders: readonly string[]): Entry[] {
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

/** Parses the `[Desktop Entry]` group, or returns undefined if the entry isn't an application. */
function parseEntry(id: string, text: string): Entry | undefined {
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

function isSame(a: string | undefined, b: string): boolean {
  return a?.toLowerCase() === b.toLowerCase();
}
