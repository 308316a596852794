import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { StewardError } from '../errors';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { withLock } from '../platform/files/lock';
import type { Clock } from '../platform/time/clock';
import { CONFIG_FILES, FORMAT, fileOfKey, whatIsWrong, type ConfigFile } from './files';
import { isLeaf, nodeAt } from './leaf';
import { setInJson, setInYaml, valueAt, withValue } from './edit';
import { readConfigFile } from './text';
import { type UserArea, ensureUserArea } from './user-area';

const LOCK_WAIT_MS = 5_000;
const VOICE = 'da.voices.main.voiceId';
const VOICE_MIRROR = 'daidentity.voices.main.voiceId';

export interface WriteDeps {
  area: UserArea;
  clock: Clock;
  machineId: string;
}

/** One change: the key, and its new stored value given the one in the file; undefined means not in the file. */
export interface Change {
  key: string;
  to: (stored: unknown) => unknown;
}

export interface Changed {
  key: string;
  path: string;
  before: unknown;
  after: unknown;
}

/**
 * Changes keys in the files that own them: read, checked, changed and replaced as whole files under one lock,
 * so that two programs that set two keys lose neither. The DA's voice is written to its mirror in
 * settings.json too. A value that does not fit is `usage`; a file that cannot be read, or is
 * of a newer version, is `config`, and then nothing is written.
 */
export async function changeConfig(
  deps: WriteDeps,
  changes: readonly Change[],
  options: { dryRun?: boolean } = {},
): Promise<Changed[]> {
  // A dry run writes nothing at all, so not a lock either.
  if (options.dryRun === true) return (await plan(deps.area, changes)).changed;
  ensureUserArea(deps.area);
  return locked(deps, async () => {
    const { changed, texts } = await plan(deps.area, changes);
    for (const [file, text] of texts) {
      const path = file.path(deps.area);
      if (dirname(path) !== deps.area.root) ensureFolder(dirname(path));
      replaceFile(path, text, { followLink: file.followLink });
    }
    return changed;
  });
}

/** Brings the voice's mirror in settings.json in line with config.yaml. True when it was not. */
export async function mirrorVoice(deps: WriteDeps): Promise<boolean> {
  const { file, path } = fileOfKey(VOICE);
  const voice = valueAt((await openFile(deps.area, file)).content, path);
  if (typeof voice !== 'string') return false;
  const mirror = fileOfKey(VOICE_MIRROR);
  if (valueAt((await openFile(deps.area, mirror.file)).content, mirror.path) === voice) return false;
  await changeConfig(deps, [{ key: VOICE, to: (stored) => stored }]);
  return true;
}

function locked<T>(deps: WriteDeps, work: () => Promise<T>): Promise<T> {
  const { clock, machineId } = deps;
  return withLock(join(deps.area.machine, 'config.lock'), { clock, machineId, waitMs: LOCK_WAIT_MS }, work);
}

interface Plan {
  changed: Changed[];
  /** New texts, config.yaml (the canonical one of what is mirrored) first. */
  texts: [ConfigFile, string][];
}

async function plan(area: UserArea, changes: readonly Change[]): Promise<Plan> {
  const changed: Changed[] = [];
  const open = new Map<ConfigFile, Open & { isChanged?: true }>();
  for (const change of withMirrors(changes)) {
    const { file, path } = fileOfKey(change.key);
    const at = open.get(file) ?? (await openFile(area, file));
    const before = valueAt(at.content, path);
    const after = change.to(before);
    const node = nodeAt(file.keys, path);
    const wrong = isLeaf(node)
      ? after !== undefined && whatIsWrong(node, after)
      : ' is not a key of the configuration';
    if (wrong) throw new StewardError('usage', `${change.key}${wrong}.`);
    changed.push({ key: change.key, path: file.path(area), before, after });
    if (isDeepStrictEqual(before, after)) continue;
    const content = withValue(at.content, path, after) ?? {};
    const text =
      file.format === 'json'
        ? setInJson(at.text, content)
        : await setInYaml(at.text ?? `version: ${FORMAT}\n`, path, after);
    open.set(file, { text, content, isChanged: true });
  }
  const texts = CONFIG_FILES.flatMap((file): [ConfigFile, string][] => {
    const at = open.get(file);
    return at?.isChanged === true && at.text !== undefined ? [[file, at.text]] : [];
  });
  return { changed, texts };
}

/** Whichever of the voice's two places is set, both are. */
function withMirrors(changes: readonly Change[]): Change[] {
  return changes.flatMap((change) => {
    if (change.key !== VOICE && change.key !== VOICE_MIRROR) return [change];
    let voice: unknown;
    const first = { key: change.key, to: (stored: unknown) => (voice = change.to(stored)) };
    return [first, { key: change.key === VOICE ? VOICE_MIRROR : VOICE, to: () => voice }];
  });
}

interface Open {
  text: string | undefined;
  content: unknown;
}

async function openFile(area: UserArea, file: ConfigFile): Promise<Open> {
  const path = file.path(area);
  const read = await readConfigFile(file, path);
  const hint = 'Correct the file in an editor first; nothing was written.';
  if ('problem' in read) throw new StewardError('config', `${path}: ${read.problem}`, { hint });
  const content = read.content ?? {};
  if (!isObject(content)) {
    throw new StewardError('config', `${path}: there are no keys at its top.`, { hint });
  }
  const version = content['version'];
  if (version !== undefined && !(typeof version === 'number' && version <= FORMAT)) {
    throw new StewardError('config', `${path} is of a format that this steward does not write.`, {
      hint: 'Update steward: the file comes from a newer one, and is left as it is.',
    });
  }
  return read.text === undefined
    ? { text: undefined, content: { version: FORMAT } }
    : { text: read.text, content };
}
