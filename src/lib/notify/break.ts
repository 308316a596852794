/** A break in your work. */
export interface Break {
  atMs: number;
  /** What happened, such as `you came back`. */
  why: string;
}

/** What you do at a moment, as far as it is known. */
export interface Seen {
  isAway?: boolean;
  /** The kind of the application that you use. */
  kind?: string;
}

/** Returns the break between two moments; undefined if there was none, or if that is unknown. */
export function breakBetween(before: Seen, now: Seen): string | undefined {
  if (before.isAway === true && now.isAway === false) return 'you came back';
  const isChanged = before.kind !== undefined && now.kind !== undefined && before.kind !== now.kind;
  return isChanged ? 'you changed the kind of application' : undefined;
}
