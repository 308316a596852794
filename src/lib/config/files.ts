import { SENSE_KEYS, SETTINGS_KEYS, USER_KEYS, WORK_KEYS, WORK_REPO_KEYS, type Config } from './schema';
import { leavesOf, type Tree } from './key';
import type { UserArea } from './user-area';

export { ENVIRONMENT } from './environment';

/** One stored file of the configuration. A new file (work/config.yaml, …) is one more entry. */
export interface ConfigFile {
  /** Where its values stand in the resolved configuration. */
  id: keyof Config;
  /** As a person knows it, from the user area. */
  name: string;
  path: (area: UserArea) => string;
  format: 'yaml' | 'json';
  /** What its keys begin with in `config set` and `config show`; the file itself does not repeat it. */
  prefix: string;
  keys: Tree;
  /** The newest format that this version knows; a newer file is read and not written. */
  version: number;
  /** A person's own link is followed and written through; elsewhere links are refused. */
  followLink: boolean;
  /** Names beside it that a person may expect to be read. */
  notRead: readonly string[];
}

export const CONFIG_FILES: readonly ConfigFile[] = [
  {
    id: 'user',
    name: 'config.yaml',
    path: (area) => area.config,
    format: 'yaml',
    prefix: '',
    keys: USER_KEYS,
    version: 1,
    followLink: true,
    notRead: ['config.yml', 'config.json'],
  },
  {
    id: 'settings',
    name: 'settings.json',
    path: (area) => area.settings,
    format: 'json',
    prefix: '',
    keys: SETTINGS_KEYS,
    version: 1,
    followLink: true,
    notRead: [],
  },
  {
    id: 'sense',
    name: 'sense/config.json',
    path: (area) => area.sense.config,
    format: 'json',
    prefix: 'sense',
    keys: SENSE_KEYS,
    version: 1,
    followLink: false,
    notRead: [],
  },
  {
    id: 'work',
    name: 'work/config.yaml',
    path: (area) => area.work.config,
    format: 'yaml',
    prefix: 'WORK',
    keys: WORK_KEYS,
    version: 1,
    followLink: false,
    notRead: ['config.yml', 'config.json'],
  },
  {
    id: 'workRepo',
    name: 'work/work_repo.json',
    path: (area) => area.work.repo,
    format: 'json',
    prefix: 'WORK',
    keys: WORK_REPO_KEYS,
    version: 1,
    followLink: false,
    notRead: [],
  },
];

/** `sense` and `pollIntervalSec` → `sense.pollIntervalSec`. */
export function dottedKey(file: ConfigFile, path: readonly string[]): string {
  return [...(file.prefix === '' ? [] : [file.prefix]), ...path].join('.');
}

/** The file that owns a top-level name found in another one; undefined when none does. */
export function ownerOf(name: string): ConfigFile | undefined {
  return CONFIG_FILES.find((file) => file.prefix === name || Object.hasOwn(file.keys, name));
}

/** Every key that can be set, with its owner's prefix. */
export function allKeys(): string[] {
  return CONFIG_FILES.flatMap((file) => leavesOf(file.keys).map(({ path }) => dottedKey(file, path)));
}
