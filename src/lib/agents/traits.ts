import vocabulary from '../../../templates/data/traits.json';

/** A word of the vocabulary for briefs: a menu, not a registry. */
export interface Trait {
  id: string;
  /** As part of a sentence: "You bring … " for expertise, "You are …" and "You work …" for the others. */
  does: string;
  /** Other words for it in a request, lower case, whole words. */
  words: readonly string[];
}

export const TRAIT_FAMILIES = vocabulary;
export type TraitFamily = keyof typeof TRAIT_FAMILIES;

export function traitIds(family: TraitFamily): string[] {
  return TRAIT_FAMILIES[family].map(({ id }) => id);
}

/** The traits of a family that a text asks for, each once, in the order of the text. */
export function traitsIn(family: TraitFamily, text: string): string[] {
  const traits: readonly Trait[] = TRAIT_FAMILIES[family];
  const byWord = new Map(
    traits.flatMap(({ id, words }) => [id, ...words].map((word) => [word, id] as const)),
  );
  const words = text.toLowerCase().match(/[^\s.,;:!?"'()[\]{}/\\]+/g) ?? [];
  const found = words.map((word) =>
    [word, ...word.split('-')].map((part) => byWord.get(part)).find((id) => id !== undefined),
  );
  return [...new Set(found.filter((id) => id !== undefined))];
}
