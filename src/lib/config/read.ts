import { isUtf8 } from 'node:buffer';

import type { Options, PublicExplorer } from 'cosmiconfig';

import { StewardError, errnoCode } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import { lstatOf } from '../platform/files/folder';
import type { ConfigFile } from './files';
import { parseJson, type Parsed, type TextProblem } from './json-text';
import { bareContent, parseYaml } from './yaml-text';

const MAX_CONFIG_BYTES = 1024 * 1024;

/** A file of the configuration as it is stored. `text` undefined: there is no file. */
export type ReadFile = { text: string | undefined; content: unknown } | { problem: string };

/**
 * Reads and parses one file. A problem of the file (syntax with line and column, size, kind, a link that is
 * not the user's or leads nowhere) is given back, so that the problems of all files are told together.
 */
export async function readConfigFile(file: ConfigFile, path: string): Promise<ReadFile> {
  let bytes: Buffer | undefined;
  try {
    bytes = readBytes(path, { followLink: file.followLink, maxBytes: MAX_CONFIG_BYTES });
  } catch (error) {
    return { problem: problemOf(error, path) };
  }
  if (bytes === undefined) {
    return lstatOf(path)?.isLink === true ? { problem: 'is a link to a file that is not there' } : absent();
  }
  if (!isUtf8(bytes)) return { problem: 'is not UTF-8 text' };
  const text = bytes.toString('utf8');
  if (file.format === 'json') return parsedOr(parseJson(text), text);
  const bare = bareContent(text);
  if (bare !== undefined) return { text, content: bare };
  return parsedOr(await loadYaml(path), text);
}

function absent(): ReadFile {
  return { text: undefined, content: undefined };
}

function parsedOr(parsed: Parsed, text: string): ReadFile {
  if ('value' in parsed) return { text, content: parsed.value };
  return { problem: placed(parsed.problem) };
}

function placed({ line, column, message }: TextProblem): string {
  return `line ${line}, column ${column}: ${message}`;
}

/**
 * Loads the user config through cosmiconfig. Its public entry looks for settings of its own in the current
 * folder each time (`package.json`, `.config/config.js`, …) and would execute what it finds there, so the
 * explorer behind it is used directly: with YAML and JSON only, and with no place that it searches.
 */
async function loadYaml(path: string): Promise<Parsed> {
  const { Explorer } = (await import('cosmiconfig/dist/Explorer.js')) as unknown as {
    Explorer: new (options: Options & { moduleName: string; metaConfigFilePath: null }) => PublicExplorer;
  };
  // The parsed content travels in a wrapper: cosmiconfig follows a `$import` at the top of what a loader gives.
  const parse = (_path: string, content: string): Promise<Parsed> => parseYaml(content);
  const explorer = new Explorer({
    moduleName: 'steward',
    loaders: { '.yaml': parse, '.json': parse },
    searchPlaces: [],
    searchStrategy: 'none',
    metaConfigFilePath: null,
    ignoreEmptySearchPlaces: false,
    mergeImportArrays: false,
    mergeSearchPlaces: false,
    cache: false,
    transform: (result) => result,
  });
  const result = await explorer.load(path);
  return (result?.config as Parsed | undefined) ?? { value: undefined };
}

function problemOf(error: unknown, path: string): string {
  if (error instanceof StewardError) return error.message.replace(`${path} `, '');
  const code = errnoCode(error);
  if (code === undefined) throw error;
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read: permission denied';
  if (code === 'ENOTDIR') return 'a file stands where a folder is needed';
  if (code === 'ELOOP') return 'is a link that leads back to itself';
  return `cannot be read (${code})`;
}
