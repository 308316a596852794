/** What of another system can be taken over, by what it is. */
export const IMPORT_KINDS = [
  'sense events',
  'sense records',
  'sense insights',
  'sense settings',
  'work settings',
  'work labels',
  'pronunciations',
  'sessions',
  'goals',
  'projects',
  'agents',
  'knowledge',
] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/**
 * - new: to be imported
 * - there: steward has it already
 * - conflict: steward has another one, which stays
 * - unfit: of a format that steward does not read
 */
export type ImportState = 'new' | 'there' | 'conflict' | 'unfit';

/** One file, one session's folder or one setting. */
export interface ImportItem {
  kind: ImportKind;
  /** Where it is found; a setting's file. */
  from: string;
  /** Where it goes: a path, or the key of a setting. */
  to: string;
  state: ImportState;
  /** Why it is not imported, for a person; null where it is. */
  why: string | null;
}

/** An item, and what takes it over. False: something stands there by now. */
export interface PlannedItem extends ImportItem {
  take: () => boolean | Promise<boolean>;
}

export function unfit(kind: ImportKind, from: string, why: string): PlannedItem {
  return { kind, from, to: '', state: 'unfit', why, take: () => false };
}
