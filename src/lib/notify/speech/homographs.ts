import type { Context, Homograph } from './homograph';
import { LIVE } from './homograph-live';
import type { Replacement } from './replacement';

/** Every word that is told apart; another one is one more entry. */
const HOMOGRAPHS: readonly Homograph[] = [LIVE];

/** How much of the text on either side is looked at, in UTF-16 units. */
const REACH = 160;

/** The words to respell in a text, in its order. Pure. */
export function findHomographs(text: string, table: readonly Homograph[] = HOMOGRAPHS): Replacement[] {
  const found: Replacement[] = [];
  for (const { word, respelling, contexts } of table) {
    for (const match of text.matchAll(wholeWord(word))) {
      const start = match.index;
      const end = start + word.length;
      if (isRespelled(contexts(), sentenceBefore(text, start), sentenceAfter(text, end))) {
        found.push({ start, end, written: respelling });
      }
    }
  }
  return table.length > 1 ? found.sort((a, b) => a.start - b.start) : found;
}

function isRespelled(contexts: readonly Context[], before: string, after: string): boolean {
  const fitting = contexts.find(
    (context) =>
      context.before?.test(before) !== false && context.after?.some((one) => one.test(after)) !== false,
  );
  return fitting?.then === 'respell';
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
