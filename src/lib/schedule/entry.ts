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
  /** How often it stands there. */
  copies: number;
  /** It is switched off there; where it is loaded all the same, it is so until the next login. */
  disabled: boolean;
  /** What stands there is not what an install writes. Of files that is told by the install manifest instead. */
  edited: boolean;
}

export const NOT_THERE: EntryState = {
  installed: false,
  loaded: false,
  nextRun: null,
  lastRun: null,
  lastExit: null,
  copies: 0,
  disabled: false,
  edited: false,
};

/** Text in an element or an attribute of XML. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
