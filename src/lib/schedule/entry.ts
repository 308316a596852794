import type { Job } from './job';

/** A job as it is to stand in a scheduler: what all renderings are made of. */
export interface JobEntry {
  job: Job;
  /** Its name there, one for each user area of the machine: `steward-sense`, `steward-0a1b2c3d-sense`. */
  name: string;
  /** The launcher, absolute; its one argument is the id of the job. */
  launcher: string;
  /** What the job finds in its environment, over what the scheduler gives it. */
  env: Readonly<Record<string, string>>;
  /** The file that its output goes to, absolute; the launcher writes it. */
  log: string;
}

/** What a scheduler tells of an entry. Times are ISO-8601 UTC; null: not told. */
export interface EntryState {
  /** Is the entry there? */
  installed: boolean;
  /** Does the scheduler know it? */
  loaded: boolean;
  nextRun: string | null;
  lastRun: string | null;
  lastExit: number | null;
}

export const NOT_THERE: EntryState = {
  installed: false,
  loaded: false,
  nextRun: null,
  lastRun: null,
  lastExit: null,
};

/** Text in an element or an attribute of XML. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
