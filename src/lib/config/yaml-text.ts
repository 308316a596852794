import type { Document, YAMLError } from 'yaml';

import { placeOf, type Parsed, type TextProblem } from './json-text';

/** Aliases that a file may resolve to, all together: far over any use, far under a bomb. */
const MAX_ALIASES = 50;

/** Does the text hold nothing but comments and blank lines? Then no YAML library is needed to know. */
export function isOnlyComments(source: string): boolean {
  return /^(?:\ufeff)?(?:[ \t]*(?:#[^\n]*)?(?:\r?\n|$))*$/.test(source);
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
  const { parseDocument } = await import('yaml');
  let document: Document.Parsed;
  try {
    document = parseDocument(source, {
      version: '1.2',
      schema: 'core',
      prettyErrors: false,
      uniqueKeys: true,
      strict: true,
      stringKeys: true,
    });
  } catch (error) {
    // The parser is recursive: what nests thousands deep runs out of stack.
    if (!(error instanceof RangeError)) throw error;
    return { problem: { line: 1, column: 1, message: 'it nests too deeply' } };
  }
  const first = document.errors[0] ?? document.warnings[0];
  if (first === undefined) return { document };
  return { problem: { ...placeOf(source, first.pos[0]), message: wordsOf(first) } };
}

function wordsOf(error: YAMLError): string {
  return WORDS[error.code] ?? 'this is not valid YAML';
}

/** The library's own messages may quote the file. */
const WORDS: Partial<Record<YAMLError['code'], string>> = {
  BAD_ALIAS: 'this alias (*name) refers to nothing',
  BAD_DQ_ESCAPE: 'this escape is unknown',
  BAD_INDENT: 'the indentation does not fit',
  BAD_SCALAR_START: 'a text cannot start with this character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a key and a value do not belong here; is the indentation right?',
  BLOCK_IN_FLOW: 'this does not belong inside { } or [ ]',
  DUPLICATE_KEY: 'this key stands twice',
  MISSING_CHAR: 'a character is missing here (a quote, a comma, a bracket, or a space)',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing after this key',
  MULTIPLE_DOCS: 'a second document (---) is not read',
  NON_STRING_KEY: 'a key has to be a text',
  TAB_AS_INDENT: 'a tab is used as indentation; YAML takes spaces',
  TAG_RESOLVE_FAILED: 'tags (!name) are not read',
  UNEXPECTED_TOKEN: 'this does not belong here',
};
