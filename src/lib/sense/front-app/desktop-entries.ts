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
const LAUNCHERS = new Set([
  'env',
  'sh',
  'bash',
  'flatpak',
  'snap',
  'python',
  'python3',
  'wine',
  'java',
  'perl',
]);

/**
 * The application of a window: its unlocalised `Name=` and desktop id, found by StartupWMClass, then desktop
 * id, then the id's last segment, then the program that Exec starts. A window that no entry knows is called
 * by its own class; one without a class by its program's name. Reads one entry where an id hits directly,
 * and all of them only where none does.
 */
export function nameWindow(desktop: Pick<Desktop, 'env'>, window: WindowFacts): FrontApp {
  const ids = window.ids.filter((id): id is string => id !== undefined && id.trim() !== '');
  const pid = window.pid !== undefined && window.pid > 0 ? { pid: window.pid } : {};
  const folders = applicationFolders(desktop.env);
  const entry = direct(folders, ids) ?? scanned(folders, ids);
  if (entry !== undefined) return { app: entry.name, bundleId: entry.id, ...pid };
  const own = ids[0];
  if (own !== undefined) return { app: own, bundleId: own, ...pid };
  return { app: programOf(window.pid) ?? 'unknown', ...pid };
}

/** Where entries lie; a scheduler's environment may lack the XDG variables, so the usual places are always asked. */
export function applicationFolders(env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'];
  const own = absolute(env['XDG_DATA_HOME']) ?? (absolute(home) && join(home ?? '', '.local', 'share'));
  const shared = (env['XDG_DATA_DIRS'] ?? '').split(':').filter((folder) => isAbsolute(folder));
  const data = [
    own,
    ...shared,
    '/usr/local/share',
    '/usr/share',
    own && join(own, 'flatpak', 'exports', 'share'),
    '/var/lib/flatpak/exports/share',
    '/var/lib/snapd/desktop',
  ].filter((folder): folder is string => folder !== undefined);
  return [...new Set(data)].map((folder) => join(folder, 'applications'));
}

/** The entry whose file is named like the window, unless it says that its windows are called otherwise. */
function direct(folders: readonly string[], ids: readonly string[]): Entry | undefined {
  for (const id of ids) {
    if (!SAFE_ID.test(id)) continue;
    for (const name of new Set([id, id.toLowerCase()])) {
      for (const folder of folders) {
        const entry = readEntry(folder, `${name}.desktop`);
        if (entry !== undefined && (entry.windowClass === undefined || same(entry.windowClass, id)))
          return entry;
      }
    }
  }
  return undefined;
}

/** A window's class is text from elsewhere: it names a file only if it cannot leave the folder. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9 _.+-]{0,120}$/;

function scanned(folders: readonly string[], ids: readonly string[]): Entry | undefined {
  const entries = readAll(folders);
  const rules: ((entry: Entry, id: string) => boolean)[] = [
    (entry, id) => entry.windowClass !== undefined && same(entry.windowClass, id),
    (entry, id) => same(entry.id, id),
    (entry, id) => same(entry.id.split('.').at(-1) ?? '', id),
    (entry, id) => entry.program !== undefined && same(entry.program, id),
  ];
  for (const matches of rules) {
    for (const id of ids) {
      // Several entries may start one program (an office suite): the shortest id is the program's own.
      const found = entries.filter((entry) => matches(entry, id));
      found.sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1));
      if (found[0] !== undefined) return found[0];
    }
  }
  return undefined;
}

function readAll(folders: readonly string[]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const folder of folders) {
    for (const file of listSystemFolder(folder)) {
      if (entries.size >= MAX_ENTRIES) return [...entries.values()];
      if (!file.endsWith('.desktop') || entries.has(file)) continue;
      const entry = readEntry(folder, file);
      if (entry !== undefined) entries.set(file, entry);
    }
  }
  return [...entries.values()];
}

function readEntry(folder: string, file: string): Entry | undefined {
  const text = readSystemText(join(folder, file), MAX_ENTRY_BYTES);
  return text === undefined ? undefined : parseEntry(file.slice(0, -'.desktop'.length), text);
}

/** The `[Desktop Entry]` group of an entry file; undefined when it is none of an application. */
export function parseEntry(id: string, text: string): Entry | undefined {
  const values = new Map<string, string>();
  let inGroup = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('[')) {
      if (inGroup) break;
      inGroup = line.trim() === '[Desktop Entry]';
    } else if (inGroup) {
      const at = line.indexOf('=');
      if (at > 0) values.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
    }
  }
  const name = values.get('Name');
  if (name === undefined || name === '' || (values.get('Type') ?? 'Application') !== 'Application')
    return undefined;
  return {
    id,
    name,
    windowClass: values.get('StartupWMClass') || undefined,
    program: execProgram(values.get('Exec')),
  };
}

function execProgram(exec: string | undefined): string | undefined {
  const words = exec?.match(/"[^"]*"|\S+/g)?.map((word) => word.replace(/^"|"$/g, '')) ?? [];
  const program = words.find(
    (word, at) => !word.includes('=') && !(at === 0 && posix.basename(word) === 'env'),
  );
  const name = program === undefined ? undefined : posix.basename(program);
  return name === undefined || LAUNCHERS.has(name) ? undefined : name;
}

function programOf(pid: number | undefined): string | undefined {
  if (pid === undefined || pid <= 0) return undefined;
  return readSystemText(`/proc/${pid}/comm`, 64)?.trim() || undefined;
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
