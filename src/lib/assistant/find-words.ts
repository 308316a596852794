import { StewardError } from '../errors';
import { byteSearch, type ByteSearch } from '../platform/files/line-search';
import { cleanLine } from '../platform/terminal/terminal';

/** A word or phrase to find. */
export interface FindTerm {
  /** Finds it in text, as a whole word. */
  whole: RegExp;
  /** Finds its longest part in the bytes of JSON lines. */
  bytes: ByteSearch;
  /** That part. */
  run: string;
}

const LETTER = '[\\p{L}\\p{M}\\p{N}_]';
const LETTERS = new RegExp(`${LETTER}+`, 'gu');
/** Scripts that don't separate words. */
const UNSPACED =
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]$/u;
const MAX_SHOWN = 240;
const BEFORE = 60;

/** Parses words, and phrases in quotes. A shell removes quotes, so a word with spaces is a phrase too. */
export function findTerms(words: readonly string[]): FindTerm[] {
  const terms = words.flatMap((word) =>
    word.includes('"')
      ? [...word.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([all, inner]) => inner ?? all)
      : [word],
  );
  return terms.map(termOf);
}

function termOf(text: string): FindTerm {
  const words = text.trim().split(/\s+/);
  const [run = ''] = (text.match(LETTERS) ?? []).sort((a, b) => b.length - a.length);
  if (run === '') {
    throw new StewardError('usage', `${JSON.stringify(text)} has no letters or digits.`, {
      hint: 'Use a word such as refund, or a phrase such as "retry policy".',
    });
  }
  const chars = [...words.join(' ')];
  const edge = (char = '', look: string): string => (UNSPACED.test(char) ? '' : `(?${look}${LETTER})`);
  const whole = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('\\s+');
  return {
    whole: new RegExp(edge(chars[0], '<!') + whole + edge(chars.at(-1), '!'), 'giu'),
    bytes: byteSearch(formsOf(run)),
    run,
  };
}

/** Returns a word as JSON may contain it: in either case, with its other letters as they are or escaped. */
function formsOf(word: string): string[] {
  return [word, word.toLowerCase(), word.toUpperCase()].flatMap((form) => {
    const escaped = form.replace(
      /[^\0-\x7f]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    return [form, escaped, escaped.toUpperCase()];
  });
}

export function hasAll(terms: readonly FindTerm[], text: string): boolean {
  return terms.every(({ whole }) => text.search(whole) !== -1);
}

/** Returns a text from the line of its first term, as one line. */
export function shownLine(terms: readonly FindTerm[], text: string): string {
  const first = Math.min(...terms.map(({ whole }) => text.search(whole)));
  const start = text.lastIndexOf('\n', first) + 1;
  const from = first - start < MAX_SHOWN / 2 ? start : Math.min(first, text.indexOf(' ', first - BEFORE) + 1);
  return cleanLine((from === start ? '' : '… ') + text.slice(from, from + MAX_SHOWN * 4), MAX_SHOWN);
}

/** Returns the line with its words marked. */
export function marked(terms: readonly FindTerm[], line: string, mark: (text: string) => string): string {
  return line.replace(new RegExp(terms.map(({ whole }) => whole.source).join('|'), 'giu'), mark);
}
