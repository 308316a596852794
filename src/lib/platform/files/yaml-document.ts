import type { Document, Pair, ParsedNode, YAMLError } from 'yaml';

import words from '../../../../templates/data/yaml-errors.json';
import { placeOf, tooDeepAt, type TextProblem } from './json-tree';

export type Parsed = { value: unknown } | { problem: TextProblem };

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
