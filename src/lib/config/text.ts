import type { Options, PublicExplorer } from 'cosmiconfig';
import { isUtf8 } from 'node:buffer';
import type { Document, Pair, ParsedNode, YAMLError } from 'yaml';

import { StewardError, errnoCode } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import { lstatOf } from '../platform/files/folder';
import { type TextProblem, parseJsonTree, placeOf } from '../platform/files/json-tree';
import { isOnlyComments } from '../platform/files/yaml';
import type { ConfigFile } from './files';

export type Parsed = { value: unknown } | { problem: TextProblem };

/**
 * Parses JSON strictly: as JSON.parse, and a key that stands twice is a problem too. Messages never quote
 * the text, which may hold secrets.
 */
export function parseJson(source: string): Parsed {
  const tree = parseJsonTree(source);
  const problem = 'problem' in tree ? tree.problem : tree.duplicate;
  if (problem !== undefined) return { problem };
  return { value: JSON.parse(source.startsWith('\ufeff') ? source.slice(1) : source) as unknown };
}

/** Aliases that a file may resolve to, all together: far over any use, far under a bomb. */
const MAX_ALIASES = 50;

/**
 * The content of a text that has no key but perhaps `version`, as the shipped template and a new file: known
 * without the YAML library, whose loading a capture would pay for. Undefined: it takes the library.
 */
export function bareContent(source: string): { version?: number } | undefined {
  const found = /^version: ([1-9][0-9]{0,3})[ \t]*\r?$/m.exec(source);
  const rest = found === null ? source : source.replace(found[0], '');
  if (!isOnlyComments(rest)) return undefined;
  return found === null ? {} : { version: Number(found[1]) };
}

/**
 * Parses YAML 1.2 (JSON is YAML) strictly: duplicate keys, unknown tags, several documents and alias bombs
 * are problems. Messages never quote the text, which may hold secrets. A file of comments gives `null`.
 */
export async function parseYaml(source: string): Promise<Parsed> {
  const parsed = await parseDocumentOf(source);
  if ('problem' in parsed) return parsed;
  try {
    return { value: parsed.document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown };
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { problem: { line: 1, column: 1, message: 'its aliases (*name) unfold to too much' } };
  }
}

export async function parseDocumentOf(
  source: string,
): Promise<{ document: Document.Parsed } | { problem: TextProblem }> {
  const deep = tooDeepAt(source);
  if (deep !== undefined) {
    return { problem: { ...placeOf(source, deep), message: `more than ${MAX_DEPTH} levels deep` } };
  }
  const { isScalar, parseDocument, visit } = await import('yaml');
  const document = parseDocument(source, {
    version: '1.2',
    schema: 'core',
    prettyErrors: false,
    // The library compares each key with each; a set is enough.
    uniqueKeys: false,
    strict: true,
    stringKeys: true,
  });
  const first = document.errors[0] ?? document.warnings[0];
  if (first !== undefined) return { problem: { ...placeOf(source, first.pos[0]), message: wordsOf(first) } };
  const twice = repeatedKeyAt(document, { isScalar, visit });
  if (twice === undefined) return { document };
  return { problem: { ...placeOf(source, twice), message: 'this key stands twice' } };
}

function repeatedKeyAt(
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

/**
 * Where a text nests too deeply to be configuration. The parser is recursive: thousands of open brackets take
 * it gigabytes. Brackets are counted wherever they stand, which is right for every text that a person writes.
 */
function tooDeepAt(source: string): number | undefined {
  let depth = 0;
  for (const { 0: bracket, index } of source.matchAll(/[[\]{}]/g)) {
    if (bracket === ']' || bracket === '}') depth = Math.max(0, depth - 1);
    else depth += 1;
    if (depth > MAX_DEPTH) return index;
  }
  // A level of blocks takes a column at least.
  return DEEP_LINE.exec(source)?.index;
}

const MAX_DEPTH = 64;
const DEEP_LINE = /^[ ?:-]{128}[ ?:-]*[^\s#]/m;

function wordsOf(error: YAMLError): string {
  // The library has one code for two faults, and this one is seen where the next key begins, far from its bracket.
  if (error.code === 'BAD_INDENT' && error.message.startsWith('Flow ')) return NOT_CLOSED;
  return WORDS[error.code] ?? 'this is not valid YAML';
}

const NOT_CLOSED = 'a [ or { above is not closed, or what is in it is not indented';

/** The library's own messages may quote the file. */
const WORDS: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: 'this alias (*name) refers to nothing',
  BAD_DQ_ESCAPE: 'this escape is unknown',
  BAD_INDENT: 'the indentation does not fit',
  BAD_SCALAR_START: 'a text cannot start with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a key and a value do not belong here; is the indentation right?',
  BLOCK_IN_FLOW: 'this does not belong inside { } or [ ]',
  MISSING_CHAR: 'a character is missing here (a quote, a comma, a bracket, or a space)',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing after this key',
  MULTIPLE_DOCS: 'a second document (---) is not read',
  NON_STRING_KEY: 'a key has to be a text',
  TAB_AS_INDENT: 'a tab is used as indentation; YAML takes spaces',
  TAG_RESOLVE_FAILED: 'tags (!name) are not read',
  UNEXPECTED_TOKEN: 'this does not belong here',
};

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
