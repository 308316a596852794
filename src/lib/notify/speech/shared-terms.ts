import { groupInFile, type SharedGroup } from '../../platform/files/shared-group';
import { parseTerms, problemIn, withTerm } from './pronunciation';

/** How terms are pronounced. */
export function sharedTerms(path: string): SharedGroup {
  return {
    ...groupInFile(
      path,
      (text) => new Map([...parseTerms(text, path)].map(([term, said]) => [term, [said]])),
      (text, term, value) => withTerm(text, path, term, value?.[0] ?? null),
    ),
    isValid: (term, [said]) => problemIn(term, said) === undefined,
  };
}
