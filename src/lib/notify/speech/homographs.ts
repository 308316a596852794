import TABLE from '../../../../templates/data/homographs.json';
import type { Replacement } from './transform';

/**
 * A word with two pronunciations: the engine's own, and one that it gives only to a respelling ("live" rhymes with
 * "give" as a verb, "lyve" with "drive"). The first rule that fits the words around it decides; where none fits, the
 * word stays: a verb that was respelled sounds wrong, an adjective that was missed sounds as it did before.
 */
export interface Homograph {
  /** In lower case; any case is found, whole words only. */
  word: string;
  respelling: string;
  /** Parts of patterns that the rules name as `<NAME>`. */
  words: Readonly<Record<string, string>>;
  /** Each rule: `respell` or `keep`, a pattern before the word (may be empty), and any of several behind it. */
  contexts: readonly { rules: readonly string[][] }[];
}

interface Context {
  respells: boolean;
  before: RegExp | undefined;
  after: readonly RegExp[];
}

/** How much of the text on either side is looked at, in UTF-16 units. */
const REACH = 160;

const compiled = new WeakMap<Homograph, Context[]>();

/** The words to respell in a text, in its order. */
export function findHomographs(text: string, table: readonly Homograph[] = TABLE): Replacement[] {
  return table
    .flatMap((homograph) =>
      [...text.matchAll(wholeWord(homograph.word))]
        .map(({ index }) => ({
          start: index,
          end: index + homograph.word.length,
          written: homograph.respelling,
        }))
        .filter(({ start, end }) =>
          isRespelled(homograph, sentenceBefore(text, start), sentenceAfter(text, end)),
        ),
    )
    .sort((a, b) => a.start - b.start);
}

function isRespelled(homograph: Homograph, before: string, after: string): boolean {
  const fitting = contextsOf(homograph).find(
    (context) =>
      context.before?.test(before) !== false &&
      (context.after.length === 0 || context.after.some((pattern) => pattern.test(after))),
  );
  return fitting?.respells === true;
}

/** Compiles the rules once, when the word first occurs; rules share the patterns that they have in common. */
function contextsOf(homograph: Homograph): Context[] {
  let contexts = compiled.get(homograph);
  if (contexts !== undefined) return contexts;
  const shared = new Map<string, RegExp>();
  const behind = (source: string): RegExp => {
    const known = shared.get(source) ?? pattern(`^(?:${filled(source, homograph.words)})`);
    shared.set(source, known);
    return known;
  };
  contexts = homograph.contexts.flatMap(({ rules }) =>
    rules.map(([then, before = '', ...after]) => ({
      respells: then === 'respell',
      before: before === '' ? undefined : pattern(`(?:${filled(before, homograph.words)})$`),
      after: after.map(behind),
    })),
  );
  compiled.set(homograph, contexts);
  return contexts;
}

function filled(source: string, words: Homograph['words']): string {
  return source.replace(/<([A-Z_]+)>/g, (_, name: string) => filled(words[name] ?? '', words));
}

/** Letters in lower case, and some signs among them: the engine compiles Unicode's own classes ten times slower. */
const LETTERS = 'a-z\u00b5-\u1fff\u2c00-\ud7ff';

/** In these sources \p{L} stands alone, or first in its class. */
function pattern(source: string): RegExp {
  const inClasses = source.replace(
    /\[(\^?)\\p\{L\}(\\p\{N\})?/g,
    (_, not: string, digits?: string) => `[${not}${LETTERS}${digits === undefined ? '' : '0-9'}`,
  );
  return new RegExp(inClasses.replaceAll('\\p{L}', `[${LETTERS}]`));
}

/** Not a part of another word, of a path, an address or an identifier. */
function wholeWord(word: string): RegExp {
  return new RegExp(
    `(?<![\\p{L}\\p{N}\\p{M}_/@#.\\\\=~&]|\\p{L}['’])${word}(?![\\p{L}\\p{N}\\p{M}_@/\\\\=]|[.'’][\\p{L}\\p{N}])`,
    'giu',
  );
}

function sentenceBefore(text: string, start: number): string {
  const near = plain(text.slice(Math.max(0, start - REACH), start));
  return near.slice(lastBreak(near));
}

/** Where the last sentence or clause of its own begins: behind a mark and a space, or a dash. */
function lastBreak(text: string): number {
  let begin = 0;
  for (const { index, 0: mark } of text.matchAll(/[.!?;:…]["')\]]* |(?<= )[-–] | ?— ?/g))
    begin = index + mark.length;
  return begin;
}

function sentenceAfter(text: string, end: number): string {
  return plain(text.slice(end, end + REACH));
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[‘’]/g, "'").replace(/[“”]/g, '"').replace(/\s+/g, ' ');
}
