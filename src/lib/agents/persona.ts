import { clean } from '../platform/terminal/terminal';
import { MODEL_TIERS, type ModelTier } from './brief';
import {
  TRAIT_FAMILIES,
  traitNamed,
  type Approach,
  type Expertise,
  type Personality,
  type TraitFamily,
} from './traits';

/** A named agent: a persistent identity of the person's own roster (service.md: Agent invocation). */
export interface RosterAgent {
  /** The name of its file without `.md`. */
  slug: string;
  name: string;
  role: string | null;
  description: string | null;
  model: ModelTier | null;
  expertise: Expertise[];
  personality: Personality[];
  approach: Approach[];
  path: string;
}

/** Characters of a name, a role or a description. */
export const MAX_TEXT = 300;

type Persona = Omit<RosterAgent, 'slug' | 'path' | 'name'> & { name: string | null };

/**
 * The keys of a persona. Voice fields are not among them: no code reads the voice of an agent file (service.md:
 * Notification settings), since only the assistant speaks. That they stand there is a note.
 */
export function personaOf(keys: Record<string, unknown>): {
  values: Persona;
  errors: string[];
  notes: string[];
} {
  const errors: string[] = [];
  const text = (key: string): string | null => {
    const value = keys[key];
    if (value === undefined || value === null) return null;
    const found = typeof value === 'string' ? clean(value).trim() : '';
    if (found === '' || found.length > MAX_TEXT)
      errors.push(`${key} is not a text of up to ${MAX_TEXT} characters.`);
    return found;
  };
  const traits = <F extends TraitFamily>(family: F): (typeof TRAIT_FAMILIES)[F][number]['id'][] => {
    const value = keys[family];
    const given =
      typeof value === 'string' ? value.split(',') : value === undefined || value === null ? [] : value;
    if (!Array.isArray(given)) {
      errors.push(`${family} is not a list.`);
      return [];
    }
    return given.flatMap((item) => {
      const trait = typeof item === 'string' ? traitNamed(family, item) : undefined;
      if (trait === undefined)
        errors.push(
          `${family} has ${shown(item)}; the vocabulary is ${TRAIT_FAMILIES[family].map(({ id }) => id).join(', ')}.`,
        );
      return trait === undefined ? [] : [trait.id];
    });
  };
  const model = text('model')?.toLowerCase() ?? null;
  if (model !== null && !MODEL_TIERS.includes(model as ModelTier))
    errors.push(`model is ${shown(model)}; the tiers are ${MODEL_TIERS.join(', ')}.`);
  const values: Persona = {
    name: text('name'),
    role: text('role'),
    description: text('description'),
    model: model as ModelTier | null,
    expertise: traits('expertise'),
    personality: traits('personality'),
    approach: traits('approach'),
  };
  const voices = Object.keys(keys).filter((key) => /^voice/i.test(key));
  const notes = voices.map((key) => `${clean(key)} is not read.`);
  return { values, errors, notes };
}

function shown(value: unknown): string {
  return `"${clean(String(typeof value === 'object' ? 'a list or object' : value)).slice(0, 40)}"`;
}
