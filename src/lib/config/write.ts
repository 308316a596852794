import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { StewardError } from '../errors';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { withLock } from '../platform/files/lock';
import { setInJson, setInYaml, valueAt, withValue } from './edit';
import { CONFIG_FILES, FORMAT, fileOfKey, whatIsWrong, type ConfigFile } from './files';
import { isLeaf, nodeAt } from './leaf';
import { readConfigFile } from './text';
import { type UserArea, ensureUserArea, type Machine } from './user-area';

const LOCK_WAIT_MS = 5_000;
const VOICE = 'da.voices.main.voiceId';
const VOICE_MIRROR = 'daidentity.voices.main.voiceId';

/** A key to change. `to` returns the new value for a given stored value; undefined means unset. */
interface KeyChange {
  key: string;
  to: (stored: unknown) => unknown;
}

interface Changed {
  key: string;
  path: string;
  before: unknown;
  after: unknown;
}

/**
 * Changes keys in their files under one lock. Also updates the copy of the voice setting in settings.json.
 * Throws `usage` if a value is invalid, and `config` if a file is unreadable or has a newer format.
 */
export async function changeConfig(
  deps: Machine,
  changes: readonly KeyChange[],
  options: { dryRun?: boolean } = {},
): Promise<Changed[]> {
  const { area, clock, machineId } = deps;
  if (options.dryRun === true) return (await plan(area, changes)).changed;
  ensureUserArea(area);
  const lock = { clock, machineId, waitMs: LOCK_WAIT_MS };
  return withLock(join(area.machine, 'config.lock'), lock, async () => {
    const { changed, texts } = await plan(area, changes);
    for (const [file, text] of texts) {
      const path = file.path(area);
      if (dirname(path) !== area.root) ensureFolder(dirname(path));
      replaceFile(path, text, { followLink: file.followLink });
    }
    return changed;
  });
}

/** Adds items to a list, each once. */
export async function addItems(deps: Machine, key: string, items: readonly string[]): Promise<void> {
  const to = (stored: unknown): string[] => [
    ...new Set([...(Array.isArray(stored) ? stored.map(String) : []), ...items]),
  ];
  await changeConfig(deps, [{ key, to }]);
}

/**
 * Copies the voice setting from config.yaml to settings.json; returns false if the two values already match.
 */
export async function mirrorVoice(deps: Machine): Promise<boolean> {
  const stored = async (key: string): Promise<unknown> => {
    const { file, path } = fileOfKey(key);
    return valueAt((await openFile(deps.area, file)).content, path);
  };
  const voice = await stored(VOICE);
  if (typeof voice !== 'string' || (await stored(VOICE_MIRROR)) === voice) return false;
  await changeConfig(deps, [{ key: VOICE, to: (before) => before }]);
  return true;
}

async function plan(area: UserArea, changes: readonly KeyChange[]) {
  const changed: Changed[] = [];
  const open = new Map<ConfigFile, { text: string; content: unknown }>();
  for (const change of withMirrors(changes)) {
    const { file, path } = fileOfKey(change.key);
    const at = open.get(file) ?? (await openFile(area, file));
    const before = valueAt(at.content, path);
    const after = change.to(before);
    const node = nodeAt(file.keys, path);
    const problem = isLeaf(node)
      ? after !== undefined && whatIsWrong(node, after)
      : ' is not a configuration key';
    if (problem) {
      throw new StewardError('usage', `${change.key}${problem}.`, {
        hint: 'Nothing was written. List all keys with "steward config show --all".',
      });
    }
    changed.push({ key: change.key, path: file.path(area), before, after });
    if (isDeepStrictEqual(before, after)) continue;
    const content = withValue(at.content, path, after) ?? {};
    const text =
      file.format === 'json'
        ? setInJson(at.text, content)
        : await setInYaml(at.text ?? `version: ${FORMAT}\n`, path, after);
    open.set(file, { text, content });
  }
  const texts = CONFIG_FILES.flatMap((file): [ConfigFile, string][] => {
    const at = open.get(file);
    return at === undefined ? [] : [[file, at.text]];
  });
  return { changed, texts };
}

function withMirrors(changes: readonly KeyChange[]): KeyChange[] {
  return changes.flatMap((change) => {
    if (change.key !== VOICE && change.key !== VOICE_MIRROR) return [change];
    let voice: unknown;
    const first = { key: change.key, to: (stored: unknown) => (voice = change.to(stored)) };
    return [first, { key: change.key === VOICE ? VOICE_MIRROR : VOICE, to: () => voice }];
  });
}

async function openFile(
  area: UserArea,
  file: ConfigFile,
): Promise<{ text: string | undefined; content: unknown }> {
  const path = file.path(area);
  const read = await readConfigFile(file, path);
  const hint = 'Nothing was written. Fix the file in an editor first.';
  if ('problem' in read) throw new StewardError('config', `${path}: ${read.problem}.`, { hint });
  const content = read.content ?? {};
  if (!isObject(content))
    throw new StewardError('config', `${path}: expected key-value pairs at the top level.`, { hint });
  const version = content['version'];
  if (version !== undefined && !(typeof version === 'number' && version <= FORMAT)) {
    throw new StewardError('config', `${path} has a newer format than this version of steward supports.`, {
      hint: 'Update steward. The file is unchanged.',
    });
  }
  return read.text === undefined
    ? { text: undefined, content: { version: FORMAT } }
    : { text: read.text, content };
}
