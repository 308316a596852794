import { isUtf8 } from 'node:buffer';

import { StewardError, errnoCode } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import { lstatOf } from '../platform/files/folder';
import { parseJsonTree } from '../platform/files/json-tree';
import { folderHash } from '../platform/files/short-hash';
import { parseYaml, type Parsed } from '../platform/files/yaml-document';
import { inOwnFolder } from '../platform/process/own-process';
import { type CheckedFile, type ConfigFile, checkContent, isAtTop, isYaml, SYNC_PLACE } from './files';

/**
 * Parses JSON like JSON.parse, but rejects duplicate keys. Error messages never quote the text, which may
 * contain secrets.
 */
export function parseJson(source: string): Parsed {
  const tree = parseJsonTree(source);
  const problem = 'problem' in tree ? tree.problem : tree.duplicate;
  if (problem !== undefined) return { problem };
  return { value: JSON.parse(source.startsWith('\ufeff') ? source.slice(1) : source) as unknown };
}

const MAX_CONFIG_BYTES = 1024 * 1024;

/** A file's content, or why it can't be read. `text` is undefined if the file doesn't exist. */
type ReadFile = { text: string | undefined; content: unknown } | { problem: string };

export interface OpenedFile extends CheckedFile {
  text: string | undefined;
  content: unknown;
  isReadable: boolean;
}

/** A file's content, and the hash of the text that had it. A text may have secrets in its comments. */
export interface KnownContent {
  hash?: string;
  content?: unknown;
}

/**
 * Reads, parses and checks a file. Returns problems instead of throwing, so that the problems of all files are
 * reported together.
 * @param known what the file had before, which is used again if its text is the same
 */
export async function openFile(
  file: ConfigFile,
  path: string,
  known: KnownContent = {},
): Promise<OpenedFile> {
  const read = await readConfigFile(file, path, known);
  if (!('problem' in read)) return { ...read, ...checkContent(file, read.content), isReadable: true };
  const nothing = { text: undefined, content: undefined, ...checkContent(file, undefined) };
  if (file.name !== SYNC_PLACE) return { ...nothing, problems: [read.problem], isReadable: false };
  // Only steward writes this file, and one command restores it, so its damage doesn't stop the others.
  const warning = `${read.problem}, so nothing is exchanged. Set the folder again: steward sync setup FOLDER`;
  return { ...nothing, warnings: [warning], isReadable: true };
}

async function readConfigFile(file: ConfigFile, path: string, known: KnownContent): Promise<ReadFile> {
  let bytes: Buffer | undefined;
  try {
    // Only the files at the top of the user area may be links of the user's.
    bytes = readBytes(path, { followLink: isAtTop(file), maxBytes: MAX_CONFIG_BYTES });
  } catch (error) {
    return { problem: problemOf(error, path) };
  }
  if (bytes === undefined) {
    const isBroken = lstatOf(path)?.isLink === true;
    return isBroken ? { problem: 'is a link to a missing file' } : { text: undefined, content: undefined };
  }
  if (!isUtf8(bytes)) return { problem: 'is not UTF-8 text' };
  const text = bytes.toString('utf8');
  if (known.hash === folderHash(text)) return { text, content: known.content };
  if (!isYaml(file)) return parsedOr(parseJson(text), text);
  return parsedOr(await loadYaml(path), text);
}

/**
 * Loads a YAML file with cosmiconfig. cosmiconfig first looks for options of its own in the current folder, and
 * runs them if they are code, so it is created in steward's own folder.
 */
async function loadYaml(path: string): Promise<Parsed> {
  const { cosmiconfig } = await import('cosmiconfig');
  // The result is wrapped, because cosmiconfig follows a top-level `$import`, also to code.
  const parse = (_path: string, text: string): Promise<Parsed> => parseYaml(text);
  const options = { cache: false, searchPlaces: [], loaders: { '.yaml': parse } };
  const explorer = inOwnFolder(() => cosmiconfig('steward', options));
  const result = await explorer.load(path);
  return (result?.config as Parsed | undefined) ?? { value: undefined };
}

function parsedOr(parsed: Parsed, text: string): ReadFile {
  if ('value' in parsed) return { text, content: parsed.value };
  const { line, column, message } = parsed.problem;
  return { problem: `line ${line}, column ${column}: ${message}` };
}

function problemOf(error: unknown, path: string): string {
  if (error instanceof StewardError) return error.message.replace(`${path} `, '');
  const code = errnoCode(error);
  if (code === undefined) throw error;
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read: permission denied';
  if (code === 'ENOTDIR') return 'part of its path is a file, not a folder';
  if (code === 'ELOOP') return 'is a link to itself';
  return `cannot be read (${code})`;
}
