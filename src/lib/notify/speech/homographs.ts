import TABLE from '../../../../templates/data/homographs.json';

/** A range of text, in UTF-16 code units, and its replacement. */
export interface Replacement {
  start: number;
  end: number;
  written: string;
}

/**
 * A word with two pronunciations, and a respelling for one of them, such as "lyve" for "live". The first rule
 * that matches the context applies; if none does, the word is unchanged.
 */
export interface Homograph {
  word: string;
  respelling: string;
  /** Patterns by name. A rule includes a pattern as `<NAME>`. */
  words: Readonly<Record<string, string>>;
  /**
   * Each rule consists of `respell` or `keep`, a pattern for the text before the word (or ''), and alternative
   * patterns for the text after the word.
   */
  contexts: readonly { rules: readonly string[][] }[];
}

interface Context {
  respells: boolean;
  before: RegExp | undefined;
  after: readonly RegExp[];
}

/** How much text before and after the word the rules examine, in UTF-16 code units. */
const REACH = 160;

const compiled = new WeakMap<Homograph, Context[]>();

/** Returns the words to respell, in text order. */
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
          isRespelled(homograph, sentenceBefore(text, start), plain(text.slice(end, end + REACH))),
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

function contextsOf(homograph: Homograph): Context[] {
  let contexts = compiled.get(homograph);
  if (contexts !== undefined) return contexts;
  const shared = new Map<string, RegExp>();
  const following = (source: string): RegExp => {
    const known = shared.get(source) ?? pattern(`^(?:${filled(source, homograph.words)})`);
    shared.set(source, known);
    return known;
  };
  contexts = homograph.contexts.flatMap(({ rules }) =>
    rules.map(([then, before = '', ...after]) => ({
      respells: then === 'respell',
      before: before === '' ? undefined : pattern(`(?:${filled(before, homograph.words)})$`),
      after: after.map(following),
    })),
  );
  compiled.set(homograph, contexts);
  return contexts;
}

function filled(source: string, words: Homograph['words']): string {
  return source.replace(/<([A-Z_]+)>/g, (_, name: string) => filled(words[name] ?? '', words));
}

/** Approximates lower-case letters, because V8 takes ten times as long to compile `\p{L}`. */
const LETTERS = 'a-z\u00b5-\u1fff\u2c00-\ud7ff';

/** Compiles a pattern, replacing `\p{L}` with `LETTERS`. */
function pattern(source: string): RegExp {
  const inClasses = source.replace(
    /\[(\^?)\\p\{L\}(\\p\{N\})?/g,
    (_, not: string, digits?: string) => `[${not}${LETTERS}${digits === undefined ? '' : '0-9'}`,
  );
  return new RegExp(inClasses.replaceAll('\\p{L}', `[${LETTERS}]`));
}

/** Matches a whole word, but not inside paths, addresses or identifiers. */
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

function lastBreak(text: string): number {
  let begin = 0;
  for (const { index, 0: mark } of text.matchAll(/[.!?;:…]["')\]]* |(?<= )[-–] | ?— ?/g))
    begin = index + mark.length;
  return begin;
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[‘’]/g, "'").replace(/[“”]/g, '"').replace(/\s+/g, ' ');
}
