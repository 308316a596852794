import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { StewardError } from '../errors';
import { createFile, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, lstatOf, removeFile } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { withMachineLock } from '../platform/files/lock';
import { shortHash } from '../platform/files/short-hash';
import { plural } from '../platform/terminal/format';
import { setInYaml, valueAt, withValue } from './edit';
import {
  CONFIG,
  CONFIG_FILES,
  FORMAT,
  dottedKey,
  holdersOf,
  isAtTop,
  isYaml,
  nodeOf,
  pathIn,
  whatIsWrong,
  type ConfigFile,
} from './files';
import { isLeaf, leavesOf } from './leaf';
import { openFile, type OpenedFile } from './text';
import { type UserArea, ensureUserArea, type Machine } from './user-area';

const LOCK_WAIT_MS = 5_000;
const VOICE = 'da.voices.main.voiceId';
const VOICE_MIRROR = 'daidentity.voices.main.voiceId';

/** A key to change. `to` returns the new value for a given stored value; undefined means unset. */
interface KeyChange {
  key: string;
  to: (stored: unknown) => unknown;
}

/**
 * Changes keys in their files under one lock, after moving older files' settings. Also updates the copy of the
 * voice setting in settings.json. Throws `usage` if a value is invalid, and `config` if a file can't be changed.
 */
export async function changeConfig(
  deps: Machine,
  changes: readonly KeyChange[],
  options: { dryRun?: boolean } = {},
) {
  const { area } = deps;
  if (options.dryRun === true) return (await plan(area, changes)).changed;
  ensureUserArea(area);
  return withMachineLock(deps, 'config', LOCK_WAIT_MS, async () => {
    for (const file of CONFIG_FILES) await moveSettings(deps, file);
    const { changed, texts } = await plan(area, changes);
    write(area, texts);
    return changed;
  });
}

/** Sets keys to values; a value of undefined removes the key. */
export async function setKeys(deps: Machine, values: Readonly<Record<string, unknown>>): Promise<void> {
  const changes = Object.entries(values).map(([key, value]) => ({ key, to: () => value }));
  await changeConfig(deps, changes);
}

/** Adds items to a list, each once. */
export async function addItems(deps: Machine, key: string, items: readonly string[]): Promise<void> {
  const to = (stored: unknown): string[] => [
    ...new Set([...(Array.isArray(stored) ? stored.map(String) : []), ...items]),
  ];
  await changeConfig(deps, [{ key, to }]);
}

/** Moves the settings of older files to config.yaml, and copies the voice setting to settings.json. */
export async function updateConfig(deps: Machine): Promise<void> {
  await changeConfig(deps, [{ key: VOICE, to: (stored) => stored }]);
}

/**
 * Moves the keys that a file doesn't own to their owners, and keeps a copy of the file. Until the last step, both
 * files have the same values, so a killed process leaves the configuration as it was.
 */
async function moveSettings({ area, tell }: Machine, file: ConfigFile): Promise<void> {
  const path = file.path(area);
  const { text, content, values, locked } = await open(area, file);
  const moved = [...values].filter(([key]) => holdersOf(key)[0] !== file);
  if (text === undefined || locked !== undefined || moved.length === 0) return;
  write(
    area,
    (
      await plan(
        area,
        moved.map(([key, value]) => ({ key, to: () => value })),
      )
    ).texts,
  );
  const copy = `${path}.moved-${shortHash(text)}`;
  createFile(copy, text);
  if (path === area.sense.config) createFile(area.sense.setUp, '{"version":1}\n');
  let rest: Written = { text, content };
  for (const [key] of moved) rest = await withKey(file, rest, key, undefined);
  const isState = leavesOf(file.keys).some((leaf) => holdersOf(dottedKey(file, leaf.path))[0] === file);
  if (isState) write(area, new Map([[file, rest]]));
  else removeFile(path);
  const owners = [...new Set(moved.map(([key]) => holdersOf(key)[0]?.name))].join(' and ');
  const count = plural(moved.length, 'setting');
  tell?.(`Moved ${count} from ${file.name} to ${owners}. The old file is kept as ${copy}.`);
}

