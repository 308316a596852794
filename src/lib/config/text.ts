import { isUtf8 } from 'node:buffer';
import type { Document, Pair, ParsedNode, YAMLError } from 'yaml';

import words from '../../../templates/data/yaml-errors.json';
import { StewardError, errnoCode } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import { lstatOf } from '../platform/files/folder';
import { type TextProblem, parseJsonTree, placeOf, tooDeepAt } from '../platform/files/json-tree';
import { inOwnFolder } from '../platform/process/own-process';
import { type CheckedFile, type ConfigFile, checkContent, isAtTop, isYaml } from './files';

type Parsed = { value: unknown } | { problem: TextProblem };

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

/** Maximum number of YAML aliases: more than real files use, but too few for an alias bomb. */
const MAX_ALIASES = 50;

/**
 * Parses YAML 1.2 strictly: rejects duplicate keys, unknown tags, multiple documents and alias bombs. Error
 * messages never quote the text.
 */
export async function parseYaml(source: string): Promise<Parsed> {
  const parsed = await parseDocumentOf(source);
  if ('problem' in parsed) return parsed;
  try {
    return { value: parsed.document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { problem: { line: 1, column: 1, message: 'too many aliases (*name)' } };
  }
}

export async function parseDocumentOf(
  source: string,
): Promise<{ document: Document.Parsed } | { problem: TextProblem }> {
  const deep = tooDeepAt(source, MAX_DEPTH) ?? DEEP_LINE.exec(source)?.index;
  if (deep !== undefined) {
    return { problem: { ...placeOf(source, deep), message: `more than ${MAX_DEPTH} levels deep` } };
  }
  const { isScalar, parseDocument, visit } = await import('yaml');
  const document = parseDocument(source, {
    version: '1.2',
    schema: 'core',
    prettyErrors: false,
    // Disable the library's check for duplicate keys, which takes quadratic time. `duplicateKeyAt` replaces
    // the check.
    uniqueKeys: false,
    strict: true,
    stringKeys: true,
  });
  const first = document.errors[0] ?? document.warnings[0];
  if (first !== undefined) return { problem: { ...placeOf(source, first.pos[0]), message: wordsOf(first) } };
  const duplicate = duplicateKeyAt(document, { isScalar, visit });
  if (duplicate === undefined) return { document };
  return { problem: { ...placeOf(source, duplicate), message: 'duplicate key' } };
}

function duplicateKeyAt(
  document: Document.Parsed,
  { isScalar, visit }: Pick<typeof import('yaml'), 'isScalar' | 'visit'>,
): number | undefined {
  let at: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items as Pair<ParsedNode>[]) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name)) at ??= key.range[0];
        seen.add(name);
      }
    },
  });
  return at;
}

const MAX_DEPTH = 64;
const DEEP_LINE = /^[ ?:-]{128}[ ?:-]*[^\s#]/m;

function wordsOf(error: YAMLError): string {
  // The library uses the same error code for incorrect indentation and unclosed brackets, so check the
  // message.
  if (error.code === 'BAD_INDENT' && error.message.startsWith('Flow ')) {
    return 'a "[" or "{" above is not closed, or its content is not indented';
  }
  return WORDS[error.code] ?? 'invalid YAML';
}

/** Error messages, keyed by the YAML library's error code. The library's own messages may quote the file. */
const WORDS: Partial<Record<YAMLError['code'], string>> = words;

const MAX_CONFIG_BYTES = 1024 * 1024;

/** A file's content, or why it can't be read. `text` is undefined if the file doesn't exist. */
type ReadFile = { text: string | undefined; content: unknown } | { problem: string };

export interface OpenedFile extends CheckedFile {
  text: string | undefined;
  content: unknown;
  isReadable: boolean;
}

/**
 * Reads, parses and checks a file. Returns problems instead of throwing, so that the problems of all files are
 * reported together.
 */
export async function openFile(file: ConfigFile, path: string): Promise<OpenedFile> {
  const read = await readConfigFile(file, path);
  if (!('problem' in read)) return { ...read, ...checkContent(file, read.content), isReadable: true };
  const nothing = { text: undefined, content: undefined };
  return { ...nothing, ...checkContent(file, undefined), problems: [read.problem], isReadable: false };
}

async function readConfigFile(file: ConfigFile, path: string): Promise<ReadFile> {
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