function write(area: UserArea, texts: ReadonlyMap<ConfigFile, Written>): void {
  // Settings before state: sync never publishes to a new folder with the consent for the old one.
  for (const file of [CONFIG, ...CONFIG_FILES.filter((other) => other !== CONFIG)]) {
    const text = texts.get(file)?.text;
    if (text === undefined) continue;
    const path = file.path(area);
    if (!isAtTop(file)) ensureFolder(dirname(path));
    replaceFile(path, text, { followLink: isAtTop(file) });
  }
}

/** Returns the changes, and the new contents of the files to write. */
async function plan(area: UserArea, changes: readonly KeyChange[]) {
  const changed = [];
  const texts = new Map<ConfigFile, Written>();
  for (const { key, to } of withMirror(changes)) {
    const node = nodeOf(key);
    const [owner, ...older] = await Promise.all(
      holdersOf(key).map(async (file) => {
        const opened = { ...readable(await open(area, file)), ...texts.get(file) };
        return { ...opened, stored: valueAt(opened.content, pathIn(file, key) ?? []) };
      }),
    );
    if (!isLeaf(node) || owner === undefined) throw unfit(`${key} is not a configuration key`);
    // settings.json may belong to another program.
    if (key === VOICE_MIRROR && owner.locked !== undefined) continue;
    const holder = older.findLast(({ stored }) => stored !== undefined) ?? owner;
    const [before, after] = [holder.stored, to(holder.stored)];
    const problem = after === undefined ? undefined : whatIsWrong(node, after);
    if (problem !== undefined) throw unfit(`${key}${problem}`);
    changed.push({ key, path: owner.path, before, after });
    const place = holder.locked === undefined ? owner : holder;
    if (isDeepStrictEqual(place.stored, after)) continue;
    refuseLocked(key, place);
    texts.set(owner.file, await withKey(owner.file, owner, key, after));
  }
  return { changed, texts };
}

function unfit(what: string): StewardError {
  return new StewardError('usage', `${what}.`, {
    hint: 'Nothing was written. List all keys with "steward config show --all".',
  });
}

function refuseLocked(key: string, { path, locked }: Opened): void {
  if (locked === undefined) return;
  throw new StewardError('config', `${path} ${locked}, so steward does not change it.`, {
    hint: `Nothing was written. Change ${key} in that file.`,
  });
}

async function withKey(file: ConfigFile, old: Written, key: string, value: unknown): Promise<Written> {
  const path = pathIn(file, key) ?? [];
  const content = withValue(old.content ?? { version: FORMAT }, path, value) ?? {};
  if (!isYaml(file)) return { content, text: `${JSON.stringify(content, null, 2)}\n` };
  return { content, text: await setInYaml(old.text ?? `version: ${FORMAT}\n`, path, value) };
}

/** Adds the copy of the voice setting. */
function withMirror(changes: readonly KeyChange[]): KeyChange[] {
  let voice: unknown;
  return changes.flatMap((change) => {
    if (change.key !== VOICE) return [change];
    const to = (stored: unknown): unknown => (voice = change.to(stored));
    return [
      { key: VOICE, to },
      { key: VOICE_MIRROR, to: () => voice },
    ];
  });
}

interface Written {
  text: string | undefined;
  content: unknown;
}

interface Opened extends OpenedFile {
  file: ConfigFile;
  path: string;
  /** Why steward doesn't change the file. */
  locked: string | undefined;
}

async function open(area: UserArea, file: ConfigFile): Promise<Opened> {
  const path = file.path(area);
  const opened = await openFile(file, path);
  return { ...opened, file, path, locked: lockedBy(file, path, opened) };
}

function lockedBy({ name }: ConfigFile, path: string, opened: OpenedFile): string | undefined {
  const { content, problems, warnings, isReadable } = opened;
  const { version } = isObject(content) ? content : {};
  if (version !== undefined && !(typeof version === 'number' && version <= FORMAT))
    return 'has a newer format than this version of steward supports';
  if (name === CONFIG.name && isReadable) return undefined;
  if (problems.length > 0) return 'has invalid values';
  if (name !== 'settings.json') return undefined;
  if (lstatOf(path)?.isLink === true) return 'is a link';
  return warnings.length > 0 ? 'has keys of another program' : undefined;
}

function readable(opened: Opened): Opened {
  const { path, content, problems, isReadable } = opened;
  if (isReadable && (content === undefined || content === null || isObject(content))) return opened;
  throw new StewardError('config', `${path}: ${problems.join('; ')}.`, {
    hint: 'Nothing was written. Fix the file in an editor first.',
  });
}
